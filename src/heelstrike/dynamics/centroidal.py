"""Centroidal quantities: centre of mass, momentum, energy, and the wrench and ZMP of a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.dynamics.tree import limbs
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, cross, zeros


@dataclass(frozen=True)
class Centroidal:
    """Centre of mass and momentum of a robot, in world axes."""

    com: SX
    """Centre of mass [m]."""
    velocity: SX
    """Velocity of the centre of mass [m/s]."""
    momentum: ForceVector
    """Linear momentum [kg m/s], and angular momentum about the centre of mass [kg m^2/s]."""


@dataclass(frozen=True)
class Subtree:
    """Mass, first moment and momentum of a subtree, about the origin of a frame."""

    mass: SX
    """Mass [kg]."""
    moment: SX
    """Mass times centre of mass [kg m]."""
    momentum: ForceVector
    """Linear and angular momentum about the origin."""

    def __add__(self, other: Subtree) -> Subtree:
        return Subtree(
            self.mass + other.mass, self.moment + other.moment, self.momentum + other.momentum
        )

    def out(self, placement: Transform) -> Subtree:
        """Return the sums in the outer frame of a placement."""
        moment = placement.rotate(self.moment) + self.mass * placement.origin
        return Subtree(self.mass, moment, placement.force_out(self.momentum))

    def let(self, p: Program) -> Subtree:
        """Return the sums as symbols of a program."""
        momentum = p.let("momentum", self.momentum.linear), p.let("momentum", self.momentum.angular)
        return Subtree(self.mass, p.let("moment", self.moment), ForceVector(*momentum))


def centroidal(p: Program, robot: Robot, kin: Kinematics) -> Centroidal:
    """Return the centroidal quantities, summed over the bodies from the tips inward."""
    empty = Subtree(SX(0), zeros(), ForceVector(zeros(), zeros()))
    from_children = {i: empty for i in range(WORLD, len(robot.joints))}
    for limb in reversed(limbs(robot)):
        with p.block("centroidal", limb=limb.name):
            for i in reversed(limb.joints):
                body, parent = kin.bodies[i], robot.joints[i].parent
                own = Subtree(body.mass, body.mass * body.com, body.momentum(kin.velocities[i]))
                outer = (own + from_children.pop(i)).out(kin.placements[i])
                if i == limb.joints[0]:
                    outer = outer.let(p)
                from_children[parent] = from_children[parent] + outer
    total = from_children[WORLD]
    with p.block("centroidal"):
        com = total.moment / total.mass
        linear = total.momentum.linear
        spin = total.momentum.angular - cross(com, linear)
        return Centroidal(
            p.let("com", com),
            p.let("com velocity", linear / total.mass),
            ForceVector(p.let("momentum", linear), p.let("momentum", spin)),
        )


def kinetic_energy(p: Program, robot: Robot, kin: Kinematics, v: SX, armature: SX) -> SX:
    """Return the kinetic energy [J] of the bodies, and of rotors by their `armature`."""
    terms = []
    for limb in limbs(robot):
        with p.block("kinetic energy", limb=limb.name):
            own = (kin.bodies[i].energy(kin.velocities[i]) for i in limb.joints)
            terms.append(p.let("kinetic", sum(own, SX(0))))
    with p.block("kinetic energy"):
        rotors = 0.5 * ca.dot(armature, v**2)
        return p.let("kinetic", sum(terms, rotors))


def potential_energy(p: Program, kin: Kinematics, com: SX, gravity: SX) -> SX:
    """Return the potential energy [J], which is zero with the centre of mass at the origin."""
    with p.block("potential energy"):
        mass = sum((body.mass for body in kin.bodies), SX(0))
        return p.let("potential", -mass * ca.dot(gravity, com))


def contact_wrench(
    p: Program,
    robot: Robot,
    kin: Kinematics,
    poses: Sequence[Transform],
    accelerations: Sequence[MotionVector],
) -> ForceVector:
    """Return the force and moment about the world's origin that a motion needs from contacts.

    `accelerations` are those of `kinematics.accelerations` with base = -gravity, so that they
    include gravity.
    """
    with p.block("contact wrench"):
        total = ForceVector(zeros(), zeros())
        for i, body in enumerate(kin.bodies):
            total = total + poses[i].force_out(body.force(accelerations[i], kin.velocities[i]))
        return ForceVector(p.let("wrench", total.linear), p.let("wrench", total.angular))


def zmp(wrench: ForceVector, height: SX | float = 0.0) -> SX:
    """Return the zero-moment point (x, y) [m] of a wrench in the plane z = height."""
    force, moment = wrench.linear, wrench.angular
    return ca.vertcat(
        (height * force[0] - moment[1]) / force[2],
        (height * force[1] + moment[0]) / force[2],
    )
