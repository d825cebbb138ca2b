"""What the ground exerts on each held link during a hit.

    J_c^T lambda = H a + b(q, v) + g - [0; tau] + J^T n f,     lambda = (J_c J_c^T)^-1 J_c (...)

A virtual base may pull: the ZMP of the whole robot is inside the support polygon while one sole is
pulled up, and on a floor that sole lifts. So a plan asks each of them. tau is all that the servo
gives, the weight's share included.
"""

from __future__ import annotations

import casadi as ca

from heelstrike.compile.program import Program
from heelstrike.dynamics.jacobian import body_jacobian, point_jacobian
from heelstrike.dynamics.kinematics import kinematics, poses
from heelstrike.dynamics.rnea import rnea
from heelstrike.impact.hit import Hit
from heelstrike.impact.motion import own_acceleration
from heelstrike.impact.reduced import held_base
from heelstrike.spatial.motion import Force
from heelstrike.spatial.small import factor
from heelstrike.spatial.vector import SX, zeros


def soles_program(hit: Hit) -> Program:
    """Inputs as of `motion_program`, and torque (n). Output soles (6, held links): force and moment
    about the world's origin, one column a link.
    """
    robot = hit.robot
    p = Program("soles")
    q, turning = p.input("q", robot.nq), p.input("turning", hit.n)
    rate, torque = p.input("rate", hit.n), p.input("torque", hit.n)
    force, point = p.input("force", 1), p.input("point", 3)
    direction, gravity = p.input("direction", 3), ca.vertcat(0, 0, -p.input("gravity", 1))
    resting = kinematics(p, robot, q, zeros(robot.nv))
    jacobians = [body_jacobian(p, robot, resting, body) for body in hit.held]
    base = held_base(p, jacobians)
    with p.block("velocity"):
        v = p.let("v", ca.vertcat(base @ turning, turning))
    kin = kinematics(p, robot, q, v)
    placed = poses(p, robot, kin)
    own = own_acceleration(p, hit, kin, v, jacobians, SX())
    with p.block("acceleration"):
        a = p.let("a", ca.vertcat(base @ rate + own, rate))
    needed = rnea(p, robot, kin, v, a, gravity)
    hand = body_jacobian(p, robot, kin, hit.body)
    linear = ca.densify(point_jacobian(p, placed[hit.body], hand, point))
    with p.block("soles"):
        c = ca.densify(ca.vertcat(*jacobians))
        driven = ca.vertcat(zeros(robot.nv - hit.n), torque)
        left = needed + SX(robot.armature) * a - driven + (linear.T @ direction) * force
        wrench = factor(c @ c.T).solve(c @ left)
        columns = []
        for k, body in enumerate(hit.held):
            own_wrench = Force(wrench[6 * k : 6 * k + 3], wrench[6 * k + 3 : 6 * k + 6])
            out = placed[body].force_out(own_wrench)
            columns.append(ca.vertcat(out.linear, out.angular))
        p.output("soles", ca.horzcat(*columns))
    return p
