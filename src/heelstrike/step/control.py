"""How torques come about in a step: straight from the user, by a servo, or by a controller.

Explicit torques may be held over several steps and come late: a row of past torques, moved on at
every control instant, is part of the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import casadi as ca
import numpy as np

from heelstrike.dynamics.position_error import position_error
from heelstrike.errors import HeelstrikeError
from heelstrike.ir.program import Program
from heelstrike.ir.table import Table, table
from heelstrike.parameters import structure, with_values
from heelstrike.robot.robot import Robot
from heelstrike.scene.controller import Controller, ControlState
from heelstrike.scene.servo import NO_LIMIT, ServoPlan, driven
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.joints import clamped, servo_torque
from heelstrike.step.torque import Torque


@dataclass(frozen=True, eq=False)
class Direct:
    """Torques that the user sets, within the robot's limits."""

    torque: np.ndarray


Control: TypeAlias = Direct | ServoPlan | Controller

REFERENCE = "servo.reference"
"""The table of a servo that follows a trajectory."""


def prefix(control: Control) -> str:
    """What the paths of its parameters begin with."""
    if isinstance(control, Direct):
        return ""
    return "servo." if isinstance(control, ServoPlan) else "controller."


def torque_path(control: Control) -> str:
    """Of what is added to its torque."""
    if isinstance(control, Controller):
        raise HeelstrikeError(
            "a controller makes the torque by itself; give it a parameter for what you add"
        )
    return f"{prefix(control)}torque"


def key(control: Control, robot: Robot) -> object:
    """What tells its compiled code from another's."""
    if isinstance(control, Controller):
        return ["controller", control.graph_for(robot), control.control_every]
    return structure(control)


class Hands:
    """What drives the joints in a program."""

    def __init__(
        self, p: Program, robot: Robot, control: Control, values: Mapping[str, SX], dt: SX
    ) -> None:
        self.p, self.robot, self.dt = p, robot, dt
        self.control = with_values(control, values, prefix(control))
        self.every = 1 if isinstance(control, Direct) else control.control_every
        self.delay_periods = control.delay_periods if isinstance(control, ServoPlan) else 0
        implicit = isinstance(control, ServoPlan) and control.implicit
        self.holds = not implicit and (self.every > 1 or self.delay_periods > 0)
        self.past = (
            p.memory("held torque", (self.delay_periods + 1) * robot.nv) if self.holds else SX(0, 1)
        )
        size = control.memory if isinstance(control, Controller) else 0
        self.memory = p.memory("controller memory", size) if size else SX(0, 1)
        self.following: dict[str, SX] = {}
        self.reference: Table | None = None
        if isinstance(control, ServoPlan) and control.rows:
            self.reference = table(p, REFERENCE, control.rows, 2 * robot.nv)
        self._held: SX | None = None

    def torque(self, q: SX, v: SX, when: float) -> Torque:
        """At a state, `when` of a step after its start."""
        if self._held is not None:
            return Torque(self._held, zeros(self.robot.nv))
        fresh = self._fresh(q, v, when)
        if not self.holds:
            return fresh
        with self.p.block("control"):
            earlier = self.past[: -self.robot.nv] if self.delay_periods else SX(0, 1)
            kept = ca.vertcat(fresh.now, earlier)
            past = self.p.let("held", ca.if_else(self._is_instant(), kept, self.past))
        self.following["held torque"] = past
        self._held = past[-self.robot.nv :]
        return Torque(self._held, zeros(self.robot.nv))

    def remember(self) -> None:
        """Updates of what is held."""
        if self.following:
            with self.p.block("remember", limb="control"):
                for name, value in self.following.items():
                    self.p.update(name, value)

    def _fresh(self, q: SX, v: SX, when: float) -> Torque:
        robot, control = self.robot, self.control
        limits = SX(np.minimum(robot.torque_limit, NO_LIMIT))
        limited = tuple(int(i) for i in np.flatnonzero(robot.torque_limit < NO_LIMIT))
        if isinstance(control, ServoPlan):
            return self._servo(control, q, v, when)
        if isinstance(control, Direct):
            tau = SX(control.torque) * SX(driven(robot))
            return Torque(clamped(tau, limits, limited), zeros(robot.nv))
        position = -position_error(robot, q, zeros(robot.nv))
        time = (self.p.clock + when) * self.dt
        sensed = ControlState(position, v, time, self.dt, self.memory, q)
        tau, memory = control.torque(robot, sensed)
        if self.memory.numel() and when == 0:
            with self.p.block("memory", limb="control"):
                kept = ca.if_else(self._is_instant(), memory, self.memory)
                self.following["controller memory"] = self.p.let("memory", kept)
        tau = ca.densify(tau * SX(driven(robot)))
        return Torque(clamped(tau, limits, limited), zeros(robot.nv))

    def _servo(self, servo: ServoPlan, q: SX, v: SX, when: float) -> Torque:
        """References are those at the end of the step where the servo is implicit."""
        ahead = self.dt if servo.implicit else 0.0
        if self.reference is None:
            return servo_torque(self.robot, servo, q, v, servo.q_ref, servo.v_ref, ahead)
        step = self._last_instant() + (1.0 if servo.implicit else 0.0)
        if not self.holds:
            step = step + when
        time = step * self.dt - servo.delay
        values, slopes = self.reference.at((time - servo.start) * servo.rate)
        nv = self.robot.nv
        servo = replace(servo, torque=servo.torque + values[nv:])
        v_ref = slopes[:nv] * servo.rate
        return servo_torque(self.robot, servo, q, v, values[:nv], v_ref, ahead)

    def _last_instant(self) -> SX:
        """The last step at which control was renewed."""
        clock = self.p.clock
        return clock if self.every == 1 else self.every * ca.floor((clock + 0.5) / self.every)

    def _is_instant(self) -> SX:
        return self.p.clock - self._last_instant() < 0.5
