"""The robot as a whole: centre of mass, momentum, energy, and the wrench and ZMP that its motion
needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.dynamics.tree import limbs
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Robot
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


@dataclass(frozen=True)
class Share:
    """What a body and all that it carries contribute, about the origin of a frame."""

    mass: SX
    moment: SX
    """Mass times centre of mass [kg m]."""
    momentum: Force

    def __add__(self, other: Share) -> Share:
        return Share(
            self.mass + other.mass, self.moment + other.moment, self.momentum + other.momentum
        )

    def out(self, placement: Transform) -> Share:
        """The same, seen from outside of the placement."""
        moment = placement.rotate(self.moment) + self.mass * placement.origin
        return Share(self.mass, moment, placement.force_out(self.momentum))

    def let(self, p: Program) -> Share:
        """The same as symbols."""
        momentum = p.let("momentum", self.momentum.linear), p.let("momentum", self.momentum.angular)
        return Share(self.mass, p.let("moment", self.moment), Force(*momentum))


def centroidal(p: Program, robot: Robot, kin: Kinematics) -> Centroidal:
    """Sums over the bodies, from the ends of the limbs inward."""
    nothing = Share(SX(0), zeros(), Force(zeros(), zeros()))
    handed = {i: nothing for i in range(WORLD, len(robot.joints))}
    for limb in reversed(limbs(robot)):
        with p.block("centroidal", limb=limb.name):
            for i in reversed(limb.joints):
                body, parent = kin.bodies[i], robot.joints[i].parent
                own = Share(body.mass, body.mass * body.com, body.momentum(kin.velocities[i]))
                outer = (own + handed.pop(i)).out(kin.placements[i])
                if i == limb.joints[0]:
                    outer = outer.let(p)
                handed[parent] = handed[parent] + outer
    whole = handed[WORLD]
    with p.block("centroidal"):
        com = whole.moment / whole.mass
        linear = whole.momentum.linear
        spin = whole.momentum.angular - cross(com, linear)
        return Centroidal(
            p.let("com", com),
            p.let("com velocity", linear / whole.mass),
            Force(p.let("momentum", linear), p.let("momentum", spin)),
        )


def kinetic_energy(p: Program, robot: Robot, kin: Kinematics, v: SX) -> SX:
    """Of the bodies and, through the armature, of the rotors [J]."""
    terms = []
    for limb in limbs(robot):
        with p.block("kinetic energy", limb=limb.name):
            own = (kin.bodies[i].energy(kin.velocities[i]) for i in limb.joints)
            terms.append(p.let("kinetic", sum(own, SX(0))))
    with p.block("kinetic energy"):
        rotors = 0.5 * ca.dot(ca.SX(robot.armature), v**2)
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
