"""Response of a robot to forces on a few bodies, against Pinocchio.

Oracle: J H^-1 J^T and H^-1 J^T w, with H = pin.crba and armature, J the bodies' Jacobians in world-
aligned axes, by a dense solve.
"""

from __future__ import annotations

import warnings

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.dynamics.aba import forward_dynamics
from heelstrike.dynamics.kinematics import kinematics, poses
from heelstrike.dynamics.response import (
    force_response,
    force_rows,
    inverse_blocks,
    inverse_inertia,
)
from heelstrike.ir.program import Program
from heelstrike.robot.convert import from_pinocchio
from heelstrike.runtime.compiler import compile_program
from tests.models import data_file, random_states, random_tree

WORLDS = 5
TOLERANCE = 1e-10
"""Of the largest entry: cond(H) ~ 1e4 times the 1e-16 of a double, and sums of some dozen terms."""
PAIR = np.random.default_rng(2).normal(size=(2, 6, 3))
"""Three forces that act on two bodies together."""
ROBOTS = ["hoap1", "hrp2", "foot", "box", "tree2", "tree3", "tree5", "tree8", "anymal_c", "g1"]


def robot_of(name):
    if name.startswith("tree"):
        return from_pinocchio(random_tree(int(name[4:])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # meshes are not at hand
        return hs.load(
            data_file(f"robots/{name}.xml") if name in ("anymal_c", "g1") else name, collide="feet"
        )


def whole_joints(robot):
    """Body to Pinocchio's joint, without the inner bodies of composite joints."""
    model = robot.model
    ends = {model.idx_vs[k] + model.nvs[k]: k for k in range(1, model.njoints)}
    return {i: ends[j.iv + j.nv] for i, j in enumerate(robot.joints) if j.iv + j.nv in ends}


def some_bodies(robot):
    """Up to four: the ends of the tree, and one on the way to the first."""
    known = whole_joints(robot)
    ends = [i for i in known if all(joint.parent != i for joint in robot.joints)][:3]
    inner = [i for i in known if i not in ends]
    return {i: known[i] for i in sorted({*ends, *inner[-1:]})}


def response_program(robot, bodies):
    p = Program("response")
    q, v, tau = p.input("q", robot.nq), p.input("v", robot.nv), p.input("tau", robot.nv)
    w = p.input("w", 6 * len(bodies))
    kin = kinematics(p, robot, q, v)
    placed = poses(p, robot, kin)
    gravity = ca.SX([0, 0, -9.81])
    found = forward_dynamics(p, robot, kin, v, tau, gravity, ca.SX(robot.armature))
    terms, unit = found.joint_terms, ca.SX(np.eye(6))
    rows = [force_rows(p, robot, kin, terms, placed, {b: unit}) for b in bodies]
    inverse = inverse_inertia(p, robot, terms, rows)
    pair = {b: ca.SX(x) for b, x in zip(bodies, PAIR, strict=False)}
    pulled = force_rows(p, robot, kin, terms, placed, pair)
    blocks = inverse_blocks(p, robot, terms, [rows[0], pulled])
    forces = [w[6 * k : 6 * k + 6] for k in range(len(bodies))]
    more = force_response(p, robot, kin, found.joint_terms, rows, forces)
    with p.block("out"):
        p.output("inverse", inverse)
        p.output("pair", blocks[1, 1])
        p.output("beside", blocks[1, 0])
        p.output("a", more.a)
        moved = [more.bodies[b] for b in bodies]
        turned = [
            (placed[b].rotate(m.linear), placed[b].rotate(m.angular))
            for b, m in zip(bodies, moved, strict=True)
        ]
        p.output("bodies", ca.vertcat(*(part for both in turned for part in both)))
    return p


def near(ours, theirs):
    return np.abs(ours - theirs).max() <= TOLERANCE * np.abs(theirs).max()


@pytest.mark.parametrize("name", ROBOTS)
def test_response(name):
    """Inverse inertia of all bodies together, joint and body accelerations from forces on them."""
    robot = robot_of(name)
    bodies = some_bodies(robot)
    kernel = compile_program(response_program(robot, list(bodies)))
    q, v, _, tau = random_states(robot.model, WORLDS, speed=2.0)
    w = np.random.default_rng(1).normal(size=(WORLDS, 6 * len(bodies)))
    out = kernel(q=q, v=v, tau=tau, w=w)
    model, data = robot.model, robot.model.createData()
    axes = pin.LOCAL_WORLD_ALIGNED
    for i in range(WORLDS):
        pin.computeJointJacobians(model, data, q[i])
        found = [pin.getJointJacobian(model, data, k, axes) for k in bodies.values()]
        j = np.reshape(found, (6 * len(bodies), model.nv))  # with one joint it is a vector
        pin.crba(model, data, q[i])
        h = np.triu(data.M) + np.triu(data.M, 1).T
        columns = np.linalg.solve(h, j.T)
        inverse = j @ columns
        assert near(out["inverse"][i], inverse)
        assert (out["inverse"][i] == out["inverse"][i].T).all()
        pair = np.vstack(PAIR[: len(bodies)])
        pulled = np.pad(pair, ((0, 6 * len(bodies) - len(pair)), (0, 0)))
        assert near(out["pair"][i], pulled.T @ inverse @ pulled)
        assert near(out["beside"][i], pulled.T @ inverse[:, :6])
        assert near(out["a"][i], columns @ w[i])
        assert near(out["bodies"][i], inverse @ w[i])


@pytest.mark.parametrize(("name", "rank"), [("foot", 1), ("box", 6), ("tree2", None)])
def test_rank(name, rank):
    """A body has no more freedom than its supporting joints."""
    robot = robot_of(name)
    body = next(iter(some_bodies(robot)))
    kernel = compile_program(response_program(robot, [body]))
    q, v, _, tau = random_states(robot.model, 1, speed=1.0)
    inverse = kernel(q=q, v=v, tau=tau, w=np.zeros((1, 6)))["inverse"][0]
    found = np.linalg.matrix_rank(inverse, tol=1e-10 * np.abs(inverse).max())
    joints, i = 0, body
    while i >= 0:
        joints, i = joints + robot.joints[i].nv, robot.joints[i].parent
    assert found == (min(6, joints) if rank is None else rank)
