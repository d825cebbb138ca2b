"""What a loaded robot has, as plain data: for `heelstrike inspect` and for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from heelstrike.robot.actuators import Actuator, Arms, Path
from heelstrike.robot.fidelity import lost
from heelstrike.robot.robot import WORLD, Joint, Robot


def describe(robot: Robot) -> dict[str, Any]:
    """Return joints, bodies, contacts, actuators, springs and differences from the file.

    Limits that do not exist are None; vectors are lists.
    """
    return {
        "name": robot.name,
        "velocities": robot.nv,
        "mass": float(robot.mass),
        "gravity": [float(x) for x in robot.gravity_vector],
        "poses": list(robot.poses),
        "joints": [_joint(robot, joint) for joint in robot.joints],
        "bodies": [_body(robot, i) for i in range(len(robot.bodies))],
        "contacts": _contacts(robot),
        "actuators": [_actuator(robot, actuator) for actuator in robot.actuators],
        "tendons": [
            {
                "name": tendon.name,
                "joints": _names(robot, tendon.arms),
                "stiffness": tendon.stiffness,
                "damping": tendon.damping,
                "limit": _ends(tendon.limit),
            }
            for tendon in robot.tendons
        ],
        "spatial_tendons": [
            {
                "name": cord.name,
                "bodies": _bodies_of(robot, cord.path),
                "stiffness": cord.stiffness,
                "damping": cord.damping,
                "limit": _ends(cord.limit),
            }
            for cord in robot.spatial_tendons
        ],
        "drags": [
            {
                "body": robot.bodies[drag.body].name,
                "box": [float(x) for x in drag.box],
                "density": drag.density,
                "viscosity": drag.viscosity,
                "wind": [float(x) for x in drag.wind],
            }
            for drag in robot.drags
        ],
        "constraints": [
            {
                "name": constraint.name,
                "kind": type(constraint).__name__,
                "bodies": [robot.bodies[body].name for body in constraint.bodies],
            }
            for constraint in robot.constraints
        ],
        "fidelity": [
            {
                "what": difference.what,
                "element": difference.element,
                "concerns": difference.concerns,
                "why": difference.why,
            }
            for difference in robot.fidelity
        ],
        "as_the_file_says": not lost(robot.fidelity),
    }


def _joint(robot: Robot, joint: Joint) -> dict[str, Any]:
    at, scalar = joint.iv, joint.nq == 1
    springs = [s.stiffness for s in robot.springs if robot.joints[s.joint] is joint]
    cones = [c.angle for c in robot.cones if robot.joints[c.joint] is joint]
    return {
        "name": joint.name,
        "kind": joint.kind,
        "parent": "world" if joint.parent == WORLD else robot.joints[joint.parent].name,
        "lower": _finite(robot.lower[joint.iq]) if scalar else None,
        "upper": _finite(robot.upper[joint.iq]) if scalar else min(cones, default=None),
        "torque_limit": _finite(robot.torque_limit[at]),
        "velocity_limit": _finite(robot.velocity_limit[at]),
        "armature": float(robot.armature[at]),
        "damping": float(robot.damping[at]),
        "friction": float(robot.friction[at]),
        "stiffness": float(sum(springs)),
        "kp": float(robot.kp[at]),
        "kd": float(robot.kd[at]),
    }


def _body(robot: Robot, i: int) -> dict[str, Any]:
    body = robot.bodies[i]
    shapes = [shape for shape in robot.shapes if shape.body == i]
    return {
        "name": body.name,
        "mass": float(body.mass),
        "com": [float(x) for x in body.com],
        "moments": [float(x) for x in np.linalg.eigvalsh(body.inertia)],
        "compensated_mass": float(body.lifted),
        "collides": dict(Counter(shape.kind for shape in shapes if shape.collides)),
        "drawn": sum(not shape.collides for shape in shapes),
        "points": sum(point.body == i for point in robot.points),
    }


def _contacts(robot: Robot) -> dict[str, Any]:
    moving = [shape for shape in robot.shapes if shape.body != WORLD]
    return {
        "points": len(robot.points),
        "feet": sorted({robot.bodies[p.body].name for p in robot.points if p.foot}),
        "shapes": dict(Counter(shape.kind for shape in moving if shape.collides)),
        "meets_floor": sum(shape.collides and shape.meets_floor for shape in moving),
        "self_pairs": len(robot.self_pairs),
        "hull_error": max((float(shape.hull_error) for shape in moving), default=0.0),
    }


def _actuator(robot: Robot, actuator: Actuator) -> dict[str, Any]:
    acts = _names(robot, actuator.arms)
    if actuator.path:
        acts = _bodies_of(robot, actuator.path)
    if actuator.wrench is not None:
        acts = [robot.bodies[actuator.wrench.body].name]
    return {
        "name": actuator.name,
        "kind": actuator.kind,
        "acts_on": acts,
        "arms": [arm for _, arm in actuator.arms],
        "gain": list(actuator.gain),
        "bias": list(actuator.bias),
        "dynamics": actuator.dynamics,
        "time_constant": actuator.time_constant,
        "control_range": _ends(actuator.control_range),
        "force_range": _ends(actuator.force_range),
        "activation_range": _ends(actuator.activation_range),
    }


def _names(robot: Robot, arms: Arms) -> list[str]:
    joints = {joint.iv: joint.name for joint in robot.joints}
    return [joints[at] for at, _ in arms]


def _bodies_of(robot: Robot, path: Path) -> list[str]:
    return ["world" if body == WORLD else robot.bodies[body].name for body, _ in path]


def _ends(ends: Iterable[float] | None) -> list[float | None] | None:
    return None if ends is None else [_finite(end) for end in ends]


def _finite(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None
