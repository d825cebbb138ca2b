"""The data sets by name; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from heelstrike.errors import UnknownNameError
from heelstrike.validation.measured_set import MeasuredSet

SETS = {
    "cube": "cube:Cube",
    "square": "square:Square",
    "elbow": "elbow:Elbow",
    "icub-walking": "icub:Walking",
    "icub-sway": "icub:Swaying",
    "cassie": "cassie:Cassie",
}
"""Module and class of each set."""


def measured_set(name: str) -> MeasuredSet:
    """Return a data set; raise UnknownNameError if there is none of this name."""
    if not isinstance(name, str) or name not in SETS:
        raise UnknownNameError("data set", name, SETS)
    module, _, kind = SETS[name].partition(":")
    made: MeasuredSet = getattr(import_module(f"heelstrike.validation.{module}"), kind)()
    return made
