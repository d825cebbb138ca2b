"""The report of one paper or of all: theirs, ours, why they differ, and the errata."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from heelstrike.machine import machine
from heelstrike.papers import Paper, paper
from heelstrike.papers.errata import errata_table
from heelstrike.papers.making import Made
from heelstrike.papers.report import UNEXPLAINED, Row, Status, written
from heelstrike.view.pages.page import Block, Page, Paragraph, Picture, Section, Table, TableRow

COUNTS = ("rows", *(status.name for status in Status))
ROW = ("quantity", "theirs", "closed form", "ours", "within", "status", "why, or what to know")
MANY = "Reproduced papers on contact"
LEAD = (
    "Every figure and table of a paper, reproduced by simulation. Theirs: what the paper prints, "
    "in its words where it prints no number. Closed form: what its equations give on paper, or an "
    "independent reference. Within: how far ours may be from that, or from theirs; or a criterion "
    "of ours. Reproduced: ours is as the paper prints or states it. Where the paper says nothing, "
    "a row agrees with the closed form, or meets our criterion; these rows are counted apart. "
    "Differs: it is not so, and the last column says why. Cannot be known (unknown): the paper "
    "leaves out what it would take."
)


def document(made: Sequence[Made], seconds: float, jobs: int) -> Page:
    """Return the page of these results; papers and items in the order given."""
    names = list(dict.fromkeys(one.task.paper for one in made))
    of = {name: [one for one in made if one.task.paper == name] for name in names}
    single = len(names) == 1
    title = f"{paper(names[0]).title}: theirs and ours" if single else MANY
    rows = [row for one in made for row in one.rows]
    blocks: list[Block] = [Paragraph(LEAD), _summary(of, made), Paragraph(in_words(rows))]
    blocks += [Paragraph(sentence) for sentence in _warnings(made)]
    how = Section("How this was made", "how", (_settings(seconds, jobs),))
    sections = (*(_paper(paper(name), of[name]) for name in names), how)
    filters = tuple(status.value for status in Status)
    return Page(title, tuple(blocks), sections, filters)


def counts(made: Sequence[Made]) -> tuple[str, ...]:
    """Number of rows, and of each status."""
    rows = sum(len(one.rows) for one in made)
    return str(rows), *(str(sum(one.count(status) for one in made)) for status in Status)


def in_words(rows: Sequence[Row]) -> str:
    """Return the counts as sentences: first of what the paper says, then of what it does not."""
    told = [row for row in rows if row.theirs is not None]
    kept, ours = tally(told), tally([row for row in rows if row.theirs is None])
    return (
        f"Of {len(rows)} rows {len(told)} have a printed number or a statement beside them: "
        f"{kept[Status.reproduced]} reproduce it ({failures(told)} of these show a failure of a "
        f"law, as the paper reports), {kept[Status.differs]} differ, {kept[Status.unknown]} cannot "
        f"be known. Of the other {len(rows) - len(told)} rows the paper says nothing, or our "
        f"set-up was made to what it says: {ours[Status.agrees]} agree with the closed form, "
        f"{ours[Status.meets]} meet a criterion "
        f"of ours, {ours[Status.differs]} differ, {ours[Status.unknown]} cannot be known."
    )


def tally(rows: Sequence[Row]) -> dict[Status, int]:
    """Return the number of rows of each status."""
    return {status: sum(row.status is status for row in rows) for status in Status}


def failures(rows: Sequence[Row]) -> int:
    """Return the number of reproduced rows that show a failure of a law."""
    return sum(row.fault for row in rows if row.status is Status.reproduced)


def _summary(of: dict[str, list[Made]], made: Sequence[Made]) -> Table:
    lines = [TableRow((name, str(len(some)), *counts(some)), to=name) for name, some in of.items()]
    if len(of) > 1:
        lines.append(TableRow(("all", str(len(made)), *counts(made))))
    return Table(("paper", "items", *COUNTS), tuple(lines), ("items", *COUNTS))


def _warnings(made: Sequence[Made]) -> list[str]:
    sentences = [
        f"{one.task.paper} {one.task.item} could not be made: {one.error}"
        for one in made
        if one.error
    ]
    open_rows = [
        f"{one.task.paper} {one.task.item}, {row.quantity}"
        for one in made
        for row in one.rows
        if row.why == UNEXPLAINED
    ]
    if open_rows:
        sentences.append("Rows that differ and are not explained yet: " + "; ".join(open_rows))
    return sentences


def _settings(seconds: float, jobs: int) -> Table:
    about = {
        "made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, in {seconds:.0f} s by {jobs} "
        + ("process" if jobs == 1 else "processes"),
        "system": f"{platform.system()}, {os.cpu_count()} cores",
        **machine(),
        "data of others": "as HEELSTRIKE_DATA says"
        if os.environ.get("HEELSTRIKE_DATA")
        else "none: HEELSTRIKE_DATA is not set",
    }
    return Table(
        ("setting", "value"), tuple(TableRow((key, value)) for key, value in about.items())
    )


def _paper(of: Paper, made: Sequence[Made]) -> Section:
    items = [
        TableRow(
            (one.task.item, _title(one), *counts([one]), f"{one.seconds:.1f}"), to=_anchor(one)
        )
        for one in made
    ]
    numbers = (*COUNTS, "seconds")
    blocks = (
        Paragraph(f"{of.authors}: {of.title}. {of.source}."),
        Table(("item", "what", *numbers), tuple(items), numbers),
    )
    errata = Section("Errata", f"{of.name}-errata", (errata_table(of.errata),))
    return Section(of.name, of.name, blocks, (*map(_item, made), errata))


def _item(one: Made) -> Section:
    blocks: list[Block] = []
    if one.result is None:
        blocks.append(Paragraph(f"Could not be made: {one.error}"))
    else:
        blocks.append(Paragraph(one.result.claim))
        if one.rows:
            numbers = ("closed form", "ours", "within")
            blocks.append(Table(ROW, tuple(_lines(one.rows)), numbers))
        if one.picture is not None:
            blocks.append(Picture(one.picture, f"{one.task.item}: {one.result.title}"))
    blocks.append(Paragraph(f"heelstrike paper {one.task.paper} {one.task.item}", code=True))
    return Section(f"{one.task.item}: {_title(one)}", _anchor(one), tuple(blocks))


def _lines(rows: Sequence[Row]) -> Iterator[TableRow]:
    """Return a remark that a row shares with the one above, of the same status, is not told
    again.
    """
    last: Row | None = None
    for row in rows:
        numbers = (written(row.theirs), written(row.closed_form), written(row.ours), row.within)
        again = last is not None and (last.why, last.status) == (row.why, row.status)
        why = "as above" if again and row.why else row.why
        yield TableRow((row.quantity, *numbers, row.status.value, why), kind=row.status.value)
        last = row


def _title(one: Made) -> str:
    return one.result.title if one.result else paper(one.task.paper).item(one.task.item).summary


def _anchor(one: Made) -> str:
    return f"{one.task.paper}-{one.task.item}"
