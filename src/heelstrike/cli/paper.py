"""`heelstrike paper NAME [ITEM]`: a paper's figures and tables, made again, theirs beside ours."""

from __future__ import annotations

import string
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heelstrike.cli.console import errors, folder_of, output, print_json, table
from heelstrike.papers import Paper
from heelstrike.papers import paper as find

if TYPE_CHECKING:
    from rich.console import Group
    from rich.progress import Progress
    from rich.text import Text

    from heelstrike.papers.report import Result, Row


LETTERS = string.ascii_lowercase
"""Of remarks; numbers in brackets are the papers' equations."""


@dataclass(frozen=True)
class Made:
    """A result, where its picture is, and how long it took."""

    result: Result
    picture: Path | None
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        picture = str(self.picture) if self.picture else None
        return self.result.as_dict() | {"figure": picture, "seconds": round(self.seconds, 3)}


def paper(
    name: Annotated[str | None, typer.Argument(help="Paper, such as marhefka1996.")] = None,
    item: Annotated[str | None, typer.Argument(help="Figure or table, such as fig3.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the pictures; ./heelstrike-papers/NAME, if not given."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Make the figures of a paper again, theirs beside ours. Without a name, list the papers."""
    if name is None:
        from heelstrike.cli.listing import Kind, list_things

        list_things(Kind.papers, as_json)
        return
    chosen = find(name)
    names = [item] if item else list(chosen.items)
    for wanted in names:
        chosen.item(wanted)
    folder = out or Path("heelstrike-papers") / chosen.name
    console = output()
    made = []
    for one in _make(chosen, names, folder):
        made.append(one)
        if not as_json:
            console.print(_shown(one.result))
    if as_json:
        print_json(_summary(chosen, made) | {"items": [one.as_dict() for one in made]})
        return
    console.print("theirs: in words where the paper prints no number, - where it says nothing.")
    console.print(_verdict(_summary(chosen, made)))
    if any(one.picture for one in made):
        console.print(f"Pictures: {folder}", markup=False, soft_wrap=True)


def _make(chosen: Paper, names: Sequence[str], folder: Path) -> Iterator[Made]:
    """Items one after another; while one is made, a progress bar where there is a terminal."""
    for done, name in enumerate(names):
        start = time.perf_counter()
        with _bar(f"{chosen.name} {name}", done, len(names)):
            result = chosen.run(name)
            picture = None
            if result.draw is not None:
                from heelstrike.view.plot import save

                picture = folder / f"{name}.png"
                folder_of(picture)
                save(result.draw(), picture)
        yield Made(result, picture, time.perf_counter() - start)


def _bar(what: str, done: int, total: int) -> Progress:
    """On standard error; gone before anything is printed, and never in the way of what is."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = errors()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed} of {task.total}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        disable=not console.is_terminal,
    )
    bar.add_task(what, total=total, completed=done)
    return bar


def _summary(chosen: Paper, made: Sequence[Made]) -> dict[str, Any]:
    return {
        "paper": chosen.name,
        "title": chosen.title,
        "rows": sum(len(one.result.rows) for one in made),
        "reproduced": sum(one.result.reproduced for one in made),
        "seconds": round(sum(one.seconds for one in made), 3),
    }


def _verdict(summary: dict[str, Any]) -> Text:
    from rich.text import Text

    whole = summary["rows"] == summary["reproduced"]
    count, rows, seconds = summary["reproduced"], summary["rows"], summary["seconds"]
    sentence = f"{count} of {rows} rows reproduce, in {seconds:.1f} s."
    return Text(sentence, style="green" if whole else "yellow")


def _shown(result: Result) -> Group:
    """One table a figure, its claim above, remarks below."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    heading = Text.assemble((f"{result.name}: {result.title}", "bold"), "\n", result.claim)
    if not result.rows:
        return Group(heading, "")
    numbers = ("closed form", "ours", "within")
    made = table("", "quantity", "theirs", *numbers, "holds", numbers=numbers)
    remarks: list[str] = []
    for row in result.rows:
        if row.remark and row.remark not in remarks:
            remarks.append(row.remark)
        note = f" [{LETTERS[remarks.index(row.remark)]}]" if row.remark else ""
        made.add_row(*_cells(row, note), style="" if row.reproduced else "yellow")
    notes = [
        Text(f"[{letter}] {text}", style="dim")
        for letter, text in zip(LETTERS, remarks, strict=False)
    ]
    return Group(heading, made, *(Padding(note, (0, 0, 0, 2)) for note in notes), "")


def _cells(row: Row, note: str) -> tuple[Text | str, ...]:
    from rich.text import Text

    within = f"{row.tolerance:.2g}" if row.tolerance is not None else ""
    return (
        Text(row.quantity + note),
        Text(_number(row.theirs)),
        _number(row.closed_form),
        _number(row.ours),
        within,
        "yes" if row.reproduced else "NO",
    )


def _number(value: float | str | None) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.6g}"
