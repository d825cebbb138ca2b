"""Wrenches of the ground on each held link during a hit.

A virtual base may pull: the ZMP of the whole robot is inside the support polygon while one sole is
pulled up, and on a floor that sole lifts. So a plan checks each of them. Two soles also work
against one another. The servo's references go on at the joints' velocities, which keep the soles
at rest at first, but not on the way: the legs turn, and J_c a + J_c_dot v is not zero. So the
joints are pushed off their references by delta, about delta t^2 / 2 at the time t of the hit, and
the servo pushes back:

    M(t) delta + H a + b(q, v) + g - [0; tau] + J^T n f = J_c^T lambda,    M = H + K_d t + K_p t^2/2
    J_c (a + delta) + J_c_dot v = 0

lambda follows. a and tau are the simplified computation's, which leaves b and J_c_dot v out; tau is
all that its servo gives, the weight's share included.
"""

from __future__ import annotations

import casadi as ca

from heelstrike.dynamics.crba import crba
from heelstrike.dynamics.factor import factor_tree
from heelstrike.dynamics.jacobian import bias_accelerations, body_jacobian, point_jacobian
from heelstrike.dynamics.kinematics import kinematics, poses
from heelstrike.dynamics.rnea import rnea
from heelstrike.impact.hit import Hit
from heelstrike.impact.reduced_inertia import held_base
from heelstrike.ir.program import Program
from heelstrike.spatial.ldl import factor
from heelstrike.spatial.motion import ForceVector
from heelstrike.spatial.vector import SX, zeros


def soles_program(hit: Hit) -> Program:
    """Return the program of the soles' wrenches.

    Inputs are those of `motion_program`, torque, kp, kd (n) and time [s]. Output soles (6, held
    links): force and moment about the world's origin, one column a link.
    """
    robot = hit.robot
    p = Program("soles")
    q, turning = p.input("q", robot.nq), p.input("turning", hit.n)
    rate, torque = p.input("rate", hit.n), p.input("torque", hit.n)
    force, point = p.input("force", 1), p.input("point", 3)
    direction, gravity = p.input("direction", 3), ca.vertcat(0, 0, -p.input("gravity", 1))
    kp, kd, time = p.input("kp", hit.n), p.input("kd", hit.n), p.input("time", 1)
    free = zeros(robot.nv - hit.n)
    resting = kinematics(p, robot, q, zeros(robot.nv))
    jacobians = [body_jacobian(p, robot, resting, body) for body in hit.held]
    base = held_base(p, jacobians)
    with p.block("motion"):
        v = p.let("v", ca.vertcat(base @ turning, turning))
        a = p.let("a", ca.vertcat(base @ rate, rate))
        servo = p.let("servo", ca.vertcat(free, kd * time + kp * time**2 / 2))
    kin = kinematics(p, robot, q, v)
    placed = poses(p, robot, kin)
    needed = rnea(p, robot, kin, v, a, gravity)
    biases = bias_accelerations(p, robot, kin, v)
    hand = body_jacobian(p, robot, kin, hit.body)
    linear = ca.densify(point_jacobian(p, placed[hit.body], hand, point))
    tree = factor_tree(p, robot, crba(p, robot, kin, SX(robot.armature) + servo))
    with p.block("left over"):
        c = ca.densify(ca.vertcat(*jacobians))
        driven = ca.vertcat(free, torque)
        left = needed + SX(robot.armature) * a - driven + (linear.T @ direction) * force
        bias = ca.vertcat(*(biases[body].column for body in hit.held)) + c @ a
    halves = tree.forward(p, ca.horzcat(c.T, left), "constraints")
    weighted = tree.scale(p, halves, "constraints")
    with p.block("soles"):
        gram = halves.T @ weighted
        held = c.shape[0]
        wrench = factor(gram[:held, :held]).solve(gram[:held, held] - bias)
        columns = []
        for k, body in enumerate(hit.held):
            own_wrench = ForceVector(wrench[6 * k : 6 * k + 3], wrench[6 * k + 3 : 6 * k + 6])
            out = placed[body].force_out(own_wrench)
            columns.append(ca.vertcat(out.linear, out.angular))
        p.output("soles", ca.horzcat(*columns))
    return p
