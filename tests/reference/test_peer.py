"""A scene handed over to MuJoCo is the same scene.

Oracles: our own inertia matrix, by Pinocchio; our own motion of an arm in the air under the same
implicit servo, where both integrate alike; the weight and the slope that contact has to hold.
"""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.dynamics.effective_mass import inertia_matrix
from heelstrike.measure.peer.model import handed_over, positions_of
from heelstrike.measure.peer.motion import CoordinateMap
from heelstrike.measure.peer.run import run_mujoco
from heelstrike.measure.peer.trace import traced
from tests.models import data_file

AIR = """
points = []
[simulation]
duration = 0.1
[[robot]]
model = "hoap1"
base = "fixed"
joints = { R_KN = 0.9, L_SFE = 0.4 }
[servo]
reference = "stance"
[[surface]]
type = "plane"
name = "far"
point = [0.0, 0.0, -5.0]
"""


def one_mu(name: str, mu: float, **values: object) -> hs.SceneFile:
    scene = hs.load_scene(name)
    law = hs.Rigid(friction=hs.Coulomb(mu, mu))
    surfaces = tuple(replace(surface, law=law) for surface in scene.content.surface)
    return scene.changed(surface=surfaces, **values)


@pytest.mark.parametrize("name", ["hoap1", "hrp2", "box", "g1", "t1", "anymal_c"])
def test_inertia_masses_and_friction_are_the_same(name):
    bundled = name in hs.bundled()
    robot = hs.load(name if bundled else data_file(f"robots/{name}.xml"), collide="feet")
    law = hs.Rigid(friction=hs.Coulomb(0.45, 0.45))
    scene = hs.Scene(robot, hs.Plane(law=law))
    q = np.array(next(iter(robot.poses.values()), robot.neutral))
    q[3:7] = [0, 0, 0, 1]  # upright: the base's axes are the world's, as MuJoCo has them
    model = handed_over(scene, 1e-3, q)
    data = mujoco.MjData(model)
    data.qpos[:] = positions_of(model, robot, q)
    mujoco.mj_forward(model, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    dofs = CoordinateMap(model, robot).dofs
    ours = inertia_matrix(robot, q)
    # sums in another order, frames as quaternions, inertias along principal axes
    assert np.abs(full[np.ix_(dofs, dofs)] - ours).max() < 1e-12 * np.abs(ours).max()
    assert model.npair == len(scene.pairs)
    assert (model.pair_friction[:, :2] == 0.45).all()
    assert model.body_mass.sum() == pytest.approx(robot.mass, rel=1e-12)


def test_a_free_joint_keeps_its_armature_damping_and_friction():
    robot = hs.load("box")
    robot = replace(
        robot,
        armature=np.full(robot.nv, 5.0),
        damping=np.full(robot.nv, 3.0),
        friction=np.full(robot.nv, 0.5),
    )
    model = handed_over(hs.Scene(robot, hs.Plane()), 1e-3, robot.neutral)
    assert np.array_equal(model.dof_armature, robot.armature)
    assert np.array_equal(model.dof_damping, robot.damping)
    assert np.array_equal(model.dof_frictionloss, robot.friction)


def test_an_arm_in_the_air_moves_as_ours_does(tmp_path):
    """The same servo in the same symplectic step."""
    (tmp_path / "air.toml").write_text(AIR)
    scene = hs.load_scene(tmp_path / "air.toml")
    ours = scene.run().data["q"].values[0]
    theirs = traced(scene, len(ours) - 1, 1e-3)
    assert np.abs(ours[-1] - ours[0]).max() > 0.2
    # MuJoCo leaves its own joint ends and dry friction out where there are none: rounding is left
    assert np.abs(theirs.q - ours).max() < 1e-9


def test_forces_at_rest_hold_the_weight_on_the_slope():
    scene = one_mu("brick-on-a-ramp", 0.6)
    run, _ = run_mujoco(scene, scene.run())
    weight = scene.robot.mass * 9.81
    last = run.data["force"].values[0, -100:].sum(axis=1).mean(axis=0)
    assert last == pytest.approx([0, 0, weight], abs=1e-3 * weight)
    normal = run.data["normal_force"].values[0, -100:].sum(axis=1).mean()
    assert normal == pytest.approx(weight * np.cos(np.radians(20)), rel=1e-3)
    found = hs.yardsticks(run, settle=0.5)
    assert found.cone_violation < 1e-9
    # the ledger closes but for the integrator
    assert abs(found.energy_residual) < 1e-4
    assert run.summary().as_dict()["failures"] == []


def test_several_materials_are_handed_over_pair_by_pair():
    scene = hs.load_scene("three-materials")
    model = handed_over(scene.scene, 1e-3, scene.start[0])
    assert model.npair == len(scene.scene.pairs)


def test_what_has_no_likeness_is_refused_with_a_sentence():
    scene = hs.load_scene("stairs")
    with pytest.raises(hs.HeelstrikeError, match="cannot be handed over"):
        handed_over(scene.scene, 1e-3, scene.start[0])
