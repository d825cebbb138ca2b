"""Terms that the simplified computation leaves out, and the wrench that the ground must exert.

    c* = [B^T, 1] (H [a_0; 0] + b(q, v)),   g = [B^T, 1] g(q)             (5), (7), (8)
    J*_dot phi_d = acceleration of the hand while the joints' is zero     (14)
    ground = wrench of the motion - wrench of the hand's force            section II-B, end

Taken with the held links at rest, v = [B phi_d; phi_d]: a_0 is the base's acceleration that keeps
them so. Real masses: a virtual base weighs nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.dynamics.centroidal import contact_wrench
from heelstrike.dynamics.crba import crba
from heelstrike.dynamics.jacobian import bias_accelerations, body_jacobian
from heelstrike.dynamics.kinematics import (
    Kinematics,
    accelerations,
    kinematics,
    point_acceleration,
    poses,
)
from heelstrike.dynamics.rnea import gravity_torque, rnea
from heelstrike.impact.hit import Hit
from heelstrike.impact.reduced_inertia import free_base, held_base
from heelstrike.ir.program import Program
from heelstrike.robot.fingerprint import fingerprint
from heelstrike.runtime.cache import cached_kernel
from heelstrike.runtime.kernel import Kernel
from heelstrike.spatial.ldl import factor
from heelstrike.spatial.vector import SX, zeros


def motion_kernel(hit: Hit, outputs: tuple[str, ...]) -> Kernel:
    """Return the compiled program, from the cache if possible."""
    key = ("impact motion", hit.body, hit.held, fingerprint(hit.robot))
    return cached_kernel(key, lambda: motion_program(hit), outputs=outputs)


def motion_program(hit: Hit) -> Program:
    """Return the program of neglected terms and the ground's wrench.

    Inputs q, turning phi_d and its rate (n), force [N], point, direction, gravity (positive
    down). Outputs: wrench of the ground (force, moment about the origin), coriolis c* and weight g
    (n), drift J*_dot phi_d along the direction.
    """
    robot = hit.robot
    p = Program("motion")
    q, turning = p.input("q", robot.nq), p.input("turning", hit.n)
    rate, force = p.input("rate", hit.n), p.input("force", 1)
    point, direction = p.input("point", 3), p.input("direction", 3)
    gravity = ca.vertcat(0, 0, -p.input("gravity", 1))
    nb = robot.nv - hit.n
    resting = kinematics(p, robot, q, zeros(robot.nv))
    jacobians = [body_jacobian(p, robot, resting, body) for body in hit.held]
    inertia = SX() if hit.held else crba(p, robot, resting, SX(robot.armature))
    base = held_base(p, jacobians) if hit.held else free_base(p, inertia, nb)
    with p.block("velocity"):
        v = p.let("v", ca.vertcat(base @ turning, turning))
    kin = kinematics(p, robot, q, v)
    placed = poses(p, robot, kin)
    own = own_acceleration(p, hit, kin, v, jacobians, inertia) if nb else SX(0, 1)
    still = ca.vertcat(own, zeros(hit.n))

    lost = rnea(p, robot, kin, v, still, zeros())
    held = gravity_torque(p, robot, kin, gravity)
    drifting = accelerations(p, robot, kin, v, still)[hit.body]
    with p.block("acceleration"):
        a = p.let("a", ca.vertcat(base @ rate + own, rate))
    moved = accelerations(p, robot, kin, v, a, base=-gravity)
    needed = contact_wrench(p, robot, kin, placed, moved)
    with p.block("out"):
        pose = placed[hit.body]
        p.output("coriolis", lost[nb:] + base.T @ lost[:nb])
        p.output("weight", held[nb:] + base.T @ held[:nb])
        drift = point_acceleration(pose, kin.velocities[hit.body], drifting, point)
        p.output("drift", ca.dot(direction, drift))
        push = -force * direction
        moment = ca.cross(pose.point(point), push)
        p.output("wrench", ca.vertcat(needed.linear - push, needed.angular - moment))
    return p


def own_acceleration(
    p: Program, hit: Hit, kin: Kinematics, v: SX, jacobians: Sequence[SX], inertia: SX
) -> SX:
    """Return a_0, the base's acceleration while no joint accelerates; in free flight without held
    links.
    """
    if not hit.held:
        bias = rnea(p, hit.robot, kin, v, None, zeros())
        with p.block("own acceleration"):
            return p.let("a_0", -factor(inertia[:6, :6]).solve(bias[:6]))
    biases = bias_accelerations(p, hit.robot, kin, v)
    with p.block("own acceleration"):
        c = ca.densify(ca.vertcat(*jacobians))[:, :6]
        right = c.T @ ca.vertcat(*(biases[body].column for body in hit.held))
        return p.let("a_0", -factor(c.T @ c).solve(right))
