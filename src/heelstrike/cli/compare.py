"""`heelstrike compare SCENE --laws a,b,c`: a scene under several laws, by the same measures."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heelstrike.cli.console import PAGES, output, print_json, progress, table, will_write
from heelstrike.cli.options import Depth, Json, Restitution, RobotName, SceneName, Settings
from heelstrike.cli.run import chosen_scene
from heelstrike.errors import HeelstrikeError

if TYPE_CHECKING:
    from rich.table import Table

    from heelstrike.measure.table import Entry


def compare(
    scene: SceneName = None,
    robot: RobotName = None,
    laws: Annotated[
        str, typer.Option(help="Names of laws, separated by commas; scene: its own; or all.")
    ] = "scene,hunt-crossley,implicit,rigid",
    dt: Annotated[
        str | None, typer.Option(help="Time steps, separated by commas [s]: 0.5e-3,1e-3,2e-3.")
    ] = None,
    mujoco: Annotated[bool, typer.Option("--mujoco", help="Also run the scene in MuJoCo.")] = False,
    depth: Depth = 1e-3,
    restitution: Restitution = 0.3,
    settle: Annotated[
        float | None, typer.Option(help="Time to leave out at the start [s]; default: half.")
    ] = None,
    settings: Settings = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page with pictures, a .html file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare laws and time steps on a scene, by the same measures."""
    from heelstrike.measure.laws import compare_laws, law_names

    if html is not None:
        will_write(html, "a page", PAGES, "--html")
    made, steps = chosen_scene(scene, robot, {}, settings or []), _steps(dt)
    count = (len(law_names(laws)) + mujoco) * len(steps or [0])
    with progress(count) as report:
        found = compare_laws(made, laws, steps, mujoco, depth, restitution, settle, report=report)
    if html is not None:
        from heelstrike.view.pages.comparison import write_page

        write_page(found, html)
    values = found.as_dict()
    if as_json:
        from heelstrike.machine import machine
        from heelstrike.measure.verdict import verdict

        print_json(
            {
                **values,
                "verdict": verdict(values["columns"]),
                "machine": machine(),
                "page": str(html) if html else None,
            }
        )
        return
    _show(values)
    if html is not None:
        output().print(f"page          {html}", markup=False, soft_wrap=True)


def _steps(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(word) for word in text.split(",")]
    except ValueError as error:
        raise HeelstrikeError(
            f"--dt {text}: not a list of numbers",
            path="--dt",
            value=text,
            allowed="time steps in seconds, separated by commas: 0.5e-3,1e-3",
        ) from error


def _show(values: dict[str, Any]) -> None:
    from heelstrike.measure.table import GROUPS
    from heelstrike.measure.verdict import verdict

    console = output()
    console.print(values["about"] or values["scene"], style="bold", markup=False)
    console.print(
        f"{values['duration']:g} s; measures leave out the first {values['settle']:g} s",
        markup=False,
    )
    for title, entries in GROUPS.items():
        console.print()
        console.print(_group(title, entries, values["columns"]))
    console.print()
    for sentence in verdict(values["columns"]):
        console.print(textwrap.fill(sentence, console.width, subsequent_indent="  "), markup=False)
    console.print()
    for text in _words(values["columns"]):
        console.print(textwrap.fill(text, console.width, subsequent_indent="  "), markup=False)


def _words(columns: list[dict[str, Any]]) -> list[str]:
    """Return a line about each law, once for all steps that share it, and all messages."""
    names: dict[str, list[str]] = {}
    for column in columns:
        names.setdefault(column["words"], []).append(column["name"])
    laws = [f"{'; '.join(of)}: {words}" for words, of in names.items()]
    return laws + [f"{c['name']}: {said}" for c in columns for said in c["said"]]


def _group(title: str, entries: tuple[Entry, ...], columns: list[dict[str, Any]]) -> Table:
    from heelstrike.measure.table import cell, failure

    heads = tuple(f"{entry.label}\n[{entry.unit}]" for entry in entries)
    made = table(title, "run", *heads, numbers=heads)
    for column in columns:
        gone = failure(column)
        cells = [gone] + [""] * (len(entries) - 1) if gone else [cell(column, e) for e in entries]
        made.add_row(column["name"], *cells)
    return made
