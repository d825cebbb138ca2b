"""Runs side by side: the same scene under several laws, one yardstick a row.

table = compare({"rigid": run, "elastic": other}, settle=0.5)
print(table)                     # 80 columns; runs that do not fit follow below
table.markdown(); table.as_dict(); table["rigid"].chatter
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heelstrike.errors import HeelstrikeError
from heelstrike.measure.yardsticks import Yardsticks, yardsticks
from heelstrike.record.recording import Recording

WIDTH = 80
NARROWEST, WIDEST = 10, 24
"""Columns of a run, with the space before it; a longer name is cut."""


class Comparison(Mapping[str, Yardsticks]):
    """Yardsticks of several runs by name; print() shows them as a table."""

    def __init__(self, columns: Mapping[str, Yardsticks]) -> None:
        if not columns:
            raise HeelstrikeError("nothing to compare; give runs by name: {'rigid': run, ...}")
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Yardsticks:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def as_dict(self) -> dict[str, Any]:
        """Return {run: {yardstick: value}}, ready for JSON."""
        return {name: column.as_dict() for name, column in self.items()}

    def markdown(self) -> str:
        """Return a table for a page."""
        head = [["", *(name.replace("|", "\\|") for name in self)], ["---"] * (1 + len(self))]
        return "\n".join(f"| {' | '.join(line)} |" for line in [*head, *self._rows()])

    def __str__(self) -> str:
        rows = [["", *self], *self._rows()]
        margin = max(len(row[0]) for row in rows)
        width = min(max(NARROWEST, *(len(name) + 1 for name in self)), WIDEST)
        fits = (WIDTH - margin) // width
        parts = []
        for k in range(1, len(self) + 1, fits):
            lines = [
                f"{row[0]:<{margin}}" + "".join(f" {x[: width - 1]:>{width - 1}}" for x in part)
                for row in rows
                if (part := row[k : k + fits])
            ]
            parts.append("\n".join(lines))
        return "\n\n".join(parts)

    __repr__ = __str__

    def _rows(self) -> list[list[str]]:
        """Return a yardstick's name, then its value in each run."""
        columns = [column.rows() for column in self.values()]
        rows = [[of[0][0], *(value for _, value in of)] for of in zip(*columns, strict=True)]
        failures = [column.failed for column in self.values()]
        if max(failures) >= 0:
            rows.append(["failed at step", *("-" if f < 0 else str(f) for f in failures)])
        return rows


def compare(runs: Mapping[str, Recording], world: int = 0, settle: float = 0.0) -> Comparison:
    """Measure runs by one yardstick, each without its first `settle` seconds."""
    return Comparison({name: yardsticks(run, world, settle) for name, run in runs.items()})
