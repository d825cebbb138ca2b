"""`heelstrike view`: recordings, or a scene that is simulated, in the browser."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heelstrike.cli.console import PAGES, output, print_json, will_write
from heelstrike.cli.options import Json
from heelstrike.cli.run import chosen_scene, compiling
from heelstrike.errors import HeelstrikeError

if TYPE_CHECKING:
    from heelstrike.robot.robot import Robot
    from heelstrike.simulate.scene_file import SceneFile
    from heelstrike.view.browser.run_arrays import RunArrays

ENDING = ".nc"
"""Of a recording's name."""
ROBOTS = (".urdf", ".xml")


def view(
    things: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RECORDING...|SCENE",
            help="Recordings (.nc files), laid over one another; or one scene, which is simulated.",
        ),
    ] = None,
    robot: Annotated[
        str | None,
        typer.Option(help="A robot alone on a plane; with recordings, the robot they are of."),
    ] = None,
    law: Annotated[str | None, typer.Option(help="Of a scene: the law of every surface.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Of a scene: a value by path, ground.normal.k=2e4. Repeatable."),
    ] = None,
    world: Annotated[int, typer.Option(help="Of recordings with several worlds.")] = 0,
    export: Annotated[
        Path | None,
        typer.Option(help="Write a page that plays without a server, FILE.html; open nothing."),
    ] = None,
    contact: Annotated[
        str | None, typer.Option(help="Of --export: whose curves; the most loaded, if not given.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Who may look: 0.0.0.0 is everybody in the network.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(help="8080, or the next that is free, if not given.")
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address; open no browser.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Look at recordings, or at a scene while it is simulated, in the browser."""
    names = things or []
    if not names and robot is None:
        raise HeelstrikeError(
            f"give recordings ({ENDING}), a scene (`heelstrike list scenes`, or a .toml file) or "
            "--robot"
        )
    recordings = [name for name in names if _is_recording(name)]
    if recordings and len(recordings) < len(names):
        other = next(name for name in names if name not in recordings)
        raise HeelstrikeError(
            f"'{other}' is no recording ({ENDING}); look at recordings, or at one scene"
        )
    if not recordings and len(names) > 1:
        raise HeelstrikeError(f"one scene at a time, not {len(names)}; recordings end in {ENDING}")
    if names and Path(names[0]).suffix in ROBOTS:
        raise HeelstrikeError(
            f"'{names[0]}' is a robot; look at it alone: heelstrike view --robot {names[0]}"
        )
    if export is not None:
        will_write(export, "a page", PAGES, "--export")
    elif contact is not None:
        raise HeelstrikeError("--contact says whose curves an exported page shows: --export FILE")
    told = _told(no_open, as_json)
    if recordings:
        if law is not None or settings:
            raise HeelstrikeError("--law and --set change a scene; a recording is what it is")
        runs = _recordings(recordings, world, robot)
        _page(runs, export, contact, as_json) if export else _watch(runs, told, host, port)
        return
    scene = chosen_scene(names[0] if names else None, robot, {"--law": law}, settings or [])
    if export:
        _page([_simulated(scene)], export, contact, as_json)
    else:
        _live(scene, told, host, port)


def _is_recording(name: str) -> bool:
    """By its ending; or any file that is there and no scene."""
    path = Path(name)
    return path.suffix == ENDING or (path.is_file() and path.suffix not in (".toml", *ROBOTS))


def _recordings(names: list[str], world: int, robot: str | None) -> list[RunArrays]:
    """All of one robot; named by their files."""
    from heelstrike.record.recording import Recording
    from heelstrike.robot import load
    from heelstrike.view.browser import run_arrays

    given = load(robot) if robot is not None else None
    runs: list[RunArrays] = []
    for k, name in enumerate(names):
        run = Recording.load(name)
        same = runs[0].robot if runs and runs[0].info["robot"] == run.info["robot"] else None
        found = given or same or _robot(name, run)
        label = Path(name).stem
        taken = label in [other.label for other in runs]
        runs.append(run_arrays(run, f"{label} {k + 1}" if taken else label, world, found))
        if runs[k].info["robot"] != runs[0].info["robot"]:
            raise HeelstrikeError(
                f"'{names[0]}' is of {runs[0].info['robot']}, '{name}' of {run.info['robot']}; "
                "lay recordings of one robot over one another"
            )
    return runs


def _robot(name: str, run: object) -> Robot:
    try:
        return run.robot  # type: ignore[attr-defined, no-any-return]
    except HeelstrikeError as error:
        raise HeelstrikeError(
            f"the robot of '{name}' cannot be loaded again ({error}); name its file with --robot"
        ) from error


def _simulated(scene: SceneFile) -> RunArrays:
    """A scene's run from its start to its end."""
    from heelstrike.view.browser import run_arrays

    sim = scene.simulator()
    with compiling():
        scene.compile(sim)
    return run_arrays(scene.run_on(sim), scene.name)


def _page(runs: list[RunArrays], path: Path, contact: str | None, as_json: bool) -> None:
    from heelstrike.view.browser import export

    export(runs, path, contact=contact)
    if as_json:
        print_json({"page": str(path)})
    else:
        size = path.stat().st_size / 1e6
        output().print(f"page          {path} ({size:.1f} MB)", markup=False, soft_wrap=True)


def _watch(runs: list[RunArrays], told: Callable[[str], None], host: str, port: int | None) -> None:
    from heelstrike.view.browser import watch

    watch(runs, told, host, port)


def _live(scene: SceneFile, told: Callable[[str], None], host: str, port: int | None) -> None:
    from heelstrike.view.browser import LiveSimulation, simulate

    with compiling():
        live = LiveSimulation(scene)
    simulate(live, told, host, port)


def _told(no_open: bool, as_json: bool) -> Callable[[str], None]:
    """Says where the page is, and opens it."""

    def told(url: str) -> None:
        if as_json:
            print_json({"url": url})
        else:
            output().print(f"{url}  (Ctrl-C ends it)", markup=False, soft_wrap=True)
        sys.stdout.flush()
        if not no_open:
            import webbrowser

            webbrowser.open(url)

    return told
