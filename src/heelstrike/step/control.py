"""Box 8 of [Sugihara2006], Fig. 4: torques by the user, a servo or a controller.

    servo       tau = kp (q_ref - q - ahead v) + kd (v_ref - v) + feedforward - slope a
                slope = ahead (kd + ahead kp),   ahead = dt where the servo is implicit, else 0

Explicit torques may be held over several steps and come late: a row of past torques, moved on at
every control instant, is part of the state. Motors (motors.py) stand between torques and joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import casadi as ca
import numpy as np

from heelstrike.contact.solver.joint_rows import Clamp
from heelstrike.dynamics.position_error import has_scalar_position, position_error
from heelstrike.errors import HeelstrikeError
from heelstrike.ir.program import Program
from heelstrike.ir.table import Table, table
from heelstrike.parameters import structure, with_values
from heelstrike.robot.robot import Robot
from heelstrike.scene.actuators import ActuatorPlan
from heelstrike.scene.controller import Controller, ControlState
from heelstrike.scene.motors import MotorPlan
from heelstrike.scene.servo import NO_LIMIT, ServoPlan, driven
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.actuators import activation_indices, actuator_torque, inputs_of
from heelstrike.step.motors import JointMotors
from heelstrike.step.torque import Rows, Torque, clamped


@dataclass(frozen=True, eq=False)
class Direct:
    """Torques that the user sets, within the robot's limits."""

    torque: np.ndarray
    """Torques by velocity index [N m or N]."""


Control: TypeAlias = Direct | ServoPlan | ActuatorPlan | Controller

ACTIVATION = "activation"
"""Name of the memory of actuators' activations."""
MOTORS = "motors."
"""Prefix of the paths of the motors' parameters."""
REFERENCE = "servo.reference"
"""Name of the table of a servo that follows a trajectory."""


def parameter_prefix(control: Control) -> str:
    """Return the prefix of the paths of the control's parameters."""
    if isinstance(control, Direct):
        return ""
    if isinstance(control, ActuatorPlan):
        return "actuators."
    return "servo." if isinstance(control, ServoPlan) else "controller."


def torque_path(control: Control) -> str:
    """Return the path of the torque that is added to the control's."""
    if isinstance(control, Controller):
        raise HeelstrikeError(
            "a controller computes the whole torque",
            remedy="give the controller a parameter for the torque that you add",
        )
    return f"{parameter_prefix(control)}torque"


def control_key(control: Control, robot: Robot, sensors: Mapping[str, tuple[int, ...]]) -> object:
    """Return what tells the compiled code of one control from another's."""
    if isinstance(control, Controller):
        return ["controller", control.graph_for(robot, sensors), control.control_every]
    return structure(control)


class JointControl:
    """The control of a step, with its memories and its reference as symbols of the program."""

    def __init__(
        self,
        p: Program,
        robot: Robot,
        control: Control,
        values: Mapping[str, SX],
        dt: SX,
        implicit: bool,
        last: Mapping[int, SX],
        sensors: Mapping[str, SX],
        motors: MotorPlan | None = None,
    ) -> None:
        self.p, self.robot, self.dt = p, robot, dt
        self.implicit, self.last, self.sensors = implicit, last, sensors
        self.control = with_values(control, values, parameter_prefix(control))
        self.every = 1 if isinstance(control, Direct) else control.control_every
        self.delay_periods = control.delay_periods if isinstance(control, ServoPlan) else 0
        at_end = isinstance(control, ServoPlan) and control.implicit
        self.holds = not at_end and (self.every > 1 or self.delay_periods > 0)
        self.past = (
            p.memory("held torque", (self.delay_periods + 1) * robot.nv) if self.holds else SX(0, 1)
        )
        size = control.memory if isinstance(control, Controller) else 0
        self.memory = p.memory("controller memory", size) if size else SX(0, 1)
        active = activation_indices(robot) if isinstance(control, ActuatorPlan) else {}
        self.activation = p.memory(ACTIVATION, len(active)) if active else SX(0, 1)
        self.updates: dict[str, SX] = {}
        self.reference: Table | None = None
        if isinstance(control, ServoPlan) and control.rows:
            self.reference = table(p, REFERENCE, control.rows, 2 * robot.nv)
        self.motors: JointMotors | None = None
        """Motors between the control and the joints; None: torques act as they are."""
        if motors is not None:
            signals = 2 if isinstance(control, ServoPlan) else 1
            own = with_values(motors, values, MOTORS)
            self.motors = JointMotors(p, robot, own, dt, implicit, signals)
        self._held: SX | None = None
        self._inputs: list[SX] | None = None

    def torque(self, q: SX, v: SX, stage: float) -> Torque:
        """Return the torque at a state, `stage` of a step after the start of the step."""
        command = self._command(q, v, stage)
        if self.motors is None:
            return command
        if not isinstance(self.control, ServoPlan):
            command = replace(command, now=self.motors.late([command.now])[0])
        return self.motors.torque(command, v)

    def _command(self, q: SX, v: SX, stage: float) -> Torque:
        """Return the torque without motors, held where the control is slower than the steps."""
        if self._held is not None:
            return Torque(self._held, zeros(self.robot.nv))
        new = self._new(q, v, stage)
        if not self.holds:
            return new
        with self.p.block("control"):
            earlier = self.past[: -self.robot.nv] if self.delay_periods else SX(0, 1)
            kept = ca.vertcat(new.now, earlier)
            past = self.p.let("held", ca.if_else(self._is_instant(), kept, self.past))
        self.updates["held torque"] = past
        self._held = past[-self.robot.nv :]
        return Torque(self._held, zeros(self.robot.nv))

    def update_memory(self, torque: SX) -> None:
        """Update held torques, the controller's memory and that of the motors' torques."""
        if self.motors is not None:
            self.motors.remember(torque)
        if self.updates:
            with self.p.block("remember", limb="control"):
                for name, value in self.updates.items():
                    self.p.update(name, value)

    def _new(self, q: SX, v: SX, stage: float) -> Torque:
        """Return the torque that the control computes at this state."""
        robot, control = self.robot, self.control
        limits = SX(np.minimum(robot.torque_limit, NO_LIMIT))
        limited = tuple(int(i) for i in np.flatnonzero(robot.torque_limit < NO_LIMIT))
        if isinstance(control, ServoPlan):
            return self._servo(control, q, v, stage)
        if isinstance(control, ActuatorPlan):
            return self._actuators(control, q, v, stage)
        if isinstance(control, Direct):
            tau = SX(control.torque) * SX(driven(robot))
            return Torque(clamped(tau, limits, limited), zeros(robot.nv))
        position = -position_error(robot, q, zeros(robot.nv))
        time = (self.p.clock + stage) * self.dt
        own = position, v, time, self.dt, self.memory, q, self.sensors
        sensed = ControlState(*own)
        tau, memory = control.torque(robot, sensed)
        if self.memory.numel() and stage == 0:
            with self.p.block("memory", limb="control"):
                kept = ca.if_else(self._is_instant(), memory, self.memory)
                self.updates["controller memory"] = self.p.let("memory", kept)
        tau = ca.densify(tau * SX(driven(robot)))
        return Torque(clamped(tau, limits, limited), zeros(robot.nv))

    def _servo(self, servo: ServoPlan, q: SX, v: SX, stage: float) -> Torque:
        """Return a servo's torque; an implicit one takes its references at the end of the step."""
        ahead = self.dt if servo.implicit else 0.0
        if self.reference is None:
            return self._follow(servo, q, v, SX(servo.q_ref), SX(servo.v_ref), ahead)
        step = self._last_instant() + (1.0 if servo.implicit else 0.0)
        if not self.holds:
            step = step + stage
        time = step * self.dt - servo.delay
        values, slopes = self.reference.at((time - servo.start) * servo.rate)
        nv = self.robot.nv
        servo = replace(servo, torque=servo.torque + values[nv:])
        v_ref = slopes[:nv] * servo.rate
        return self._follow(servo, q, v, values[:nv], v_ref, ahead)

    def _follow(
        self, servo: ServoPlan, q: SX, v: SX, q_ref: SX, v_ref: SX, ahead: SX | float
    ) -> Torque:
        """Return a servo's torque for references that motors may let come late."""
        if self.motors is not None:
            moves = SX(servo.kd) * v_ref + servo.torque
            q_ref, moves = self.motors.late([q_ref, moves])
            servo, v_ref = replace(servo, torque=moves), zeros(self.robot.nv)
        return servo_torque(self.robot, servo, q, v, q_ref, v_ref, ahead)

    def _actuators(self, plan: ActuatorPlan, q: SX, v: SX, stage: float) -> Torque:
        """Return the torque of the robot's actuators."""
        robot, ahead = self.robot, self.dt if self.implicit else 0.0
        found = actuator_torque(robot, self.actuator_inputs(), q, v, ahead, self.last)
        return replace(found, now=found.now + plan.torque * SX(driven(robot)))

    def actuator_inputs(self) -> list[SX]:
        """Return control or activation of each actuator in this step."""
        if self._inputs is None and isinstance(self.control, ActuatorPlan):
            with self.p.block("activation", limb="control"):
                own = SX(self.control.control), self.activation, self.dt
                found, after = inputs_of(self.robot, *own)
                self._inputs = [self.p.let("input", own) for own in found]
                if self.activation.numel():
                    self.updates[ACTIVATION] = self.p.let("activation", after)
        return self._inputs or []

    def _last_instant(self) -> SX:
        """Return the number of the step in which the control was last computed."""
        clock = self.p.clock
        return clock if self.every == 1 else self.every * ca.floor((clock + 0.5) / self.every)

    def _is_instant(self) -> SX:
        return self.p.clock - self._last_instant() < 0.5


def servo_torque(
    robot: Robot, servo: ServoPlan, q: SX, v: SX, q_ref: SX, v_ref: SX, ahead: SX | float
) -> Torque:
    """Return the torque of a servo whose parameters are symbols.

    `ahead` is dt where the servo is implicit, else 0 [s]; references are by velocity index.
    """
    moves = SX(driven(robot))
    stiff, damping = servo.kp * SX(has_scalar_position(robot)), servo.kd * moves
    lag = position_error(robot, q, q_ref)
    now = stiff * (lag - ahead * v) + damping * (v_ref - v) + servo.torque * moves
    slope = ahead * (damping + ahead * stiff)
    if servo.implicit:
        rows: Rows = {i: (Clamp(now[i], slope[i], servo.limit[i]),) for i in servo.limited}
        others = SX(np.array([i not in rows for i in range(robot.nv)], dtype=float))
        return Torque(now * others, slope * others, rows)
    return Torque(clamped(now, servo.limit, servo.limited), zeros(robot.nv))
