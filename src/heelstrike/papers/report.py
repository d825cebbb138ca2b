"""Result of a figure or table: the paper's values, the closed form and ours, row by row.

An item of a paper is a function without arguments that returns a `Result`. A row holds one number
of ours, what it is judged by, and its status: reproduced, differs, or cannot be known. What does
not reproduce stays in the table, and its remark says why.
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
    """Status of a number or statement of a paper."""

    reproduced = "reproduced"
    differs = "differs"
    unknown = "cannot be known"


UNEXPLAINED = "not explained yet"
"""Why a row differs whose remark is empty: it held where it was written."""


@dataclass(frozen=True)
class Row:
    """One number of ours beside theirs."""

    quantity: str
    """What it is, with its unit in brackets."""
    ours: float | None
    """None: the paper does not say enough for a number of ours."""
    reproduced: bool | None
    """None: cannot be known; the remark says what is missing."""
    theirs: float | str | None = None
    """A printed number, or the paper's words; None: the paper says nothing of it."""
    closed_form: float | None = None
    """From the paper's equations, or an independent reference that the remark names."""
    tolerance: float | None = None
    """Largest |ours - closed form| (or theirs, where there is no closed form), in the same unit."""
    remark: str = ""

    def __post_init__(self) -> None:
        if self.reproduced is None and not self.remark:
            raise HeelstrikeError(f"'{self.quantity}' cannot be known: its remark must say why")
        if self.ours is None and self.reproduced is not None:
            raise HeelstrikeError(f"'{self.quantity}' has no number of ours to judge: use unknown")

    @property
    def status(self) -> Status:
        """Reproduced, differs or cannot be known."""
        if self.reproduced is None:
            return Status.unknown
        return Status.reproduced if self.reproduced else Status.differs

    @property
    def why(self) -> str:
        """The remark; where a row differs without one, that it is not explained."""
        return self.remark or (UNEXPLAINED if self.status is Status.differs else "")

    def as_dict(self) -> dict[str, Any]:
        """Return the row, ready for JSON; no number is left that JSON does not have."""
        return {
            "quantity": self.quantity,
            "theirs": _plain(self.theirs),
            "closed_form": _plain(self.closed_form),
            "ours": _plain(self.ours),
            "tolerance": _plain(self.tolerance),
            "reproduced": self.reproduced,
            "status": self.status.value,
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
    def reproduced(self) -> int:
        """Number of rows that reproduce."""
        return self.count(Status.reproduced)

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
) -> Row:
    """Return a row judged by its distance from the closed form, or, without one, from their
    number.
    """
    target = theirs if closed_form is None else closed_form
    holds = isinstance(target, int | float) and abs(float(ours) - target) <= tolerance
    form = None if closed_form is None else float(closed_form)
    return Row(quantity, float(ours), bool(holds), theirs, form, float(tolerance), remark)


def below(
    quantity: str, ours: float, limit: float, theirs: float | str | None = None, remark: str = ""
) -> Row:
    """Return a row for something that ought to vanish: |ours| is at most the limit."""
    return near(quantity, ours, 0.0, limit, theirs, remark)


def shown(
    quantity: str, ours: float, holds: bool, theirs: str | None = None, remark: str = ""
) -> Row:
    """Return a row for what the paper says in words, with the number of ours that shows it."""
    return Row(quantity, float(ours), bool(holds), theirs, remark=remark)


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
