"""`heelstrike run SCENE`: simulate a scene, or a robot on a plane, and record it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heelstrike.cli.console import PICTURES, errors, output, print_json, say, will_write
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
from heelstrike.cli.outputs import fresh
from heelstrike.errors import HeelstrikeError
from heelstrike.finite import finite
from heelstrike.interrupts import partial_results

if TYPE_CHECKING:
    from heelstrike.record.recording import Recording
    from heelstrike.simulate.scene_file import SceneFile
    from heelstrike.simulate.simulator import Simulator

DIVERGED, INTERRUPTED = 3, 130
"""Exit codes of a run that diverged, and of one that was interrupted."""


def run(
    scene: SceneName = None,
    robot: RobotName = None,
    law: LawName = None,
    drop: Drop = None,
    collide: Collide = None,
    duration: Duration = None,
    dt: Step = None,
    settings: Settings = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Recording, a .nc file.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Picture, a .png file.")] = None,
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Draw no picture.")] = False,
    strip: Annotated[
        bool, typer.Option("--strip", help="Also draw a film strip, PICTURE-strip.png.")
    ] = False,
    film: Annotated[
        Path | None, typer.Option(help="Film of the robot, an .mp4 or .gif file.")
    ] = None,
    speed: Annotated[
        float, typer.Option(help="Speed of the film: 1 real time, 0.1 a tenth of it.")
    ] = 1.0,
    show: Annotated[
        bool, typer.Option("--print", help="Print the scene with all defaults, and do not run it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Simulate a scene; write a recording and a picture."""
    options = {
        "--law": law, "--drop": drop, "--collide": collide, "--duration": duration, "--dt": dt
    }  # fmt: skip
    made = chosen_scene(scene, robot, options, settings or [])
    if show:
        print(made.text(), end="")
        return
    kept, drawn = _files(made, out, picture, no_picture)
    if film is not None:
        check_film(film)
    try:
        recording, whole = _simulate(made)
        recording.save(kept)
        if not whole:  # pictures would take longer than an end may
            drawn, strip, film = None, False, None
        if drawn is not None:
            _draw(made, recording, drawn)
        frames = (drawn or kept).with_name(f"{(drawn or kept).stem}-strip.png") if strip else None
        if frames is not None:
            recording.film_strip(frames)
        if film is not None:
            recording.film(film, speed=speed)
    except KeyboardInterrupt:
        left = f"{kept} was written" if kept.exists() else "nothing was written"
        say(f"interrupted; {left}", "yellow")
        sys.exit(INTERRUPTED)
    files = {"recording": kept, "picture": drawn, "strip": frames, "film": film}
    report(made, recording, whole, files, as_json)


def _files(
    made: SceneFile, out: Path | None, picture: Path | None, no_picture: bool
) -> tuple[Path, Path | None]:
    """Return the files of recording and picture; raise now if they could not be written."""
    named = out or (Path(made.content.recording.file) if made.content.recording.file else None)
    kept = named or fresh(made.name, (".nc", ".png"))
    will_write(kept, "a recording", (".nc",), "--out")
    drawn = None if no_picture else picture or kept.with_suffix(".png")
    if drawn is not None:
        will_write(drawn, "a picture", PICTURES, "--picture")
    return kept, drawn


def check_film(film: Path) -> None:
    """Raise now if a film could not be written."""
    from heelstrike.view.render import film as films

    will_write(film, "a film", films.SUFFIXES, "--film")
    films.check_film(film)


def chosen_scene(
    scene: str | None, robot: str | None, options: dict[str, Any], settings: list[str]
) -> SceneFile:
    """Return the scene that the command line selects.

    Args:
        scene: bundled name or path of a scene.
        robot: bundled name or path of a robot, in place of a scene.
        options: values of --law, --drop, --collide, --duration and --dt; None where not passed.
        settings: values of --set.
    """
    from heelstrike.scene.files.document import read_scene
    from heelstrike.scene.files.overrides import (
        with_collide,
        with_drop,
        with_law,
        with_settings,
        with_values,
    )
    from heelstrike.simulate.robot_scene import robot_scene
    from heelstrike.simulate.scene_file import SceneFile

    if (scene is None) == (robot is None):
        raise HeelstrikeError(
            "pass either a scene or --robot",
            remedy="`heelstrike list scenes` prints the bundled scenes; a .toml file is one, too",
        )
    passed = {option: value for option, value in options.items() if value is not None}
    collide = _shapes(passed.get("--collide"))
    times = {option: value for option, value in passed.items() if option in ("--duration", "--dt")}

    if robot is not None:
        own = {key.removeprefix("--"): x for key, x in passed.items() if key != "--collide"}
        return robot_scene(robot, **own, collide=collide, settings=settings)
    document = read_scene(str(scene))
    if collide is not None:
        document = with_collide(document, collide)
    if "--law" in passed:
        document = with_law(document, passed["--law"])
    if "--drop" in passed:
        document = with_drop(document, passed["--drop"])
    return SceneFile(with_settings(with_values(document, times), settings))


def _shapes(text: str | None) -> str | list[str] | None:
    """Return the value of --collide: "all", "feet" or a list of names."""
    if text is None or text in ("all", "feet"):
        return text
    return [name.strip() for name in text.split(",")]


def _simulate(made: SceneFile) -> tuple[Recording, bool]:
    """Return the recording, and whether the run was completed."""
    sim = made.simulator()
    with compiling():
        made.compile(sim)
    with partial_results(kept=True):
        recording = made.run_on(sim)
    return recording, completed(made, sim, recording)


def completed(made: SceneFile, sim: Simulator, recording: Recording) -> bool:
    """Return whether a run made all steps of its scene; Ctrl-C ends it before."""
    steps = max(1, round(made.content.simulation.duration / float(sim.parameters["dt"][0])))
    return bool(recording.info["steps"] == steps)


@contextmanager
def compiling() -> Iterator[None]:
    """Show on a terminal that a step is being compiled."""
    console = errors()
    if not console.is_terminal:
        yield
        return
    with console.status("compiling"):
        yield


def _draw(made: SceneFile, recording: Recording, path: Path) -> None:
    """Draw a run: the standard panels, or those of the variables that the scene names."""
    kept = made.content.recording.variables
    recording.plot(None if kept in ("standard", "final") else kept, path=path)


def report(
    made: SceneFile,
    recording: Recording,
    whole: bool,
    files: dict[str, Path | None],
    as_json: bool,
) -> None:
    """Print the results, and exit with a code if the run failed."""
    summary = recording.summary()
    found = summary.as_dict()
    code = INTERRUPTED if not whole else DIVERGED if found["failures"] else 0
    if as_json:
        paths = {name: str(path) if path else None for name, path in files.items()}
        head = {"scene": made.name, "about": made.content.about}
        print_json(finite({**head, "summary": found, "interrupted": not whole, **paths}))
    else:
        console = output()
        console.print(made.content.about or made.name, style="bold", markup=False)
        console.print(str(summary), markup=False, soft_wrap=True)
        for name, path in files.items():
            if path is not None:
                console.print(f"{name:<14}{path}", markup=False, soft_wrap=True)
    if not whole:
        say(f"interrupted after {found['steps']} steps, which were recorded", "yellow")
    if code:
        sys.exit(code)
