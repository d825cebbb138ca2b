"""Robots on four feet stand on rigid ground: many contacts, few joints.

Oracles: rest in the pose that float64 finds, for float32; a path's own path at half the step; the
law's own conditions, as solver_residual [m/s] tells them. A foot that is a ball is one contact on
its leg; soles on legs of two joints have more velocities (24) than joints move (14).
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.bench.standing import first_pose
from tests.models import data_file

LAW = hs.Rigid(friction=hs.Coulomb(0.8, 0.6))
FEET = {
    "balls": '<geom type="sphere" size=".03" pos=".01 .02 -.3"/>',
    "soles": '<geom type="box" size=".05 .03 .01" pos="0 0 -.3"/>',
}
LEG = """
<body name="hip{k}" pos="{x} {y} 0">
  <inertial mass="2.8" pos="0 0 0" diaginertia=".006 .006 .006"/>{haa}
  <body name="thigh{k}">
    <joint name="hfe{k}" axis="0 1 0" damping="1"/>
    <inertial mass="3" pos="0 0 -.15" diaginertia=".03 .03 .004"/>
    <body name="shank{k}" pos="0 0 -.28">
      <joint name="kfe{k}" axis="0 1 0" damping="1"/>
      <inertial mass=".6" pos="0 0 -.15" diaginertia=".01 .01 .001"/>{foot}
    </body>
  </body>
</body>"""
BODY = """
<mujoco model="quadruped"><compiler angle="radian"/><worldbody><body name="base" pos="0 0 .62">
  <freejoint/><inertial mass="19" pos="0 0 .05" diaginertia=".6 .6 .2"/>{legs}
</body></worldbody><actuator>{servos}</actuator></mujoco>"""


def quadruped(folder, foot, joints):
    """Straight legs of two or three joints, as light as they are: no rotors."""
    sides = [(x, y) for x in (0.3, -0.3) for y in (0.1, -0.1)]
    haa = '<joint name="haa{k}" axis="1 0 0" damping="1"/>' if joints == 3 else ""
    legs = [
        LEG.format(k=k, x=x, y=y, haa=haa.format(k=k), foot=FEET[foot])
        for k, (x, y) in enumerate(sides)
    ]
    names = ["haa", "hfe", "kfe"][3 - joints :]
    servos = [f'<position joint="{n}{k}" kp="100"/>' for n in names for k in range(4)]
    path = folder / f"{foot}{joints}.xml"
    path.write_text(BODY.format(legs="".join(legs), servos="".join(servos)))
    return loaded(path)


@cache
def loaded(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # meshes are not at hand
        return hs.load(path, collide="feet")


def simulator(robot, law=LAW, **options):
    control = hs.Servo(reference=first_pose(robot))
    return hs.Simulator(hs.Scene(robot, hs.Plane(law=law)), 1e-3, control, **options)


def stood(robot, dtype, worlds=64, duration=0.4):
    """After joints that are a little off their pose."""
    sim = simulator(robot, worlds=worlds, dtype=dtype)
    q0 = np.tile(first_pose(robot), (worlds, 1))
    q0[:, 7:] += 0.01 * np.random.default_rng(0).normal(size=(worlds, robot.nq - 7))
    kept = ("q", "solver_residual", "solver_unfinished")
    return sim.run(duration, q0=q0, record=kept, progress=False).data


def check_agree(robot):
    """float32 stands where float64 does, and obeys the law but for a few steps."""
    single, double = (stood(robot, dtype) for dtype in ("float32", "float64"))
    assert (single.failed == -1).all()
    heights = [data.q.values[:, -1, 2] for data in (single, double)]
    # a slip counts as one from 1e-3 of the free velocity on in float32, from 1e-5 in float64
    assert np.abs(heights[0] - heights[1]).max() < 2e-4
    missed = single.solver_residual.values
    # 3.5e-3 measured at the worst, on soles; 1e-4 of some m/s are the passes' to leave
    assert np.percentile(missed, 99) < 5e-4
    assert missed.max() < 2e-2
    assert double.solver_residual.values.max() < 0.2
    assert np.percentile(double.solver_residual.values, 99.5) < 1e-4


@pytest.mark.nightly
def test_anymal_stands_in_float32():
    """Four balls on 12 joints and a base."""
    check_agree(loaded(data_file("robots/anymal_c.xml")))


@pytest.mark.nightly
def test_soles_on_few_joints_in_float32(tmp_path):
    """The inverse inertia of the feet has rank 14 of 24."""
    check_agree(quadruped(tmp_path, "soles", 2))


def test_straight_legs_are_solved(tmp_path):
    """Load hardly resists going from one diagonal pair of feet to the other, and friction drives
    the normal impulses that bound it.
    """
    data = stood(quadruped(tmp_path, "balls", 3), "float64")
    assert not data.solver_unfinished.values.any()
    # sticks: 1e-5 of the largest free velocity, below 3 m/s, and 100 times that at rest
    assert data.solver_residual.values.max() < 3e-3


def test_anymal_lands_the_same_with_smaller_steps():
    """Dropped from 1 cm: steps of 1/3 and 1/6 ms end within a tenth of a millimetre."""
    robot = loaded(data_file("robots/anymal_c.xml"))
    sim, heights = simulator(robot, hs.Rigid()), []
    for dt in (0.02 / 64, 0.02 / 128):
        sim.parameters["dt"] = dt
        sim.reset(q0=first_pose(robot, 0.01))
        sim.step(round(0.8 / dt))
        heights.append(sim.state["q"][2])
    assert abs(heights[0] - heights[1]) < 1e-4
