"""What a run is asked for: how many steps, how often recorded, and which variables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.record.derived import check_variables, standard
from heelstrike.step.plan import StepPlan

MANY = 64
"""Worlds above which a run keeps only the end, unless told otherwise."""


def whole(what: str, value: int) -> int:
    """A whole number above 0."""
    if not isinstance(value, int | np.integer) or value < 1:
        raise HeelstrikeError(f"{what} is a whole number above 0, not {value!r}")
    return int(value)


def step_count(duration: float | None, steps: int | None, dt: np.ndarray) -> int:
    """From a duration [s] or a number, where `dt` is each world's."""
    if (duration is None) == (steps is None):
        raise HeelstrikeError("a run takes a duration [s] or steps=, one of them")
    if steps is not None:
        return whole("steps", steps)
    if np.ptp(dt) > 0:
        raise HeelstrikeError("where dt varies from world to world say steps=, not a duration")
    if not (isinstance(duration, int | float | np.number) and 0 < duration < np.inf):
        raise HeelstrikeError(f"a duration is a time above 0 s, not {duration!r}")
    return max(1, round(float(duration) / float(dt[0])))


def variables(plan: StepPlan, record: str | Sequence[str] | None, worlds: int) -> tuple[str, ...]:
    """Those that `record` names."""
    if record is None:
        record = "final" if worlds > MANY else "standard"
    if record == "final":
        return ()
    if record == "standard":
        return standard(plan.scene, plan.sensors)
    names = (record,) if isinstance(record, str) else tuple(record)
    check_variables(plan.scene, names, plan.sensors)
    return names
