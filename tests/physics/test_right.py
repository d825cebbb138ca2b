"""The quadruped of examples/right.py. Oracles: MuJoCo's run of the same motion, coal for depths."""

from __future__ import annotations

import runpy
from pathlib import Path

import mujoco
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.robot.overlaps import overlaps

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "right.py"))
WORLDS, SECONDS = 64, 4.0


@pytest.fixture(scope="module")
def elastic() -> hs.Recording:
    return EXAMPLE["simulate"](EXAMPLE["ELASTIC"], EXAMPLE["starts"](WORLDS), every=100)


def test_robots_right_themselves(elastic):
    """On springs, from 64 starts; none stands before, and those that do are at rest."""
    q, v = elastic.data["q"].values, elastic.data["v"].values
    assert not EXAMPLE["upright"](q[:, 0]).any()
    stand = EXAMPLE["upright"](q[:, -1])
    assert stand.all()  # as with the starts of seeds 1 and 2
    assert np.linalg.norm(v[:, -1, :3], axis=1).max() < 0.05


def test_limbs_do_not_pass_through_one_another(elastic):
    """Depths of shapes in one another stay those of springs, 10 mm, while legs swing and fold."""
    deepest = [
        max(overlaps(elastic.robot, q).values(), default=0.0)
        for q in elastic.data["q"].values[:4].reshape(-1, 19)
    ]
    assert max(deepest) < 0.01


@pytest.mark.nightly
def test_robots_right_themselves_on_rigid_ground():
    run = EXAMPLE["simulate"](EXAMPLE["RIGID"], EXAMPLE["starts"](WORLDS), every=100)
    assert EXAMPLE["upright"](run.data["q"].values[:, -1]).all()
    assert not run.data["lost_contacts"].any()


def test_the_motion_works_in_mujoco_as_well():
    """The same robot, motion and starts; contact is MuJoCo's own."""
    spec = mujoco.MjSpec.from_file(str(EXAMPLE["ROBOT"]))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], friction=[0.7, 0, 0])
    model = spec.compile()
    model.opt.timestep, model.opt.cone = 1e-3, mujoco.mjtCone.mjCONE_ELLIPTIC
    data, ends = mujoco.MjData(model), []
    times, angles = EXAMPLE["TIMES"], EXAMPLE["motion"]()
    for q in EXAMPLE["starts"](WORLDS)[::8]:
        mujoco.mj_resetData(model, data)
        data.qpos[:] = [*q[:3], q[6], *q[3:6], *q[7:]]
        while data.time < SECONDS:
            data.ctrl[:] = [np.interp(data.time, times, way) for way in angles.T]
            mujoco.mj_step(model, data)
        ends.append([*data.qpos[:3], *data.qpos[4:7], data.qpos[3], *data.qpos[7:]])
    assert EXAMPLE["upright"](np.array(ends)).all()
