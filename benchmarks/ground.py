"""A robot that stands on a spring-damper floor under its servo: the load of the speed benchmarks.

    f_n = max(0, k d + c max(d_dot, 0)),   f_t = -mu f_n v_t / sqrt(|v_t|^2 + 1e-6)

explicit, at the robot's contact points, on the plane z = 0. Written for measuring speed alone; the
friction creeps.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.dynamics.aba import aba
from heelstrike.dynamics.flight import Flight
from heelstrike.dynamics.integrate import euler
from heelstrike.dynamics.kinematics import kinematics, point_velocity, poses
from heelstrike.dynamics.tree import limbs
from heelstrike.ir.block import SX
from heelstrike.ir.program import Program
from heelstrike.robot import Robot
from heelstrike.spatial.motion import ForceVector, force_at

K, C, MU = 2e4, 300.0, 0.8


def standing(robot: Robot) -> Program:
    """Memory q, v; inputs dt, gravity, kp, kd, q_ref; output the normal forces of the points."""
    p = Program("standing")
    q, v = p.memory("q", robot.nq, initial=robot.neutral), p.memory("v", robot.nv)
    dt, pull = p.input("dt", 1), p.input("gravity", 1)
    kp, kd, q_ref = (p.input(name, robot.nv) for name in ("kp", "kd", "q_ref"))
    kin = kinematics(p, robot, q, v)
    placed = poses(p, robot, kin)
    external: list[ForceVector | None] = [None] * len(robot.joints)
    normals = []
    for body in sorted({point.body for point in robot.points}):
        limb = next(limb.name for limb in limbs(robot) if body in limb.joints)
        with p.block("contact", limb=limb):
            total: ForceVector | None = None
            for point in (x for x in robot.points if x.body == body):
                place = SX(point.position)
                depth = -placed[body].point(place)[2]
                slip = point_velocity(placed[body], kin.velocities[body], place)
                push = ca.fmax(K * depth + C * ca.fmax(-slip[2], 0), 0)
                normal = ca.if_else(depth > 0, push, 0)
                drag = -MU * normal / ca.sqrt(slip[0] ** 2 + slip[1] ** 2 + 1e-6)
                world = ca.vertcat(drag * slip[0], drag * slip[1], normal)
                force = force_at(place, placed[body].unrotate(world))
                total = force if total is None else total + force
                normals.append(p.let("normal", normal))
            assert total is not None
            linear, angular = p.let("force", total.linear), p.let("force", total.angular)
            external[body] = ForceVector(linear, angular)
    position = ca.vertcat(np.zeros(6), q[7:])  # a free base, then one coordinate a joint
    tau = kp * (q_ref - position - dt * v) - kd * v
    diagonal = SX(robot.armature) + dt * (kd + dt * kp)
    gravity = ca.vertcat(0, 0, -pull)
    a = aba(p, robot, kin, v, tau, gravity, diagonal, external)
    with p.block("held"):
        held = p.let("held", ca.mmax(ca.vertcat(*normals)) > 0)
    euler(p, robot, q, v, a, dt, Flight(kin, gravity, {0: held}))
    with p.block("record"):
        p.output("normal", ca.vertcat(*normals))
    return p


def inputs(robot: Robot, worlds: int, seed: int = 0) -> dict[str, np.ndarray]:
    """The standing pose, each joint of each world a little off, and the gains of the robot."""
    rng = np.random.default_rng(seed)
    pose = robot.poses.get("stand", robot.poses.get("stance"))
    assert pose is not None
    q = np.tile(pose, (worlds, 1))
    q[:, 7:] += 0.02 * rng.normal(size=(worlds, robot.nq - 7))
    return {
        "q": q,
        "v": np.zeros((worlds, robot.nv)),
        "dt": np.array([1e-3]),
        "gravity": np.array([9.81]),
        "kp": robot.kp,
        "kd": robot.kd,
        "q_ref": np.r_[np.zeros(6), pose[7:]],
    }
