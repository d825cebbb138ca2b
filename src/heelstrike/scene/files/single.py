"""A robot alone on a plane, as a scene that no file holds."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from heelstrike.errors import HeelstrikeWarning
from heelstrike.robot import bundled, load
from heelstrike.scene.files.document import Document, Key
from heelstrike.scene.files.guess import gains, into_range

GROUND = "ground"


def alone(robot: str) -> Document:
    """It stands on its lowest contact points, under its own servo or one that holds it up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)  # told when the scene loads it
        loaded = load(robot)
    start = next(iter(loaded.poses.values()), loaded.neutral)
    part: dict[str, Any] = {"model": robot}
    if not loaded.points:
        warnings.warn(
            f"{loaded.name} has no collision shapes, so nothing of it can touch the ground; name "
            "contact points: --set 'robot.points=[[\"LINK\", [0, 0, 0]]]'",
            HeelstrikeWarning,
            stacklevel=2,
        )
    stands = loaded.joints[0].kind == "free" and bool(loaded.points)
    if stands:
        part["drop"] = 0.0
    data: dict[str, Any] = {
        "about": f"{loaded.name} on a plane",
        "robot": [part],
        "surface": [{"type": "plane", "name": GROUND}],
    }
    if loaded.kp.any() or loaded.kd.any():
        data["servo"] = {}
    elif stands and len(loaded.joints) > 1:
        if moved := into_range(loaded, start):
            part["joints"] = moved
        kp, kd = gains(loaded, start)
        data["servo"] = {"kp": kp, "kd": kd}
    name = robot if robot in bundled() else Path(robot).stem
    given: dict[Key, str] = {("robot", 0): f"--robot {robot}"}
    return Document(name, data, folder=Path.cwd(), given=given)
