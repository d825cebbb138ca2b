"""Names and units of a robot's coordinates: what stands beside q and v in a recording.

A joint of one coordinate lends it its name; the parts of others are told apart by a dot: `root.x`
to `root.qw` of a free joint's position and quaternion, `root.vx` to `root.wz` of its twist.
"""

from __future__ import annotations

from heelstrike.robot.robot import Robot

COORDINATES = {  # kind: parts of q, their units
    "revolute": ("", "rad"),
    "prismatic": ("", "m"),
    "continuous": ("cos sin", "1 1"),
    "spherical": ("qx qy qz qw", "1 1 1 1"),
    "planar": ("x y cos sin", "m m 1 1"),
    "free": ("x y z qx qy qz qw", "m m m 1 1 1 1"),
}
VELOCITIES = {  # kind: parts of v, units of the motions
    "revolute": ("", "rad"),
    "prismatic": ("", "m"),
    "continuous": ("", "rad"),
    "spherical": ("wx wy wz", "rad rad rad"),
    "planar": ("vx vy w", "m m rad"),
    "free": ("vx vy vz wx wy wz", "m m m rad rad rad"),
}


def labels(robot: Robot) -> dict[str, list[str]]:
    """The coordinates `coordinate`, `coordinate_unit`, `joint` and `joint_unit`."""
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
