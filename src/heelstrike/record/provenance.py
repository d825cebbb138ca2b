"""What a recording must say so that its run can be repeated."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import heelstrike
from heelstrike.record.labels import labels
from heelstrike.robot.robot import WORLD
from heelstrike.scene.controller import Controller
from heelstrike.scene.scene import bodies_in
from heelstrike.step.control import Direct
from heelstrike.step.plan import StepPlan

PACKAGES = ("casadi", "llvmlite", "numpy", "pin")


def described(plan: StepPlan) -> dict[str, Any]:
    """Robot, scene, laws, control and integrator."""
    scene = plan.scene
    return {
        "robot": plan.robot.name,
        "robot_source": plan.robot.source,
        "scene": {
            "gravity": scene.gravity,
            "surfaces": [
                {
                    "kind": type(s).__name__,
                    **{f.name: getattr(s, f.name) for f in fields(s) if f.name != "law"},
                }
                for s in scene.surfaces
            ],
            "points": [pair.name for pair in scene.pairs],
            "world_points": [[*point.position, point.radius] for point in scene.points],
        },
        "laws": scene.laws,
        "control": _control(plan),
        "integrator": plan.integrator,
    }


def coordinates(plan: StepPlan) -> dict[str, Any]:
    """Labels of a recording's dimensions, but time."""
    pairs, robot = plan.scene.pairs, plan.robot
    found: dict[str, Any] = labels(robot)
    if pairs:
        found |= {
            "point": [pair.name for pair in pairs],
            "surface": [plan.scene.surfaces[pair.surface].name for pair in pairs],
            "point_law": [pair.law for pair in pairs],
            "point_body": [
                "world" if pair.point.body == WORLD else robot.bodies[pair.point.body].name
                for pair in pairs
            ],
            "body": [robot.bodies[i].name for i in bodies_in(plan.scene.pairs)],
        }
    if plan.sensors:
        found["sensor"] = list(plan.sensors)
    return found


def circumstances(parameters: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Parameters, time and versions."""
    return {
        "parameters": {path: value.tolist() for path, value in parameters.items()},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "heelstrike": heelstrike.__version__,
            "python": platform.python_version(),
            **{name: _version(name) for name in PACKAGES},
        },
    }


def _control(plan: StepPlan) -> dict[str, Any] | None:
    control = plan.control
    if isinstance(control, Direct):
        return None
    held = {"control_every": control.control_every} if control.control_every > 1 else {}
    if isinstance(control, Controller):
        code = {"source": control.source} if control.source else {}
        return {"kind": "controller", "name": control.function.__name__, **held, **code}
    late = {"late": control.delay_periods} if control.delay_periods else {}
    table = {} if control.table is None else {"reference": control.table}
    kind = "servo" if control.implicit else "explicit servo"
    return {"kind": kind, **held, **late, **table}


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
