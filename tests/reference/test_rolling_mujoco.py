"""Depths of cylinders and ellipsoids in a plane against MuJoCo's own geometry.

The same scene handed over by measure/peer has ellipsoids for points, whose distances are ours; a
cylinder of MuJoCo, which has no points, is as deep as ours to the inset of its rims.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.measure.peer.model import handed_over, positions_of
from heelstrike.simulate.start import contacts_at

SIZES = {"ellipsoid": (0.2, 0.1, 0.05), "cylinder": (0.1, 0.04)}
FILE = """<mujoco><worldbody><body name="b"><freejoint/><geom name="g" type="{}" size="{}"
  euler="20 30 40"/></body><geom name="floor" type="plane" size="0 0 1" margin="1"/></worldbody>
  </mujoco>"""


def deepest(model, q, geom=None):
    """Return the least distance of a geom, or of any, from the plane in MuJoCo [m]."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    names = [{model.geom(int(g)).name for g in c.geom} for c in data.contact]
    return min(c.dist for c, own in zip(data.contact, names, strict=True) if geom in (None, *own))


@pytest.mark.parametrize("kind", SIZES)
def test_depths_are_those_of_mujoco(tmp_path, kind):
    path = tmp_path / "body.xml"
    path.write_text(FILE.format(kind, " ".join(map(str, SIZES[kind]))))
    robot = hs.load(path)
    scene = hs.Scene(robot, hs.Plane(hs.Rigid()))
    whole = mujoco.MjModel.from_xml_path(str(path))
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = np.r_[0, 0, 0, pin.Quaternion(rng.normal(size=4)).normalized().coeffs()]
        q[2] -= hs.robot.placement.lowest_height(robot, q) + 1e-4
        depths = contacts_at(scene, q)[0]
        same = handed_over(scene, 1e-3, q)
        at = positions_of(same, robot, q)
        for k in np.flatnonzero(depths > 0):
            # MuJoCo finds the support point of an ellipsoid in closed form; a point is 10 nm thick
            found = deepest(same, at, f"point {scene.pairs[k].point.name}")
            assert -found == pytest.approx(depths[k], abs=2e-8)
        # the rim is 1e-3 of the radius below the cap, the cap's points within a tenth of the rim
        assert -1e-12 < -deepest(whole, at) - depths.max() < 1.01e-3 * SIZES[kind][0]


def test_radii_of_rolling_and_spinning_are_handed_over():
    """They have MuJoCo's unit: moment over normal force [m]; a ball stops as far as in MuJoCo."""
    law = hs.Elastic(friction=hs.Bristle(), patch=hs.Patch(rolling=5e-3, spinning=1e-3))
    scene = hs.Scene(hs.load("ball"), hs.Plane(law))
    q0, v0 = [0, 0, 0.0498, 0, 0, 0, 1], [0.5, 0, 0, 0, 10, 0]
    model = handed_over(scene, 1e-3, np.array(q0, dtype=float))
    np.testing.assert_array_equal(model.pair_friction[0][2:], [1e-3, 5e-3, 5e-3])
    data = mujoco.MjData(model)
    data.qpos[:3], data.qvel[:] = q0[:3], v0
    for _ in range(1500):
        mujoco.mj_step(model, data)
    run = hs.Simulator(scene, dt=1e-3).run(1.5, q0=q0, v0=v0, progress=False)
    # MuJoCo's friction is soft: it creeps where ours rests
    assert run.data.q.values[0, -1, 0] == pytest.approx(data.qpos[0], rel=0.05)
