"""A comparison of laws in words: which runs ended, and which law is least and most by a measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heelstrike.measure.table import failure, written

STILL = 1.0
"""Speed of creep below which a law holds its place [um/s]."""
ALIKE = 1.05
"""Ratio of the largest to the smallest value below which laws agree [-]."""


def verdict(columns: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return sentences about the runs of `LawComparison.as_dict`."""
    ended = [column for column in columns if not failure(column)]
    gone = [f"{column['name']} ({failure(column)})" for column in columns if failure(column)]
    said = [
        f"{len(ended)} of {len(columns)} runs ended" + (f"; not {', '.join(gone)}" * bool(gone))
    ]
    if not ended:
        return [f"{said[0]}."]
    said += [
        _range(ended, "peak_force", "Peak force", "N", 1.0),
        _range(ended, "mean_depth", "Depth at rest", "mm", 1e3),
        _range(ended, "step_time", "Time of a step", "us", 1e6),
    ]
    creeping = {c["name"]: _value(c, "creep_tangential") for c in ended}
    moving = [f"{name} ({written(v)} um/s)" for name, v in creeping.items() if v and v > STILL]
    if any(value is not None for value in creeping.values()):
        said.append(
            f"Points at rest creep under {', '.join(moving)}; the others hold them"
            if moving
            else f"No law lets points at rest creep faster than {STILL:g} um/s"
        )
    return [f"{sentence}." for sentence in said if sentence]


def _value(column: Mapping[str, Any], key: str) -> float | None:
    value = {**column["yardsticks"], **column["measures"]}[key]
    return None if value is None else abs(float(value))


def _range(
    columns: Sequence[Mapping[str, Any]], key: str, subject: str, unit: str, scale: float
) -> str:
    """Return which run has the least and which the most of a measure; empty if none has it."""
    values = {c["name"]: scale * v for c in columns if (v := _value(c, key)) is not None}
    if not values:
        return ""
    least, most = min(values, key=lambda n: values[n]), max(values, key=lambda n: values[n])
    if values[most] <= ALIKE * values[least]:
        return f"{subject}: {written(values[most], 3)} {unit} in all runs"
    return (
        f"{subject}: {written(values[least], 3)} {unit} ({least}) to "
        f"{written(values[most], 3)} {unit} ({most})"
    )
