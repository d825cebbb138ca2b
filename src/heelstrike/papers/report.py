"""Result of a figure or table: the paper's values, the closed form and ours, row by row.

An item of a paper is a function without arguments that returns a `Result`. A row holds one number
of ours, what it is judged by, and its status. Only a row that has a number or a statement of the
paper beside it can be reproduced; where the paper says nothing, a row agrees with the closed form,
or meets a criterion of ours, and is counted apart. What does not hold stays in the table, and its
remark says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import HeelstrikeError

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from heelstrike.record.recording import Recording


class Status(StrEnum):
    """Status of a row; `reproduced` is kept for what the paper itself prints."""

    reproduced = "reproduced"
    agrees = "agrees with the closed form"
    meets = "meets our criterion"
    differs = "differs"
    unknown = "cannot be known"


UNEXPLAINED = "not explained yet"
"""Why a row differs whose remark is empty: it held where it was written."""
FAULT = "The law fails here, which is what this row shows."
"""Begins the remark of a row that holds because a law fails."""


@dataclass(frozen=True)
class Row:
    """One number of ours beside theirs."""

    quantity: str
    """What it is, with its unit in brackets."""
    ours: float | None
    """None: the paper does not say enough for a number of ours."""
    holds: bool | None
    """None: cannot be known; the remark says what is missing."""
    theirs: float | str | None = None
    """A printed number, or the paper's words; None: the paper says nothing of it."""
    closed_form: float | None = None
    """From the paper's equations, or an independent reference that the remark names."""
    tolerance: float | None = None
    """Largest |ours - closed form| (or theirs, where there is no closed form), in the same unit."""
    remark: str = ""
    least: float | None = None
    """Criterion of ours: smallest number that meets it."""
    most: float | None = None
    """Criterion of ours: largest number that meets it."""
    fault: bool = False
    """Whether it holds because a law fails, as the paper reports or as its equations predict."""

    def __post_init__(self) -> None:
        if self.holds is None and not self.remark:
            raise HeelstrikeError(f"'{self.quantity}' cannot be known: its remark must say why")
        if self.ours is None and self.holds is not None:
            raise HeelstrikeError(f"'{self.quantity}' has no number of ours to judge: use unknown")

    @property
    def status(self) -> Status:
        """Return whether it holds, and by what it is judged."""
        if self.holds is None:
            return Status.unknown
        if not self.holds:
            return Status.differs
        if self.theirs is not None:
            return Status.reproduced
        return Status.meets if self.closed_form is None else Status.agrees

    @property
    def why(self) -> str:
        """The remark; that it shows a fault; where it differs without a remark, that this is not
        explained.
        """
        if self.fault and self.holds:
            return f"{FAULT} {self.remark}".rstrip()
        return self.remark or (UNEXPLAINED if self.status is Status.differs else "")

    @property
    def within(self) -> str:
        """Tolerance, or the criterion of ours, in words."""
        if self.tolerance is not None:
            return f"{self.tolerance:.2g}"
        if self.least is not None and self.most is not None:
            return f"{self.least:.6g} to {self.most:.6g}"
        if self.least is not None:
            return f"at least {self.least:.6g}"
        return "" if self.most is None else f"at most {self.most:.6g}"

    def as_dict(self) -> dict[str, Any]:
        """Return the row, ready for JSON; no number is left that JSON does not have."""
        return {
            "quantity": self.quantity,
            "theirs": _plain(self.theirs),
            "closed_form": _plain(self.closed_form),
            "ours": _plain(self.ours),
            "tolerance": _plain(self.tolerance),
            "least": _plain(self.least),
            "most": _plain(self.most),
            "holds": self.holds,
            "status": self.status.value,
            "fault": self.fault,
            "remark": self.remark,
        }


@dataclass(frozen=True)
class Result:
    """One reproduced figure or table of a paper."""

    name: str
    title: str
    claim: str
    """What the paper says the figure shows."""
    rows: tuple[Row, ...]
    draw: Callable[[], Figure] | None = field(default=None, compare=False)
    """Makes the picture; None where there is only the table."""

    @property
    def held(self) -> int:
        """Number of rows that hold, whatever they are judged by."""
        return sum(row.holds is True for row in self.rows)

    def count(self, status: Status) -> int:
        """Number of rows of that status."""
        return sum(row.status is status for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the result, ready for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "claim": self.claim,
            "rows": [row.as_dict() for row in self.rows],
        }


def near(
    quantity: str,
    ours: float,
    closed_form: float | None,
    tolerance: float,
    theirs: float | str | None = None,
    remark: str = "",
    fault: bool = False,
) -> Row:
    """Return a row judged by its distance from the closed form, or, without one, from their
    number.
    """
    target = theirs if closed_form is None else closed_form
    holds = isinstance(target, int | float) and abs(float(ours) - target) <= tolerance
    form = None if closed_form is None else float(closed_form)
    return Row(
        quantity, float(ours), bool(holds), theirs, form, float(tolerance), remark, fault=fault
    )


def below(
    quantity: str, ours: float, limit: float, theirs: float | str | None = None, remark: str = ""
) -> Row:
    """Return a row for something that ought to vanish: |ours| is at most the limit."""
    return near(quantity, ours, 0.0, limit, theirs, remark)


def shown(
    quantity: str, ours: float, holds: bool, theirs: str, remark: str = "", fault: bool = False
) -> Row:
    """Return a row for what the paper says in words, with the number of ours that shows it."""
    return Row(quantity, float(ours), bool(holds), theirs, remark=remark, fault=fault)


def meets(
    quantity: str,
    ours: float,
    *,
    least: float | None = None,
    most: float | None = None,
    remark: str = "",
    fault: bool = False,
) -> Row:
    """Return a row of which the paper says nothing, judged by bounds of ours."""
    ours = float(ours)
    low, high = (None if bound is None else float(bound) for bound in (least, most))
    if low is None and high is None:
        raise HeelstrikeError(f"'{quantity}' has no criterion: pass least or most")
    holds = (low is None or ours >= low) and (high is None or ours <= high)
    return Row(quantity, ours, holds, remark=remark, least=low, most=high, fault=fault)


def unknown(quantity: str, theirs: float | str | None, why: str, ours: float | None = None) -> Row:
    """Return a row that cannot be reproduced because the paper says too little; `why` says what
    it leaves out. A number of ours may stand beside it, judged by nothing.
    """
    return Row(quantity, None if ours is None else float(ours), None, theirs, remark=why)


def finished(run: Recording, steps: int) -> xr.Dataset:
    """Return the data if every world made all its steps; raise an error if not."""
    if bool((run.data.failed >= 0).any()):
        raise HeelstrikeError("a world diverged, so this figure cannot be made")
    if int(run.data.steps.min()) < steps:
        raise KeyboardInterrupt
    return run.data


def written(value: float | str | None) -> str:
    """Return a number as tables show it; what the paper says in words as it is, - for nothing."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.6g}"


def worst(differences: Iterable[float] | np.ndarray) -> float:
    """Return the largest magnitude; NaN if any is NaN."""
    return float(np.max(np.abs(np.asarray(differences))))


def _plain(value: float | str | None) -> float | str | None:
    if value is None or isinstance(value, str):
        return value
    return float(value) if np.isfinite(value) else None
