"""Box 8 of [Sugihara2006], Fig. 4: motors and gears between the control and the joints.

    late     command of n steps ago, from a row of past commands that moves on in every step
    lag      tau = e tau_last + (1 - e) command,      e = exp(-dt / T)
    curve    bounds s (1 - v+ / w) and -s (1 + v+ / w) of a DC motor, v+ = v + dt a where implicit
    gear     limit of dry friction F + mu |tau_last|, damping (joints.py)

A bound that falls with the speed at the start of a step does so within it, so that the motor's own
damping s / w is implicit. Before its first step a motor rests at its first command.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from heelstrike.contact.law import where
from heelstrike.contact.solver.joint_rows import Bounded, Clamp
from heelstrike.dynamics.tree import parts
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot
from heelstrike.scene.motors import MotorPlan
from heelstrike.spatial.vector import SX
from heelstrike.step.torque import Torque, by_joint

COMMANDS = "motor commands"
"""Name of the memory of past commands, the newest first."""
TORQUES = "motor torque"
"""Name of the memory of the torques of the last step [N m or N]."""
LEAST_TIME = 1e-9
"""Least time constant of a lag [s]."""
LEAST_FRICTION = 1e-9
"""Least limit of dry friction [N m or N], of which shares are taken."""


class JointMotors:
    """The motors of a step, with their memories as symbols of the program."""

    def __init__(
        self, p: Program, robot: Robot, motors: MotorPlan, dt: SX, implicit: bool, signals: int
    ) -> None:
        """Declare the memories; a command of a joint has so many `signals`."""
        self.p, self.robot, self.motors, self.dt, self.implicit = p, robot, motors, dt, implicit
        self.first = p.clock < 0.5
        size = signals * motors.steps * len(motors.late)
        self.past = p.memory(COMMANDS, size) if size else SX(0, 1)
        kept = motors.remembered
        torques = p.memory(TORQUES, len(kept)) if kept else SX(0, 1)
        self.last = {i: torques[k] for k, i in enumerate(kept)}
        self._late: list[SX] | None = None

    def late(self, commands: Sequence[SX]) -> list[SX]:
        """Return commands, vectors by velocity index, as they arrive in this step."""
        if not self.past.numel():
            return list(commands)
        if self._late is None:
            motors, steps = self.motors, self.motors.steps
            self._late, at = [SX(command) for command in commands], 0
            for limb, i in by_joint(parts(self.robot)):
                if i not in motors.late:
                    continue
                with self.p.block("late command", limb=limb, member=i):
                    due = ca.floor(motors.delay[i] / self.dt + 0.5)
                    for n, command in enumerate(commands):
                        past = self.past[at : at + steps]
                        past = where(self.first, command[i], past)
                        found = command[i]
                        for k in range(steps):
                            found = where(due > k + 0.5, past[k], found)
                        self._late[n][i] = self.p.let("late", found)
                        self.p.update_part(COMMANDS, at, ca.vertcat(command[i], past[:-1]))
                        at += steps
        return self._late

    def torque(self, command: Torque, v: SX) -> Torque:
        """Return the torque of the motors, for that of the control."""
        motors, dt = self.motors, self.dt
        now, slope, rows = SX(command.now), SX(command.slope), dict(command.rows)
        ahead = dt if self.implicit else SX(0)
        for limb, i in by_joint(parts(self.robot)):
            if i not in motors.lagged and i not in motors.curved:
                continue
            with self.p.block("motor", limb=limb, member=i):
                limited = rows.pop(i, ())
                if i in motors.lagged:
                    kept = ca.exp(-dt / ca.fmax(motors.time_constant[i], LEAST_TIME))
                    kept = where(self.first, 0, kept)
                    follows = self.p.let("follows", 1 - kept)
                    limited = tuple(_scaled(row, follows) for row in limited)
                    now[i] = self.p.let("lagging", kept * self.last[i] + follows * now[i])
                    slope[i] = follows * slope[i]
                if i in motors.curved:
                    own = motors.stall_torque[i], motors.no_load_speed[i]
                    row = _bounded(now[i], slope[i], limited, *own, v[i], ahead)
                    now[i] = slope[i] = 0
                    limited = (row.kept(self.p),)
                    if not self.implicit:
                        now[i], limited = self.p.let("torque", limited[0].at(SX(0))[0]), ()
                if limited:
                    rows[i] = limited
        return replace(command, now=now, slope=slope, rows=rows)

    def friction(self, own: SX) -> SX:
        """Return the limits of dry friction by velocity index, for those of the robot's file."""
        motors, found = self.motors, SX(own)
        for i in motors.rubbing:
            load = motors.load_friction[i] * ca.fabs(self.last[i]) if i in motors.loaded else SX(0)
            found[i] = ca.fmax(own[i] + motors.friction[i] + load, LEAST_FRICTION)
        return found

    def remember(self, torque: SX) -> None:
        """Remember the torques that acted in this step."""
        for k, i in enumerate(self.motors.remembered):
            with self.p.block("motor torque", member=i):
                self.p.update_part(TORQUES, k, torque[i])


def _scaled(row: object, share: SX) -> Clamp:
    """Return a share of a limited torque."""
    assert isinstance(row, Clamp)
    return replace(row, now=share * row.now, slope=share * row.slope, limit=share * row.limit)


def _bounded(
    now: SX, slope: SX, limited: tuple[object, ...], stall: SX, speed: SX, v: SX, ahead: SX
) -> Bounded:
    """Return a torque, a straight one with up to one limited one, within a torque-speed curve."""
    falls, forward = stall / speed, v > 0
    high = where(forward, ca.fmax(stall - falls * v, -stall), stall)
    low = where(forward, -stall, ca.fmin(-stall - falls * v, stall))
    fast = ca.fabs(v) > 2 * speed
    high_slope = where(ca.logic_and(forward, ca.logic_not(fast)), ahead * falls, 0)
    low_slope = where(ca.logic_or(forward, fast), 0, ahead * falls)
    if limited:
        (row,) = limited
        assert isinstance(row, Clamp)
        curve = (low, low_slope), (high, high_slope)
        low, low_slope = _within(now - row.limit, *curve)
        high, high_slope = _within(now + row.limit, *curve)
        now, slope = now + row.now, slope + row.slope
    return Bounded(now, slope, low, high, low_slope, high_slope, stall)


def _within(bound: SX, low: tuple[SX, SX], high: tuple[SX, SX]) -> tuple[SX, SX]:
    """Return a constant bound, or that of the curve that it is beyond, and its slope."""
    under, over = bound < low[0], bound > high[0]
    value = where(under, low[0], where(over, high[0], bound))
    return value, where(under, low[1], where(over, high[1], 0))
