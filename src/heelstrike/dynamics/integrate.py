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
from typing import cast

import casadi as ca

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.tree import limbs
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Joint, Robot
from heelstrike.spatial.rotation import from_quaternion, quaternion_product
from heelstrike.spatial.vector import SX, add_cross, zeros

INTEGRATORS = ("symplectic", "euler", "rk4")
"""Names of the integrators of a step."""

Acceleration = Callable[[SX, SX], SX]
"""Function from (q, v) to joint accelerations."""

SERIES_BELOW = 0.25
"""(angle / 2)^2 [rad^2] below which series stand for sinc and cos."""


def euler(p: Program, robot: Robot, q: SX, v: SX, a: SX, dt: SX, symplectic: bool = True) -> None:
    """Update the memories q and v by an Euler step dt [s], of order 1, limb by limb.

    The symplectic step moves the position with the new velocity, as in [Sugihara2006]. The explicit
    one takes the old velocity and gains energy; it is there for comparison.
    """
    for limb in limbs(robot):
        with p.block("integrate", limb=limb.name):
            for joint in (robot.joints[i] for i in limb.joints):
                own_q, own_v = _euler(joint, q, v, a, dt, symplectic)
                p.update_part("q", joint.iq, own_q)
                p.update_part("v", joint.iv, own_v)


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


def _euler(joint: Joint, q: SX, v: SX, a: SX, dt: SX, symplectic: bool) -> tuple[SX, SX]:
    own_q, own_v = joints.coordinates(joint, q), joints.velocities(joint, v)
    own_a = joints.velocities(joint, a)
    if joint.kind in ("free", "planar"):
        step = _free_step if joint.kind == "free" else _planar_step
        return step(own_q, own_v, own_a, dt, symplectic)
    next_v = own_v + dt * own_a
    return advance(joint, own_q, next_v if symplectic else own_v, dt), next_v


def _free_step(q: SX, v: SX, a: SX, dt: SX, symplectic: bool) -> tuple[SX, SX]:
    spin = v[3:6] + dt * a[3:6]
    linear = v[0:3] + dt * add_cross(a[0:3], v[3:6], v[0:3])  # new velocity in the old axes
    turn = quaternion_exp((spin if symplectic else v[3:6]) * dt)
    position = q[0:3] + dt * (from_quaternion(q[3:7]).apply(linear if symplectic else v[0:3]))
    quaternion = unit(quaternion_product(q[3:7], turn))
    return ca.vertcat(position, quaternion), ca.vertcat(from_quaternion(turn).undo(linear), spin)


def _planar_step(q: SX, v: SX, a: SX, dt: SX, symplectic: bool) -> tuple[SX, SX]:
    """Step a planar joint, as `_free_step` does a free one."""
    spin = v[2] + dt * a[2]
    linear = v[0:2] + dt * (a[0:2] + v[2] * ca.vertcat(-v[1], v[0]))  # new, in the old axes
    turn = dt * (spin if symplectic else v[2])
    place = q[0:2] + dt * _rotated(q[2], q[3], linear if symplectic else v[0:2])
    c, s = ca.cos(turn), ca.sin(turn)
    return ca.vertcat(place, _turned(q[2:4], turn)), ca.vertcat(_rotated(c, -s, linear), spin)


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


def unit(x: SX) -> SX:
    """Return a vector scaled to length 1."""
    return x / ca.sqrt(ca.dot(x, x))


def quaternion_exp(rotation: SX) -> SX:
    """Return the quaternion xyzw of a rotation vector [rad]; it is smooth through zero."""
    half = ca.dot(rotation, rotation) / 4
    far = ca.sqrt(ca.fmax(half, SERIES_BELOW))
    near = half < SERIES_BELOW
    sinc = ca.if_else(near, _series(half, 1), ca.sin(far) / far)
    return cast(
        SX, ca.vertcat(0.5 * sinc * rotation, ca.if_else(near, _series(half, 0), ca.cos(far)))
    )


def _series(x: SX, odd: int) -> SX:
    """Return cos(sqrt x) or, for odd = 1, sin(sqrt x) / sqrt x, by the first nine terms.

    The error is below 1e-17 for x < SERIES_BELOW.
    """
    total = SX(0)
    for n in reversed(range(1, 10)):
        step = (2 * n - 1 + odd) * (2 * n + odd)
        total = (1 + total) * (-x / step)
    return 1 + total


def _turned(cos_sin: SX, angle: SX) -> SX:
    return unit(_rotated(ca.cos(angle), ca.sin(angle), cos_sin))
