"""The scene of `heelstrike run --robot`: one robot on a plane, without a scene file.

A robot whose file has no servo gains gets gains that hold it (scene/holding.py). A URDF that rests
on nothing but its base link is an arm or a hand, and its base is fixed. The law of the plane is
chosen in simulate/robot_scene.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeWarning
from heelstrike.robot import Robot, bundled, load
from heelstrike.robot.placement import (
    joints_into_range,
    lowest_height,
    lowest_place,
    placements,
)
from heelstrike.scene.files.document import Document, Key
from heelstrike.scene.holding import holding_gains

GROUND = "ground"
SAME_HEIGHT = 0.003
"""Points within this height of the lowest one touch together [m]."""


def robot_on_plane(
    robot: str, collide: str | Sequence[str] | None = None, dropped: bool = False
) -> Document:
    """Return the document of a scene in which a robot stands on a plane.

    The robot stands on its lowest contact points, under its own servo or under one that holds it.

    Args:
        robot: a bundled name, or a path to .urdf or .xml.
        collide: shapes that collide, as `load` takes them.
        dropped: whether it will be dropped, so that its base is free.
    """
    part: dict[str, Any] = {"model": robot}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)  # raised when the scene loads it
        loaded = load(robot, collide=collide)
        floor = 0.0
        if not dropped and Path(robot).suffix == ".urdf" and is_mounted(loaded):
            part["base"], floor = "fixed", lowest_height(loaded, _first(loaded))
            base = loaded.bodies[0].name
            loaded = load(robot, collide=collide, base="fixed")
    if "base" in part:
        warnings.warn(
            f"{loaded.name} rests on its base '{base}' alone, so the base is fixed; --drop or "
            "--set robot.base=floating frees it",
            HeelstrikeWarning,
            stacklevel=2,
        )
    start = _first(loaded)
    if collide is not None:
        part["collide"] = collide if isinstance(collide, str) else list(collide)
    if not loaded.points and "base" not in part:
        warnings.warn(
            f"{loaded.name} has no contact points and cannot touch the ground: its file has no "
            "collision shapes, or they were left out; define points: --set "
            "'robot.points=[[\"LINK\", [0, 0, 0]]]'",
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
    if floor:
        data["surface"][0]["point"] = [0.0, 0.0, floor]
    if loaded.kp.any() or loaded.kd.any():
        data["servo"] = {}
    elif len(loaded.joints) > stands:
        if moved := joints_into_range(loaded, start):
            part["joints"] = moved
        kp, kd = holding_gains(loaded, start)
        data["servo"] = {"kp": kp, "kd": kd}
    name = robot if robot in bundled() else Path(robot).stem
    overrides: dict[Key, str] = {("robot", 0): f"--robot {robot}"}
    return Document(name, data, folder=Path.cwd(), overrides=overrides)


def is_mounted(robot: Robot) -> bool:
    """Return whether a robot with a free base and joints rests on its base alone, like an arm."""
    moves = any(joint.kind in ("revolute", "prismatic") for joint in robot.joints)
    if robot.joints[0].kind != "free" or not moves or not robot.points:
        return False
    places = placements(robot, _first(robot))
    heights = np.array([lowest_place(point, places[point.body])[2] for point in robot.points])
    near = np.flatnonzero(heights < heights.min() + SAME_HEIGHT)
    return all(robot.points[i].body == 0 for i in near)


def _first(robot: Robot) -> np.ndarray:
    """Return q of the robot's first pose."""
    return np.array(next(iter(robot.poses.values()), robot.neutral))
