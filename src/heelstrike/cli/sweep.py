"""`heelstrike sweep SCENE --grid PATH=... --random PATH=...`: many worlds over parameters."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heelstrike.cli.console import output, print_json, say
from heelstrike.cli.options import (
    Collide,
    Drop,
    Duration,
    Json,
    LawName,
    RobotName,
    SceneName,
    Settings,
    Step,
)
from heelstrike.cli.outputs import FOLDER
from heelstrike.cli.run import INTERRUPTED, chosen_scene
from heelstrike.errors import HeelstrikeError

if TYPE_CHECKING:
    from heelstrike.simulate.scene_file import SceneFile
    from heelstrike.sweeps.outcome import Sweep


def sweep(
    scene: SceneName = None,
    robot: RobotName = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=VALUES",
            help="Values: 1e3:1e6:log:64, 0:1:11 or 0.2,0.4. Repeatable; grids multiply.",
        ),
    ] = None,
    random: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=RANGE",
            help="Range: 0.9:1.1, 1e3:1e6:log or 1:0.1:normal. Repeatable.",
        ),
    ] = None,
    worlds: Annotated[
        int | None, typer.Option(help="Number of worlds; default: the points of the grid.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of random values.")] = 0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the sweep.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Compute what is missing in the folder.")
    ] = False,
    law: LawName = None,
    drop: Drop = None,
    collide: Collide = None,
    duration: Duration = None,
    dt: Step = None,
    settings: Settings = None,
    device: Annotated[str, typer.Option(help="cpu; cuda; or GPUs by number: cuda:0,1.")] = "cpu",
    math: Annotated[str, typer.Option(help="exact; or fast, on a GPU.")] = "exact",
    dtype: Annotated[str | None, typer.Option(help="float64 or float32.")] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads; default: one per core.")
    ] = None,
    keep: Annotated[
        str | None, typer.Option(help="Results to keep, such as fell,peak_force; default: all.")
    ] = None,
    chunk: Annotated[int | None, typer.Option(min=1, help="Number of worlds per chunk.")] = None,
    ray: Annotated[str | None, typer.Option(help="local, or HOST:PORT of a Ray cluster.")] = None,
    as_json: Json = False,
) -> None:
    """Simulate many worlds over parameters; --resume continues."""
    from heelstrike.sweeps.sweep import sweep as run

    options = {
        "--law": law, "--drop": drop, "--collide": collide, "--duration": duration, "--dt": dt
    }  # fmt: skip
    made = chosen_scene(scene, robot, options, settings or [])
    folder = out or FOLDER / f"{made.name}-sweep"
    try:
        found = run(
            made,
            _pairs("--grid", grid),
            _pairs("--random", random),
            worlds,
            seed,
            folder=folder,
            device=device,
            math=math,
            dtype=dtype,
            threads=threads,
            keep=None if keep is None else [name.strip() for name in keep.split(",")],
            chunk=chunk,
            ray=ray,
            resume=resume,
            progress=True,
        )
        picture = folder / "sweep.png"
        found.plot(picture)
    except KeyboardInterrupt:
        say(f"interrupted; the same command with --resume continues in {folder}", "yellow")
        sys.exit(INTERRUPTED)
    _report(made, found, picture, as_json)


def _report(made: SceneFile, found: Sweep, picture: Path, as_json: bool) -> None:
    """Print what came of a sweep, and its files."""
    summary = found.summary()
    if as_json:
        files = {"data": str(found.path), "picture": str(picture)}
        print_json({"scene": made.name, "summary": summary.as_dict(), **files})
        return
    console = output()
    console.print(made.content.about or made.name, style="bold", markup=False)
    console.print(str(summary), markup=False, soft_wrap=True)
    for name, path in (("data", found.path), ("picture", picture)):
        console.print(f"{name:<14}{path}", markup=False, soft_wrap=True)


def _pairs(option: str, texts: list[str] | None) -> dict[str, str]:
    """Return the values of a repeated option PATH=VALUES by path."""
    found: dict[str, str] = {}
    for text in texts or []:
        path, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not path or not values:
            raise HeelstrikeError(
                f"{option} {text}: not a path and values",
                path=option,
                value=text,
                remedy="write PATH=VALUES; see --help",
            )
        if path in found:
            raise HeelstrikeError(
                f"{option} has two values for {path}", path=option, remedy="keep one"
            )
        found[path] = values
    return found
