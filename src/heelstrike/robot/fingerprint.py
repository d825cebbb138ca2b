"""Fingerprint of a robot: its part of the key in the cache of compiled programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from heelstrike.robot.hull_cells import HullCells
from heelstrike.robot.robot import Robot

NOT_TRACED = {
    "model", "shapes", "self_pairs", "overlapping", "ground_shapes", "controls", "fidelity",
    "source",
}  # fmt: skip
"""Fields that no traced program reads: Pinocchio's model repeats the others, shapes and their pairs
serve contact points and pictures, controls of poses are inputs, and differences from the file are
for the reader.
"""


def fingerprint(robot: Robot) -> tuple[object, ...]:
    """Return everything of a robot that tracing may read, as plain data.

    It is taken field by field, so that a new field of a robot is part of it at once.
    """
    kept = [f.name for f in fields(robot) if f.name not in NOT_TRACED]
    return ("Robot", *((name, _plain(getattr(robot, name))) for name in kept))


def _plain(value: object) -> object:
    """Return dataclasses, tuples and mappings as nested tuples and dicts; the rest as it is."""
    if isinstance(value, HullCells):  # a table of the caller's
        return None
    if is_dataclass(value):
        own = ((f.name, _plain(getattr(value, f.name))) for f in fields(value))
        return (type(value).__name__, *own)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
