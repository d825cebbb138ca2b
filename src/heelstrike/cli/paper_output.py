"""Tables and lines of `heelstrike paper`."""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from heelstrike.cli.console import table

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

    from heelstrike.papers.making import Made
    from heelstrike.papers.report import Result, Row

LOUD = {"differs": "DIFFERS", "unknown": "?"}
"""Statuses that are not written by their name."""


def letters() -> Iterator[str]:
    """Yield a to z, aa, ab, ... for remarks; numbers in brackets are equations of the papers."""
    for size in itertools.count(1):
        yield from map("".join, itertools.product(string.ascii_lowercase, repeat=size))


def result_table(result: Result) -> Group:
    """Return the table of a figure, with its claim above and remarks below."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    heading = Text.assemble((f"{result.name}: {result.title}", "bold"), "\n", result.claim)
    if not result.rows:
        return Group(heading, "")
    numbers = ("closed form", "ours", "within")
    made = table("", "quantity", "theirs", *numbers, "status", numbers=numbers)
    remarks = dict(zip(dict.fromkeys(r.why for r in result.rows if r.why), letters(), strict=False))
    for row in result.rows:
        note = f" [{remarks[row.why]}]" if row.why else ""
        made.add_row(*_cells(row, note), style="" if row.holds else "yellow")
    notes = [Text(f"[{letter}] {text}", style="dim") for text, letter in remarks.items()]
    return Group(heading, made, *(Padding(note, (0, 0, 0, 2)) for note in notes), "")


def line(one: Made) -> Text:
    """Return one line about an item, in the columns of `head`."""
    from rich.text import Text

    from heelstrike.papers.report import Status

    numbers = "".join(f"{one.count(status):>{_WIDE[status.name]}}" for status in Status)
    text = f"{one.task.paper:14}{one.task.item:16}{numbers}{one.seconds:>9.1f}"
    return Text(text, style="red" if one.error else "")


def head() -> Text:
    """Return the heading of the columns of `line`."""
    from rich.text import Text

    from heelstrike.papers.report import Status

    names = "".join(f"{status.name:>{_WIDE[status.name]}}" for status in Status)
    return Text(f"{'paper':14}{'item':16}{names}{'seconds':>9}", style="bold")


def verdict(summary: dict[str, Any]) -> Text:
    """Return the last line: how many rows have which status."""
    from rich.text import Text

    rows, held = summary["rows"], summary["reproduced"]
    own = summary["agrees"] + summary["meets"]
    sentence = f"{held} of {rows} rows reproduced"
    if summary["agrees"]:
        sentence += f", {summary['agrees']} agree with the closed form"
    if summary["meets"]:
        sentence += f", {summary['meets']} meet a criterion of ours"
    if summary["differs"]:
        sentence += f", {summary['differs']} differ{'s' if summary['differs'] == 1 else ''}"
    if summary["unknown"]:
        sentence += f", {summary['unknown']} cannot be known"
    sentence += f", in {summary['seconds']:.1f} s."
    return Text(sentence, style="green" if rows == held + own else "yellow")


def _cells(row: Row, note: str) -> tuple[Text | str, ...]:
    from rich.text import Text

    from heelstrike.papers.report import written

    return (
        Text(row.quantity + note),
        Text(written(row.theirs)),
        written(row.closed_form),
        written(row.ours),
        row.within,
        LOUD.get(row.status.name, row.status.name),
    )


_WIDE = {"reproduced": 11, "agrees": 7, "meets": 6, "differs": 8, "unknown": 8}
