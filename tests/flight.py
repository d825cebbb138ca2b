"""A servo-driven robot in the air: the simulator's step without contact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import heelstrike as hs
from heelstrike.ir.program import Program
from heelstrike.scene.servo import driven


def ideal(robot: hs.Robot) -> hs.Robot:
    """The robot without dry friction and without torque limits."""
    limit = np.full(robot.nv, np.inf)
    return replace(robot, friction=np.zeros(robot.nv), torque_limit=limit)


def in_flight(robot: hs.Robot, **options: object) -> hs.Simulator:
    """A simulator of an ideal robot that touches nothing, without joint stops or control."""
    return hs.Simulator(hs.Scene(ideal(robot)), stops=None, **options)


def flight(robot: hs.Robot) -> Program:
    """The step with a servo at every joint; gains and references are inputs "servo.kp", ..."""
    servo = hs.Servo(kp=1.0, kd=1.0) if driven(robot).any() else None
    return in_flight(robot, control=servo).program
