"""`heelstrike export SCENE`: write the compiled step of a scene, for use without Heelstrike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from heelstrike.cli.console import folder_of, output, print_json, table
from heelstrike.cli.options import Json, RobotName, SceneName, Settings
from heelstrike.cli.outputs import fresh
from heelstrike.cli.run import chosen_scene


def export(
    scene: SceneName = None,
    robot: RobotName = None,
    settings: Settings = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Output, a .hs file.")] = None,
    c: Annotated[
        Path | None, typer.Option("--c", help="Write C to this folder: header, object and library.")
    ] = None,
    width: Annotated[int, typer.Option(min=1, help="Number of worlds per call.")] = 1,
    as_json: Json = False,
) -> None:
    """Write the compiled step of a scene, for this CPU or as C."""
    from heelstrike.runtime.compiler import compile_program
    from heelstrike.runtime.export import export as write
    from heelstrike.runtime.export_c import export_c

    made = chosen_scene(scene, robot, {}, settings or [])
    kernel = compile_program(
        made.simulator().program, width=width, dtype=made.content.simulation.dtype
    )
    note = ""
    if c is not None:
        folder_of(c / "step.h", "--c")
        files = export_c(kernel, c)
        paths = [path for path in (files.header, files.object, files.library) if path]
        note = files.note
    else:
        path = out or fresh(made.name, (".hs",))
        folder_of(path)
        paths = [write(kernel, path)]
    ports = [
        {"name": port.name, "kind": kind, "size": port.size}
        for kind in ("inputs", "tables", "memory", "outputs")
        for port in getattr(kernel.layout, kind)
    ]
    found = {"scene": made.name, "files": [str(path) for path in paths], "note": note}
    if as_json:
        print_json({**found, "ports": ports})
    else:
        _show(found, ports)


def _show(found: dict[str, Any], ports: list[dict[str, Any]]) -> None:
    console = output()
    made = table(
        f"Ports of the step of {found['scene']}", "port", "kind", "size", numbers=("size",)
    )
    for port in ports:
        made.add_row(port["name"], port["kind"], str(port["size"]))
    console.print(made)
    for path in found["files"]:
        console.print(f"wrote {path}", markup=False, soft_wrap=True)
    if found["note"]:
        console.print(found["note"], markup=False, soft_wrap=True)
