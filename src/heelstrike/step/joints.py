"""Box 8 of [Sugihara2006], Fig. 4: damping, stops and dry friction of the joints.

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
from heelstrike.ir.number import number
from heelstrike.scene.servo import NO_LIMIT
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.plan import dry_joints
from heelstrike.step.state import StepState
from heelstrike.step.torque import BOTH, Torque

STUCK = 1e9
"""Rate [1/s] of the damper by which dry friction holds a joint: it stops the joint within the
inverse of this."""
HOLD = 1e2
"""Inertia of a joint, as so many times its own, with which dry friction holds it in a pass."""
SLACK = 1e-2
"""Relative excess over its limit that dry friction which holds a joint may have in a step [-]."""
STILL = 3e-3
"""Acceleration [rad/s^2, m/s^2] by which a joint that slid may move back within a step before it
sticks. Guesses for the next step lie in the middle of SLACK and STILL, so that neither a guess that
is a little wrong nor the errors of coupled contact forces cost another solve. With ten times this
value the legs of a robot at rest stick and slide in turn."""


def damping_torque(state: StepState) -> Torque:
    """Return the torque of joint damping."""
    d = SX(state.robot.damping)
    return Torque(-d * state.v, state.ahead * d, cheap=BOTH)


def stop_torque(state: StepState) -> Torque:
    """Return the torque of the stops at the ends of the joints' ranges."""
    robot, v, ahead, stops = state.robot, state.v, state.ahead, state.inputs.stops
    assert stops is not None
    now, slope = zeros(robot.nv), zeros(robot.nv)
    for joint in robot.joints:
        low, high = robot.lower[joint.iq], robot.upper[joint.iq]
        if joint.kind not in ("revolute", "prismatic") or not (low > -NO_LIMIT or high < NO_LIMIT):
            continue
        i = joint.iv
        reached = state.q[joint.iq] + ahead * v[i]
        beyond = SX(0)
        if high < NO_LIMIT:
            beyond = ca.fmax(reached - number(high), 0)
        if low > -NO_LIMIT:
            beyond = beyond + ca.fmin(reached - number(low), 0)
        drag = ca.if_else(beyond * v[i] > 0, stops.c[i], 0)
        now[i] = -stops.k[i] * beyond - drag * v[i]
        slope[i] = ca.if_else(beyond != 0, ahead * (drag + ahead * stops.k[i]), 0)
    return Torque(now, slope)


def friction_torque(state: StepState) -> Torque:
    """Return the torque of dry friction of the joints that have it.

    In the symplectic step it is implicit, and starts from what the last step expects of this one
    (`expected_friction`). A joint that moves too fast to be stopped in this step is first taken to
    slide.
    """
    robot, v, dt = state.robot, state.v, state.dt
    expected = state.inputs.friction[0] if state.inputs.friction else None
    joints = dry_joints(robot)
    now, slope, start = zeros(robot.nv), zeros(robot.nv), zeros(len(joints))
    if not joints:
        return Torque(now, slope)
    own = joint_inertias(robot, state.plan.pose)
    inertia = np.where(robot.armature > 0, robot.armature, own)
    for k, i in enumerate(joints):
        force = float(robot.friction[i])
        stopped_in_a_step = force * dt / float(inertia[i])
        if expected is not None:
            damping = STUCK * float(inertia[i])
            now[i], slope[i] = -damping * v[i], damping * dt
            slides = ca.fabs(v[i]) > stopped_in_a_step
            start[k] = ca.if_else(slides, -ca.sign(v[i]), expected[k])
        else:
            now[i] = -force * v[i] / ca.fmax(ca.fabs(v[i]), stopped_in_a_step)
    if expected is None:
        return Torque(now, slope)
    limit = SX(robot.friction)
    return Torque(now, slope, limit, joints, start, SLACK, -STILL * slope, cheap=BOTH)


def expected_friction(state: SX, share: SX, before: SX, v: SX, a: SX, dt: SX) -> tuple[SX, SX]:
    """Return the state to expect of a joint's dry friction in the next step, and its share.

    States are -1 or 1 for a joint that slides, 0 for one that sticks; a share is that of the
    friction's limit, `before` in the last step. A joint that stuck for two steps slides where its
    torque, continued at the same rate, passes the limit with half its slack; one that slid sticks
    where its velocity, continued at the same rate, turns back by more than half of STILL. A wrong
    guess costs another round.
    """
    share = ca.if_else(state == 0, share, state)
    ahead = share + ca.if_else(ca.fabs(before) != 1, share - before, 0)
    slips = ca.if_else(ca.fabs(ahead) > 1 + SLACK / 2, ca.sign(ahead), 0)
    goes_on = ca.if_else(state * (v + 2 * dt * a) < STILL / 2 * dt, state, 0)
    return ca.if_else(state == 0, slips, goes_on), share
