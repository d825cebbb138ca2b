"""The page of `heelstrike bench --growth`: the shell shows its table, a browser also its figure."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heelstrike.bench.growth import AXES
from heelstrike.view import plot
from heelstrike.view.figures.bench import growth
from heelstrike.view.pages.html import write_html
from heelstrike.view.pages.page import Block, Page, Paragraph, Picture, Section, Table, TableRow

METHOD = (
    "CPU time of one thread per world and step, best turn; a batch of 256 worlds but where worlds "
    "grow. Every size is measured in a process of its own, which compiles with an empty cache."
)
FITTED = (
    "'~ count^' is the exponent p of x^p fitted to all sizes, with its standard error; 'last' is p "
    "between the two largest sizes, where costs that do not grow matter least."
)
CAPTION = "Time per world and step, and time to compile, over the count; logarithmic axes."
Result = Mapping[str, Any]


def write_growth(result: Result, path: str | os.PathLike[str]) -> None:
    """Write the page as one HTML file, completely or not at all."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = plot.save(growth(result["growth"]), Path(folder, "growth.png"), few_colours=True)
        write_html(growth_page(result, (Picture(drawn, CAPTION),)), path)


def growth_page(result: Result, pictures: tuple[Block, ...] = ()) -> Page:
    """Return the page; `pictures` stand below its tables."""
    about = [METHOD, *(AXES[name].about for name in result["axes"])]
    busy = f"{result['load_before']:.1f} processes before the run"
    made = f"{result['machine']['cpu']}, {result['date']}, {busy}: {result['command']}"
    return Page(
        "Figures of growth",
        tuple(map(Paragraph, [" ".join(about), *result["notes"]])),
        (
            Section("Exponents", "exponents", (Paragraph(FITTED), exponents(result["growth"]))),
            Section("Sizes", "sizes", (sizes(result["growth"]), *pictures)),
            Section("Machine", "machine", (Paragraph(made, code=True),)),
        ),
    )


def exponents(found: Result) -> Table:
    """Return the table of exponents, a row per curve."""
    rows = []
    for name, each in found.items():
        cells = [_power(each.get(f"{key}_growth")) for key in ("us", "compile_s")]
        rows.append(TableRow((name, *(cell for pair in cells for cell in pair))))
    names = ("with", "step ~ count^", "last", "compile ~ count^", "last ")
    return Table(names, tuple(rows), names[1:])


def sizes(found: Result) -> Table:
    """Return the table of times, a row per size."""
    rows = []
    for name, each in found.items():
        for k, point in enumerate(each["curve"]):
            compiled = f"{point['compile_s']:.2f}" if "compile_s" in point else ""
            cells = f"{point['count']:,}", f"{point['us']:#.3g}", compiled
            peak = f"{point['bytes'] / 1e6:.0f}"
            rows.append(TableRow(("" if k else name, *cells, peak)))
    names = ("with", "count", "us per step", "compiled, s", "memory, MB")
    return Table(names, tuple(rows), names[1:])


def _power(found: Mapping[str, float | None] | None) -> tuple[str, str]:
    if found is None:
        return "", ""
    error = "" if found["error"] is None else f" +- {found['error']:.2f}"
    return f"{found['exponent']:.2f}{error}", f"{found['last']:.2f}"
