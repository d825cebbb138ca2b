"""Accelerations of bodies by the centrifugal and Coriolis forces alone.

    J H^-1 (b - g)      b of [Sugihara2006] (1), g(q) the gravity torque in b

H includes the armature and the servo's diagonal.
"""

from __future__ import annotations

from heelstrike.dynamics.aba import forward_dynamics
from heelstrike.dynamics.kinematics import Kinematics, without_velocity
from heelstrike.dynamics.rnea import rnea
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot
from heelstrike.spatial.motion import MotionVector
from heelstrike.spatial.vector import SX, zeros


def coriolis_accelerations(
    p: Program, robot: Robot, kin: Kinematics, v: SX, diagonal: SX
) -> list[MotionVector]:
    """Return the accelerations of the bodies, in their own frames, under torques b - g.

    `diagonal` is added to the diagonal of H.
    """
    torque = rnea(p, robot, kin, v, None, zeros())
    still = without_velocity(robot, kin), zeros(robot.nv)
    return forward_dynamics(p, robot, *still, torque, zeros(), diagonal).bodies
