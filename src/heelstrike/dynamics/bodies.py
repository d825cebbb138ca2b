"""Rigid inertias of a robot's bodies: constants, except for masses that vary at run time."""

from __future__ import annotations

from collections.abc import Sequence

from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot
from heelstrike.spatial.inertia import RigidInertia, rigid_inertia


def body_inertias(robot: Robot) -> list[RigidInertia]:
    """Return the inertia of every body as constants."""
    return [rigid_inertia(body.mass, body.com, body.inertia) for body in robot.bodies]


def varied_inertias(p: Program, robot: Robot, names: Sequence[str]) -> list[RigidInertia]:
    """Return all inertias, with the masses [kg] of the named bodies as inputs "NAME.mass".

    A body's moments of inertia grow with its mass; its centre of mass stays.
    """
    bodies = body_inertias(robot)
    for name in names:
        i = robot.body(name)
        mass = p.input(f"{name}.mass", 1)
        per_kilogram = bodies[i].central / robot.bodies[i].mass
        bodies[i] = RigidInertia(mass, bodies[i].com, mass * per_kilogram)
    return bodies
