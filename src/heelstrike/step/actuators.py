"""Box 8 of [Sugihara2006], Fig. 4: actuators of the robot's file (robot/actuators.py).

    f = (g_0 + g_1 l + g_2 l_dot) w + b_0 + b_1 l + b_2 l_dot,     tau_i = r_i f

Of an actuator of one joint what resists the motion is implicit, its stiffness as a spring
(springs.py), and its force range a row (torque.py). Of one that couples several joints it is
implicit as that of a tendon (tendons.py), and its force is limited as at the start of the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca

from heelstrike.contact.solver.joint_rows import Clamp
from heelstrike.robot.actuators import Actuator, Range
from heelstrike.robot.robot import Robot
from heelstrike.scene.servo import NO_LIMIT
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.springs import QUARTER
from heelstrike.step.tendons import add_force, length, speed
from heelstrike.step.torque import Rows, Torque

LEAST_TIME = 1e-15
"""Least time constant of a filter [s], as in MuJoCo."""


def activation_indices(robot: Robot) -> dict[int, int]:
    """Return the index in the memory of activations of each actuator that has one."""
    having = [k for k, actuator in enumerate(robot.actuators) if actuator.has_activation]
    return {k: n for n, k in enumerate(having)}


def inputs_of(robot: Robot, control: SX, activation: SX, dt: SX) -> tuple[list[SX], SX]:
    """Return w of each actuator in this step, and the activations after it."""
    where, after = activation_indices(robot), SX(activation)
    found = []
    for k, actuator in enumerate(robot.actuators):
        u = clamped(control[k], actuator.control_range)
        if k not in where:
            found.append(u)
            continue
        w = activation[where[k]]
        new = clamped(_next(actuator, w, u, dt), actuator.activation_range)
        after[where[k]] = new
        found.append(new if actuator.acts_early else w)
    return found, after


def _next(actuator: Actuator, w: SX, u: SX, dt: SX) -> SX:
    """Return the activation after a step."""
    if actuator.dynamics == "integrator":
        return w + dt * u
    T = max(actuator.time_constant, LEAST_TIME)
    share = dt / T if actuator.dynamics == "filter" else 1 - ca.exp(-dt / T)
    return w + share * (u - w)


def clamped(x: SX, ends: Range | None) -> SX:
    """Return a number within a range."""
    return x if ends is None else ca.fmax(ends[0], ca.fmin(ends[1], x))


def actuator_torque(
    robot: Robot, inputs: list[SX], q: SX, v: SX, ahead: SX | float, last: Mapping[int, SX]
) -> Torque:
    """Return the torque of the actuators of joints; `ahead` is dt where it is implicit [s].

    `last` are accelerations of the last step by velocity index (tendons.py).
    """
    torque, rows = Torque(zeros(robot.nv), zeros(robot.nv)), Rows()
    implicit = not isinstance(ahead, float)
    for actuator, w in zip(robot.actuators, inputs, strict=True):
        if not actuator.arms:
            continue
        at_length, rate = length(robot, actuator.arms, q), speed(actuator.arms, v)
        force, falls = _force(actuator, w, at_length, rate, ahead)
        ends = actuator.force_range
        if len(actuator.arms) == 1 and implicit and ends is not None:
            ((at, arm),) = actuator.arms
            middle, half = _centred(ends)
            row = Clamp(arm * (force - middle), arm**2 * falls, SX(abs(arm) * half))
            torque.now[at] = torque.now[at] + arm * middle
            rows[at] = (*rows.get(at, ()), row)
            continue
        limited = clamped(force, ends)
        if ends is not None:
            falls = ca.if_else(limited == force, falls, 0)
        add_force(torque, actuator.arms, limited, falls, last)
    return replace(torque, rows=rows)


def _force(actuator: Actuator, w: SX, at_length: SX, rate: SX, ahead: SX | float) -> tuple[SX, SX]:
    """Return the force at the start of a step, and by how much acceleration reduces it.

    Only what resists the motion is implicit.
    """
    (g0, g1, g2), (b0, b1, b2) = actuator.gain, actuator.bias
    force = (g0 + g1 * at_length + g2 * rate) * w + b0 + b1 * at_length + b2 * rate
    stiff = ca.fmax(0, -(b1 + g1 * w)) if g1 else SX(max(0.0, -b1))
    damps = ca.fmax(0, -(b2 + g2 * w)) if g2 else SX(max(0.0, -b2))
    return force, QUARTER * stiff * ahead * ahead + damps * ahead


def _centred(ends: Range) -> tuple[float, float]:
    """Return the middle of a force range and half its width; an open one is centred at 0."""
    low, high = max(ends[0], -NO_LIMIT), min(ends[1], NO_LIMIT)
    if low == -NO_LIMIT or high == NO_LIMIT:
        low, high = (low, -low) if abs(low) < abs(high) else (-high, high)
    return (low + high) / 2, (high - low) / 2


def free_force(actuator: Actuator, w: SX, at_length: SX, rate: SX) -> SX:
    """Return the explicit force of an actuator of a site, which has no length, or of a path [N]."""
    return clamped(_force(actuator, w, at_length, rate, 0.0)[0], actuator.force_range)
