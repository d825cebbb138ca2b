"""Bias of the armature of free joints.

As in MuJoCo, armature m_a of a free joint adds to the inertia of the linear velocity in the world's
axes and of the angular velocity in the body's axes, without a bias of its own. Here the linear
velocity v is in the body's axes as well, so that

    d/dt (m_a R v) = R m_a (v_dot + w x v)

and m_a (w x v) joins the bias. The angular part has none, in both.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.robot.robot import Robot
from heelstrike.spatial.vector import SX, zeros


def armature_bias(robot: Robot, v: SX) -> SX | None:
    """Return the bias forces of free joints with linear armature, (nv,), or None without any."""
    bias = None
    for joint in robot.joints:
        mass = robot.armature[joint.iv : joint.iv + 3]
        if joint.kind == "free" and np.any(mass):
            bias = zeros(robot.nv) if bias is None else bias
            linear, angular = v[joint.iv : joint.iv + 3], v[joint.iv + 3 : joint.iv + 6]
            bias[joint.iv : joint.iv + 3] = ca.cross(angular, SX(mass) * linear)
    return bias
