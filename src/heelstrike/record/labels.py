"""Labels of a recording's dimensions: entries of q and v, contact points, bodies.

The coordinate of a joint that has only one is called like the joint. Others have a suffix:
`root.x` to `root.qw` of a free joint's position and quaternion, `root.vx` to `root.wz` of its
twist.
"""

from __future__ import annotations

from heelstrike.record.variables import ray_dimension
from heelstrike.robot.constraints import JointCoupling
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.scene.rays import Rays
from heelstrike.step.plan import StepPlan

COORDINATES = {  # kind: parts of q, their units
    "revolute": ("", "rad"),
    "prismatic": ("", "m"),
    "continuous": ("cos sin", "1 1"),
    "spherical": ("qx qy qz qw", "1 1 1 1"),
    "planar": ("x y cos sin", "m m 1 1"),
    "free": ("x y z qx qy qz qw", "m m m 1 1 1 1"),
}
ROWS = ("x", "y", "z", "rx", "ry", "rz")
"""Rows of a constraint between two frames."""
VELOCITIES = {  # kind: parts of v, units of the motions
    "revolute": ("", "rad"),
    "prismatic": ("", "m"),
    "continuous": ("", "rad"),
    "spherical": ("wx wy wz", "rad rad rad"),
    "planar": ("vx vy w", "m m rad"),
    "free": ("vx vy vz wx wy wz", "m m m rad rad rad"),
}


def joint_labels(robot: Robot) -> dict[str, list[str]]:
    """Return the coordinates `coordinate`, `coordinate_unit`, `joint` and `joint_unit`."""
    found: dict[str, list[str]] = {
        "coordinate": [],
        "coordinate_unit": [],
        "joint": [],
        "joint_unit": [],
    }
    for joint in robot.joints:
        for of, table in (("coordinate", COORDINATES), ("joint", VELOCITIES)):
            parts, units = table[joint.kind]
            found[of] += [f"{joint.name}.{part}" for part in parts.split()] or [joint.name]
            found[f"{of}_unit"] += units.split()
    return found


def dimension_labels(plan: StepPlan) -> dict[str, list[str]]:
    """Return the labels of every dimension of a recording but time."""
    pairs, robot = plan.scene.pairs, plan.robot
    found = joint_labels(robot)
    if pairs:
        found |= {
            "point": [pair.name for pair in pairs],
            "surface": [plan.scene.surfaces[pair.surface].name for pair in pairs],
            "point_law": [pair.law for pair in pairs],
            "point_body": [
                "world" if pair.point.body == WORLD else robot.bodies[pair.point.body].name
                for pair in pairs
            ],
        }
    if plan.scene.bodies:
        found["body"] = [robot.bodies[i].name for i in plan.scene.bodies]
    contact = plan.scene.shape_contact
    if contact is not None:
        found["slot"] = [str(n) for n in range(contact.slots)]
        found["shape_pair"] = contact.pair_names
    for sensor in plan.sensors:
        if isinstance(sensor.sensor, Rays):
            found[ray_dimension(sensor.name)] = [str(n) for n in range(sensor.size)]
    if robot.constraints:
        found |= constraint_labels(robot)
    if robot.spatial_tendons:
        found["spring"] = [tendon.name for tendon in robot.spatial_tendons]
    return found


def constraint_labels(robot: Robot) -> dict[str, list[str]]:
    """Return the coordinates of constraints and of their rows, with units of their forces."""
    rows, units = [], []
    for constraint in robot.constraints:
        parts = ROWS[: constraint.size] if constraint.size > 1 else ("",)
        rows += [f"{constraint.name}.{part}" if part else constraint.name for part in parts]
        if isinstance(constraint, JointCoupling):
            turns = robot.joints[constraint.joint].kind == "revolute"
            units.append("N m" if turns else "N")
        else:
            units += ["N m" if part.startswith("r") else "N" for part in parts]
    return {
        "constraint": [constraint.name for constraint in robot.constraints],
        "constraint_row": rows,
        "constraint_unit": units,
    }
