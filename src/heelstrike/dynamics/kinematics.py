"""Kinematics: placements, velocities and accelerations of bodies and points [Featherstone2008]."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.bodies import body_inertias
from heelstrike.dynamics.tree import limbs
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.spatial.inertia import RigidInertia
from heelstrike.spatial.motion import MotionVector, no_motion
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, add_cross, zeros

T = TypeVar("T")


@dataclass(frozen=True)
class Kinematics:
    """Placements, velocities and inertias of the bodies, as symbols of a program."""

    placements: list[Transform]
    """Placement of each body in its parent's frame."""
    velocities: list[MotionVector]
    """Velocity of each body, in its own frame."""
    bodies: list[RigidInertia]
    """Inertia of each body."""


def kinematics(
    p: Program, robot: Robot, q: SX, v: SX, bodies: list[RigidInertia] | None = None
) -> Kinematics:
    """Trace the placement on its parent, and the velocity, of every body.

    `bodies` are inertias with varied masses (bodies.varied_inertias); None stands for the robot's.
    """
    own: dict[int, SX] = {}
    for limb in limbs(robot):
        for i in limb.joints:
            with p.block("turn", limb=limb.name, member=i):
                joint = robot.joints[i]
                own[i] = p.let("turned", joints.with_cos_sin(joint, joints.coordinates(joint, q)))
    placements: dict[int, Transform] = {}
    speeds: dict[int, MotionVector] = {}
    for limb in limbs(robot):
        with p.block("kinematics", limb=limb.name):
            inner: dict[int, MotionVector] = {}
            for i in limb.joints:
                joint = robot.joints[i]
                placement = joints.transform(joint, own[i])
                speed = joints.velocity(joint, joints.velocities(joint, v))
                if joint.parent != WORLD:
                    speed = (
                        placement.motion_in(inner.get(joint.parent) or speeds[joint.parent]) + speed
                    )
                inner[i] = speed
                placements[i] = placement.renamed(lambda x: p.let("placement", x))
                speeds[i] = let_motion(p, "velocity", speed)
    return Kinematics(_in_order(placements), _in_order(speeds), bodies or body_inertias(robot))


def with_velocity(p: Program, robot: Robot, kin: Kinematics, v: SX) -> Kinematics:
    """Return the kinematics of the same coordinates at another velocity."""
    speeds: dict[int, MotionVector] = {}
    for limb in limbs(robot):
        with p.block("velocities", limb=limb.name):
            inner: dict[int, MotionVector] = {}
            for i in limb.joints:
                joint = robot.joints[i]
                speed = joints.velocity(joint, joints.velocities(joint, v))
                if joint.parent != WORLD:
                    outer = inner.get(joint.parent) or speeds[joint.parent]
                    speed = kin.placements[i].motion_in(outer) + speed
                inner[i] = speed
                speeds[i] = let_motion(p, "velocity", speed)
    return replace(kin, velocities=_in_order(speeds))


def poses(p: Program, robot: Robot, kin: Kinematics) -> list[Transform]:
    """Return the placement of every body in the world: a rotation matrix and the origin [m]."""
    result: dict[int, Transform] = {}
    for limb in limbs(robot):
        with p.block("poses", limb=limb.name):
            inner: dict[int, Transform] = {}
            for i in limb.joints:
                parent = robot.joints[i].parent
                outer = (
                    Transform((), zeros())
                    if parent == WORLD
                    else inner.get(parent) or result[parent]
                )
                inner[i] = outer.then(kin.placements[i])
                result[i] = inner[i].renamed(lambda x: p.let("pose", x))
    return _in_order(result)


def accelerations(
    p: Program, robot: Robot, kin: Kinematics, v: SX, a: SX | None, base: SX | None = None
) -> list[MotionVector]:
    """Return the spatial acceleration of every body, in its own frame.

    `a` are the joint accelerations; without them the result is the bias J_dot v. `base` is the
    linear acceleration of the world: minus gravity to compute forces, None for the motion alone.
    """
    result: dict[int, MotionVector] = {}
    for limb in limbs(robot):
        with p.block("accelerations", limb=limb.name):
            inner: dict[int, MotionVector] = {}
            for i in limb.joints:
                joint = robot.joints[i]
                linear, angular = joints.subspace(joint)
                bias = kin.velocities[i].cross(joints.velocity(joint, joints.velocities(joint, v)))
                if joint.parent != WORLD:
                    outer = inner.get(joint.parent) or result[joint.parent]
                    bias = kin.placements[i].motion_in(outer) + bias
                elif base is not None:
                    bias = MotionVector(
                        kin.placements[i].unrotate(base) + bias.linear, bias.angular
                    )
                if a is not None:
                    own = joints.velocities(joint, a)
                    bias = MotionVector(bias.linear + linear @ own, bias.angular + angular @ own)
                inner[i] = bias
                result[i] = let_motion(p, "acceleration", bias)
    return _in_order(result)


def point_velocity(pose: Transform, velocity: MotionVector, point: SX) -> SX:
    """Return the velocity [m/s] of a body's point, in world axes."""
    return pose.rotate(velocity.at(point))


def point_acceleration(
    pose: Transform, velocity: MotionVector, acceleration: MotionVector, point: SX
) -> SX:
    """Return the classical acceleration [m/s^2] of a body's point, in world axes.

    It is the spatial acceleration of the point plus w x its velocity.
    """
    classical = add_cross(acceleration.at(point), velocity.angular, velocity.at(point))
    return pose.rotate(classical)


def let_motion(p: Program, name: str, motion: MotionVector) -> MotionVector:
    """Return a motion as symbols of a program."""
    return MotionVector(p.let(name, motion.linear), p.let(name, motion.angular))


def without_velocity(robot: Robot, kin: Kinematics) -> Kinematics:
    """Return the kinematics of the same placements at zero velocity."""
    return Kinematics(kin.placements, [no_motion() for _ in robot.joints], kin.bodies)


def _in_order(by_body: dict[int, T]) -> list[T]:
    """Return a list by body; the limbs may come in another order."""
    return [by_body[i] for i in range(len(by_body))]
