"""Policies from ONNX files.

Oracle: a linear policy, whose file is made here, does in `hs.Environments` what it does when it is
played; onnxruntime multiplies in float32.
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.environments import Environments
from heelstrike.environments.policy import PolicyDescription, read_description
from tests.onnx_files import write_linear

SCENE = hs.Scene(hs.load("hoap1", collide="feet"), hs.Plane())
TERMS = ["gravity", "twist", "joints", "action", "command", "WAIST.gyro"]
NAMES = [joint.name for joint in SCENE.robot.joints if joint.name != "root"]


def write_model(path, weights, batch="worlds"):
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    write_linear(path, weights, batch)


@pytest.mark.parametrize("batch", ["worlds", 1])
def test_a_policy_plays_as_in_an_environment(tmp_path, batch):
    """Terms in another order of the joints; 0.2 s, actions to rounding of float32."""
    rng, n, order = np.random.default_rng(0), len(NAMES), np.random.default_rng(1).permutation(20)
    weights = 0.2 * rng.normal(size=(3 + 6 + n + n + 2 + 3, n))
    write_model(tmp_path / "walk.onnx", weights, batch)
    joints = [NAMES[i] for i in order]
    told = PolicyDescription(TERMS, 0.02, joints=joints, clip=1.0, command=[0.5, -1.0])
    policy = hs.Policy(tmp_path / "walk.onnx", told)
    assert policy.sensors == ["WAIST.gyro"]

    def observation(s):
        own = [s.gravity, s.twist, s.joints[:, order], s.action[:, order]]
        command = np.tile([0.5, -1.0], (len(s.q), 1))
        return np.hstack([*own, command, s.sensors["WAIST.gyro"]])

    usual = {"noise": (0, 0), "dtype": "float64", "hold": 20, "sensors": policy.sensors}
    envs = Environments(SCENE, 2, observation=observation, **usual)
    assert list(envs.action_names) == NAMES
    seen, _ = envs.reset(seed=0)
    for _ in range(10):
        action = np.zeros((2, n))
        action[:, order] = seen.astype(np.float32) @ weights.astype(np.float32)
        seen, *_ = envs.step(action)
    sim = hs.Simulator(SCENE, control=hs.Servo(), worlds=2, sensors=policy.sensors)
    run = policy.play(sim, 0.2, q0=sim.start["q"], record=["q"])
    moved = np.abs(envs.sim.state["q"][:, 7:] - sim.start["q"][7:]).max()
    assert moved > 0.05
    np.testing.assert_allclose(run.data["q"].values[:, -1], envs.sim.state["q"], atol=1e-5)


def test_sizes_and_names_that_do_not_fit(tmp_path):
    write_model(tmp_path / "walk.onnx", np.zeros((5, 20)))
    sim = hs.Simulator(SCENE, control=hs.Servo())
    with pytest.raises(hs.HeelstrikeError, match="takes 5 numbers, but its terms have 9: gravity"):
        hs.Policy(tmp_path / "walk.onnx", PolicyDescription(["gravity", "twist"])).controller(sim)
    for term, message in [
        ("WAIST.gyro", r"no sensor measures 'WAIST\.gyro'; pass sensors=\['WAIST\.gyro'\]"),
        ("WAIST.gyr", r"did you mean 'WAIST\.gyro'"),
    ]:
        with pytest.raises(hs.HeelstrikeError, match=message):
            hs.Policy(tmp_path / "walk.onnx", PolicyDescription([term])).controller(sim)
    halves = PolicyDescription(["WAIST.gyro", "v"], period=0.0205)
    with pytest.raises(hs.ParameterError, match=r"0\.0205; allowed: whole steps of 0\.001 s"):
        hs.Policy(tmp_path / "walk.onnx", halves).play(sim, 0.1)
    write_model(tmp_path / "legs.onnx", np.zeros((3, 12)))
    legs = hs.Policy(tmp_path / "legs.onnx", PolicyDescription(["gravity"]))
    with pytest.raises(hs.HeelstrikeError, match=r"\(1, 12\); allowed: \(1, 20\).* as `joints`"):
        legs.play(sim, 0.1, q0=SCENE.robot.pose("stance"))
    told = PolicyDescription(["gravity"], joints=["R_KNEE"])
    with pytest.raises(hs.UnknownNameError, match="hoap1 has no joint 'R_KNEE'; did you mean"):
        hs.Policy(tmp_path / "walk.onnx", told).controller(sim)
    (tmp_path / "bad.onnx").write_text("no model")
    with pytest.raises(hs.FileError, match="is no ONNX model"):
        hs.Policy(tmp_path / "bad.onnx", told)
    with pytest.raises(hs.FileError, match="no file"):
        hs.Policy(tmp_path / "absent.onnx", told)


def test_descriptions(tmp_path):
    path = tmp_path / "walk.toml"
    path.write_text('period = 0.01\nobservation = ["gravity", {term = "twist", scale = 0.5}]\n')
    assert read_description(path).period == 0.01
    for text, message in [
        ("observations = []", "has no key 'observations'; did you mean 'observation'"),
        ("period = 0.02", "does not say what the policy sees"),
        ("period = ", "cannot read"),
        ('observation = []\naction = "push"', "no action 'push'"),
        ("observation = []\nperiod = 0", "period is 0; allowed: a time above 0 s"),
        ("observation = ['phase']\ncycle = 0", "cycle is 0; allowed: a time above 0 s"),
        ("observation = ['phase']\ncycle = 'x'", "cycle is 'x'; allowed: a time above 0 s"),
        ("observation = [{term = 'twist', scal = 2}]", "observation is .*; allowed: terms"),
    ]:
        path.write_text(text)
        with pytest.raises(hs.HeelstrikeError, match=message):
            read_description(path)
    with pytest.raises(hs.FileError, match=r"docs/control\.md"):
        read_description(tmp_path / "absent.toml")


def test_models_that_are_no_policy(tmp_path):
    """Without an input, with a number as input, or with text as output."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    path, n = tmp_path / "walk.onnx", len(NAMES)
    make, kinds = onnx.helper.make_tensor_value_info, onnx.TensorProto
    zeros = onnx.numpy_helper.from_array(np.zeros((3, n), np.float32), "w")
    seen, action = make("x", kinds.FLOAT, ["b", 3]), make("y", kinds.FLOAT, ["b", n])
    same = onnx.helper.make_node("Identity", ["w"], ["y"])
    product = onnx.helper.make_node("MatMul", ["x", "w"], ["z"])
    texts = onnx.helper.make_node("Cast", ["z"], ["y"], to=kinds.STRING)
    total = onnx.helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)
    sim, told = hs.Simulator(SCENE, control=hs.Servo()), PolicyDescription(["gravity"])
    for nodes, ends, message in [
        ([same], ([], [make("y", kinds.FLOAT, [3, n])]), "takes no rows of numbers"),
        ([same], ([make("x", kinds.FLOAT, [])], [action]), "takes no rows of numbers"),
        ([product, texts], ([seen], [make("y", kinds.STRING, ["b", n])]), "is not finite"),
        ([total], ([seen], [make("y", kinds.FLOAT, [])]), r"actions of shape \(1, 1\)"),
    ]:
        graph = onnx.helper.make_graph(nodes, "policy", *ends, [zeros])
        opset = [onnx.helper.make_opsetid("", 13)]
        onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), path)
        with pytest.raises(hs.HeelstrikeError, match=message):
            hs.Policy(path, told).controller(sim)(None)
    rarely = PolicyDescription(["gravity"], period=1e-6)
    write_model(path, np.zeros((3, n)))
    with pytest.raises(hs.HeelstrikeError, match="period is 1e-06; allowed: whole steps"):
        hs.Policy(path, rarely).play(sim, 0.1)
