"""`heelstrike paper NAME [ITEM]`: reproduce figures and tables of a paper, theirs beside ours.

`heelstrike paper all` reproduces all papers. `--report DIR` writes the results as one page.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heelstrike.cli.console import errors, folder_of, output, print_json
from heelstrike.cli.options import Json
from heelstrike.cli.outputs import FOLDER
from heelstrike.cli.paper_output import head, line, result_table, verdict
from heelstrike.errors import HeelstrikeError
from heelstrike.papers import NAMES
from heelstrike.papers import paper as find

if TYPE_CHECKING:
    from rich.progress import Progress

    from heelstrike.papers.making import Made, Task

ALL = "all"
MAX_DEFAULT_JOBS = 4
"""Largest default number of processes; each takes half a gigabyte."""


def paper(
    name: Annotated[str | None, typer.Argument(help="Paper, such as marhefka1996, or all.")] = None,
    item: Annotated[str | None, typer.Argument(help="Figure or table, such as fig3.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the pictures; default: heelstrike-runs/papers/NAME."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Folder of report.html and report.md, and of the pictures without --out."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Number of processes; default: one per core, at most 4."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Reproduce figures of a paper; without a name, list papers."""
    if name is None:
        from heelstrike.cli.listing import Kind, list_names

        list_names(Kind.papers, as_json)
        return
    tasks = _tasks(name, item, out or report)
    if report is not None:
        folder_of(report / "report.html", "--report")
    for task in tasks:
        folder_of(task.picture)
    jobs = jobs or min(MAX_DEFAULT_JOBS, os.cpu_count() or 1)
    start = time.perf_counter()
    made = list(_shown(tasks, jobs, name == ALL, as_json))
    made.sort(key=lambda one: tasks.index(one.task))
    seconds = time.perf_counter() - start
    if report is not None:
        _write(report, made, seconds, jobs)
    _report(name, made, seconds, report, as_json)
    failed = [f"{one.task.paper} {one.task.item}: {one.error}" for one in made if one.error]
    if failed:
        raise HeelstrikeError("; ".join(failed))


def _tasks(name: str, item: str | None, folder: Path | None) -> list[Task]:
    """Return the items to reproduce, with the files of their pictures."""
    from heelstrike.papers.making import Task

    if name == ALL and item:
        raise HeelstrikeError(
            f"'{item}' belongs to one paper, not to all",
            remedy=f"name the paper: heelstrike paper NAME {item}",
        )
    wanted = [find(one) for one in (NAMES if name == ALL else (name,))]
    tasks = []
    for one in wanted:
        if item:
            one.item(item)
        place = folder or FOLDER / "papers"
        if name == ALL or folder is None:
            place = place / one.name
        for each in [item] if item else one.items:
            tasks.append(Task(one.name, each, place / f"{each}.png"))
    return tasks


def _shown(tasks: Sequence[Task], jobs: int, brief: bool, silent: bool) -> Iterator[Made]:
    """Reproduce items and print them: tables in order, or (`brief`) lines as they are done."""
    console = output()
    if brief and not silent:
        console.print(head())
    waiting: dict[Task, Made] = {}
    order = list(tasks)
    for one in _made(tasks, jobs):
        yield one
        if silent:
            continue
        if brief:
            console.print(line(one), soft_wrap=True)
            continue
        waiting[one.task] = one
        while order and order[0] in waiting:
            ready = waiting.pop(order.pop(0))
            if ready.result is not None:
                console.print(result_table(ready.result))


def _made(tasks: Sequence[Task], jobs: int) -> Iterator[Made]:
    """Reproduce items, with a progress bar on a terminal."""
    from heelstrike.papers.making import make

    start = time.monotonic()
    with _bar() as bar:
        done, total = 0.0, sum(task.seconds for task in tasks)
        shown = bar.add_task(_doing(tasks, 0), total=total, end=None)
        for count, one in enumerate(make(tasks, jobs), 1):
            done += one.task.seconds
            end = start + (time.monotonic() - start) * total / done
            bar.update(shown, completed=done, description=_doing(tasks, count), end=end)
            bar.stop()  # output takes the place of the bar
            yield one
            bar.start()


def _doing(tasks: Sequence[Task], done: int) -> str:
    names = dict.fromkeys(task.paper for task in tasks)
    what = tasks[0].item if len(tasks) == 1 else f"{done} of {len(tasks)}"
    return f"{next(iter(names)) if len(names) == 1 else 'items'} {what}"


def _bar() -> Progress:
    """Return a progress bar on standard error that disappears before output is printed."""
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Task as Shown
    from rich.text import Text

    class Left(ProgressColumn):
        """Remaining time from all items; Rich's own column uses the last few only."""

        def render(self, task: Shown) -> Text:
            end = task.fields["end"]
            left = None if end is None else max(0, round(end - time.monotonic()))
            return Text("" if left is None else f"about {left // 60}:{left % 60:02d} left")

    console = errors()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        Left(),
        console=console,
        transient=True,
        redirect_stdout=False,
        disable=not console.is_terminal,
    )


def _write(folder: Path, made: Sequence[Made], seconds: float, jobs: int) -> None:
    from heelstrike.papers.document import document
    from heelstrike.view.pages.html import write_html
    from heelstrike.view.pages.markdown import write_markdown

    page = document(made, seconds, jobs)
    write_html(page, folder / "report.html")
    write_markdown(page, folder / "report.md")


def _report(
    name: str, made: Sequence[Made], seconds: float, report: Path | None, as_json: bool
) -> None:
    found = _summary(made, seconds) | {"report": str(report / "report.html") if report else None}
    if as_json:
        print_json(found | _content(name, made))
        return
    if not any(one.result for one in made):
        return
    console = output()
    if name != ALL:
        console.print("theirs: words where the paper prints no number; - where it says nothing.")
        if found["agrees"] or found["meets"]:
            console.print("agrees: with the closed form; meets: a criterion of ours.")
        if found["unknown"]:
            console.print("?: cannot be known; the remark states what the paper leaves out.")
    console.print(verdict(found))
    pictures = [one.picture for one in made if one.picture]
    if pictures:
        place = pictures[0].parent.parent if name == ALL else pictures[0].parent
        console.print(f"Pictures: {place}", markup=False, soft_wrap=True)
    if report is not None:
        console.print(f"Report: {found['report']}", markup=False, soft_wrap=True)


def _content(name: str, made: Sequence[Made]) -> dict[str, Any]:
    """Return the items of one paper, or all papers with their items."""
    if name != ALL:
        one = find(name)
        return {
            "paper": one.name,
            "title": one.title,
            "items": [each.as_dict() for each in made],
        }
    groups = {key: [one for one in made if one.task.paper == key] for key in NAMES}
    return {
        "papers": [
            _summary(some, sum(one.seconds for one in some)) | _content(key, some)
            for key, some in groups.items()
        ]
    }


def _summary(made: Sequence[Made], seconds: float) -> dict[str, Any]:
    from heelstrike.papers.report import Status

    return {
        "rows": sum(len(one.rows) for one in made),
        **{status.name: sum(one.count(status) for one in made) for status in Status},
        "seconds": round(seconds, 3),
    }
