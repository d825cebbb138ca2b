"""The rigid inertias of a robot's bodies as constants."""

from __future__ import annotations

from heelstrike.robot.robot import Robot
from heelstrike.spatial.inertia import RigidInertia, rigid


def inertias(robot: Robot) -> list[RigidInertia]:
    return [rigid(body.mass, body.com, body.inertia) for body in robot.bodies]
