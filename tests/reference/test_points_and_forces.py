"""Points of bodies and external forces against Pinocchio, and what tilted axes cost.

Oracle: a Pinocchio frame put at the point, in world-aligned axes; pin.aba and pin.rnea with forces.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from heelstrike.dynamics.aba import aba
from heelstrike.dynamics.jacobian import bias_accelerations, body_jacobian, point_jacobian
from heelstrike.dynamics.kinematics import (
    accelerations,
    kinematics,
    point_acceleration,
    point_velocity,
    poses,
)
from heelstrike.dynamics.quantities import quantities
from heelstrike.dynamics.rnea import rnea
from heelstrike.ir.program import Program
from heelstrike.robot import load
from heelstrike.robot.convert import from_pinocchio
from heelstrike.runtime.compiler import compile_program
from heelstrike.spatial.motion import ForceVector, force_at
from tests.models import random_states, random_tree

WORLDS = 9
# sums of a few dozen terms; the solves lose as many digits as cond(H) ~ 1e4 has
TOLERANCE = {"rtol": 1e-10, "atol": 1e-9}


@pytest.fixture(scope="module", params=["hoap1", "tree"])
def robot(request):
    return (
        load("hoap1", collide="feet")
        if request.param == "hoap1"
        else from_pinocchio(random_tree(4))
    )


def test_points(robot):
    """Position, velocity, acceleration, Jacobian and bias of a point on the last body."""
    body, place = len(robot.joints) - 1, np.array([0.05, -0.1, 0.2])
    p = Program("points")
    q, v, a = p.input("q", robot.nq), p.input("v", robot.nv), p.input("a", robot.nv)
    kin = kinematics(p, robot, q, v)
    pose = poses(p, robot, kin)[body]
    moved = accelerations(p, robot, kin, v, a)[body]
    bias = bias_accelerations(p, robot, kin, v)[body]
    jacobian = point_jacobian(p, pose, body_jacobian(p, robot, kin, body), ca.SX(place))
    with p.block("point"):
        point, velocity = ca.SX(place), kin.velocities[body]
        p.output("position", pose.point(point))
        p.output("velocity", point_velocity(pose, velocity, point))
        p.output("acceleration", point_acceleration(pose, velocity, moved, point))
        p.output("bias", point_acceleration(pose, velocity, bias, point))
        p.output("jacobian", jacobian)
    model = robot.model.copy()
    joint = model.njoints - 1
    frame = model.addFrame(
        pin.Frame("p", joint, 0, pin.SE3(np.eye(3), place), pin.FrameType.OP_FRAME)
    )
    data = model.createData()
    states = random_states(model, WORLDS, speed=3.0)
    out = compile_program(p)(q=states[0], v=states[1], a=states[2])
    axes = pin.LOCAL_WORLD_ALIGNED
    for i in range(WORLDS):
        q_i, v_i, a_i, _ = (x[i] for x in states)
        for name, rate in (("acceleration", a_i), ("bias", 0 * a_i)):
            pin.forwardKinematics(model, data, q_i, v_i, rate)
            seen = pin.getFrameClassicalAcceleration(model, data, frame, axes)
            assert np.allclose(out[name][i], seen.linear, **TOLERANCE)
        pin.updateFramePlacements(model, data)
        assert np.allclose(out["position"][i], data.oMf[frame].translation, **TOLERANCE)
        seen = pin.getFrameVelocity(model, data, frame, axes)
        assert np.allclose(out["velocity"][i], seen.linear, **TOLERANCE)
        columns = pin.computeFrameJacobian(model, data, q_i, frame, axes)[:3]
        assert np.allclose(out["jacobian"][i], columns, **TOLERANCE)


def test_external_forces(robot):
    """A force and a moment on every body; one of them as a pure force at a point."""
    n = len(robot.joints)
    p = Program("forces")
    q, v, x = p.input("q", robot.nq), p.input("v", robot.nv), p.input("x", robot.nv)
    f = p.input("f", 6 * n)
    gravity = ca.vertcat(0, 0, -9.81)
    kin = kinematics(p, robot, q, v)
    known = {i: k for i in range(n) if (k := pinocchio_joint(robot, i)) is not None}
    external = [
        ForceVector(f[6 * i : 6 * i + 3], f[6 * i + 3 : 6 * i + 6]) if i in known else None
        for i in range(n)
    ]
    place = np.array([0.1, 0.2, -0.3])
    external[-1] = force_at(ca.SX(place), f[6 * n - 6 : 6 * n - 3])
    armature = ca.SX(robot.armature)
    forward = aba(p, robot, kin, v, x, gravity, armature, external)
    inverse = rnea(p, robot, kin, v, x, gravity, external)
    with p.block("out"):
        p.output("forward", forward)
        p.output("inverse", inverse)
    q, v, x, _ = random_states(robot.model, WORLDS, speed=3.0)
    f = np.random.default_rng(2).normal(size=(WORLDS, 6 * n)) * 10
    out = compile_program(p)(q=q, v=v, x=x, f=f)
    model, data = robot.model, robot.model.createData()
    for i in range(WORLDS):
        forces = [pin.Force.Zero() for _ in range(model.njoints)]
        for k, joint in known.items():
            forces[joint] += pin.Force(f[i, 6 * k : 6 * k + 6])
        last = f[i, -6:-3]
        forces[-1] += pin.Force(np.zeros(3), np.cross(place, last) - f[i, -3:])
        theirs = pin.aba(model, data, q[i], v[i], x[i], forces)
        assert np.allclose(out["forward"][i], theirs, rtol=1e-8, atol=1e-8)
        theirs = pin.rnea(model, data, q[i], v[i], x[i], forces) - robot.armature * x[i]
        assert np.allclose(out["inverse"][i], theirs, **TOLERANCE)


def pinocchio_joint(robot, body):
    """None for the inner bodies of a composite joint."""
    model, end = robot.model, robot.joints[body].iv + robot.joints[body].nv
    ends = {model.idx_vs[i] + model.nvs[i]: i for i in range(1, model.njoints)}
    return ends.get(end)


def arm(axis: str) -> str:
    links = "".join(
        f'<body name="b{i}" pos="0 0 0.3"><joint name="j{i}" axis="{axis}"/>'
        '<inertial pos="0.01 0.02 0.1" mass="1" diaginertia="0.02 0.02 0.01"/>'
        for i in range(6)
    )
    return f'<mujoco model="arm"><worldbody>{links}{"</body>" * 6}</worldbody></mujoco>'


def test_aligned_axes_cost_nothing_extra(tmp_path):
    """y, or minus y: the same count; a tilted axis: a full rotation matrix and dense directions."""
    counts = {}
    for name, axis in {"y": "0 1 0", "minus": "0 -1 0", "tilted": "0.6 0 0.8"}.items():
        path = tmp_path / f"{name}.xml"
        path.write_text(arm(axis))
        counts[name] = quantities(load(path, points=[]), ["forward_dynamics"]).counts().arithmetic
    assert counts["y"] == counts["minus"]
    assert counts["tilted"] > 1.3 * counts["y"]
