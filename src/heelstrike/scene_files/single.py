"""A robot alone on a plane, as a scene that no file holds."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from heelstrike.errors import HeelstrikeWarning
from heelstrike.robot import bundled, load
from heelstrike.scene_files.document import Document, Key

GROUND = "ground"


def alone(robot: str) -> Document:
    """It stands on its lowest contact points, under its own servo where its file has gains."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)  # told when the scene loads it
        loaded = load(robot)
    part: dict[str, Any] = {"model": robot}
    if loaded.joints[0].kind == "free" and loaded.points:
        part["drop"] = 0.0
    data: dict[str, Any] = {
        "about": f"{loaded.name} on a plane",
        "robot": [part],
        "surface": [{"type": "plane", "name": GROUND}],
    }
    if loaded.kp.any() or loaded.kd.any():
        data["servo"] = {}
    name = robot if robot in bundled() else Path(robot).stem
    given: dict[Key, str] = {("robot", 0): f"--robot {robot}"}
    return Document(name, data, folder=Path.cwd(), given=given)
