"""Rigid inertias of a robot's bodies: constants, except for those that vary at run time."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from heelstrike.robot.robot import Robot
from heelstrike.spatial.inertia import RigidInertia, rigid_inertia
from heelstrike.spatial.vector import SX


def body_inertias(robot: Robot) -> list[RigidInertia]:
    """Return the inertia of every body as constants."""
    return [rigid_inertia(body.mass, body.com, body.inertia) for body in robot.bodies]


def varied_inertias(
    robot: Robot, masses: Mapping[str, SX], coms: Mapping[str, SX], inertias: Mapping[str, SX]
) -> list[RigidInertia]:
    """Return all inertias; masses, centres of mass or whole inertias of some bodies are symbols.

    Args:
        robot: the robot.
        masses: masses [kg]; a body's moments of inertia grow with it, its centre of mass stays.
        coms: centres of mass [m], about which the moments stay as they are.
        inertias: mass, centre of mass, and moments xx yy zz xy xz yz about it, (10,).
    """
    bodies = body_inertias(robot)
    for name, mass in masses.items():
        i = robot.body(name)
        per_kilogram = bodies[i].central / robot.bodies[i].mass
        bodies[i] = RigidInertia(mass, bodies[i].com, mass * per_kilogram)
    for name, com in coms.items():
        i = robot.body(name)
        bodies[i] = RigidInertia(bodies[i].mass, com, bodies[i].central)
    for name, x in inertias.items():
        central = ca.vertcat(
            ca.horzcat(x[4], x[7], x[8]), ca.horzcat(x[7], x[5], x[9]), ca.horzcat(x[8], x[9], x[6])
        )
        bodies[robot.body(name)] = RigidInertia(x[0], x[1:4], central)
    return bodies
