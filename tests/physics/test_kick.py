"""The kick of examples/kick.py. Oracle: Newton's second law, with momenta by Pinocchio."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "kick.py"))
DT, MASS, GRAVITY = 1e-3, 0.37, np.array([0, 0, -9.81])


@pytest.fixture(scope="module")
def run():
    return EXAMPLE["simulate"](["l_sole", "r_sole"])  # of all shapes these touch: compiles sooner


def test_the_cube_gets_the_momentum_that_the_foot_and_the_floor_give(run):
    """In each step: its change is that of the recorded forces, of the pair's and of the floor's."""
    data = run.data.isel(world=0)
    q, v = data["q"].values[:, -7:], data["v"].values[:, -6:-3]
    turns = [pin.Quaternion(x).matrix() for x in q[:, 3:]]
    momentum = MASS * np.array([R @ x for R, x in zip(turns, v, strict=True)])
    kicked = -data["self_force"].sum("slot").values
    floor = data["force"].where(data["point_body"] == "cube/cube").sum("point").values
    total = DT * (kicked + floor + MASS * GRAVITY)[:-1]
    assert np.abs(kicked[:, 0]).max() > 10  # the foot does hit [N]
    assert momentum[:, 0].max() > 0.3  # [kg m/s]
    np.testing.assert_allclose(np.diff(momentum, axis=0), total, atol=1e-10)  # rounding: 2e-12
    both = data["body_force"].sel(body="cube/cube").values
    np.testing.assert_allclose(both, kicked + floor, atol=1e-9)
    recorded = data["impulse"].sel(body="cube/cube").values
    np.testing.assert_allclose(recorded, DT * both[:-1].sum(axis=0), atol=1e-10)


def test_robot_and_cube_get_the_momentum_that_the_floor_gives(run):
    """What foot and cube exchange cancels; the robot stands on one foot to the end."""
    data = run.data.isel(world=0)
    model = run.robot.model
    space = model.createData()
    momentum = np.array(
        [
            pin.computeCentroidalMomentum(model, space, q, v).linear
            for q, v in zip(data["q"].values, data["v"].values, strict=True)
        ]
    )
    weight = sum(inertia.mass for inertia in model.inertias) * GRAVITY
    floor = DT * (data["force"].sum("point").values + weight)[:-1].cumsum(axis=0)
    # the inertia changes with the pose within a step: of first order, 2e-3 of 0.5 measured
    along = np.s_[:, :2]
    np.testing.assert_allclose((momentum[1:] - momentum[0])[along], floor[along], atol=3e-3)
    assert data["com"].values[:, 2].min() > 0.25
