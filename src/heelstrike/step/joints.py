"""Everything that acts at the joints: control, damping, stops and dry friction.

    damping     tau = -d v
    stop        tau = -k (q - end) - c v     beyond an end of its range; c on the way in only
    friction    the torque that stops the joint in this step, clamped to its limit F

In the symplectic step each is taken at the end of the step, with q+ = q + dt v+ and v+ = v + dt a
(torque.py); else at its start, with friction F v / |v| made smooth below the speed F dt / I that
it could stop in one step.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.dynamics.effective_mass import joint_inertias
from heelstrike.dynamics.position_error import has_scalar_position, position_error
from heelstrike.ir.number import number
from heelstrike.robot.robot import Robot
from heelstrike.scene.servo import NO_LIMIT, ServoPlan, driven
from heelstrike.scene.stops import StopsPlan
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.torque import BOTH, Torque

STUCK = 1e9
"""Dry friction holds a joint as a damper would that stops it within the inverse of this [1/s]."""
SLACK, STILL = 1e-2, 3e-3
"""Share of its limit by which dry friction that holds a joint may exceed it in a step, and
acceleration [rad/s^2, m/s^2] by which a joint that slid may move back within a step before it
sticks. What is guessed is in the middle of these, so that a guess that was a little wrong need not
be solved again, nor one for the errors of coupled contact forces. With ten times STILL the legs of
a robot at rest stick and slide in turn."""


def servo_torque(
    robot: Robot, servo: ServoPlan, q: SX, v: SX, q_ref: SX, v_ref: SX, ahead: SX | float
) -> Torque:
    """Of a servo whose parameters are symbols; `ahead` is dt where it is implicit, else 0."""
    moves = SX(driven(robot))
    stiff, damping = servo.kp * SX(has_scalar_position(robot)), servo.kd * moves
    lag = position_error(robot, q, q_ref)
    now = stiff * (lag - ahead * v) + damping * (v_ref - v) + servo.torque * moves
    slope = ahead * (damping + ahead * stiff)
    if servo.implicit:
        return Torque(now, slope, servo.limit, servo.limited, plain=("slope",))
    return Torque(clamped(now, servo.limit, servo.limited), zeros(robot.nv))


def clamped(tau: SX, limit: SX, limited: tuple[int, ...]) -> SX:
    """The torque within +-limit."""
    result = SX(tau)
    for i in limited:
        result[i] = ca.fmax(-limit[i], ca.fmin(limit[i], tau[i]))
    return result


def damping_torque(robot: Robot, v: SX, ahead: SX | float) -> Torque:
    d = SX(robot.damping)
    return Torque(-d * v, ahead * d, plain=BOTH)


def stop_torque(robot: Robot, stops: StopsPlan, q: SX, v: SX, ahead: SX | float) -> Torque:
    """Of stops whose parameters are symbols."""
    now, slope = zeros(robot.nv), zeros(robot.nv)
    for joint in robot.joints:
        low, high = robot.lower[joint.iq], robot.upper[joint.iq]
        if joint.kind not in ("revolute", "prismatic") or not (low > -NO_LIMIT or high < NO_LIMIT):
            continue
        i = joint.iv
        reached = q[joint.iq] + ahead * v[i]
        beyond = SX(0)
        if high < NO_LIMIT:
            beyond = ca.fmax(reached - number(high), 0)
        if low > -NO_LIMIT:
            beyond = beyond + ca.fmin(reached - number(low), 0)
        drag = ca.if_else(beyond * v[i] > 0, stops.c[i], 0)
        now[i] = -stops.k[i] * beyond - drag * v[i]
        slope[i] = ca.if_else(beyond != 0, ahead * (drag + ahead * stops.k[i]), 0)
    return Torque(now, slope)


def rubbing_joints(robot: Robot) -> tuple[int, ...]:
    """Velocity indices that have dry friction."""
    return tuple(int(i) for i in np.flatnonzero(robot.friction > 0))


def friction_torque(
    robot: Robot,
    pose: np.ndarray,
    v: SX,
    dt: SX,
    guess: SX | None = None,
) -> Torque:
    """Dry friction of the joints that have some.

    `guess` is what the last step expects of this one (`friction_ahead`), and makes the friction
    implicit. A joint that moves too fast to be stopped in this step is first taken to slide.
    """
    rubbing = rubbing_joints(robot)
    now, slope, start = zeros(robot.nv), zeros(robot.nv), zeros(len(rubbing))
    if not rubbing:
        return Torque(now, slope)
    inertia = np.where(robot.armature > 0, robot.armature, joint_inertias(robot, pose))
    for k, i in enumerate(rubbing):
        force = float(robot.friction[i])
        stopped_in_a_step = force * dt / float(inertia[i])
        if guess is not None:
            damping = STUCK * float(inertia[i])
            now[i], slope[i] = -damping * v[i], damping * dt
            slides = ca.fabs(v[i]) > stopped_in_a_step
            start[k] = ca.if_else(slides, -ca.sign(v[i]), guess[k])
        else:
            now[i] = -force * v[i] / ca.fmax(ca.fabs(v[i]), stopped_in_a_step)
    if guess is None:
        return Torque(now, slope)
    limit = SX(robot.friction)
    return Torque(now, slope, limit, rubbing, start, SLACK, -STILL * slope, plain=BOTH)


def friction_ahead(state: SX, share: SX, before: SX, v: SX, a: SX, dt: SX) -> tuple[SX, SX]:
    """What to expect of a joint's dry friction in the next step, -1, 0 or 1 as `state` is in this
    one, and what to remember: the share of its limit, `before` in the last step.

    A joint that stuck for two steps slides where its torque, going on as it did, passes the limit
    with half its slack; one that slid sticks where its velocity, going on as it did, turns back by
    more than half of STILL. A wrong guess costs another round.
    """
    share = ca.if_else(state == 0, share, state)
    ahead = share + ca.if_else(ca.fabs(before) != 1, share - before, 0)
    slips = ca.if_else(ca.fabs(ahead) > 1 + SLACK / 2, ca.sign(ahead), 0)
    goes_on = ca.if_else(state * (v + 2 * dt * a) < STILL / 2 * dt, state, 0)
    return ca.if_else(state == 0, slips, goes_on), share
