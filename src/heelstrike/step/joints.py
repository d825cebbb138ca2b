"""Box 8 of [Sugihara2006], Fig. 4: damping, stops and dry friction of the joints.

    damping     tau = -d v, with springs and tendons (springs.py, tendons.py)
    stop        tau = -k (q - end) - c v     beyond an end of its range; c on the way in only
    friction    the torque that stops the joint in this step, clamped to its limit F

In the symplectic step each is taken at the end of the step, with q+ = q + dt v+ and v+ = v + dt a
(torque.py), and a stop never pulls; else at its start, with friction F v / |v| made smooth below
the speed F dt / I that it could stop in one step.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.contact.law import where
from heelstrike.contact.solver.joint_rows import DryFriction, RangeStop
from heelstrike.dynamics.effective_mass import joint_inertias
from heelstrike.ir.number import number
from heelstrike.scene.servo import NO_LIMIT
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.cones import cone_torque
from heelstrike.step.springs import spring_torque
from heelstrike.step.state import StepState
from heelstrike.step.tendons import tendon_torque
from heelstrike.step.torque import Rows, Torque

STUCK = 1e7
"""Rate [1/s] of the damper by which dry friction holds a joint at the torque of the last step: it
stops the joint within the inverse of this."""
STILL = 3e-3
"""Acceleration [rad/s^2, m/s^2] by which a joint that slid may move back within a step before it
sticks. Guesses for the next step lie in its middle, so that neither a guess that is a little wrong
nor the errors of coupled contact forces cost another solve. With ten times this value the legs of a
robot at rest stick and slide in turn."""


def passive_torque(state: StepState) -> Torque:
    """Return the torque of joint damping, springs, tendons and ranges of ball joints."""
    d = state.inputs.damping
    damping = Torque(-d * state.v, state.ahead * d, cheap=True)
    robot, q, v, ahead = state.robot, state.q, state.v, state.ahead
    if not (robot.springs or robot.tendons or robot.cones):
        return damping
    last, stops = state.inputs.last, state.inputs.stops
    parts = [damping, spring_torque(robot, q, ahead)]
    parts.append(tendon_torque(robot, q, v, ahead, last, stops))
    if stops is not None and robot.cones:
        parts.append(cone_torque(robot, q, v, ahead, last, stops))
    now = sum((part.now for part in parts), SX(0))
    slope = sum((part.slope for part in parts), SX(0))
    single = all(robot.joints[spring.joint].nv == 1 for spring in robot.springs)
    return Torque(now, slope, cheap=single and not (robot.tendons or robot.cones))


def stop_torque(state: StepState) -> Torque:
    """Return the torque of the stops at the ends of the joints' ranges.

    In a step, a joint has the end of its range that it comes nearest to without acceleration. There
    it is braked if it gets beyond that end then.
    """
    robot, v, ahead, stops = state.robot, state.v, state.ahead, state.inputs.stops
    assert stops is not None
    now, rows = zeros(robot.nv), Rows()
    for joint in robot.joints:
        low, high = robot.lower[joint.iq], robot.upper[joint.iq]
        if joint.kind not in ("revolute", "prismatic") or not (low > -NO_LIMIT or high < NO_LIMIT):
            continue
        i = joint.iv
        reached = state.q[joint.iq] + ahead * v[i]
        end, side = _end(reached, low, high)
        over = reached - end
        pushes = side * over > 0
        k, c = stops.k[i], ca.if_else(ca.logic_and(pushes, side * v[i] > 0), stops.c[i], 0)
        own = -k * over - c * v[i], ahead * (c + ahead * k), side, ca.if_else(pushes, 1, -1)
        ends = (low if low > -NO_LIMIT else -np.inf), (high if high < NO_LIMIT else np.inf)
        stop = RangeStop(*own, *ends, reached, SX(ahead))
        if state.plan.implicit:
            rows[i] = (stop,)
        else:
            now[i] = stop.at(SX(0))[0]
    return Torque(now, zeros(robot.nv), rows, cheap=state.plan.implicit)


def _end(reached: SX, low: float, high: float) -> tuple[SX, SX]:
    """Return the end of a range that is nearest, and 1 if it is the upper one, else -1."""
    if low <= -NO_LIMIT:
        return SX(number(high)), SX(1)
    if high >= NO_LIMIT:
        return SX(number(low)), SX(-1)
    upper = reached > number((low + high) / 2)
    return ca.if_else(upper, number(high), number(low)), ca.if_else(upper, 1, -1)


def friction_torque(state: StepState) -> Torque:
    """Return the torque of dry friction of the joints that have it.

    In the symplectic step it is implicit, and starts from what the last step expects of this one
    (`expected_friction`). Where contacts couple, a joint that moves too fast to be stopped in this
    step is first taken to slide.
    """
    robot, v, dt = state.robot, state.v, state.dt
    joints, now, rows = state.plan.dry_joints, zeros(robot.nv), Rows()
    if not joints:
        return Torque(now, zeros(robot.nv))
    own = joint_inertias(robot, state.plan.pose)
    inertia = np.where(robot.armature > 0, robot.armature, own)
    for k, i in enumerate(joints):
        force = state.inputs.dry[i]
        stopped_in_a_step = force / float(inertia[i]) * dt
        if memory := state.inputs.friction:
            guess, last = memory.expected[k], memory.last[k]
            if state.plan.couples:
                slides = ca.fabs(v[i]) > stopped_in_a_step
                guess = ca.if_else(slides, -ca.sign(v[i]), guess)
            damping = STUCK * float(inertia[i])
            steep = -damping * v[i], damping * dt
            rows[i] = (DryFriction(*steep, force, guess, last, STILL),)
        else:
            now[i] = -force * v[i] / ca.fmax(ca.fabs(v[i]), stopped_in_a_step)
    return Torque(now, zeros(robot.nv), rows, cheap=state.inputs.friction is not None)


def expected_friction(slides: SX, torque: SX, before: SX, limit: SX, v: SX, a: SX, dt: SX) -> SX:
    """Return the state to expect of a joint's dry friction in the next step.

    States are -1 or 1 for a joint that slides, with the sign of its torque, 0 for one that sticks;
    `slides` is whether it did, `before` the torque in the last step; where the limit has changed
    since, it counts as sliding by the present one. A joint that stuck for two
    steps slides where its torque, continued at the same rate, passes the limit; one that slid
    sticks where its velocity, continued at the same rate, turns back by more than half of STILL. A
    wrong guess costs another round.
    """
    stuck, side = ca.fabs(before) < limit, ca.copysign(1, torque)
    slips = ca.logic_and(stuck, ca.fabs(2 * torque - before) > limit)
    goes_on = side * (v + 2 * dt * a) < STILL / 2 * dt
    sticks = ca.logic_not(slides)
    next_slides = ca.logic_or(ca.logic_and(slides, goes_on), ca.logic_and(sticks, slips))
    return where(next_slides, side, 0)
