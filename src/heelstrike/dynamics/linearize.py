"""Derivative of a step in the tangent space of the robot's configurations.

    dx+ = A dx + B du + P dp,      dx = (dq, dv) with dq a motion of the joints, 2 nv numbers

A motion dq changes the coordinates by their rates, dq_coordinates = G(q) dq. After the step it is
recovered from the change of the coordinates, for a quaternion as 2 Im(q* dq).
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.integrate import coordinate_rates
from heelstrike.ir.derivative import Derivative
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot
from heelstrike.spatial.rotation import from_quaternion, quaternion_product
from heelstrike.spatial.vector import SX, zeros


def directional(robot: Robot, step: Program, inputs: Sequence[str] = ()) -> Program:
    """Return the program of a step's directional derivative.

    It has the input `direction`, (2 nv,), an input "direction of NAME" for each named input of the
    step, and the output `change`, (2 nv,).
    """
    d = Derivative(step, f"{step.name}_slope")
    p = d.program
    direction = p.input("direction", 2 * robot.nv)
    d.seed("q", coordinate_rates(robot, d.symbol("q"), direction[: robot.nv]))
    d.seed("v", direction[robot.nv :])
    for name in inputs:
        d.seed(name, p.input(f"direction of {name}", step.inputs[name].size))
    d.trace()
    with p.block("change"):
        moved = motion_of(robot, d.next("q"), d.next_tangent("q"))
        p.output("change", ca.vertcat(moved, d.next_tangent("v")))
    return p


def motion_of(robot: Robot, q: SX, dq: SX) -> SX:
    """Return the motion of the joints, (nv,), that changes coordinates q by dq."""
    motion = zeros(robot.nv)
    for joint in robot.joints:
        x, dx = joints.coordinates(joint, q), joints.coordinates(joint, dq)
        motion[joint.iv : joint.iv + joint.nv] = _motion(joint.kind, x, dx)
    return motion


def _motion(kind: str, x: SX, dx: SX) -> SX:
    match kind:
        case "revolute" | "prismatic":
            return dx
        case "continuous":
            return x[0] * dx[1] - x[1] * dx[0]
        case "spherical":
            return _turn(x, dx)
        case "planar":
            c, s = x[2], x[3]
            linear = ca.vertcat(c * dx[0] + s * dx[1], c * dx[1] - s * dx[0])
            return ca.vertcat(linear, c * dx[3] - s * dx[2])
        case "free":
            return ca.vertcat(from_quaternion(x[3:7]).undo(dx[0:3]), _turn(x[3:7], dx[3:7]))
    raise AssertionError(kind)


def _turn(quaternion: SX, change: SX) -> SX:
    """Return the rotation vector 2 Im(q* dq) of a change of a quaternion."""
    conjugate = ca.vertcat(-quaternion[0:3], quaternion[3])
    return 2 * quaternion_product(conjugate, change)[0:3]
