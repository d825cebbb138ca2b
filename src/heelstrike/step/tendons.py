"""Box 8 of [Sugihara2006], Fig. 4: tendons that are linear in the joints.

    f = -k (l - rest) - d l_dot,   l = sum r_i q_i,   tau_i = r_i f

It is implicit as a spring (springs.py) and as damping: f falls by s = ahead^2 k / 4 + ahead d times
the acceleration of l. With several joints that couples their accelerations; those of the last step,
a', and a diagonal that bounds the coupling take its place,

    tau_i = r_i (f - s sum r_j a'_j) - s |r_i| sum |r_j| (a_i - a'_i)

which is stable at any stiffness, and as exact as the change of a in a step is small.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

import casadi as ca

from heelstrike.robot.actuators import Actuator, Arms, SpatialTendon, Tendon
from heelstrike.robot.robot import Robot
from heelstrike.scene.stops import DAMPING_TIME, StopsPlan
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.springs import QUARTER
from heelstrike.step.torque import Torque

SLOW = 5e-3
"""Time step above which stops of spatial tendons are softer than stated [s]."""


def length(robot: Robot, arms: Arms, q: SX) -> SX:
    """Return the length of what is linear in joints of one coordinate."""
    where = {joint.iv: joint.iq for joint in robot.joints if joint.nq == 1}
    return sum((arm * q[where[at]] for at, arm in arms), SX(0))


def speed(arms: Arms, v: SX) -> SX:
    """Return the rate of that length."""
    return sum((arm * v[at] for at, arm in arms), SX(0))


def joined(elements: Iterable[Tendon | Actuator]) -> tuple[int, ...]:
    """Return the velocity indices of joints that tendons or actuators couple to others."""
    return tuple(sorted({at for own in elements if len(own.arms) > 1 for at, _ in own.arms}))


def add_force(
    torque: Torque,
    arms: Sequence[tuple[int, SX | float]],
    force: SX,
    falls: SX,
    last: Mapping[int, SX],
) -> None:
    """Add a force along arms, which falls with the acceleration, to a torque.

    `last` are accelerations of the last step, of all joints that are coupled where falls is not 0.
    """
    if len(arms) > 1 and last:
        force = force - falls * sum((arm * last[at] for at, arm in arms), SX(0))
    total = sum(abs(arm) for _, arm in arms)
    for at, arm in arms:
        slope = abs(arm) * total * falls
        torque.now[at] = torque.now[at] + arm * force
        torque.slope[at] = torque.slope[at] + slope
        if len(arms) > 1 and last:
            torque.now[at] = torque.now[at] + slope * last[at]


def tendon_torque(
    robot: Robot,
    q: SX,
    v: SX,
    ahead: SX | float,
    last: Mapping[int, SX],
    stops: StopsPlan | None = None,
) -> Torque:
    """Return the torque of the tendons at a state; `ahead` is dt where they are implicit [s].

    `last` are accelerations of the last step by velocity index; without stops limits are none.
    """
    torque = Torque(zeros(robot.nv), zeros(robot.nv))
    for tendon in robot.tendons:
        (low, high), k, d = tendon.rest, tendon.stiffness, tendon.damping
        at = length(robot, tendon.arms, q)
        stretch = at - low if low == high else at - ca.fmax(low, ca.fmin(high, at))
        force = -k * stretch - d * speed(tendon.arms, v)
        falls = SX(QUARTER * k * ahead * ahead + d * ahead)
        if tendon.limit is not None and stops is not None:
            push, slope = _stop(tendon, at, speed(tendon.arms, v), ahead, stops)
            force, falls = force + push, falls + slope
        add_force(torque, tendon.arms, force, falls, last)
    return torque


def _stop(tendon: Tendon, at: SX, rate: SX, ahead: SX | float, stops: StopsPlan) -> tuple[SX, SX]:
    """Return the force at an end of a tendon's range, and by how much acceleration reduces it.

    k and c are the smallest of its joints' over arm^2; as theirs, c acts on the way in only. It
    pushes if the tendon is beyond the end after the step without acceleration.
    """
    assert tendon.limit is not None
    k = reduce(ca.fmin, (stops.k[i] / arm**2 for i, arm in tendon.arms))
    c = reduce(ca.fmin, (stops.c[i] / arm**2 for i, arm in tendon.arms))
    low, high = tendon.limit
    reached = at + ahead * rate
    over = reached - ca.fmax(low, ca.fmin(high, reached))
    c = ca.if_else(over * rate > 0, c, 0)
    return -k * over - c * rate, ca.if_else(over == 0, 0, ahead * (c + ahead * k))


def cord_stop(tendon: SpatialTendon, at: SX, rate: SX, ahead: SX | float) -> SX:
    """Return the force at an end of a spatial tendon's range; its damping acts on the way in only.

    It is explicit, and softer in steps of more than SLOW, so that it is stable there.
    """
    assert tendon.limit is not None
    low, high = tendon.limit
    k = tendon.stop / ca.fmax(1, (ahead / SLOW) ** 2)
    over = at - ca.fmax(low, ca.fmin(high, at))
    return -k * over - ca.if_else(over * rate > 0, DAMPING_TIME * k * rate, 0)
