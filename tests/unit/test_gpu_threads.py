"""A warp per limb has the CPU's bits: the kernel's own IR, run by threads, beside the CPU's batch.

What a GPU itself adds, PTX and the hardware, is measured there (benchmarks/gpu.md).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.ir.program import Program
from heelstrike.robot.placement import lowest_height
from heelstrike.step.step import step_program
from tests import gripper, mechanisms
from tests.flight import flight
from tests.gpu_threads import LANES, same_bits

LAW = hs.Elastic(hs.LinearSpring(), hs.Bristle())


def rough(name: str) -> hs.Robot:
    """Return a robot with dry friction and with torque limits that are reached."""
    robot = hs.load(name, collide="feet")
    friction = np.where(np.arange(robot.nv) < 6, 0.0, 0.05)
    return replace(robot, friction=friction, torque_limit=np.minimum(robot.torque_limit, 2.0))


def start_of(sim: hs.Simulator) -> dict[str, np.ndarray]:
    """Return parameters and the state that a run starts from; nothing is compiled."""
    state = {name: np.tile(x, (LANES, 1)) for name, x in sim.compiled.start.items()}
    return sim.compiled.parameters.of_world(0) | state


def moving(
    robot: hs.Robot, record: list[str], law: object = LAW
) -> tuple[Program, list[str], dict[str, np.ndarray]]:
    """A servo on a floor with joints that move: the step, its outputs, and values."""
    scene = hs.Scene(robot, hs.Plane(law=law))
    sim = hs.Simulator(scene, dt=1e-3, control=hs.Servo(), worlds=LANES, dtype="float32")
    values = start_of(sim)
    values["v"] = np.random.default_rng(0).normal(size=values["v"].shape)
    program = step_program(sim.plan, record)
    return program, record, values


def test_limbs_and_root_block_of_a_flight():
    robot = hs.load("hoap1", collide="feet")
    v = np.random.default_rng(1).normal(size=(LANES, robot.nv))
    given = {"dt": [1e-3], "gravity": [0.0, 0.0, -9.81], "servo.kp": np.full(robot.nv, 50.0)}
    ours, _ = same_bits(flight(robot), [], 3, v=v, **given)
    assert ours.plan.sizes == [2, 2]
    assert ours.plan.members[0] == 1
    assert np.abs(ours.get("v") - v).max() > 0.05


@pytest.mark.parametrize("slices", [pytest.param(1, marks=pytest.mark.nightly), 2])
def test_rounds_of_a_robot_with_friction_and_at_its_limits(slices):
    """Joints are strided groups, rounds differ from world to world, and the root block records."""
    program, outputs, values = moving(rough("hoap1"), ["q", "normal", "torque"])
    ours, _ = same_bits(program, outputs, 6, "float32", slices, **values)
    assert ours.plan.members == [1, 20, 20]
    assert any(ours.plan.inputs)
    assert (np.abs(ours.output("torque")) == 2).mean() > 0.2
    assert ours.output("q").shape[:2] == (LANES, 3)
    assert len(np.unique(ours.get("joint friction, expected"))) == 3  # slides, sticks, slides


def test_a_world_that_fails_stays_as_it_was():
    """One world has a joint faster than any robot's; it is frozen, the other goes on."""
    program, _, values = moving(rough("hoap1"), [])
    values["v"][1, 8] = 1e6
    ours, _ = same_bits(program, [], 3, "float32", **values)
    assert ours.get("failed")[:, 0].tolist() == [-1, 0]
    np.testing.assert_array_equal(ours.get("q")[1], values["q"][1].astype(np.float32))
    assert not np.array_equal(ours.get("q")[0], values["q"][0].astype(np.float32))


@pytest.mark.parametrize(
    "law", [hs.Rigid(), pytest.param(hs.MicroMacro(), marks=pytest.mark.nightly)]
)
def test_rounds_of_contacts_and_joints(law):
    """One world makes fewer rounds than the other; values that only the record needs are kept."""
    record = ["q", "normal", "rounds", "ended", "residual"]
    program, outputs, values = moving(rough("hoap1"), record, law)
    values["v"] *= [[0.01], [0.3]]
    ours, _ = same_bits(program, outputs, 6, "float32", **values)
    assert ours.plan.members == [1, 20, 8, 20, 26]
    assert ours.plan.ports > 0  # addresses are in shared memory
    rounds = ours.output("rounds")
    assert rounds.max() > 10
    assert (rounds[0] != rounds[1]).any()
    assert (ours.output("normal") > 0).any()
    assert (ours.output("residual") >= 0).all()


def test_rounds_of_bodies_that_touch_one_another():
    """Fingers close on a cube in one world, and have left it in the other."""
    sim = gripper.simulator(few=True, worlds=LANES, dtype="float32")
    record = ["q", "normal", "rounds"]
    values = start_of(sim)
    values["q"] = np.array([gripper.start(), gripper.start(gap=0.02)])
    values["v"] = 0.1 * np.random.default_rng(0).normal(size=values["v"].shape)
    ours, _ = same_bits(step_program(sim.plan, record), record, 6, "float32", **values)
    between = [pair.carrier is not None for pair in sim.scene.pairs]
    touching = (ours.output("normal")[..., between] > 0).any(axis=(1, 2))
    assert touching.tolist() == [True, False]
    rounds = ours.output("rounds")
    assert (rounds[0] != rounds[1]).any()


def test_a_closed_loop_above_and_on_rigid_ground():
    """A leg with a loop: one world flies, with velocities of mid-step, and one stands."""
    robot = mechanisms.five_bar_leg()
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(hs.Rigid())), control=hs.Servo(kp=50.0, kd=1.0))
    values = start_of(sim)
    values["q"][:, 2] += [1.0, -1e-4 - lowest_height(robot, values["q"][1])]
    values["v"] = np.zeros_like(values["v"])
    values["v"][:, 2] = -0.5
    program = step_program(sim.plan, ["q", "normal"])
    ours, _ = same_bits(program, ["q", "normal"], 6, "float32", **values)
    assert ours.get("half step")[0].any()
    assert not ours.get("half step")[1].any()
