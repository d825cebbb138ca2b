"""`heelstrike bench`: speed on this machine, compared with MuJoCo."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heelstrike.cli.console import (
    PAGES,
    errors,
    output,
    print_json,
    progress,
    say,
    table,
    will_write,
)
from heelstrike.cli.options import Json
from heelstrike.cli.run import INTERRUPTED
from heelstrike.errors import HeelstrikeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from heelstrike.bench.history import Change
    from heelstrike.view.pages.page import Block, Page, Section

SLOWER = 3
"""Exit code where something became slower."""
NUMBERS = ("before", "now", "time", "noise")
"""Columns of the changes that are aligned right."""


def bench(
    robots: Annotated[
        str, typer.Option(help="Bundled names or MJCF files, separated by commas; default: some.")
    ] = "",
    laws: Annotated[
        str, typer.Option(help="Names of laws, separated by commas; default: all.")
    ] = "",
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Measure hoap1 and two laws only, in less than a minute."),
    ] = False,
    growth: Annotated[
        bool,
        typer.Option("--growth", help="Measure growth with joints, points, surfaces and worlds."),
    ] = False,
    axes: Annotated[
        str, typer.Option(help="Of --growth: names separated by commas; default: all four.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write all figures, a .json file.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page with pictures, a .html file.")
    ] = None,
    history: Annotated[
        Path | None, typer.Option(help="Append the ratios of this commit, a .jsonl file.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(help="Name what became slower since this .json or .jsonl; exit with 3."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure speed, accuracy and memory, and compare with MuJoCo."""
    from heelstrike.bench.bench import Wanted
    from heelstrike.bench.bench import bench as measured
    from heelstrike.bench.history import HISTORY, append, compare, read_entry
    from heelstrike.bench.results import write_results
    from heelstrike.view.pages.bench import page, write_page

    if history is not None:
        will_write(history, "a history", (HISTORY,), "--history")
        if history.exists():
            read_entry(history)  # nothing is appended to a file of another kind
    before = read_entry(against) if against is not None else None
    if html is not None:
        will_write(html, "a page", PAGES, "--html")
    if out is not None:
        will_write(out, "figures", (".json",), "--out")
    if growth or axes:
        if robots or laws or history or against:
            raise HeelstrikeError(
                "--growth goes with --axes, --quick, --out, --html and --json alone"
            )
        _growth(_words(axes), quick, out, html, as_json)
        return
    wanted = Wanted(_words(robots), _words(laws), quick)
    with progress(wanted.parts) as report:
        result = measured(wanted, report)
    if out is not None:
        write_results(out, result)
    if html is not None:
        write_page(result, html)
    if history is not None:
        append(history, result)
    changes = [] if before is None else compare(before, result)
    if as_json:
        print_json(result | {"changes": [asdict(each) for each in changes]})
    else:
        _show(page(result), html, out)
    if before is not None:
        _changes(before, changes)


def _changes(before: Mapping[str, Any], changes: Sequence[Change]) -> None:
    """Print what became slower or faster than an earlier result; exit with 3 if anything did."""
    rows = [each for each in changes if each.verdict]
    made = table("", "figure", "before", "now", "time", "noise", "", numbers=NUMBERS)
    for each in rows:
        cells = f"{each.before:.1f}", f"{each.now:.1f}", f"x {each.factor:.2f}", f"{each.limit:.2f}"
        made.add_row(each.name, *cells, each.verdict)
    slower = [each for each in rows if each.verdict == "slower"]
    since = " ".join(word for word in (before["commit"], before["date"], before["cpu"]) if word)
    console = errors()
    if rows:
        console.print(made)
    sentence = f"{len(slower)} of {len(changes)} figures became slower since {since}"
    say(sentence, "red" if slower else "")
    if slower:
        sys.exit(SLOWER)


def _growth(
    axes: tuple[str, ...], quick: bool, out: Path | None, html: Path | None, as_json: bool
) -> None:
    """Measure growth; Ctrl-C shows and keeps the sizes that are done, and exits with 130."""
    from heelstrike.bench.growth import AXES, growth, sizes
    from heelstrike.bench.results import write_results
    from heelstrike.view.pages.growth import growth_page, write_growth

    axes, result, whole = axes or tuple(AXES), None, True
    with progress(len(sizes(axes, quick))) as report:
        try:
            for result in growth(axes, quick, report):
                if out is not None:
                    write_results(out, result)
        except KeyboardInterrupt:
            whole = False
    if result is not None:
        if html is not None:
            write_growth(result, html)
        if as_json:
            print_json(result)
        else:
            _show(growth_page(result), html, out)
    if not whole:
        say(
            "interrupted; " + ("nothing was measured" if result is None else "incomplete"), "yellow"
        )
        sys.exit(INTERRUPTED)


def _show(shown: Page, html: Path | None, out: Path | None) -> None:
    """Print the texts and tables of a page, and the files that were written."""
    console = output()
    for block in shown.blocks:
        _print_block(console, block)
    for section in shown.sections:
        _print(console, section)
    for name, path in (("page", html), ("figures", out)):
        if path is not None:
            console.print(f"{name:14}{path}", markup=False, soft_wrap=True)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _print(console: Console, section: Section) -> None:
    console.print()
    console.print(section.title, style="bold", markup=False)
    for block in section.blocks:
        _print_block(console, block)
    for part in section.sections:
        _print(console, part)


def _print_block(console: Console, block: Block) -> None:
    from heelstrike.view.pages.page import Paragraph, Table

    if isinstance(block, Paragraph):
        console.print(textwrap.fill(block.text, console.width), markup=False)
    elif isinstance(block, Table):
        made = table("", *block.columns, numbers=block.numbers)
        for row in block.rows:
            made.add_row(*row.cells)
        console.print(made)
