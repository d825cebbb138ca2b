"""The page of a comparison of laws: tables, small multiples, film strips, settings, limits."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heelstrike.machine import machine
from heelstrike.measure.table import GROUPS, Entry, cell, failure
from heelstrike.view import plot
from heelstrike.view.figures.comparison import small_multiples
from heelstrike.view.pages.html import write_html
from heelstrike.view.pages.page import Block, Page, Paragraph, Picture, Section, Table, TableRow
from heelstrike.view.render.film_strip import film_strip_figure

if TYPE_CHECKING:
    from heelstrike.measure.laws import LawComparison

FRAMES = 6
LIMITS = (
    "Named laws have the numbers that hs.suggest gives for one depth and one restitution; other "
    "numbers give other rows.",
    "Friction has one coefficient, the scene's mu_k, in every run but 'scene'; laws of bodies are "
    "left out.",
    "Yardsticks are of the time after the start was left out; peak, impulse and work are of the "
    "whole run.",
    "The largest stable step is one of 24 simulated, 26 % apart, up to 20 ms: 1000 steps from "
    "where the scene came to rest without pushes, by the normal force. '-': it did not. A "
    "bristle's own limit may be less: `heelstrike stability` tells it.",
    "Times of a step are CPU times of one world, the least of seven runs, with everything "
    "recorded; MuJoCo's are of mj_step1 and mj_step2 alone, from Python, in one run.",
    "MuJoCo: contact points are spheres of 10 nm or their own radius, boxes have all their faces, "
    "joint ends are its own constraints; "
    "solref, solimp and impratio are at their defaults, and trade these numbers for one another.",
)


def write_page(found: LawComparison, path: str | os.PathLike[str]) -> None:
    """Writes it as one HTML file, whole or not at all."""
    with tempfile.TemporaryDirectory() as folder:
        write_html(page(found, Path(folder)), path)


def page(found: LawComparison, folder: Path) -> Page:
    """The page; its pictures are written into a folder."""
    values = found.as_dict()
    columns = values["columns"]
    about = (
        f"Scene: {values['about'] or values['scene']}. {len(columns)} runs of "
        f"{values['duration']:g} s: the same robot, start, control, contact points and friction "
        "under each law."
    )
    tables = [
        Section(title, f"table-{k}", (_table(entries, columns), _meanings(entries)))
        for k, (title, entries) in enumerate(GROUPS.items())
    ]
    return Page(
        f"{values['scene']}: contact laws side by side",
        (Paragraph(about),),
        (
            Section("Numbers", "numbers", (_window(values),), tuple(tables)),
            Section("Force and height", "time", _curves(found, folder)),
            Section("Film strips", "films", _films(found, folder)),
            Section("Laws, and why these numbers", "laws", (_laws(columns),)),
            Section("Machine and versions", "machine", (_machine(),)),
            Section("Known limitations", "limits", tuple(map(Paragraph, LIMITS))),
        ),
    )


def _window(values: dict[str, Any]) -> Paragraph:
    return Paragraph(f"Yardsticks leave out the first {values['settle']:g} s.")


def _table(entries: tuple[Entry, ...], columns: list[dict[str, Any]]) -> Table:
    heads = tuple(f"{entry.label} [{entry.unit}]" for entry in entries)
    rows = []
    for column in columns:
        gone = failure(column)
        cells = (gone,) + ("",) * (len(entries) - 1) if gone else ()
        rows.append(TableRow((column["name"], *(cells or (cell(column, e) for e in entries)))))
    return Table(("run", *heads), tuple(rows), heads)


def _meanings(entries: tuple[Entry, ...]) -> Paragraph:
    return Paragraph("; ".join(f"{entry.label}: {entry.meaning}" for entry in entries) + ".")


def _curves(found: LawComparison, folder: Path) -> tuple[Block, ...]:
    drawn = small_multiples(found)
    if drawn is None:
        return (Paragraph("Nothing ran."),)
    path = plot.save(drawn, folder / "time.png", few_colours=True)
    shows = "Left: normal force of the ground. Right: height of the centre of mass. Axes are shared"
    return (Picture(path, f"{shows}; the highest peaks may be cut."),)


def _films(found: LawComparison, folder: Path) -> tuple[Block, ...]:
    first: dict[str, Any] = {}
    for column in found.columns:
        if column.run is not None and column.yardsticks.failed < 0:
            first.setdefault(column.law, column)
    if not first:
        return (Paragraph("Nothing ran to its end."),)
    runs = [column.run for column in first.values()]
    drawn = film_strip_figure(runs, frames=FRAMES, labels=list(first))
    path = plot.save(drawn, folder / "films.png", few_colours=True)
    return (Picture(path, "The robot at even times under each law; arrows are contact forces."),)


def _laws(columns: list[dict[str, Any]]) -> Table:
    rows = []
    for column in columns:
        why = "; ".join(column["reasons"]) or "its defaults"
        said = " ".join(column["said"])
        rows.append(TableRow((column["name"], column["words"], f"{why}. {said}".strip())))
    return Table(("run", "law", "why"), tuple(rows))


def _machine() -> Table:
    return Table(
        ("what", "is"), tuple(TableRow((name, value)) for name, value in machine().items())
    )
