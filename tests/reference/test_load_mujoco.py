"""Loading of MJCF against the dynamics of MuJoCo.

MuJoCo also compiles the file for the loader; these tests check everything built from the compiled
model. Masses, names, limits and keyframes are read from it; gains and torque limits are measured,
by displacing a joint and by driving it to saturation; the inertia matrix, the gravity torque and
accelerations come from its dynamics at random states.
"""

import os
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

import heelstrike as hs
import heelstrike.robot
from heelstrike.dynamics.quantities import quantities
from heelstrike.errors import HeelstrikeWarning
from heelstrike.robot import Robot, bundled, load
from heelstrike.runtime.compiler import compile_program

DATA = os.environ.get("HEELSTRIKE_DATA")
THIRD_PARTY = sorted(Path(DATA, "robots").glob("*.xml")) if DATA else []
MODELS = Path(heelstrike.robot.__file__).parent / "models"
FILES = [MODELS / f"{name}.xml" for name in bundled()] + THIRD_PARTY

SINGLE = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)


def both(path: Path) -> tuple[Robot, "mujoco.MjModel"]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        return load(path), mujoco.MjModel.from_xml_path(str(path))


def q_of(m, qpos: np.ndarray) -> np.ndarray:
    """MuJoCo's qpos in our order: quaternions wxyz -> xyzw."""
    q = np.array(qpos)
    for kind, at in zip(m.jnt_type, m.jnt_qposadr, strict=True):
        if kind in (FREE, BALL):
            at = at + 3 * (kind == FREE)
            q[at : at + 4] = q[[at + 1, at + 2, at + 3, at]] / np.linalg.norm(q[at : at + 4])
    return q


def v_from_mujoco(m, d) -> np.ndarray:
    """T with v = T qvel: MuJoCo gives a free body's linear velocity in the world's axes."""
    T = np.eye(m.nv)
    for kind, at, body in zip(m.jnt_type, m.jnt_dofadr, m.jnt_bodyid, strict=True):
        if kind == FREE:
            T[at : at + 3, at : at + 3] = d.xmat[body].reshape(3, 3).T
    return T


def assert_same_robot(robot: Robot, m) -> None:
    assert (robot.nq, robot.nv) == (m.nq, m.nv)
    names = [m.joint(i).name for i in range(m.njnt)]
    assert [j.name for j in robot.joints] == [
        name or joint.name for name, joint in zip(names, robot.joints, strict=True)
    ]
    assert_same_masses(robot, m)
    gear = np.zeros((m.nu, m.nv))  # an actuator's own armature and damping reach its joint
    for k in range(m.nu):
        gear[k, m.jnt_dofadr[m.actuator_trnid[k, 0]]] = m.actuator_gear[k, 0]
    for ours, theirs in (
        (robot.armature, m.dof_armature + m.actuator_armature @ gear**2),
        (robot.damping, m.dof_damping + m.actuator_damping @ gear**2),
        (robot.friction, m.dof_frictionloss),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)
    for i, joint in enumerate(robot.joints):
        limited = m.jnt_limited[i] and m.jnt_type[i] in SINGLE
        low, high = m.jnt_range[i] if limited else (-np.inf, np.inf)
        assert robot.lower[joint.iq] == pytest.approx(low, rel=1e-14)
        assert robot.upper[joint.iq] == pytest.approx(high, rel=1e-14)
    assert_same_motors(robot, m)
    for k in range(m.nkey):
        name = m.key(k).name or f"key{k}"
        np.testing.assert_allclose(robot.pose(name), q_of(m, m.key_qpos[k]), atol=1e-14)
    assert robot.gravity == -m.opt.gravity[2]
    assert_same_dynamics(robot, m)


def assert_same_masses(robot: Robot, m, rtol: float = 1e-12) -> None:
    """Each moving body with all that is welded to it."""
    for i, (joint, body) in enumerate(zip(robot.joints, robot.bodies, strict=True)):
        mj_body = m.jnt_bodyid[i]
        if i == m.body_jntadr[mj_body] + m.body_jntnum[mj_body] - 1:
            welded = m.body_mass[m.body_weldid == mj_body].sum()
            assert body.mass == pytest.approx(welded, rel=rtol), joint.name
        else:
            assert body.mass == 0.0
    moving = m.body_mass[m.body_weldid != 0].sum()
    assert robot.mass == pytest.approx(moving, rel=rtol)


def motor_torque(m, shift=0.0, rate=0.0, control=0.0) -> np.ndarray:
    """Torque of the motors with every single joint displaced alike from zero."""
    d = mujoco.MjData(m)
    for kind, iq, iv in zip(m.jnt_type, m.jnt_qposadr, m.jnt_dofadr, strict=True):
        if kind in SINGLE:
            d.qpos[iq], d.qvel[iv] = shift, rate
    d.ctrl[:] = control
    mujoco.mj_fwdPosition(m, d)
    mujoco.mj_fwdVelocity(m, d)
    mujoco.mj_fwdActuation(m, d)
    return np.array(d.qfrc_actuator)


def assert_same_motors(robot: Robot, m) -> None:
    single = np.zeros(m.nv, dtype=bool)
    for kind, iv in zip(m.jnt_type, m.jnt_dofadr, strict=True):
        single[iv] = kind in SINGLE
    step = 1e-4  # [rad, m]: the actuators are linear, and none saturates so near
    rest = motor_torque(m)
    kp = (rest - motor_torque(m, shift=step)) / step
    kd = (rest - motor_torque(m, rate=step)) / step
    np.testing.assert_allclose(robot.kp[single], kp[single], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(robot.kd[single], kd[single], rtol=1e-9, atol=1e-9)

    far = 1e7  # drives a motor by its control and a servo by its error, to where it saturates
    ends = [np.abs(motor_torque(m, -s * far, control=s * far)) for s in (1, -1)]
    reached = np.maximum(*ends)
    driven = single & (reached > 0)
    limited = driven & np.isfinite(robot.torque_limit)
    np.testing.assert_allclose(robot.torque_limit[limited], reached[limited], rtol=1e-12)
    assert (reached[driven & ~limited] > 1e5).all()  # nothing stopped the ones we call unlimited


def assert_same_dynamics(robot: Robot, m, rtol: float = 1e-12) -> None:
    """H and gravity torque at random states, up to rounding relative to their largest entry."""
    rng = np.random.default_rng(3)
    model = robot.model
    assert model is not None
    data, d = model.createData(), mujoco.MjData(m)
    for _ in range(3):
        d.qpos[:] = m.qpos0
        mujoco.mj_integratePos(m, d.qpos, rng.uniform(-1, 1, m.nv), 1.0)
        d.qvel[:] = 0
        mujoco.mj_forward(m, d)
        T = v_from_mujoco(m, d)
        q = q_of(m, d.qpos)
        H = np.array(pin.crba(model, data, q))
        H = np.triu(H) + np.triu(H, 1).T
        theirs = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, theirs)
        np.testing.assert_allclose(T.T @ H @ T, theirs, rtol=0, atol=rtol * np.abs(theirs).max())
        gravity = T.T @ pin.computeGeneralizedGravity(model, data, q)
        size = np.abs(d.qfrc_bias).max() + 1e-12
        np.testing.assert_allclose(gravity, d.qfrc_bias, rtol=0, atol=rtol * size)


@pytest.mark.skipif(not DATA, reason="HEELSTRIKE_DATA is not set: no third-party models")
def test_there_are_third_party_models():
    """Without this, an empty folder would pass every test below."""
    assert len(THIRD_PARTY) >= 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_is_read_as_mujoco_reads_it(path):
    """Names, order, masses, joints, motors, keyframes and dynamics of a whole file."""
    assert_same_robot(*both(path))


OWN = sorted((Path(mujoco.__file__).parent / "testdata").glob("model*.xml"))


@pytest.mark.skipif(not OWN, reason="MuJoCo's wheel has no models")
@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_mujocos_own_models(path):
    """Masses, limits and dynamics; actuators of tendons and sites are left out."""
    robot, m = both(path)
    assert_same_masses(robot, m)
    assert_same_dynamics(robot, m)
    for i, joint in enumerate(robot.joints):
        if m.jnt_limited[i] and m.jnt_type[i] in SINGLE:
            assert (robot.lower[joint.iq], robot.upper[joint.iq]) == tuple(m.jnt_range[i])


@pytest.mark.skipif(not DATA, reason="HEELSTRIKE_DATA is not set: no third-party models")
def test_inherited_mass_of_zero():
    """mighty weighs 5.531 kg; Pinocchio's reader overlooks mass="0" of a class: 5.662 kg."""
    path = Path(DATA, "robots", "mighty.xml")
    assert both(path)[0].mass == pytest.approx(5.53107092, abs=1e-8)
    other = pin.buildModelFromMJCF(str(path))
    assert sum(inertia.mass for inertia in other.inertias) == pytest.approx(5.66222612, abs=1e-8)


PUZZLES = {
    "several joints on a body, off its origin": """<mujoco><compiler angle="radian"/>
      <worldbody><body name="a" pos="0 0 1" quat="1 .2 .3 .1"><geom type="box" size=".1 .2 .3"/>
        <joint name="x" type="slide" axis="1 1 0" armature=".1" damping="1" range="-1 2"/>
        <joint name="y" axis="0 1 .2" pos=".1 .2 .3" armature=".2" damping="2" frictionloss=".5"/>
        <joint name="z" axis="0 0 1" pos="-.1 0 .3" armature=".3" damping="3" range="-.5 .6"/>
        <body name="b" pos=".1 0 .5"><joint name="w" type="ball" pos="0 .1 0" armature=".05"/>
          <geom type="capsule" fromto="0 0 0 .1 .2 .4" size=".03"/></body></body></worldbody>
      </mujoco>""",
    "degrees, references and a slide's range": """<mujoco>
      <worldbody><body name="a"><joint name="h" axis="0 2 0" ref="30" range="-60 90"/>
        <geom type="cylinder" size=".05 .2" pos=".1 0 0" euler="30 40 50"/>
        <body name="b" pos="0 0 .3"><joint name="s" type="slide" ref=".2" range="-.1 .4"/>
          <geom type="ellipsoid" size=".1 .05 .2" axisangle="1 1 0 30"/></body></body></worldbody>
      <keyframe><key qpos=".3 .1"/><key name="b" qpos="-.2 .05"/></keyframe></mujoco>""",
    "classes within classes": """<mujoco>
      <default><geom density="500"/><joint damping="1"/>
        <default class="a"><geom mass="2" quat="1 1 0 0"/><joint armature=".1"/>
          <default class="b"><geom size=".1 .2" type="capsule"/><joint axis="1 0 0"/></default>
        </default></default>
      <worldbody><body name="a" childclass="a"><freejoint/><geom type="box" size=".1 .2 .3"/>
        <body name="b" childclass="b" pos="0 0 1"><joint name="j"/><geom/>
          <geom class="main" size=".1" pos=".3 0 0"/>
          <body name="c"><joint name="k" class="main" axis="0 1 0"/><geom euler="0 90 0"/>
            <geom size=".15"/><geom type="box" fromto="0 0 0 .1 .2 .3" size=".1 .2 .3"/></body>
        </body></body></worldbody></mujoco>""",
    "frames, orientations and a second root": """<mujoco>
      <compiler angle="radian" eulerseq="ZyX"/>
      <worldbody><frame pos="0 0 1" euler=".1 .2 .3">
        <body name="a" xyaxes="1 .1 0 0 1 .3"><freejoint/><geom size=".1"/>
          <frame pos=".1 0 0" zaxis="1 0 1"><body name="b"><joint name="j" axis="1 1 1"/>
            <geom type="box" size=".1 .1 .3" euler=".3 .2 .1"/></body>
            <geom size=".05" pos=".2 0 0"/></frame></body></frame>
        <body name="second" pos="1 2 3" quat=".5 .5 .5 .5"><freejoint name="r2"/>
          <inertial pos=".1 0 0" mass="2" diaginertia=".1 .2 .25" euler=".1 .2 .3"/></body>
        <body name="table"><geom type="box" size="1 1 1"/></body></worldbody>
      <keyframe><key name="k" qpos="1 2 3 1 2 3 4 .5 0 0 1 0 1 0 1"/></keyframe></mujoco>""",
    "motors": """<mujoco><compiler angle="radian"/>
      <default><position kp="40" ctrlrange="-9 9"/>
        <default class="m"><motor ctrlrange="-2 2" gear="3"/></default>
        <default class="d"><position kp="70" dampratio=".7"/></default></default>
      <worldbody><body name="a"><joint name="1" armature=".1"/><geom size=".1" pos=".2 0 0"/>
       <body name="b"><joint name="2" axis="1 0 0"/><geom size=".1" pos="0 .2 0"/>
        <body name="c"><joint name="3" type="slide" actuatorfrcrange="-5 5"/><geom size=".1"/>
         <body name="d"><joint name="4" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>
          <body name="e"><joint name="5" axis="1 0 0"/><geom size=".1" pos="0 .3 0"/>
           <body name="f"><joint name="6" axis="0 0 1"/><geom size=".1" pos=".3 0 0"/>
           </body></body></body></body></body></body></worldbody>
      <actuator><motor joint="1" class="m"/><position joint="2" kv="3" forcerange="-7 7" gear="2"/>
        <position joint="3" class="d" armature=".2" damping=".3"/>
        <position joint="4" class="d" gear="-4"/>
        <general joint="5" gainprm="30" biasprm="0 -30 -4" biastype="affine" forcerange="-3 3"/>
        <position joint="6" kp="20"/><velocity joint="6" kv="6"/></actuator></mujoco>""",
    "masses by the compiler": """<mujoco>
      <compiler inertiafromgeom="true" inertiagrouprange="0 1" balanceinertia="true"
        boundmass=".3" boundinertia=".002"/>
      <worldbody><body name="a"><freejoint/><geom size=".1"/><geom size=".2" group="2"/>
        <inertial pos="0 0 0" mass="9" diaginertia="1 1 1"/>
        <body name="b" pos=".3 0 0"><joint/><geom size=".01"/></body>
      </body></worldbody></mujoco>""",
    "limits switched on and off by a class": """<mujoco>
      <default><default class="off"><joint limited="false" range="-30 30"/></default>
        <default class="on"><joint limited="true" range="-10 20"/></default></default>
      <worldbody><body name="a"><joint name="x" class="off" axis="1 0 0"/><geom size=".1"/>
        <body name="b" pos="0 0 .3"><joint name="y" class="on" axis="0 1 0"/>
          <geom size=".1" pos=".1 0 0"/></body></body></worldbody></mujoco>""",
    "replicated and attached bodies": """<mujoco><worldbody>
      <body name="a"><freejoint/><geom type="box" size=".3 .3 .1"/>
        <replicate count="4" euler="0 0 90" sep="-">
          <body name="leg" pos=".3 0 0" euler="0 10 0"><joint name="hip" axis="0 1 0" ref="20"/>
            <geom name="leg" type="capsule" fromto="0 0 0 .1 0 -.3" size=".03"/>
            <site name="tip" pos=".1 0 -.3"/></body></replicate>
        <frame pos="0 0 .5" euler="0 0 30"><frame pos="0 0 .1" euler="40 0 0">
          <body name="head" pos="0 .1 0"><joint name="neck" axis="0 0 1" pos="0 .02 0"/>
            <geom size=".1"/></body></frame></frame></body></worldbody>
      <keyframe><key name="k" qpos="1 2 3 1 0 0 0 .1 .2 .3 .4 .5"/></keyframe></mujoco>""",
    "a box fitted to a mesh": """<mujoco><asset><mesh name="m" scale=".1 .2 .3"
        vertex="0 0 0 1 0 0 0 1 0 0 0 1 1 1 0 1 0 1 0 1 1 1 1 1"/></asset>
      <worldbody><body name="a"><freejoint/><geom type="box" mesh="m" pos=".1 .2 .3" euler="9 8 7"/>
      </body></worldbody></mujoco>""",
    "a free body aligned with its principal axes": """<mujoco><compiler alignfree="true"/>
      <worldbody><body name="a" pos="1 2 3"><freejoint/><geom size=".1" pos=".1 .2 .3"/>
        <geom type="box" size=".1 .2 .3" euler="10 20 30"/>
        <body name="b" pos=".3 0 0"><joint axis="0 1 0"/><geom size=".05"/></body></body>
      </worldbody></mujoco>""",
    "an inherited armature on a free joint": """<mujoco><option gravity="0 0 -1.6"/>
      <default><joint armature=".3" damping=".2"/></default>
      <worldbody><body name="a"><joint type="free"/><geom type="box" size=".1 .2 .3"/>
      </body></worldbody></mujoco>""",
}


@pytest.mark.parametrize("name", PUZZLES)
def test_puzzle_is_read_as_mujoco_reads_it(name, tmp_path):
    """Small files, each with something that a reader may get wrong."""
    path = tmp_path / "puzzle.xml"
    path.write_text(PUZZLES[name])
    assert_same_robot(*both(path))


L_SHAPE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]


def prism() -> tuple[list[tuple[float, float, float]], list[tuple[int, int, int]]]:
    """Vertices and outward faces of a prism with an L for its base."""
    vertices = [(0.1 * x, 0.1 * y, 0.1 * z) for z in (0, 1) for x, y in L_SHAPE]
    caps = [(0, b, b + 1) for b in range(1, 5)]
    faces = [(a, c, b) for a, b, c in caps] + [(a + 6, b + 6, c + 6) for a, b, c in caps]
    for i in range(6):
        j = (i + 1) % 6
        faces += [(i, j, j + 6), (i, j + 6, i + 6)]
    return vertices, faces


INLINE = ["", 'inertia="exact"', 'inertia="convex"', 'inertia="shell"', "hull"]


@pytest.mark.parametrize("inertial", ["", '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'])
@pytest.mark.parametrize("rule", [*INLINE, "file"])
def test_mass_of_a_mesh(rule, inertial, tmp_path):
    """A concave prism, moved, turned, stretched: mass, dynamics, and corners of its hull."""
    vertices, faces = prism()
    vertex = 'vertex="' + " ".join(str(x) for v in vertices for x in v) + '"'
    face = 'face="' + " ".join(str(i) for f in faces for i in f) + '"'
    lines = [f"v {x} {y} {z}" for x, y, z in vertices]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    (tmp_path / "prism.obj").write_text("\n".join(lines))
    mesh = {"hull": vertex, "file": 'file="prism.obj"'}.get(rule, f"{vertex} {face} {rule}")
    path = tmp_path / "mesh.xml"
    path.write_text(
        f"""<mujoco><asset><mesh name="m" {mesh} scale="1 2 1" refpos=".1 .2 .3"
          refquat="1 1 0 0"/></asset><worldbody><body name="a"><freejoint/>{inertial}
          <geom type="mesh" mesh="m" pos="1 0 0" euler="0 30 0"/></body></worldbody></mujoco>"""
    )
    robot, m = both(path)
    assert_same_robot(robot, m)
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    corners = d.geom_xpos[0] + m.mesh_vert @ d.geom_xmat[0].reshape(3, 3).T
    ours = np.array([p.position for p in load(path, collide="all").points])
    assert len(ours) == 10  # the hull lacks the inner corner of the L
    for corner in ours:  # MuJoCo keeps vertices in single precision: 1e-7 each
        assert np.linalg.norm(corners - corner, axis=1).min() < 1e-6


def test_includes_are_read(tmp_path):
    """A body and its class in files of their own; an included file includes one beside it."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "main.xml").write_text(
        '<mujoco><include file="parts/outer.xml"/><worldbody><include file="parts/body.xml"/>'
        "</worldbody></mujoco>"
    )
    (tmp_path / "parts" / "outer.xml").write_text(
        '<mujocoinclude><include file="classes.xml"/></mujocoinclude>'
    )
    (tmp_path / "parts" / "classes.xml").write_text(
        '<mujocoinclude><default><geom size=".2" density="700"/></default></mujocoinclude>'
    )
    (tmp_path / "parts" / "body.xml").write_text(
        '<mujocoinclude><body name="a"><freejoint name="f"/><geom/></body></mujocoinclude>'
    )
    robot, m = both(tmp_path / "main.xml")
    assert robot.mass == pytest.approx(700 * 4 / 3 * np.pi * 0.2**3)
    assert_same_robot(robot, m)


def test_attached_models_are_read(tmp_path):
    """Two arms of another file, in a folder of its own; their meshes are missing and drawn only."""
    (tmp_path / "arm").mkdir()
    (tmp_path / "arm" / "arm.xml").write_text(
        '<mujoco model="arm"><compiler angle="radian" meshdir="meshes"/>'
        '<asset><mesh name="m" file="none.stl"/></asset><worldbody><body name="upper">'
        '<joint name="j" axis="0 1 0" range="-1 .5" ref=".2"/><geom size=".1" pos=".2 0 0"/>'
        '<geom type="mesh" mesh="m" mass="0" contype="0" conaffinity="0"/></body></worldbody>'
        "</mujoco>"
    )
    path = tmp_path / "main.xml"
    path.write_text(
        '<mujoco><asset><model name="arm" file="arm/arm.xml"/></asset><worldbody><body name="a">'
        '<freejoint/><geom size=".3"/><frame pos="0 .3 0"><attach model="arm" body="upper" '
        'prefix="l_"/></frame><frame pos="0 -.3 0" euler="180 0 0"><attach model="arm" '
        'body="upper" prefix="r_"/></frame></body></worldbody></mujoco>'
    )
    robot = load(path)
    assert [joint.name for joint in robot.joints][1:] == ["l_j", "r_j"]
    assert robot.frames["r_upper"].body == 2
    (tmp_path / "arm" / "arm.xml").write_text(
        (tmp_path / "arm" / "arm.xml")
        .read_text()
        .replace('<geom type="mesh" mesh="m" mass="0" contype="0" conaffinity="0"/>', "")
        .replace('<asset><mesh name="m" file="none.stl"/></asset>', "")
    )
    assert_same_robot(*both(path))


@pytest.mark.parametrize("com", ["0 0 0", ".1 .2 .3"])
def test_armature_of_a_free_joint_acts_as_in_mujoco(com, tmp_path):
    """Accelerations at a random state, under gravity, of a body that moves and turns."""
    path = tmp_path / "free.xml"
    path.write_text(
        f"""<mujoco><worldbody><body name="a"><joint type="free" armature=".7"/><inertial
          pos="{com}" mass="2" diaginertia=".1 .2 .25"/></body></worldbody></mujoco>"""
    )
    robot, m = both(path)
    rng = np.random.default_rng(1)
    d = mujoco.MjData(m)
    d.qpos[:] = [1, 2, 3, *Rotation.random(rng=1).as_quat()]
    v = rng.normal(size=6)
    mujoco.mj_kinematics(m, d)
    R = d.xmat[1].reshape(3, 3)
    d.qvel[:] = [*(R @ v[:3]), *v[3:]]
    mujoco.mj_forward(m, d)
    theirs = np.r_[R.T @ d.qacc[:3] - np.cross(v[3:], v[:3]), d.qacc[3:]]
    program = compile_program(quantities(robot, ["forward_dynamics", "bias", "mass_matrix"]))
    found = program(q=q_of(m, d.qpos), v=v, a=np.zeros(6), tau=np.zeros(6), gravity=[9.81])
    np.testing.assert_allclose(found["forward_dynamics"].ravel(), theirs, atol=1e-12)
    left = found["mass_matrix"].reshape(6, 6) @ theirs + found["bias"].ravel()
    np.testing.assert_allclose(left, 0, atol=1e-12)


def test_a_ball_with_free_armature_flies_straight(tmp_path):
    """A spinning ball without gravity moves 1 m in 1 s, whatever its armature."""
    path = tmp_path / "ball.xml"
    path.write_text(
        """<mujoco><option gravity="0 0 0"/><worldbody><body name="b"><joint type="free"
          armature="1"/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""
    )
    sim = hs.Simulator(hs.Scene(load(path)), dt=1e-3, integrator="rk4", stops=None)
    sim.reset(q0=[0, 0, 0, 0, 0, 0, 1], v0=[1, 0, 0, 0, 0, 4])
    sim.step(1000)
    # order 4, w dt = 4e-3 rad a step: 1e-10 measured
    np.testing.assert_allclose(np.ravel(sim.state["q"])[:3], [1, 0, 0], atol=1e-9)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_links_and_points_are_where_mujoco_has_them(path):
    """Every link at a random state, and the corners, centres and ends of collide="all"."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        robot = load(path, collide="all")
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    mujoco.mj_integratePos(m, d.qpos, np.random.default_rng(5).uniform(-1, 1, m.nv), 1.0)
    mujoco.mj_forward(m, d)
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q_of(m, d.qpos))
    place = [pin.SE3.Identity(), *list(data.oMi)[1:]]
    for i in range(1, m.nbody):
        frame = robot.frames[m.body(i).name]
        oMf = place[frame.body + 1] * pin.SE3(frame.rotation, frame.translation)
        np.testing.assert_allclose(oMf.translation, d.xpos[i], atol=1e-9)
        np.testing.assert_allclose(oMf.rotation, d.xmat[i].reshape(3, 3), atol=1e-9)

    box, sphere = int(mujoco.mjtGeom.mjGEOM_BOX), int(mujoco.mjtGeom.mjGEOM_SPHERE)
    capsule = int(mujoco.mjtGeom.mjGEOM_CAPSULE)
    theirs = []
    for g in range(m.ngeom):
        solid = m.geom_contype[g] or m.geom_conaffinity[g]
        if not solid or m.body_weldid[m.geom_bodyid[g]] == 0:
            continue
        signs = np.array(np.meshgrid(*3 * [[-1, 1]])).reshape(3, -1).T
        if m.geom_type[g] == box:
            theirs += list(d.geom_xpos[g] + signs * m.geom_size[g] @ d.geom_xmat[g].reshape(3, 3).T)
        elif m.geom_type[g] == sphere:
            theirs.append(d.geom_xpos[g])
        elif m.geom_type[g] == capsule:
            axis = m.geom_size[g, 1] * d.geom_xmat[g].reshape(3, 3)[:, 2]
            theirs += [d.geom_xpos[g] + axis, d.geom_xpos[g] - axis]
    ours = np.array([place[p.body + 1] * p.position for p in robot.points])
    assert len(theirs) > 0
    for corner in theirs:
        assert np.linalg.norm(ours - corner, axis=1).min() < 1e-9
