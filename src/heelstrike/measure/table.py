"""The table of a comparison of laws: what stands in it, in which units, and how a cell is written.

Works on what `LawComparison.as_dict` gives, so that a table made from a JSON file is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heelstrike.measure.stability import STEP_SIZES

NONE = "-"


@dataclass(frozen=True)
class Entry:
    """One number of a run."""

    source: str
    """yardsticks or measures."""
    key: str
    label: str
    """Short, for the head of a column."""
    unit: str
    scale: float = 1.0
    meaning: str = ""


GROUPS: dict[str, tuple[Entry, ...]] = {
    "How it carries": (
        Entry("yardsticks", "deepest", "deepest", "mm", 1e3, "largest depth of a point"),
        Entry("yardsticks", "mean_depth", "mean depth", "mm", 1e3, "of the points that carry"),
        Entry("yardsticks", "creep_normal", "sinks", "um/s", 1, "slope of the depth over time"),
        Entry("yardsticks", "creep_tangential", "creeps", "um/s", 1, "slope of the way along"),
        Entry("yardsticks", "chatter", "chatter", "1/s", 1, "changes of the total force"),
        Entry("yardsticks", "spread", "spread", "1", 1, "of the forces of a body's points"),
    ),
    "How far from rigid contact": (
        Entry("yardsticks", "cone_violation", "cone", "N", 1, "friction beyond its cone"),
        Entry("yardsticks", "approach", "goes in", "mm/s", 1e3, "speed into the surface"),
        Entry("yardsticks", "complementarity", "compl.", "W", 1, "|f_n u_n|"),
        Entry("yardsticks", "dissipation_gap", "dissip.", "W", 1, "|f_t . u_t + mu f_n |u_t||"),
        Entry("yardsticks", "ncp_dual", "c + Gamma", "m/s^2", 1, "dual residual"),
        Entry("yardsticks", "energy_residual", "energy", "J", 1, "from nothing"),
    ),
    "Force and cost": (
        Entry("measures", "peak_force", "peak", "N", 1, "largest normal force, whole run"),
        Entry("measures", "impulse", "impulse", "N s", 1, "of normal forces, whole run"),
        Entry("measures", "ground_work", "work", "J", 1, "of normal forces, whole run"),
        Entry("measures", "stable_dt", "stable dt", "ms", 1e3, "largest step in which it rests"),
        Entry("measures", "step_time", "a step", "us", 1e6, "CPU time of one world's step"),
    ),
}


def cell(column: Mapping[str, Any], entry: Entry) -> str:
    """The number of a run as text."""
    value = column[entry.source][entry.key]
    if value is None:
        return NONE
    if entry.key == "stable_dt":
        if value == 0:
            return "none"
        largest = ">= " if value >= STEP_SIZES[-1] else ""
        return f"{largest}{written(value * entry.scale)}"
    return written(value * entry.scale, 3 if entry.key in ("peak_force", "impulse") else 2)


def written(value: float, digits: int = 2) -> str:
    """A few digits: 880, 0.0027, 2.9e-8."""
    text = f"{float(f'{value + 0.0:.{digits}g}'):g}"  # no -0, no 8.8e+02
    return text.replace("e-0", "e-").replace("e+0", "e+")


def failure(column: Mapping[str, Any]) -> str:
    """Why a run has no numbers; empty where it has."""
    if column["yardsticks"]["failed"] >= 0:
        return f"diverged at step {column['yardsticks']['failed']}"
    return "refused" if column["yardsticks"]["seconds"] is None else ""
