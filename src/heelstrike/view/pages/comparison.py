"""The page of a comparison of laws: tables, curves, film strips, settings and limitations."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heelstrike.machine import machine
from heelstrike.measure.table import GROUPS, Entry, cell, failure
from heelstrike.measure.verdict import verdict
from heelstrike.view import plot
from heelstrike.view.figures.comparison import small_multiples
from heelstrike.view.pages.html import write_html
from heelstrike.view.pages.page import Block, Page, Paragraph, Picture, Section, Table, TableRow
from heelstrike.view.render.film_strip import film_strip_figure

if TYPE_CHECKING:
    from heelstrike.measure.laws import LawComparison
    from heelstrike.record.recording import Recording

FRAMES = 6
"""Frames of each film strip."""
LIMITATIONS = (
    "Named laws have the parameters that hs.suggest returns for one depth and one restitution; "
    "other parameters give other rows.",
    "Friction has one coefficient, the scene's mu_k, in every run except 'scene'; laws of bodies "
    "are left out.",
    "The measures exclude the start of the run; peak, impulse and work cover the whole run.",
    "The largest stable step is one of 24 simulated steps up to 20 ms, 26 % apart. It is judged by "
    "the normal force over 1000 steps from the state in which the scene came to rest without "
    "pushes; '-' means that it did not come to rest. A bristle's own limit may be smaller: see "
    "`heelstrike stability`.",
    "Times per step are CPU times of one world, the smallest of seven runs, with everything "
    "recorded; MuJoCo's are of mj_step1 and mj_step2 alone, called from Python, in one run.",
    "In MuJoCo, contact points are spheres of 10 nm or their own radius, boxes have all their "
    "faces, and joint limits are its own constraints; solref, solimp and impratio have their "
    "default values, which trade these numbers against one another.",
)
Result = dict[str, Any]
"""A part of the JSON of `heelstrike compare`."""


def write_page(comparison: LawComparison, path: str | os.PathLike[str]) -> None:
    """Write the page as one HTML file, completely or not at all."""
    with tempfile.TemporaryDirectory() as folder:
        write_html(page(comparison, Path(folder)), path)


def page(comparison: LawComparison, folder: Path) -> Page:
    """Return the page; its pictures are written into `folder`."""
    values = comparison.as_dict()
    columns = values["columns"]
    about = (
        f"Scene: {values['about'] or values['scene']}. {len(columns)} runs of "
        f"{values['duration']:g} s, with the same robot, start, control, contact points and "
        "friction under each law."
    )
    tables = [
        Section(title, f"table-{k}", (_table(entries, columns), _meanings(entries)))
        for k, (title, entries) in enumerate(GROUPS.items())
    ]
    return Page(
        f"{values['scene']}: contact laws side by side",
        (Paragraph(about), *map(Paragraph, verdict(columns))),
        (
            Section("Numbers", "numbers", (_window(values),), tuple(tables)),
            Section("Force and height", "time", _curves(comparison, folder)),
            Section("Film strips", "films", _films(comparison, folder)),
            Section("Laws and the choice of their parameters", "laws", (_laws(columns),)),
            Section("Machine and versions", "machine", (_machine(),)),
            Section("Known limitations", "limits", tuple(map(Paragraph, LIMITATIONS))),
        ),
    )


def _window(values: Result) -> Paragraph:
    return Paragraph(f"The measures exclude the first {values['settle']:g} s.")


def _table(entries: tuple[Entry, ...], columns: list[Result]) -> Table:
    heads = tuple(f"{entry.title or entry.label} [{entry.unit}]" for entry in entries)
    rows = []
    for column in columns:
        failed = failure(column)
        cells = (failed,) + ("",) * (len(entries) - 1) if failed else ()
        rows.append(TableRow((column["name"], *(cells or (cell(column, e) for e in entries)))))
    return Table(("run", *heads), tuple(rows), heads)


def _meanings(entries: tuple[Entry, ...]) -> Paragraph:
    return Paragraph(
        "; ".join(f"{entry.title or entry.label}: {entry.meaning}" for entry in entries) + "."
    )


def _curves(comparison: LawComparison, folder: Path) -> tuple[Block, ...]:
    drawn = small_multiples(comparison)
    if drawn is None:
        return (Paragraph("No law ran."),)
    path = plot.save(drawn, folder / "time.png", few_colours=True)
    caption = (
        "Left: normal force of the ground, logarithmic above the force at rest. Right: height of "
        "the centre of mass. The first row has all laws in one panel; all rows share their axes."
    )
    return (Picture(path, caption),)


def _films(comparison: LawComparison, folder: Path) -> tuple[Block, ...]:
    first: dict[str, Recording] = {}
    for column in comparison.columns:
        if column.run is not None and column.yardsticks.failed < 0:
            first.setdefault(column.law, column.run)
    if not first:
        return (Paragraph("No law ran to its end."),)
    drawn = film_strip_figure(list(first.values()), frames=FRAMES, labels=list(first))
    path = plot.save(drawn, folder / "films.png", few_colours=True)
    return (Picture(path, "The robot at even times under each law; arrows are contact forces."),)


def _laws(columns: list[Result]) -> Table:
    rows = []
    for column in columns:
        reasons = "; ".join(column["reasons"]) or "default parameters"
        notes = " ".join(column["said"])
        rows.append(TableRow((column["name"], column["words"], f"{reasons}. {notes}".strip())))
    return Table(("run", "law", "reasons"), tuple(rows))


def _machine() -> Table:
    rows = tuple(TableRow((name, value)) for name, value in machine().items())
    return Table(("property", "value"), rows)
