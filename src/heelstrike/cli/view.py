"""`heelstrike view`: show recordings, or a scene while it is simulated, in the browser."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heelstrike.cli.console import PAGES, output, print_json, will_write
from heelstrike.cli.options import Collide, Json
from heelstrike.cli.run import chosen_scene, compiling
from heelstrike.errors import HeelstrikeError

if TYPE_CHECKING:
    from heelstrike.robot.robot import Robot
    from heelstrike.simulate.scene_file import SceneFile
    from heelstrike.view.browser.run_arrays import RunArrays

RECORDING = ".nc"
"""Suffix of recordings."""
ROBOTS = (".urdf", ".xml")
"""Suffixes of robot files."""


def view(
    things: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RECORDING...|SCENE",
            help="Recordings (.nc files), shown together; or one scene, to simulate.",
        ),
    ] = None,
    robot: Annotated[
        str | None,
        typer.Option(help="Robot to put on a plane; with recordings, the robot's file."),
    ] = None,
    law: Annotated[
        str | None, typer.Option(help="Contact law of every surface of a scene.")
    ] = None,
    collide: Collide = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=VALUE",
            help="Set a value of a scene, such as ground.normal.k=2e4. Repeatable.",
        ),
    ] = None,
    world: Annotated[int, typer.Option(help="World to show of recordings with several.")] = 0,
    export: Annotated[
        Path | None,
        typer.Option(help="Write a page that needs no server, a .html file."),
    ] = None,
    contact: Annotated[
        str | None, typer.Option(help="With --export: contact to plot; default: the most loaded.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to serve on; 0.0.0.0: the network, by a secret address.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(help="Port; default: 8080, or the next free one.")
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address, and open no browser.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show recordings, or a scene while it runs, in the browser."""
    names = things or []
    recordings = _recorded(names, robot)
    if export is not None:
        will_write(export, "a page", PAGES, "--export")
    elif contact is not None:
        raise HeelstrikeError("--contact needs --export", remedy="pass --export FILE.html, too")
    announce = announcer(no_open, as_json)
    if recordings:
        if law is not None or settings or collide is not None:
            raise HeelstrikeError(
                "--law, --collide and --set change a scene, not a recording", remedy="pass a scene"
            )
        runs = _recordings(recordings, world, robot)
        _page(runs, export, contact, as_json) if export else _watch(runs, announce, host, port)
        return
    options = {"--law": law, "--collide": collide}
    scene = chosen_scene(names[0] if names else None, robot, options, settings or [])
    if export:
        _page([_simulated(scene)], export, contact, as_json)
    else:
        _live(scene, announce, host, port)


def _recorded(names: list[str], robot: str | None) -> list[str]:
    """Return the names if they are recordings, none if they are a scene; else raise."""
    if not names and robot is None:
        raise HeelstrikeError(
            f"pass recordings ({RECORDING}), a scene, or --robot",
            remedy="`heelstrike list scenes` prints the bundled scenes; a .toml file is one, too",
        )
    recordings = [name for name in names if _is_recording(name)]
    if recordings and len(recordings) < len(names):
        other = next(name for name in names if name not in recordings)
        raise HeelstrikeError(
            f"'{other}' is not a recording ({RECORDING})",
            remedy="pass either recordings or one scene",
        )
    if not recordings and len(names) > 1:
        raise HeelstrikeError(
            f"{len(names)} scenes cannot be shown together",
            remedy=f"pass one scene, or recordings ({RECORDING})",
        )
    if names and Path(names[0]).suffix in ROBOTS:
        raise HeelstrikeError(
            f"'{names[0]}' is a robot, not a scene",
            remedy=f"put it on a plane: heelstrike view --robot {names[0]}",
        )
    return recordings


def _is_recording(name: str) -> bool:
    """Return whether a name is a recording: by its suffix, or a file that is no scene or robot."""
    path = Path(name)
    return path.suffix == RECORDING or (
        os.path.isfile(path) and path.suffix not in (".toml", *ROBOTS)
    )


def _recordings(names: list[str], world: int, robot: str | None) -> list[RunArrays]:
    """Load recordings of one robot, labelled by their files."""
    from heelstrike.record.recording import Recording
    from heelstrike.robot import load
    from heelstrike.view.browser import run_arrays

    own = load(robot) if robot is not None else None
    runs: list[RunArrays] = []
    for k, name in enumerate(names):
        run = Recording.load(name)
        same = runs[0].robot if runs and runs[0].info["robot"] == run.info["robot"] else None
        found = own or same or _robot(name, run)
        label = Path(name).stem
        taken = label in [other.label for other in runs]
        runs.append(run_arrays(run, f"{label} {k + 1}" if taken else label, world, found))
        if runs[k].info["robot"] != runs[0].info["robot"]:
            raise HeelstrikeError(
                f"'{names[0]}' is a recording of {runs[0].info['robot']}, '{name}' of "
                f"{run.info['robot']}",
                remedy="show recordings of one robot together",
            )
    return runs


def _robot(name: str, run: object) -> Robot:
    try:
        return run.robot  # type: ignore[attr-defined, no-any-return]
    except HeelstrikeError as error:
        raise HeelstrikeError(
            f"cannot load the robot of '{name}' ({error})", remedy="name its file by --robot"
        ) from error


def _simulated(scene: SceneFile) -> RunArrays:
    """Run a scene from its start to its end."""
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


def _watch(
    runs: list[RunArrays], announce: Callable[[str], None], host: str, port: int | None
) -> None:
    from heelstrike.view.browser import watch

    watch(runs, announce, host, port)


def _live(scene: SceneFile, announce: Callable[[str], None], host: str, port: int | None) -> None:
    from heelstrike.view.browser import LiveSimulation, simulate

    with compiling():
        live = LiveSimulation(scene)
    simulate(live, announce, host, port)


def announcer(no_open: bool, as_json: bool) -> Callable[[str], None]:
    """Return a function that prints the address of the page and opens it."""

    def announce(url: str) -> None:
        if as_json:
            print_json({"url": url})
        else:
            output().print(f"{url}  (Ctrl-C stops the server)", markup=False, soft_wrap=True)
        sys.stdout.flush()
        if not no_open:
            import webbrowser

            webbrowser.open(url)

    return announce
