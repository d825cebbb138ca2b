"""Models of benchmarks.warp_models: G1's shapes and gains, its first steps, and the height field.

Numbers are those of mujoco_warp's unitree_g1_mjlab.xml, with which the whole model was compared.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import heelstrike as hs
from benchmarks.warp_cases import SPACING, add_field, field_heights, g1
from benchmarks.warp_g1 import motor
from heelstrike.measure.peer.model import module
from tests.models import data_file

RADIUS = 0.02
"""Of the probe [m], less than half a cell."""


@pytest.fixture(scope="module")
def robot():
    data_file("robots/g1.xml")  # skips without it
    return g1().robot


def test_shapes_masses_and_excluded_pairs(robot):
    assert Counter(shape.kind for shape in robot.shapes) == {"capsule": 31, "sphere": 2}
    names = [robot.bodies[shape.body].name for shape in robot.shapes]
    assert names.count("left_ankle_roll_link") == names.count("right_ankle_roll_link") == 7
    assert robot.mass == pytest.approx(33.341142, abs=1e-9)
    touching = {frozenset((names[i], names[j])) for i, j in robot.self_pairs}
    assert len(robot.self_pairs) == 469
    for excluded in (
        ("pelvis", "left_hip_roll_link"),
        ("left_elbow_link", "left_wrist_pitch_link"),
    ):
        assert frozenset(excluded) not in touching
    assert robot.fidelity == ()


def test_motors(robot):
    """Gains that the file prints with six decimals."""
    for joint, kp, kd, torque in (
        ("left_hip_pitch_joint", 40.179239, 2.557890, 88),
        ("right_knee_joint", 99.098428, 6.308802, 139),
        ("left_ankle_roll_joint", 28.501246, 1.814446, 50),
        ("right_wrist_roll_joint", 14.250623, 0.907223, 25),
        ("right_wrist_yaw_joint", 16.778327, 1.068142, 5),
    ):
        assert motor(joint)[1:] == pytest.approx((kp, kd, torque), abs=6e-7)
    assert (robot.friction == 0).all()


def test_ours_stands_for_a_while():
    """8 worlds on explicit springs, which compile fastest: after 50 ms no base has sunk by 2 cm."""
    data_file("robots/g1.xml")
    model = g1()
    law, dt = model.laws()["springs"]
    sim = hs.Simulator(model.scene(law), dt, model.control, worlds=8, dtype="float32")
    q0 = model.starts(8)
    sim.run(0.05, q0=q0, record="final")
    assert (sim.failed < 0).all()
    assert np.abs(sim.state["q"][:, 2] - q0[:, 2]).max() < 0.02


def test_both_simulators_have_the_same_field():
    """A sphere that dips into the middle of a cell by 1 to 2 mm has one depth in both."""
    mj, heights = module(), field_heights()
    spec = mj.MjSpec()
    add_field(mj, spec, heights)
    ball = spec.worldbody.add_body(name="ball")
    ball.add_freejoint()
    ball.add_geom(type=mj.mjtGeom.mjGEOM_SPHERE, size=[RADIUS, 0, 0])
    model = spec.compile()
    data = mj.MjData(model)
    edge = SPACING * (len(heights) - 1)
    field = hs.HeightField(heights=heights, size=(edge, edge))
    rng = np.random.default_rng(0)
    for i, j in rng.integers(0, len(heights) - 1, (20, 2)):
        place = np.array([SPACING * (i + 0.5), SPACING * (j + 0.5), 0.0]) - [edge / 2, edge / 2, 0]
        place[2] = heights[i : i + 2, j : j + 2].mean() + RADIUS - rng.uniform(1e-3, 2e-3)
        ours = float(field.depth_and_axes(place, RADIUS)[0])
        data.qpos[:3] = place
        mj.mj_forward(model, data)
        theirs = -min(contact.dist for contact in data.contact)
        assert theirs == pytest.approx(ours, abs=2e-6)  # MuJoCo's convex distance, to 1e-6 m
