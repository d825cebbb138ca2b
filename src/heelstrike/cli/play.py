"""`heelstrike play SCENE --policy FILE`: run a scene under a policy from an ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
    kept = out or fresh(f"{made.name}-{policy.stem}", (".nc",)).with_suffix(".nc")
    will_write(kept, "a recording", (".nc",), "--out")
    player = Policy(policy)
    sim = made.simulator(sensors=player.sensors)
    q0, v0 = made.start
    sim.begin_at(q0, v0)
    with compiling():
        sim.compile()
    recording = player.play(sim, made.content.simulation.duration, q0=q0, v0=v0)
    recording.save(kept)
    if film is not None:
        recording.film(film)
    files = {"recording": kept, "film": film}
    report(made, recording, completed(made, sim, recording), files, as_json)
