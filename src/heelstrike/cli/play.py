"""`heelstrike play SCENE --policy FILE`: run a scene under a policy from an ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heelstrike.cli.console import will_write
from heelstrike.cli.options import (
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
from heelstrike.cli.run import check_film, chosen_scene, compiling, completed, report
from heelstrike.cli.view import announcer
from heelstrike.errors import ParameterError
from heelstrike.interrupts import partial_results

if TYPE_CHECKING:
    from heelstrike.environments.policy import Policy
    from heelstrike.record.recording import Recording
    from heelstrike.simulate.scene_file import SceneFile
    from heelstrike.simulate.simulator import Simulator


def play(
    scene: SceneName = None,
    policy: Annotated[
        Path, typer.Option(help="Policy, an .onnx file with a .toml file beside it.")
    ] = Path("policy.onnx"),
    robot: RobotName = None,
    law: LawName = None,
    drop: Drop = None,
    duration: Duration = None,
    dt: Step = None,
    settings: Settings = None,
    command: Annotated[
        str | None,
        typer.Option(help="What the policy is asked for, numbers such as 0.1,0,0."),
    ] = None,
    mujoco: Annotated[
        bool, typer.Option("--mujoco", help="Let MuJoCo simulate, with the same servo.")
    ] = False,
    view: Annotated[
        bool, typer.Option("--view", help="Show the recording in the browser.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Recording, a .nc file.")] = None,
    film: Annotated[
        Path | None, typer.Option(help="Film of the robot, an .mp4 or .gif file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a scene under a policy; write a recording."""
    from heelstrike.environments.policy import Policy

    if film is not None:
        check_film(film)
    options = {"--law": law, "--drop": drop, "--duration": duration, "--dt": dt}
    made = chosen_scene(scene, robot, options, settings or [])
    kept = out or fresh(f"{made.name}-{policy.stem}", (".nc",))
    will_write(kept, "a recording", (".nc",), "--out")
    player = Policy(policy)
    if command is not None:
        player.command(_numbers(command))
    sim = made.simulator(sensors=player.sensors)
    q0, v0 = made.start
    sim.begin_at(q0, v0)
    with compiling():
        sim.compile()
    with partial_results(kept=True):
        recording = player.play(sim, made.content.simulation.duration, q0=q0, v0=v0)
    whole = completed(made, sim, recording)
    if mujoco:
        recording = _by_mujoco(made, recording, player, sim)
    recording.save(kept)
    film = film if whole else None
    if film is not None:
        recording.film(film)
    files = {"recording": kept, "film": film}
    report(made, recording, whole, files, as_json)
    if view:
        from heelstrike.view.browser import run_arrays, watch

        watch([run_arrays(recording, policy.stem)], announcer(False, as_json))


def _numbers(text: str) -> list[float]:
    """Return numbers that are separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError("--command", text, "numbers such as 0.1,0,0") from None


def _by_mujoco(made: SceneFile, like: Recording, player: Policy, sim: Simulator) -> Recording:
    """Return a recording of the scene under MuJoCo's contact and the same policy."""
    from heelstrike.measure.peer.run import run_mujoco

    q0, v0 = made.start
    sim.reset(q0=q0, v0=v0)
    return run_mujoco(made, like, player.controller(sim).reference)[0]
