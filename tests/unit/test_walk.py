"""The walking task, policies that are written as ONNX, and MuJoCo under a policy.

Oracles: the formulas of the reward in a state that is known in closed form, the same perceptron in
NumPy, and a policy that was trained on springs and must walk in both simulators.
"""

from __future__ import annotations

import math
import os
from itertools import pairwise
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.environments.policy import PolicyDescription
from heelstrike.environments.policy_file import described, write_policy
from heelstrike.environments.walk import WEIGHTS, Walk, standing, walking
from heelstrike.measure.peer.trace import traced

ROOT = Path(__file__).parents[2]
POLICY = ROOT / "examples" / "learning" / "walk.onnx"


@pytest.fixture(scope="module")
def envs():
    made = gymnasium.make_vec("heelstrike.environments:heelstrike/Walk-v0", num_envs=8)
    made.reset(seed=0)
    return made


def test_the_task_scales_with_the_robot(envs):
    """Froude: speeds with sqrt(g h), times with sqrt(h / g)."""
    walk = envs.unwrapped._hooks[0].__self__
    h = envs.unwrapped.sim.robot.pose("stance")[2]
    assert walk.feet == ["R_AAA", "L_AAA"]
    assert walk.signs == [1.0, -1.0]
    assert walk.cycle == pytest.approx(3.5 * math.sqrt(h / 9.81), abs=0.01)
    assert walk.commands.ranges["vx"][1] == pytest.approx(0.1 * math.sqrt(9.81 * h), rel=1e-3)
    assert walk.scale[:8].tolist() == [0.1] * 8  # arms
    assert walk.scale[8:14].tolist() == [0.25, 0.25, 0.4, 0.4, 0.4, 0.25]  # yaw, roll, pitch
    with pytest.raises(hs.HeelstrikeError, match="cannot walk"):
        Walk(hs.load("box"), hs.load("box").pose("zero"))


def test_rewards_of_a_robot_that_stands_are_known(envs):
    """Upright, at rest and on flat soles, terms of motion are 0 and those of tracking follow."""
    own = envs.unwrapped
    own.reset(seed=3)
    still = np.zeros(own.action_space.shape, np.float32)
    for _ in range(25):
        *_, info = own.step(still)
    state, terms = own._observe(), info["reward_terms"]
    walk = own._hooks[0].__self__
    assert set(terms) == set(WEIGHTS)
    assert (terms["rate"] == 0).all()
    assert (terms["effort"] == 0).all()
    wide = 0.05 * walk.speed
    off = (state.twist[:, 0] - state.commands["vx"]) / wide
    np.testing.assert_allclose(terms["track_x"], 0.02 * 1.5 * np.exp(-(off**2)), rtol=1e-4)
    np.testing.assert_allclose(terms["upright"], 0.02 * 0.5, rtol=1e-2)  # it leans 1 mrad
    assert np.abs(terms["flat"]).max() < 1e-5
    moving = np.abs(state.command).max(1) > 0
    lifted = np.maximum(np.abs(state.phase(walk.cycle)[:, 0]), 0) * moving  # of one foot, in lifts
    wanted = 0.02 * (1 + np.exp(-((2 * lifted) ** 2))) / 2
    np.testing.assert_allclose(terms["clock"], wanted, rtol=2e-2)  # soles sink by 0.3 mm of 20


@pytest.mark.skipif("HEELSTRIKE_DATA" not in os.environ, reason="HEELSTRIKE_DATA is not set")
@pytest.mark.parametrize(("name", "feet"), [("g1.xml", 2), ("anymal_c.xml", 4)])
def test_other_robots_can_be_asked_to_walk(name, feet):
    robot = hs.load(Path(os.environ["HEELSTRIKE_DATA"]) / "robots" / name, collide="feet")
    walk = Walk(robot, standing(robot, hs.Scene(robot, hs.Plane())))
    assert len(walk.feet) == feet
    assert sum(walk.signs) == 0
    assert walk.scale.max() == 0.4


def test_numbers_of_the_task_are_checked():
    for options, said in [({"rough": -1}, "rough is -1"), ({"push": "a"}, "push is 'a'")]:
        with pytest.raises(hs.ParameterError, match=f"{said}; allowed: a number of at least 0"):
            walking(**options)


def test_a_written_policy_is_the_perceptron(tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    rng = np.random.default_rng(0)
    sizes = (6, 5, 3)
    layers = [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(sizes)]
    mean, spread = rng.normal(size=6), rng.uniform(0.5, 2, 6)
    told = PolicyDescription(["gravity"], period=0.01, scale=[0.1, 0.2], cycle=0.5, command=[0.0])
    write_policy(tmp_path / "p.onnx", layers, mean, spread, told)
    policy = hs.Policy(tmp_path / "p.onnx")
    assert described(policy.description) == described(told)
    x = rng.normal(size=(4, 6))
    y = np.clip((x - mean) / spread, -5, 5) @ layers[0][0].T + layers[0][1]
    y = np.where(y > 0, y, np.expm1(y)) @ layers[1][0].T + layers[1][1]
    np.testing.assert_allclose(policy(x), y, atol=1e-5)  # float32
    policy.command([0.3])
    assert policy.description.command == (0.3,)
    with pytest.raises(hs.HeelstrikeError, match="command is"):
        policy.command([1, 2])


def test_the_policy_of_the_examples_walks_here_and_in_mujoco():
    """On the springs that it was trained on, and with MuJoCo's contact, which it never saw."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    policy, made = hs.Policy(POLICY), hs.load_scene("stand")
    policy.command((0.1, 0.0, 0.0))
    robot = made.robot
    sim = made.simulator()
    q0 = sim.place(robot.pose("stance"))
    run = policy.play(sim, 4.0, q0=q0, record=["q"], every=20)
    ours = run.data["q"].values[0]
    sim.reset(q0=q0)
    theirs = traced(made, 4000, 1e-3, q0, policy.controller(sim).reference).q
    for q in (ours, theirs):
        assert 0.25 < q[-1, 0] - q[0, 0] < 0.5  # m in 4 s at 0.1 m/s
        assert q[:, 2].min() > 0.9 * q0[2]
