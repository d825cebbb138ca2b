"""Robot.to_mjcf: MuJoCo's dynamics of the written file equal those of the original.

Both files are read by MuJoCo; inertia, bias, passive forces, actuators and the number of equality
rows are compared at random states. A written file that is loaded again gives the same robot.
"""

import os
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
import heelstrike.robot
from heelstrike.errors import HeelstrikeWarning
from heelstrike.robot.constraints import JointCoupling
from tests.robot_files import LINK_MASS, joint, urdf

DATA = os.environ.get("HEELSTRIKE_DATA")
MODELS = Path(heelstrike.robot.__file__).parent / "models"
THIRD_PARTY = [Path(DATA, "robots", f"{n}.xml") for n in ("cassie", "g1", "talos")] if DATA else []
MIXED = """<mujoco><compiler angle="radian"/><option gravity="1 2 -9"/><worldbody>
  <body name="a" pos="0 0 1" quat="1 .2 .3 .1"><geom type="box" size=".1 .2 .3"/>
    <joint name="x" type="slide" axis="1 1 0" armature=".1" damping="1" range="-1 2"/>
    <joint name="y" axis="0 1 .2" pos=".1 .2 .3" stiffness="3" springref=".2" ref=".1"/>
    <joint name="z" axis="0 0 1" pos="-.1 0 .3" frictionloss=".3" range="-.5 .6"/>
    <body name="b" pos=".1 0 .5" gravcomp=".3"><joint name="w" type="ball" pos="0 .1 0"
        stiffness="2"/><geom type="capsule" fromto="0 0 0 .1 .2 .4" size=".03"/>
      <site name="tip" pos="0 0 .4" euler="1 2 3"/></body></body>
  <site name="hook" pos="1 0 0"/>
  <body name="f" pos="1 0 1"><freejoint name="free"/><geom size=".1"/>
    <body name="g" pos=".3 0 0"><joint name="h"/><geom type="mesh" mesh="m"/></body></body>
  </worldbody>
  <asset><mesh name="m" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset>
  <tendon><fixed name="t" stiffness="2" damping=".4" springlength=".1 .2">
    <joint joint="x" coef="1"/><joint joint="y" coef="-.5"/></fixed>
    <spatial name="cord" stiffness="3" damping=".2" springlength=".2"><site site="tip"/>
    <site site="hook"/></spatial></tendon>
  <equality><connect body1="b" body2="g" anchor=".1 .2 .3"/><joint joint1="x" joint2="y"
    polycoef=".1 2 .3 0 0"/><weld body1="g" body2="a"/></equality>
  <actuator><position name="p" joint="y" kp="3" kv="1" timeconst=".1" forcerange="-1 2"/>
    <motor name="q" tendon="t" gear="2"/>
    <position name="c" tendon="cord" kp="2" kv=".1" gear="-3"/>
    <general name="r" site="tip" gear="1 2 3 4 5 6"
    gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm=".1 0 -1"/></actuator>
  <keyframe><key name="k" qpos="0 .1 .2 1 0 0 0 1 2 3 1 0 0 0 .3"/></keyframe></mujoco>"""


def forces(m, seed: int, start: np.ndarray) -> dict[str, np.ndarray]:
    """Return MuJoCo's dynamics at a random state, equal for models of the same joints."""
    d, rng = mujoco.MjData(m), np.random.default_rng(seed)
    d.qpos[:] = start
    mujoco.mj_integratePos(m, d.qpos, rng.uniform(-1, 1, m.nv), 1.0)
    d.qvel[:], d.ctrl[:] = rng.uniform(-1, 1, m.nv), rng.uniform(-1, 1, m.nu)
    d.act[:] = rng.uniform(-1, 1, m.na)
    mujoco.mj_forward(m, d)
    inertia = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, inertia)
    return {
        "inertia": inertia,
        "bias": np.array(d.qfrc_bias),
        "passive": np.array(d.qfrc_passive),
        "actuator": np.array(d.qfrc_actuator),
        "equality": np.array([d.ne]),
    }


def written(path: Path, tmp_path: Path) -> tuple[hs.Robot, Path]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        robot = hs.load(path)
    return robot, robot.to_mjcf(tmp_path / "written.xml")


def assert_same(path: Path, other: Path) -> None:
    one, two = (mujoco.MjModel.from_xml_path(str(p)) for p in (path, other))
    for seed in range(3):
        found = forces(two, seed, one.qpos0)
        for name, expected in forces(one, seed, one.qpos0).items():
            size = np.abs(expected).max(initial=1e-12)
            limit = 1e-10 * size  # rounding of a few operations on 16 digits: 1e-15 measured
            np.testing.assert_allclose(found[name], expected, rtol=0, atol=limit, err_msg=name)


@pytest.mark.parametrize(
    "path", [MODELS / "hoap1.xml", MODELS / "foot.xml", *THIRD_PARTY], ids=lambda p: p.stem
)
def test_models(path, tmp_path):
    """Bundled and third-party models, and their robots after loading again."""
    robot, other = written(path, tmp_path)
    assert_same(path, other)
    again, _ = written(other, tmp_path)
    assert [j.name for j in again.joints] == [j.name for j in robot.joints]
    assert [b.name for b in again.bodies] == [b.name for b in robot.bodies]
    for name in ("lower", "upper", "armature", "damping", "friction", "torque_limit", "kp", "kd"):
        np.testing.assert_allclose(getattr(again, name), getattr(robot, name), rtol=1e-12)
    for name in ("shapes", "springs", "constraints", "actuators", "poses"):
        kept = [s for s in getattr(robot, name) if name != "shapes" or s.kind != "mesh"]
        assert len(getattr(again, name)) == len(kept), name
    for pose in robot.poses:
        np.testing.assert_allclose(again.pose(pose), robot.pose(pose), atol=1e-12)
    points = [[p.position for p in r.points] for r in (robot, again)]
    np.testing.assert_allclose(points[1], points[0], atol=1e-12)
    assert len(again.self_pairs) == len(robot.self_pairs)


def test_everything_at_once(tmp_path):
    """Several joints on a body, balls, springs, tendons, actuators, constraints, tilted gravity."""
    path = tmp_path / "mixed.xml"
    path.write_text(MIXED)
    robot, other = written(path, tmp_path)
    assert_same(path, other)
    again, _ = written(other, tmp_path)
    assert len(again.self_pairs) == len(robot.self_pairs)
    np.testing.assert_allclose(again.pose("k"), robot.pose("k"), atol=1e-12)


def test_urdf_and_what_has_no_likeness(tmp_path):
    """A URDF with a continuous joint keeps its dynamics; a planar joint is refused."""
    path = tmp_path / "robot.urdf"
    path.write_text(urdf(joint("j", "a", "b", more="<axis xyz='1 2 3'/>")))
    robot = hs.load(path)
    m = mujoco.MjModel.from_xml_path(str(robot.to_mjcf(tmp_path / "robot.xml")))
    d, H = mujoco.MjData(m), np.zeros((m.nv, m.nv))
    mujoco.mj_forward(m, d)
    mujoco.mj_fullM(m, d, H)
    theirs = np.triu(pin.crba(robot.model, robot.model.createData(), robot.neutral))
    np.testing.assert_allclose(np.triu(H), theirs, atol=1e-12)
    path.write_text(urdf(joint("j", "a", "b", "planar", "<axis xyz='0 0 1'/>"), inertial=LINK_MASS))
    with pytest.raises(hs.HeelstrikeError, match="no planar joint, as 'j' is"):
        hs.load(path).to_mjcf(tmp_path / "robot.xml")


@pytest.mark.parametrize("other", [None, 1])
def test_couplings_of_three_joints(other, tmp_path):
    """MuJoCo's row of the written coupling is its formula (JointCoupling) at random coordinates."""
    text = "".join(
        f'<body name="{n}" pos="0 0 {k}"><joint name="{n}"/><geom size=".1"/></body>'
        for k, n in enumerate("abc")
    )
    path = tmp_path / "three.xml"
    path.write_text(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
    coefficients = (0.1, 0.7, -0.3) if other else (0.1,)
    more = ((2, 0.4),) if other else ((1, -0.6), (2, 0.4))
    own = JointCoupling("row", 0, other, coefficients, 0.2, 0.3 if other else 0.0, more)
    robot = hs.load(path, points=[]).with_constraints(own)
    model = mujoco.MjModel.from_xml_path(str(robot.to_mjcf(tmp_path / "written.xml")))
    data = mujoco.MjData(model)
    for q in np.random.default_rng(0).uniform(-1, 1, (5, 3)):
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        x = 0.0 if other is None else q[1] - 0.3
        linear = sum(factor * q[k] for k, factor in more)
        expected = q[0] - 0.2 - np.polynomial.Polynomial(coefficients)(x) - linear
        assert data.nefc == 1
        assert abs(data.efc_pos[0] - expected) < 1e-12
