"""The scene of `heelstrike run --robot`: one robot on a plane, without a scene file.

A robot whose file has no servo gains gets gains that hold it up,

    kp = 5 m g h,   kd = 0.05 s kp          at every driven joint

A robot of mass m whose centre of mass is h above its lowest contact point tips about an ankle of
stiffness below m g h; five times that holds it, sagging legs included. These values are ours.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeWarning
from heelstrike.robot import Robot, bundled, load
from heelstrike.robot.placement import lowest_height, placements
from heelstrike.scene.files.document import Document, Key

GROUND = "ground"
STIFFNESS_MARGIN = 5.0
"""Stiffness of a joint over m g h, below which the robot tips [1/rad]."""
DAMPING_TIME = 0.05
"""Damping of a joint over its stiffness [s]."""


def robot_on_plane(robot: str, collide: str | Sequence[str] | None = None) -> Document:
    """Return the document of a scene in which a robot stands on a plane.

    The robot stands on its lowest contact points, under its own servo or under one that holds it.

    Args:
        robot: a bundled name, or a path to .urdf or .xml.
        collide: shapes that collide, as `load` takes them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)  # raised when the scene loads it
        loaded = load(robot, collide=collide)
    start = next(iter(loaded.poses.values()), loaded.neutral)
    part: dict[str, Any] = {"model": robot}
    if collide is not None:
        part["collide"] = collide if isinstance(collide, str) else list(collide)
    if not loaded.points:
        warnings.warn(
            f"{loaded.name} has no collision shapes and cannot touch the ground; define contact "
            "points: --set 'robot.points=[[\"LINK\", [0, 0, 0]]]'",
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
        if moved := joints_into_range(loaded, start):
            part["joints"] = moved
        kp, kd = standing_gains(loaded, start)
        data["servo"] = {"kp": kp, "kd": kd}
    name = robot if robot in bundled() else Path(robot).stem
    overrides: dict[Key, str] = {("robot", 0): f"--robot {robot}"}
    return Document(name, data, folder=Path.cwd(), overrides=overrides)


def standing_gains(robot: Robot, q: np.ndarray) -> tuple[float, float]:
    """Return kp [N m/rad] and kd [N m s/rad] that hold up a free robot, to two digits."""
    places = placements(robot, q)
    masses = np.array([body.mass for body in robot.bodies])
    centres = np.array(
        [R @ body.com + p for body, (R, p) in zip(robot.bodies, places, strict=True)]
    )
    height = float(masses @ centres[:, 2] / masses.sum()) - lowest_height(robot, q)
    kp = float(f"{STIFFNESS_MARGIN * robot.mass * robot.gravity * height:.1e}")
    return kp, float(f"{DAMPING_TIME * kp:.1e}")


def joints_into_range(robot: Robot, q: np.ndarray) -> dict[str, float]:
    """Return the joints of one coordinate outside their range at q, with the nearest end of it."""
    found = {}
    for joint in robot.joints:
        if joint.nq == joint.nv == 1:
            inside = float(np.clip(q[joint.iq], robot.lower[joint.iq], robot.upper[joint.iq]))
            if inside != q[joint.iq]:
                found[joint.name] = inside
    return found
