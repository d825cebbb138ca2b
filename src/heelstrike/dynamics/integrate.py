"""Integration of the state (q, v) on its manifold.

The linear velocity of a free or planar joint is integrated in world axes: the components of its
twist turn with the body, and integrating these would let a spinning body gain speed. With
R+ = R exp(w+ dt),

    v_world+ = R (v + dt (a + w x v)),    v+ = exp(-w+ dt) (v + dt (a + w x v)),
    position+ = position + dt v_world+

so that a body in free flight keeps its linear momentum to rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.flight import (
    Flight,
    floating_robots,
    lone_bodies,
    step_body,
    step_robot,
)
from heelstrike.dynamics.tree import limbs, supports
from heelstrike.ir.guard import guarded
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Joint, Robot
from heelstrike.spatial.rotation import (
    from_quaternion,
    quaternion_exp,
    quaternion_product,
    unit,
)
from heelstrike.spatial.vector import SX, add_cross, zeros

INTEGRATORS = ("symplectic", "euler", "rk4")
"""Names of the integrators of a step."""

Acceleration = Callable[[SX, SX], SX]
"""Function from (q, v) to joint accelerations."""


def euler(p: Program, robot: Robot, q: SX, v: SX, a: SX, dt: SX, flight: Flight | None) -> SX:
    """Update the memories q and v by an Euler step dt [s], of order 1, limb by limb; return new q.

    The symplectic step moves the position with the new velocity, as in [Sugihara2006], and free
    bases that nothing holds as flight.py does. Without `flight` the step is the explicit one, which
    takes the old velocity and gains energy; it is there for comparison.
    """
    lone = [] if flight is None else lone_bodies(robot)
    floating = [] if flight is None else floating_robots(robot)
    next_q, next_v = zeros(robot.nq), zeros(robot.nv)
    for limb in limbs(robot):
        with p.block("integrate", limb=limb.name):
            for i in limb.joints:
                joint = robot.joints[i]
                late = None if flight is None else flight.late.get(supports(robot, i)[0])
                new = _euler(joint, q, v, a, dt, flight is not None, late)
                if flight is not None and i in lone:
                    new = _unless_held(flight, i, new, step_body(robot, i, flight, q, v, a, dt))
                keep = p.variable if i in floating else p.let
                next_q[joint.q_slice] = keep("q", new[0])
                next_v[joint.v_slice] = keep("v", new[1])
    for i in floating:
        assert flight is not None
        joint = robot.joints[i]
        with guarded(p, "flight", 1 - flight.held.get(i, SX(0))):
            new = step_robot(p, robot, i, flight, (q, v), (next_q, next_v), dt)
            with p.block("flight", limb=joint.name):
                p.assign(next_q[joint.q_slice], new[0])
                p.assign(next_v[joint.v_slice], new[1])
    for limb in limbs(robot):
        with p.block("integrated", limb=limb.name):
            for joint in (robot.joints[i] for i in limb.joints):
                p.update_part("q", joint.iq, next_q[joint.q_slice])
                p.update_part("v", joint.iv, next_v[joint.v_slice])
    return next_q


def _unless_held(flight: Flight, i: int, held: tuple[SX, SX], free: tuple[SX, SX]) -> tuple[SX, SX]:
    if i not in flight.held:
        return free
    stays = flight.held[i]
    return ca.if_else(stays, held[0], free[0]), ca.if_else(stays, held[1], free[1])


def rk4(
    p: Program, robot: Robot, q: SX, v: SX, dt: SX, acceleration: Acceleration
) -> tuple[SX, SX]:
    """Return (q, v) after dt [s] by the classical Runge-Kutta method of order 4 [Tsujita2009].

    It integrates the coordinates themselves (the rate of a quaternion is q w / 2) and normalizes
    them at the end.
    """
    at_q, at_v = q, v
    sum_q, sum_v = SX(0), SX(0)
    for stage, (share, ahead) in enumerate(
        [(1 / 6, 0.5), (1 / 3, 0.5), (1 / 3, 1.0), (1 / 6, 0.0)]
    ):
        a = acceleration(at_q, at_v)
        with p.block(f"rk4 stage {stage}"):
            rate = coordinate_rates(robot, at_q, at_v)
            sum_q, sum_v = p.let("sum", sum_q + share * rate), p.let("sum", sum_v + share * a)
            at_q, at_v = p.let("q", q + ahead * dt * rate), p.let("v", v + ahead * dt * a)
    with p.block("rk4 end"):
        return p.let("q", normalized(robot, q + dt * sum_q)), p.let("v", v + dt * sum_v)


def _euler(
    joint: Joint, q: SX, v: SX, a: SX, dt: SX, symplectic: bool, late: SX | None
) -> tuple[SX, SX]:
    """Return coordinates and velocities of a joint after a step.

    The velocity was the new one for a time `late` before the step already.
    """
    own_q, own_v = joints.coordinates(joint, q), joints.velocities(joint, v)
    own_a = joints.velocities(joint, a)
    ahead = SX(0) if not symplectic else dt if late is None else dt + late
    if joint.kind in ("free", "planar"):
        step = _free_step if joint.kind == "free" else _planar_step
        return step(own_q, own_v, own_a, dt, ahead)
    return advance(joint, own_q, own_v + ahead * own_a, dt), own_v + dt * own_a


def _free_step(q: SX, v: SX, a: SX, dt: SX, ahead: SX) -> tuple[SX, SX]:
    """Return coordinates and velocities; the position moves at the velocity of time `ahead`."""
    change = add_cross(a[0:3], v[3:6], v[0:3])  # of the linear velocity, in the old axes
    turn = quaternion_exp((v[3:6] + ahead * a[3:6]) * dt)
    position = q[0:3] + dt * (from_quaternion(q[3:7]).apply(v[0:3] + ahead * change))
    quaternion = unit(quaternion_product(q[3:7], turn))
    linear = from_quaternion(turn).undo(v[0:3] + dt * change)
    return ca.vertcat(position, quaternion), ca.vertcat(linear, v[3:6] + dt * a[3:6])


def _planar_step(q: SX, v: SX, a: SX, dt: SX, ahead: SX) -> tuple[SX, SX]:
    """Step a planar joint, as `_free_step` does a free one."""
    change = a[0:2] + v[2] * ca.vertcat(-v[1], v[0])
    turn = dt * (v[2] + ahead * a[2])
    place = q[0:2] + dt * _rotated(q[2], q[3], v[0:2] + ahead * change)
    c, s = ca.cos(turn), ca.sin(turn)
    linear = _rotated(c, -s, v[0:2] + dt * change)
    return ca.vertcat(place, _turned(q[2:4], turn)), ca.vertcat(linear, v[2] + dt * a[2])


def _rotated(cos: SX, sin: SX, x: SX) -> SX:
    return ca.vertcat(cos * x[0] - sin * x[1], sin * x[0] + cos * x[1])


def advance(joint: Joint, q: SX, v: SX, dt: SX) -> SX:
    """Return a joint's coordinates after moving at velocity v for dt [s]."""
    match joint.kind:
        case "revolute" | "prismatic":
            return q + dt * v
        case "continuous":
            return _turned(q, dt * v)
        case "spherical":
            return unit(quaternion_product(q, quaternion_exp(dt * v)))
    raise AssertionError(joint.kind)


def coordinate_rates(robot: Robot, q: SX, v: SX) -> SX:
    """Return dq/dt, (nq,)."""
    rates = zeros(robot.nq)
    for joint in robot.joints:
        own = _rates(joint.kind, joints.coordinates(joint, q), joints.velocities(joint, v))
        rates[joint.iq : joint.iq + joint.nq] = own
    return rates


def _rates(kind: str, x: SX, w: SX) -> SX:
    match kind:
        case "revolute" | "prismatic":
            return w
        case "continuous":
            return ca.vertcat(-x[1] * w, x[0] * w)
        case "spherical":
            return 0.5 * quaternion_product(x, ca.vertcat(w, 0))
        case "planar":
            return ca.vertcat(_rotated(x[2], x[3], w[0:2]), -x[3] * w[2], x[2] * w[2])
        case "free":
            turn = 0.5 * quaternion_product(x[3:7], ca.vertcat(w[3:6], 0))
            return ca.vertcat(from_quaternion(x[3:7]).apply(w[0:3]), turn)
    raise AssertionError(kind)


UNIT_PARTS = {"continuous": 0, "spherical": 0, "planar": 2, "free": 3}
"""Index of the first coordinate of a unit quaternion or of (cos, sin), by kind of joint."""


def normalized(robot: Robot, q: SX) -> SX:
    """Return q with every quaternion and every (cos, sin) scaled to length 1."""
    result = SX(q)
    for joint in robot.joints:
        if joint.kind in UNIT_PARTS:
            part = slice(joint.iq + UNIT_PARTS[joint.kind], joint.iq + joint.nq)
            result[part] = unit(q[part])
    return result


def _turned(cos_sin: SX, angle: SX) -> SX:
    return unit(_rotated(ca.cos(angle), ca.sin(angle), cos_sin))
