"""Rows of a loop: what its constraints miss, and how they act on bodies and joints.

With x the coordinates of the joints on the ways of a constraint, phi(x) its rows (in the axes of
the body at which its branches meet, which does not matter to them), J = d phi / dx,

    phi' = J v,      phi'' = J a + J' v

J^T y is the force of multipliers y: on bodies, as columns of unit forces and moments, and at
joints. J' v is found with the velocities beside that body, as if it stood still.

    Connect     phi = p_1 - p_2
    Distance    phi = |p_1 - p_2| - length
    Weld        phi = p_1 - p_2, and the axis times the sine of the angle between the frames
    coupling    phi = q_1 - reference - poly(q_2 - other reference)
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.kinematics import Kinematics, point_acceleration, point_velocity
from heelstrike.dynamics.loops import Loop
from heelstrike.dynamics.tree import supports
from heelstrike.ir.program import Program
from heelstrike.robot.constraints import Connect, Distance, JointCoupling, Weld
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.spatial.motion import ForceVector, MotionVector, no_motion
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, constant, cross, skew, zeros


@dataclass(frozen=True)
class ConstraintRows:
    """Rows of one constraint, as symbols; m is their number."""

    columns: dict[int, ForceVector]
    """Unit forces and moments on bodies, in their frames, (3, m) each."""
    entries: dict[int, SX]
    """Unit torques at joints with one coordinate, (1, m)."""
    error: SX
    """phi, (m,) [m, rad]."""
    rate: SX
    """phi' = J v, (m,)."""
    bias: SX
    """J' v, (m,)."""
    scales: tuple[slice, ...]
    """Rows of equal units."""


def constraint_rows(
    p: Program,
    robot: Robot,
    kin: Kinematics,
    q: SX,
    v: SX,
    loop: Loop,
    k: int,
    limb: str,
    symplectic: bool,
) -> ConstraintRows:
    """Return the rows of the k-th constraint of a loop, in a block of a limb.

    The symplectic step integrates the linear velocity of free and planar joints in world axes: in
    its bias that velocity is constant there, else in the axes of the body.
    """
    constraint, number = loop.constraints[k], loop.numbers[k]
    with p.block("constraint", limb=limb, member=number):
        if isinstance(constraint, JointCoupling):
            found = _coupling(robot, constraint, q, v)
        else:
            ends = [
                _End.of(robot, kin, v, body, loop.meets, symplectic)
                for body in (constraint.body, constraint.other)
            ]
            found = _between(constraint, loop.meets, *ends)
        return ConstraintRows(
            {
                body: ForceVector(p.let("column", own.linear), p.let("column", own.angular))
                for body, own in found.columns.items()
            },
            {joint: p.let("entry", own) for joint, own in found.entries.items()},
            p.let("error", found.error),
            p.let("rate", found.rate),
            p.let("bias", found.bias),
            found.scales,
        )


@dataclass(frozen=True)
class _End:
    """Placement and motion of a body beside the one at which the branches meet."""

    body: int
    pose: Transform
    velocity: MotionVector
    """In its own frame."""
    bias: MotionVector
    """Its acceleration with the joints' velocities constant, in its own frame."""

    @staticmethod
    def of(robot: Robot, kin: Kinematics, v: SX, body: int, meets: int, symplectic: bool) -> _End:
        pose, velocity, bias = Transform((), zeros()), no_motion(), no_motion()
        inside = set(supports(robot, meets))
        for i in (i for i in supports(robot, body) if i not in inside):
            joint, placement = robot.joints[i], kin.placements[i]
            own_v = joints.velocities(joint, v)
            own = joints.velocity(joint, own_v)
            velocity = placement.motion_in(velocity) + own
            bias = placement.motion_in(bias) + velocity.cross(own)
            if symplectic and joint.kind in ("free", "planar"):
                bias = bias + MotionVector(cross(own.angular, own.linear), zeros())
            pose = pose.then(placement)
        return _End(body, pose, velocity, bias)


def _between(
    constraint: Connect | Weld | Distance, meets: int, one: _End, other: _End
) -> ConstraintRows:
    ends = list(zip((one, other), (constraint.point, constraint.other_point), strict=True))
    apart, rate, bias = (
        x - y for x, y in zip(*(_point(end, constant(x)) for end, x in ends), strict=True)
    )
    error = apart
    scales: tuple[slice, ...] = (slice(0, 3),)
    directions, turns = SX(ca.DM.eye(3)), SX(3, 0)
    if isinstance(constraint, Distance):
        length = ca.sqrt(ca.dot(apart, apart))
        directions = apart / length
        speed = ca.dot(directions, rate)
        bias = ca.dot(directions, bias) + (ca.dot(rate, rate) - speed * speed) / length
        error, rate, scales = length - constraint.length, speed, (slice(0, 1),)
    elif isinstance(constraint, Weld):
        turns = SX(ca.DM.eye(3))
        own = _turn(constraint, one, other)
        error, rate, bias = (
            ca.vertcat(x, y) for x, y in zip((error, rate, bias), own, strict=True)
        )
        scales = slice(0, 3), slice(3, 6)
    columns: dict[int, ForceVector] = {}
    for (end, x), sign in zip(ends, (1.0, -1.0), strict=True):
        if end.body != WORLD:
            columns[end.body] = _force(end, constant(x), sign * directions, sign * turns)
    if meets != WORLD and not isinstance(constraint, Distance):
        lever = ForceVector(zeros(3, error.numel()), ca.horzcat(-skew(apart), 0 * turns))
        columns[meets] = columns[meets] + lever if meets in columns else lever
    return ConstraintRows(columns, {}, error, rate, bias, scales)


def _point(end: _End, point: SX) -> tuple[SX, SX, SX]:
    """Return place, velocity and acceleration of a body's point."""
    speed = point_velocity(end.pose, end.velocity, point)
    change = point_acceleration(end.pose, end.velocity, end.bias, point)
    return end.pose.point(point), speed, change


def _turn(weld: Weld, one: _End, other: _End) -> tuple[SX, SX, SX]:
    """Return the turn between the frames of a weld [rad], its rate and its acceleration."""
    turned = one.pose.rotate(constant(weld.rotation))
    between = turned @ other.pose.rotate(constant(weld.other_rotation)).T
    angle = 0.5 * ca.vertcat(
        between[2, 1] - between[1, 2], between[0, 2] - between[2, 0], between[1, 0] - between[0, 1]
    )
    spins = [end.pose.rotate(end.velocity.angular) for end in (one, other)]
    changes = [end.pose.rotate(end.bias.angular) for end in (one, other)]
    return angle, spins[0] - spins[1], changes[0] - changes[1]


def _force(end: _End, point: SX, directions: SX, turns: SX) -> ForceVector:
    """Return forces at a point of a body along directions, and moments about others, as columns."""
    linear, angular = end.pose.unrotate(directions), end.pose.unrotate(turns)
    return ForceVector(ca.horzcat(linear, 0 * angular), ca.horzcat(skew(point) @ linear, angular))


def _coupling(robot: Robot, coupling: JointCoupling, q: SX, v: SX) -> ConstraintRows:
    joint = robot.joints[coupling.joint]
    wanted, slope, bend, speed = SX(0), SX(0), SX(0), SX(0)
    entries = {coupling.joint: SX(1)}
    if coupling.other is None:
        wanted = SX(coupling.coefficients[0] if coupling.coefficients else 0.0)
    else:
        other = robot.joints[coupling.other]
        x, speed = q[other.iq] - coupling.other_reference, v[other.iv]
        for c in reversed(coupling.coefficients):  # Horner's scheme of the second derivative too
            bend = bend * x + 2 * slope
            slope = slope * x + wanted
            wanted = wanted * x + c
        entries[coupling.other] = -slope
    error = q[joint.iq] - coupling.reference - wanted
    rate = v[joint.iv] - slope * speed
    for number, by in coupling.more:
        further, factor = robot.joints[number], float(by)
        entries[number] = SX(-factor)
        error = error - factor * q[further.iq]
        rate = rate - factor * v[further.iv]
    bias = -bend * speed * speed
    return ConstraintRows({}, entries, error, rate, bias, (slice(0, 1),))
