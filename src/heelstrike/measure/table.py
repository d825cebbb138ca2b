"""The table of a comparison of laws: its entries, their units, and how a cell is written.

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
    """One number of a run, of its yardsticks or measures."""

    key: str
    label: str
    """Short, for the head of a column."""
    unit: str
    scale: float = 1.0
    meaning: str = ""
    title: str = ""
    """Readable, for the head of a column on a page; empty: the label."""


GROUPS: dict[str, tuple[Entry, ...]] = {
    "How it carries": (
        Entry("deepest", "deepest", "mm", 1e3, "largest depth of a point", "largest depth"),
        Entry("mean_depth", "mean depth", "mm", 1e3, "of the points that carry"),
        Entry("creep_normal", "sinks", "um/s", 1, "slope of the depth over time", "sinking speed"),
        Entry("creep_tangential", "creeps", "um/s", 1, "slope of the way along", "creeping speed"),
        Entry("chatter", "chatter", "1/s", 1, "changes of the total force", "chatter of the force"),
        Entry("spread", "spread", "1", 1, "of the forces of a body's points", "spread of forces"),
    ),
    "How far from rigid contact": (
        Entry("cone_violation", "cone", "N", 1, "friction beyond its cone", "friction beyond cone"),
        Entry("approach", "goes in", "mm/s", 1e3, "speed into the surface", "approach speed"),
        Entry("complementarity", "compl.", "W", 1, "|f_n u_n|", "complementarity"),
        Entry(
            "dissipation_gap",
            "dissip.",
            "W",
            1,
            "|f_t . u_t + mu f_n |u_t||",
            "lack of dissipation",
        ),
        Entry("ncp_dual", "c + Gamma", "m/s^2", 1, "dual residual", "dual residual"),
        Entry("energy_residual", "energy", "J", 1, "from nothing", "energy from nothing"),
    ),
    "Force and cost": (
        Entry("peak_force", "peak", "N", 1, "largest normal force, whole run", "peak force"),
        Entry("impulse", "impulse", "N s", 1, "of normal forces, whole run", "normal impulse"),
        Entry("ground_work", "work", "J", 1, "of normal forces, whole run", "work of the ground"),
        Entry(
            "stable_dt",
            "stable dt",
            "ms",
            1e3,
            "largest step in which it rests",
            "largest stable step",
        ),
        Entry("step_time", "a step", "us", 1e6, "CPU time of one world's step", "time of a step"),
    ),
}


def cell(column: Mapping[str, Any], entry: Entry) -> str:
    """Return the number of a run as text."""
    value = {**column["yardsticks"], **column["measures"]}[entry.key]
    if value is None:
        return NONE
    if entry.key == "stable_dt":
        if value == 0:
            return "none"
        largest = ">= " if value >= STEP_SIZES[-1] else ""
        return f"{largest}{written(value * entry.scale)}"
    return written(value * entry.scale, 3 if entry.key in ("peak_force", "impulse") else 2)


def written(value: float, digits: int = 2) -> str:
    """Return a number with a few digits: 880, 0.0027, 2.9e-8."""
    text = f"{float(f'{value + 0.0:.{digits}g}'):g}"  # no -0, no 8.8e+02
    return text.replace("e-0", "e-").replace("e+0", "e+")


def failure(column: Mapping[str, Any]) -> str:
    """Return the reason why a run has no numbers; empty if it has."""
    if column["yardsticks"]["failed"] >= 0:
        return f"diverged at step {column['yardsticks']['failed']}"
    return "refused" if column["yardsticks"]["seconds"] is None else ""
