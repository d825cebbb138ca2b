"""Loading: trees, bases and names.

Oracles: for URDF trees Pinocchio's own reader; for composite joints Pinocchio's inertia matrix of
the original; for a long chain MuJoCo's.
"""

import subprocess
import sys
import time
import warnings

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from heelstrike.errors import HeelstrikeError, HeelstrikeWarning, LoadError
from heelstrike.robot import bundled, load
from heelstrike.robot.check import massless_joint
from heelstrike.robot.convert import from_pinocchio
from heelstrike.robot.pose_kinematics import inertia_matrix
from tests.models import example_file, rebuilt
from tests.robot_files import (
    HINGE,
    LINK_MASS,
    MASS,
    joint,
    mjcf,
    urdf,
)


def test_armature_counts_as_inertia(tmp_path):
    """A joint that moves a massless body is reported, unless its rotor has inertia."""
    path = tmp_path / "robot.xml"
    path.write_text(mjcf(HINGE))
    robot = load(path)
    robot.model.inertias[1].setZero()
    assert massless_joint(robot) == "j"
    robot.model.armature[0] = 0.1
    assert massless_joint(robot) is None


def test_base_of_an_mjcf(tmp_path):
    """Keyframes follow a base that is freed or fixed; a freed base is where the file draws it."""
    path = tmp_path / "robot.xml"
    child = "<body name='b'><joint name='k'/>" + MASS + "</body>"
    keys = "<keyframe><key name='home' qpos='{}'/></keyframe>"
    free = mjcf(f"<freejoint name='root'/>{MASS}{child}", keys.format("1 2 3 0 1 0 0 .5"))
    path.write_text(free)
    assert load(path).pose("home").tolist() == [1, 2, 3, 1, 0, 0, 0, 0.5]
    fixed = load(path, base="fixed")
    assert fixed.pose("home").tolist() == [0.5]
    assert fixed.mass == 1.0  # the base became part of the world

    path.write_text(mjcf(f"{MASS}{child}", keys.format(".5")).replace("'a'", "'a' pos='0 0 2'"))
    path.write_text(path.read_text().replace('name="a"', 'name="a" pos="0 0 2"'))
    assert load(path).nq == 1
    freed = load(path, base="floating")
    assert freed.joints[0].kind == "free"
    assert freed.pose("home").tolist() == [0, 0, 2, 0, 0, 0, 1, 0.5]
    assert freed.pose("zero").tolist() == [0, 0, 2, 0, 0, 0, 1, 0]


def test_urdf_joint_and_base(tmp_path):
    """Axis of any length, limits, and a base that floats unless the root is called world."""
    path = tmp_path / "robot.urdf"
    path.write_text(urdf())
    robot = load(path)
    assert [j.kind for j in robot.joints] == ["free", "revolute"]
    assert robot.joints[1].axis.tolist() == [0, 0, 1]
    assert (robot.lower[7], robot.upper[7]) == (-1, 2)
    assert np.isinf(robot.lower[:7]).all()
    assert (robot.torque_limit[6], robot.velocity_limit[6]) == (3, 4)
    assert np.isinf(robot.torque_limit[:6]).all()
    assert load(path, base="fixed").nq == 1
    path.write_text(urdf().replace('"a"', '"world"'))
    assert load(path).nq == 1
    assert load(path, base="floating").nq == 8


def test_urdf_products_of_inertia_may_be_left_out(tmp_path):
    """urdfdom would drop all six moments; here only the missing ones are zero."""
    path = tmp_path / "robot.urdf"
    path.write_text(urdf(inertial=LINK_MASS.replace(' ixy="0" ixz="0" iyz="0"', "")))
    for body in load(path).bodies:
        np.testing.assert_array_equal(body.inertia, np.eye(3))


def test_urdf_joint_elements_that_urdfdom_refuses(tmp_path):
    """Elements that a simulation does not need are ignored; a missing effort means no limit."""
    path = tmp_path / "robot.urdf"
    more = (
        "<safety_controller/><calibration rising='x'/><dynamics/>"
        "<limit lower='-1' upper='1' velocity='inf'/>"
    )
    path.write_text(urdf(joint("j", "a", "b", "revolute", more)))
    with pytest.warns(HeelstrikeWarning, match="has no effort limit"):
        robot = load(path)
    assert (robot.lower[7], robot.upper[7]) == (-1, 1)
    assert np.isinf(robot.torque_limit).all()
    assert np.isinf(robot.velocity_limit).all()


def test_urdf_joint_called_as_pinocchios_root(tmp_path):
    """Pinocchio would give both joints one name and lose the second one's inertia."""
    path = tmp_path / "robot.urdf"
    path.write_text(urdf().replace('"j"', '"root_joint"'))
    robot = load(path)
    assert [j.name for j in robot.joints] == ["root_joint_free", "root_joint"]
    assert [body.mass for body in robot.bodies] == [1, 1]


def test_a_file_is_included_once(tmp_path):
    """MuJoCo refuses a second <include> of a file, wherever it stands."""
    (tmp_path / "part.xml").write_text("<mujoco><option gravity='0 0 -1'/></mujoco>")
    (tmp_path / "other.xml").write_text("<mujoco><include file='part.xml'/></mujoco>")
    path = tmp_path / "robot.xml"
    path.write_text(mjcf(HINGE, "<include file='part.xml'/>"))
    assert load(path).gravity == 1
    path.write_text(mjcf(HINGE, "<include file='other.xml'/><include file='part.xml'/>"))
    with pytest.raises(LoadError, match=r"File 'part\.xml' already included"):
        load(path)


def test_unnamed_bodies_and_joints_of_an_mjcf(tmp_path):
    """They are numbered and named after their body, without a clash with names of the file."""
    path = tmp_path / "robot.xml"
    inner = f"<body>{{}}<joint/><joint axis='1 0 0'/>{MASS}</body>"
    named = f"<body name='body2'><joint name='body2_.0'/>{MASS}</body>"
    path.write_text(mjcf(f"<joint/>{MASS}" + inner.format(named)))
    robot = load(path)
    assert [body.name for body in robot.bodies if body.mass] == ["a", "body2_", "body2"]
    names = [joint.name for joint in robot.joints]
    assert names == ["a", "body2_.0_joint", "body2_.1", "body2_.0"]


def test_names_of_bodies(tmp_path):
    """A link, a joint, and a link that no joint moves."""
    path = tmp_path / "robot.urdf"
    path.write_text(urdf())
    robot = load(path, base="fixed")
    assert robot.body("b") == robot.body("j") == 0
    with pytest.raises(HeelstrikeError, match="'a' of r is fixed to the world"):
        robot.body("a")
    with pytest.raises(HeelstrikeError, match="r has no body 'c'"):
        robot.body("c")


def test_slices_cover_q_and_v():
    """One joint after another."""
    robot = load("hoap1", collide="feet")
    assert [k for j in robot.joints for k in range(robot.nq)[j.q_slice]] == list(range(robot.nq))
    assert [k for j in robot.joints for k in range(robot.nv)[j.v_slice]] == list(range(robot.nv))


EXAMPLES = [
    "talos_data/robots/talos_reduced.urdf",
    "solo_description/robots/solo12.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_urdf_tree_is_pinocchios(name):
    """The same inertia matrix as Pinocchio's own reading of the untouched file."""
    path = example_file(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        robot = load(path)
    theirs = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    assert [j.name for j in robot.joints] == list(theirs.names)[1:]
    q = pin.randomConfiguration(theirs, -np.ones(theirs.nq), np.ones(theirs.nq))
    ours = pin.crba(robot.model, robot.model.createData(), q)
    np.testing.assert_allclose(ours, pin.crba(theirs, theirs.createData(), q), atol=1e-12)


def test_composite_joint_becomes_a_chain():
    """Three joints of one body, placed apart: the same inertia matrix and the same limits."""
    rng = np.random.default_rng(2)
    composite = pin.JointModelComposite()
    composite.addJoint(pin.JointModelRX(), pin.SE3.Random())
    composite.addJoint(
        pin.JointModelPrismaticUnaligned(np.array([0.6, 0.0, 0.8])), pin.SE3.Random()
    )
    composite.addJoint(pin.JointModelSpherical(), pin.SE3.Random())
    model = pin.Model()
    first = model.addJoint(0, pin.JointModelRY(), pin.SE3.Random(), "first")
    many = model.addJoint(first, composite, pin.SE3.Random(), "many")
    last = model.addJoint(many, pin.JointModelRZ(), pin.SE3.Random(), "last")
    for i in (first, many, last):
        model.appendBodyToJoint(i, pin.Inertia.Random(), pin.SE3.Random())
    model.armature[:] = rng.uniform(0.1, 1, model.nv)
    model.damping[:] = rng.uniform(0.1, 1, model.nv)
    model.lowerPositionLimit = -np.arange(1.0, model.nq + 1)
    robot = from_pinocchio(model)
    assert [j.name for j in robot.joints] == ["first", "many.0", "many.1", "many.2", "last"]
    assert [j.iv for j in robot.joints] == [0, 1, 2, 3, 6]
    np.testing.assert_array_equal(robot.damping, model.damping)
    assert (robot.lower[1], robot.lower[2], robot.lower[7]) == (-2, -3, -8)
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-1, 1, model.nv))
    chain = rebuilt(robot)
    ours = np.triu(pin.crba(chain, chain.createData(), q))
    theirs = np.triu(pin.crba(model, model.createData(), q))
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_every_bundled_name_loads():
    """Bundled robots load without a warning."""
    assert bundled()
    for name in bundled():
        robot = load(name)
        assert robot.points, name
        assert "zero" in robot.poses


def test_robot_does_not_import_pinocchio():
    """Dataclasses alone are cheap to import."""
    code = "import sys, heelstrike.robot.robot; sys.exit('pinocchio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_point_masses_behind_three_axes_are_named(tmp_path):
    """A neck as that of a public iCub: its three axes almost meet and move a point mass, whose
    inertia has rank two in the first pose. The warning's oracle is the determinant of H there."""
    path = tmp_path / "robot.urdf"
    links = "<link name='base'/>"
    for k, axis in enumerate(("0 0 1", "1 0 0", "0 1 0"), start=1):
        parent, x = ("base", 0) if k == 1 else (f"l{k - 1}", 0.0095 * (k == 2))
        links += (
            f"<link name='l{k}'><inertial>{{{k == 3:d}}}</inertial></link><joint name='j{k}' "
            f"type='continuous'><parent link='{parent}'/><child link='l{k}'/>"
            f"<origin xyz='{x} 0 0'/><axis xyz='{axis}'/></joint>"
        )
    text = f"<robot name='r'>{links}</robot>"
    small, head = "<mass value='0.1'/>", "<mass value='1.3'/><origin xyz='0.0185 -0.11 0'/>"
    inertia = "<inertia ixx='{0}' ixy='0' ixz='0' iyy='{0}' iyz='0' izz='{0}'/>"
    none, some = inertia.format(0), inertia.format(1e-4)
    path.write_text(text.format(small + none, head + none))
    with pytest.warns(HeelstrikeWarning, match=r"almost no inertia in the pose.* l1, l2, l3$"):
        robot = load(path, base="fixed")
    H = inertia_matrix(robot.model, robot.neutral)
    assert np.linalg.det(H) < 1e-12 * np.prod(np.diag(H))
    path.write_text(text.format(small + some, head + some))
    load(path, base="fixed")  # warnings are errors


def test_a_long_chain_loads_fast(tmp_path):
    """318 nested bodies with 50,000 pairs of shapes, in CPU time.

    It takes 1.2 s; where each pair was looked for among all others, it took 56 s. Their inertia
    is MuJoCo's.
    """
    count = 318
    link = """<body pos="0 0 .1"><joint axis="{}"/><geom type="capsule" size=".02"
        fromto="0 0 0 0 0 .08"/>"""
    axes = [" ".join(str(int(i % 3 == k)) for k in range(3)) for i in range(count)]
    chain = "".join(link.format(axis) for axis in axes) + "</body>" * count
    path = tmp_path / "chain.xml"
    path.write_text(f"<mujoco><worldbody>{chain}</worldbody></mujoco>")
    start = time.process_time()
    robot = load(path)
    assert time.process_time() - start < 12
    assert robot.nv == count
    assert len(robot.self_pairs) > 50_000
    m = mujoco.MjModel.from_xml_path(str(path))
    d, full = mujoco.MjData(m), np.zeros((count, count))
    mujoco.mj_forward(m, d)
    mujoco.mj_fullM(m, d, full)
    H = inertia_matrix(robot.model, robot.neutral)
    assert np.abs(H - full).max() < 1e-12 * full.max()  # rounding along 318 joints: 1e-15 measured
