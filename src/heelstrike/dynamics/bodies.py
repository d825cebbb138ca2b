"""Rigid inertias of a robot's bodies: constants, except for masses that vary at run time."""

from __future__ import annotations

from collections.abc import Mapping

from heelstrike.robot.robot import Robot
from heelstrike.spatial.inertia import RigidInertia, rigid_inertia
from heelstrike.spatial.vector import SX


def body_inertias(robot: Robot) -> list[RigidInertia]:
    """Return the inertia of every body as constants."""
    return [rigid_inertia(body.mass, body.com, body.inertia) for body in robot.bodies]


def varied_inertias(robot: Robot, masses: Mapping[str, SX]) -> list[RigidInertia]:
    """Return all inertias, with the masses [kg] of the named bodies as symbols.

    A body's moments of inertia grow with its mass; its centre of mass stays.
    """
    bodies = body_inertias(robot)
    for name, mass in masses.items():
        i = robot.body(name)
        per_kilogram = bodies[i].central / robot.bodies[i].mass
        bodies[i] = RigidInertia(mass, bodies[i].com, mass * per_kilogram)
    return bodies
