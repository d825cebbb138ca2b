"""The robot as a whole: centre of mass, momentum, energy, and the wrench and ZMP that its motion
needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.compile.program import Program
from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.robot.robot import Robot
from heelstrike.spatial.motion import Force, Motion
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, cross, zeros


@dataclass(frozen=True)
class Centroidal:
    """In world axes."""

    com: SX
    """Centre of mass [m]."""
    velocity: SX
    """Of the centre of mass [m/s]."""
    momentum: Force
    """Linear [kg m/s], and angular about the centre of mass [kg m^2/s]."""


def centroidal(p: Program, robot: Robot, kin: Kinematics, poses: Sequence[Transform]) -> Centroidal:
    """Sums over the bodies."""
    total = sum((body.mass for body in kin.bodies), SX(0))
    with p.block("centroidal"):
        moment, about_origin = zeros(), Force(zeros(), zeros())
        for body, pose, velocity in zip(kin.bodies, poses, kin.velocities, strict=True):
            moment = moment + body.mass * pose.point(body.com)
            about_origin = about_origin + pose.force_out(body.momentum(velocity))
        com = moment / total
        spin = about_origin.angular - cross(com, about_origin.linear)
        return Centroidal(
            p.let("com", com),
            p.let("com velocity", about_origin.linear / total),
            Force(p.let("momentum", about_origin.linear), p.let("momentum", spin)),
        )


def kinetic_energy(p: Program, robot: Robot, kin: Kinematics, v: SX) -> SX:
    """Of the bodies and, through the armature, of the rotors [J]."""
    with p.block("kinetic energy"):
        rotors = 0.5 * ca.dot(ca.SX(robot.armature), v**2)
        terms = [
            body.energy(velocity) for body, velocity in zip(kin.bodies, kin.velocities, strict=True)
        ]
        return p.let("kinetic", sum(terms, rotors))


def potential_energy(p: Program, kin: Kinematics, com: SX, gravity: SX) -> SX:
    """Zero with the centre of mass at the world's origin [J]."""
    with p.block("potential energy"):
        mass = sum((body.mass for body in kin.bodies), SX(0))
        return p.let("potential", -mass * ca.dot(gravity, com))


def contact_wrench(
    p: Program,
    robot: Robot,
    kin: Kinematics,
    poses: Sequence[Transform],
    accelerations: Sequence[Motion],
) -> Force:
    """Force and moment about the world's origin that the surroundings must exert for this motion.

    `accelerations` are those of `kinematics.accelerations` with base = -gravity, which makes
    gravity a part of the motion.
    """
    with p.block("contact wrench"):
        total = Force(zeros(), zeros())
        for i, body in enumerate(kin.bodies):
            total = total + poses[i].force_out(body.force(accelerations[i], kin.velocities[i]))
        return Force(p.let("wrench", total.linear), p.let("wrench", total.angular))


def zmp(wrench: Force, height: SX | float = 0.0) -> SX:
    """The point (x, y) [m] of the plane z = height about which no horizontal moment is left."""
    force, moment = wrench.linear, wrench.angular
    return ca.vertcat(
        (height * force[0] - moment[1]) / force[2],
        (height * force[1] + moment[0]) / force[2],
    )
