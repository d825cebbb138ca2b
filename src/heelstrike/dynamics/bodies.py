"""The rigid inertias of a robot's bodies: constants, but for masses that vary at run time."""

from __future__ import annotations

from collections.abc import Sequence

from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot
from heelstrike.spatial.inertia import RigidInertia, rigid


def body_inertias(robot: Robot) -> list[RigidInertia]:
    """Of every body, as constants."""
    return [rigid(body.mass, body.com, body.inertia) for body in robot.bodies]


def varied_inertias(p: Program, robot: Robot, names: Sequence[str]) -> list[RigidInertia]:
    """The same with the masses [kg] of the named bodies as inputs "NAME.mass".

    A body's inertia grows with its mass; its centre stays.
    """
    bodies = body_inertias(robot)
    for name in names:
        i = robot.body(name)
        mass = p.input(f"{name}.mass", 1)
        per_kilogram = bodies[i].central / robot.bodies[i].mass
        bodies[i] = RigidInertia(mass, bodies[i].com, mass * per_kilogram)
    return bodies
