"""The robot of the iCub's recordings: its soles, their frames, the place of the IMU."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin

import heelstrike as hs
from heelstrike.robot.convert import to_pinocchio
from heelstrike.validation.files import robot_file
from heelstrike.validation.measured_set import Floats

RATE = 100
"""Frames a second."""
FEET = ("l", "r")
SOLE, CENTRE = (0.195, 0.095), {"l": (0.0315, 0.004), "r": (0.0315, -0.004)}
"""Length and width of a sole, and its centre in the sole's frame [m]: the boxes of the URDF."""
GRAVITY = 9.81
"""[m/s^2]"""
IMU = pin.rpy.rpyToMatrix(-2.09439521059, 0.0, -1.57079632679), (0.085155, -0.011, -0.112309)
"""Rotation and position of the IMU in the base: root_link_imu_frame of the URDF."""


@cache
def robot() -> hs.Robot:
    """Return iCub with the four lower corners of each sole as contact points."""
    corners = [
        (f"{foot}_sole", (x + sx * SOLE[0] / 2, y + sy * SOLE[1] / 2, 0.0))
        for foot, (x, y) in CENTRE.items()
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    return hs.load(robot_file("icub.urdf"), points=corners)


def weight() -> float:
    """Return the weight of the model [N]."""
    return robot().mass * GRAVITY


@cache
def model() -> Any:
    """Return the robot as Pinocchio has it, and its data."""
    own = to_pinocchio(robot())
    return own, own.createData()


def corners(q: Floats) -> Floats:
    """Return the heights of the soles' corners [m]."""
    own, data = model()
    pin.forwardKinematics(own, data, q)
    return np.array([data.oMi[p.body + 1].act(np.array(p.position))[2] for p in robot().points])


def soles(q: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """Return places and velocities of the soles, and the vertical in their frames, (foot, 3)."""
    own, data = model()
    pin.forwardKinematics(own, data, q, v)
    place, velocity, up = np.zeros((3, 2, 3))
    for side, foot in enumerate(FEET):
        frame = robot().frames[f"{foot}_sole"]
        at, twist = data.oMi[frame.body + 1], data.v[frame.body + 1]
        place[side] = at.act(frame.translation)
        velocity[side] = at.rotation @ (twist.linear + np.cross(twist.angular, frame.translation))
        up[side] = (at.rotation @ frame.rotation)[2]
    return place, velocity, up
