"""The bundled models, read and stepped by MuJoCo.

Oracle: MuJoCo's compiler (masses, inertias, kinematics, centre of mass), its contact (standing),
and the figures of the papers that the models stand for. Pinocchio must read the same.
"""

from importlib.resources import files

import mujoco
import numpy as np
import pinocchio as pin
import pytest

MODELS = files("heelstrike.robot") / "models"
HUMANOIDS = {  # name: (joints, mass [kg], height [m] and tolerance, if the paper gives a height)
    "hoap1": (20, 5.0, (0.480, 0.005)),
    "hrp2": (28, 58.0, (1.54, 0.010)),
    "biped14": (14, 40.8, None),
}
OBJECTS = {  # name: (mass [kg], inertia about x, y, z [kg m^2], height of the centre at rest [m])
    "ball": (1.0, (1e-3, 1e-3, 1e-3), 0.05),
    "brick": (1.0, (0.0125 / 12, 0.0425 / 12, 0.05 / 12), 0.025),
    "box": (5.0, (0.1 / 12, 0.25 / 12, 0.25 / 12), 0.05),
    "cube": (0.37, (8.1e-4, 8.1e-4, 8.1e-4), 0.0524),
}
POSES = [
    ("hoap1", "stance"), ("hoap1", "crouch"),
    ("hrp2", "stance"), ("hrp2", "half_sitting"), ("hrp2", "crouch"),
    ("biped14", "stance"), ("biped14", "crouch"),
]  # fmt: skip
SOLES = ("l_sole", "r_sole")


def path(name):
    return str(MODELS / f"{name}.xml")


def load(name, pose=None):
    """MuJoCo's model and data, at a keyframe or at zero, with kinematics and inertias computed."""
    model = mujoco.MjModel.from_xml_path(path(name))
    data = mujoco.MjData(model)
    if pose is not None:
        mujoco.mj_resetDataKeyframe(model, data, model.key(pose).id)
    mujoco.mj_forward(model, data)
    return model, data


def sole_corners(model, data):
    """World positions of the bottom corners of both soles, (8, 3) [m]."""
    signs = np.array([[x, y, -1] for x in (-1, 1) for y in (-1, 1)])
    corners = []
    for sole in SOLES:
        p_WS, R_WS = data.geom(sole).xpos, data.geom(sole).xmat.reshape(3, 3)
        corners.append(p_WS + (signs * model.geom(sole).size) @ R_WS.T)
    return np.vstack(corners)


@pytest.mark.parametrize("name", HUMANOIDS)
def test_joints_and_mass(name):
    """Joints, floating base and mass are the paper's, in MuJoCo and in Pinocchio."""
    joints, mass, _ = HUMANOIDS[name]
    model, _ = load(name)
    other = pin.buildModelFromMJCF(path(name))
    assert (model.njnt, model.nv) == (1 + joints, 6 + joints)
    assert (other.njoints, other.nv) == (2 + joints, 6 + joints)
    assert model.body_mass.sum() == pytest.approx(mass, abs=1e-6)  # hoap1: eight digits a link
    assert pin.computeTotalMass(other) == pytest.approx(model.body_mass.sum(), rel=1e-12)


@pytest.mark.parametrize("name", [name for name, (_, _, height) in HUMANOIDS.items() if height])
def test_height(name):
    """Sole to top of the head with every joint at zero."""
    height, tolerance = HUMANOIDS[name][2]
    model, data = load(name)
    head = model.geom("head")
    half = head.size[2] or head.size[0]  # a ball has but one
    top = data.geom("head").xpos[2] + half
    assert top - sole_corners(model, data)[:, 2].min() == pytest.approx(height, abs=tolerance)


@pytest.mark.parametrize("name", [*HUMANOIDS, *OBJECTS, "foot"])
def test_nothing_of_the_world_is_in_the_file(name):
    """No floor: every shape moves, and only soles, the point and the objects themselves collide
    with a floor of MuJoCo's default bits; shells meet one another and soles.
    """
    model, _ = load(name)
    assert (model.geom_bodyid > 0).all()
    drawn = model.geom_group == 2
    assert set(model.geom_contype[drawn]) <= {0, 2}
    shells = drawn & (model.geom_contype == 2)
    assert set(model.geom_conaffinity[drawn & ~shells]) <= {0}
    assert set(model.geom_conaffinity[shells]) <= {2}
    assert set(model.geom_contype[~drawn]) == ({3} if name in HUMANOIDS else {1})
    assert set(model.geom_conaffinity[~drawn]) == {1}
    collision = {model.geom(i).name for i in np.flatnonzero(~drawn)}
    expected = {"foot": {"point"}} | {humanoid: set(SOLES) for humanoid in HUMANOIDS}
    assert collision == expected.get(name, {name})


@pytest.mark.parametrize("name", HUMANOIDS)
def test_every_joint_has_a_servo(name):
    """A position actuator a joint, in joint order, with gains, torque limit and rotor inertia."""
    model, _ = load(name)
    assert model.actuator_trnid[:, 0].tolist() == list(range(1, model.njnt))
    assert (model.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE).all()
    kp, kv = model.actuator_gainprm[:, 0], -model.actuator_biasprm[:, 2]
    assert (kp > 0).all()
    assert (kv > 0).all()
    np.testing.assert_array_equal(kp, -model.actuator_biasprm[:, 1])  # kp (ctrl - q) - kv v
    assert model.actuator_forcelimited.all()
    assert model.jnt_limited[1:].all()
    assert (model.actuator_forcerange[:, 1] > 0).all()
    assert (model.dof_armature[6:] > 0).all()
    assert not model.dof_armature[:6].any()


@pytest.mark.parametrize(("name", "pose"), POSES)
def test_pose_stands_on_its_soles(name, pose):
    """Soles flat on z = 0 about the origin, CoM near their centre, joints inside their ranges."""
    model, data = load(name, pose)
    corners = sole_corners(model, data)
    assert np.abs(corners[:, 2]).max() < 1e-9
    # both soles straight ahead: the support polygon is their bounding rectangle
    low, high = corners[:, :2].min(axis=0), corners[:, :2].max(axis=0)
    np.testing.assert_allclose((low + high) / 2, 0.0, atol=1e-9)
    # 0.28 mm: left and right of hoap1's link table differ; 2.0 mm: half_sitting is HRP-2's own pose
    assert np.abs(data.subtree_com[1][:2]).max() < (2.1e-3 if pose == "half_sitting" else 0.3e-3)
    q = data.qpos[7:]
    assert (q >= model.jnt_range[1:, 0]).all()
    assert (q <= model.jnt_range[1:, 1]).all()
    np.testing.assert_array_equal(model.key(pose).ctrl, q)


@pytest.mark.parametrize(("name", "pose"), POSES)
def test_pose_is_symmetric(name, pose):
    """Mirrored in the plane y = 0, the origins of one side's bodies fall on the other side's."""
    model, data = load(name, pose)
    swap = {"L": "R", "R": "L", "l": "r", "r": "l"}
    names = {model.body(i).name for i in range(1, model.nbody)}
    twins = {n: swap[n[0]] + n[1:] for n in names if n[0] in swap}
    pairs = [(one, other) for one, other in twins.items() if other in names]
    assert len(pairs) >= HUMANOIDS[name][0] - 4  # hrp2: waist and neck lie in the plane
    for one, other in pairs:
        mirrored = data.body(other).xpos * [1, -1, 1]
        np.testing.assert_allclose(data.body(one).xpos, mirrored, atol=1e-12)


@pytest.mark.parametrize(("name", "pose"), POSES)
def test_pinocchio_sees_the_same_pose(name, pose):
    """Base, soles and CoM of the keyframe agree between the two readers."""
    _, data = load(name, pose)
    other = pin.buildModelFromMJCF(path(name))
    state = other.createData()
    q = other.referenceConfigurations[pose]
    com = pin.centerOfMass(other, state, q)
    pin.updateFramePlacements(other, state)
    np.testing.assert_allclose(com, data.subtree_com[1], atol=1e-12)
    for site in ("l_sole_center", "r_sole_center"):
        p_WS = state.oMf[other.getFrameId(site)].translation
        np.testing.assert_allclose(p_WS, data.site(site).xpos, atol=1e-12)


@pytest.mark.parametrize(("name", "pose"), POSES)
def test_servo_damps_stance_critically(name, pose):
    """With both feet held no mode of M a + kv v + kp q = 0 oscillates."""
    model, data = load(name, pose)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    J = np.zeros((4, 3, model.nv))
    mujoco.mj_jacSite(model, data, J[0], J[1], model.site("l_sole_center").id)
    mujoco.mj_jacSite(model, data, J[2], J[3], model.site("r_sole_center").id)
    free = np.linalg.svd(J.reshape(12, -1))[2][12:].T  # motions that leave the feet where they are
    kp = np.r_[np.zeros(6), model.actuator_gainprm[:, 0]]
    kv = np.r_[np.zeros(6), -model.actuator_biasprm[:, 2]]
    M, K, D = (free.T @ X @ free for X in (M, np.diag(kp), np.diag(kv)))
    n = len(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    poles = np.linalg.eigvals(A)
    # damping ratio: 1, but 0.989 where hrp2's neck and trunk have nearly equal poles
    assert (-poles.real / np.abs(poles)).min() > 0.98


@pytest.mark.parametrize(("name", "pose"), POSES)
def test_stands_three_seconds(name, pose):
    """On MuJoCo's default floor the robot stays up under its own gains, far from its limits."""
    spec = mujoco.MjSpec.from_file(path(name))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1])
    model = spec.compile()
    model.opt.timestep = 1e-3
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key(pose).id)
    height = data.qpos[2]
    sag = tilt = effort = 0.0
    for _ in range(3000):
        mujoco.mj_step(model, data)
        sag = max(sag, height - data.qpos[2])
        tilt = max(tilt, 2 * np.arccos(min(1.0, abs(data.qpos[3]))))
        share = np.abs(data.actuator_force) / model.actuator_forcerange[:, 1]
        effort = max(effort, share.max())
    # measured: stance 0.4 to 0.6 mm, all but 0.1 mm of it the floor's; crouch 0.5 to 1.9 mm
    assert 0 < sag < (1e-3 if pose == "stance" else 2.5e-3)
    # measured: 0.014 deg in stance, 0.26 deg in crouch
    assert np.degrees(tilt) < (0.05 if pose == "stance" else 0.4)
    assert effort < 0.3
    assert np.abs(data.qvel).max() < 1e-4  # and it has come to rest


@pytest.mark.parametrize("name", OBJECTS)
def test_objects(name):
    """One free body with the stated mass and inertia, whose stance touches z = 0."""
    mass, inertia, height = OBJECTS[name]
    model, data = load(name, "stance")
    assert (model.nbody, model.nv, model.ngeom, model.nu) == (2, 6, 1, 0)
    assert model.body_mass[1] == pytest.approx(mass, rel=1e-12)
    M = np.zeros((6, 6))
    mujoco.mj_fullM(model, data, M)  # in body axes: MuJoCo sorts body_inertia
    np.testing.assert_allclose(np.diag(M), [mass] * 3 + list(inertia), rtol=1e-12)
    assert data.qpos[2] == height
    box = model.geom_type[0] == mujoco.mjtGeom.mjGEOM_BOX
    assert model.geom_size[0][2 if box else 0] == height


def test_foot():
    """[Marhefka1996] fig 8: 25 kg on a vertical slide, 20 kN/m without damping, touches at 0."""
    model, data = load("foot", "stance")
    assert (model.nq, model.nv, model.nu) == (1, 1, 1)
    assert model.jnt_type[0] == mujoco.mjtJoint.mjJNT_SLIDE
    np.testing.assert_array_equal(model.jnt_axis[0], [0, 0, 1])
    assert model.body_mass[1] == 25
    np.testing.assert_array_equal(model.actuator_biasprm[0, :3], [0, -20e3, 0])
    assert not model.actuator_forcelimited[0]
    point = model.geom("point")
    assert point.type[0] == mujoco.mjtGeom.mjGEOM_SPHERE
    assert data.geom("point").xpos[2] == point.size[0]
