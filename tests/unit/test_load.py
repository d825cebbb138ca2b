"""Loading: what is refused and in which words, what is warned of, what base and combine do.

Oracles: the sentence that each small broken file must produce; for URDF trees Pinocchio's own
reader; for composite joints and combined systems Pinocchio's inertia matrix of the original.
"""

import subprocess
import sys
import warnings
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import pytest

pin = pytest.importorskip("pinocchio")

from heelstrike.errors import HeelstrikeError, HeelstrikeWarning, LoadError  # noqa: E402
from heelstrike.robot import bundled, combine, load  # noqa: E402
from heelstrike.robot.convert import from_pinocchio, joint_model  # noqa: E402

MASS = '<inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/>'
LINK_MASS = (
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    "</inertial>"
)


def mjcf(body: str, rest: str = "") -> str:
    return f'<mujoco model="m"><worldbody><body name="a">{body}</body></worldbody>{rest}</mujoco>'


def urdf(joint: str = "", links: str = "", inertial: str = LINK_MASS) -> str:
    return (
        f'<robot name="r"><link name="a">{inertial}</link><link name="b">{inertial}</link>{links}'
        + (joint or '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
           '<axis xyz="0 0 2"/><limit lower="-1" upper="2" effort="3" velocity="4"/></joint>')
        + "</robot>"
    )  # fmt: skip


def joint(name: str, parent: str, child: str, kind: str = "continuous", more: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{more}</joint>"
    )


HINGE = f"<joint name='j' axis='0 1 0'/>{MASS}"
HEAVY = '<inertial pos="0 0 0" mass="{}" diaginertia="{}"/>'

REFUSED = {
    "empty": ("", "empty"),
    "broken": ("<mujoco><worldbody>", "not well-formed XML at line 1"),
    "not a robot": ("<sdf/>", "starts with <sdf>"),
    "doctype": ('<!DOCTYPE m SYSTEM "x"><mujoco/>', "document type or an entity"),
    "entity bomb": ('<!DOCTYPE m [<!ENTITY a "aa">]><mujoco>&a;</mujoco>', "refused for safety"),
    "too deep": ("<mujoco>" * 300, "nested more than"),
    "no body": ("<mujoco><worldbody/></mujoco>", "no <body>"),
    "unknown joint": (mjcf(f"<joint name='j' type='screw'/>{MASS}"), "unknown type 'screw'"),
    "no axis": (mjcf(f"<joint name='j' axis='0 0 0'/>{MASS}"), "joint 'j' has no axis"),
    "not a number": (mjcf(f"<joint name='j' axis='0 x 0'/>{MASS}"), "which are not numbers"),
    "too few numbers": (mjcf(f"<joint name='j' axis='0 0'/>{MASS}"), "2 numbers where 3"),
    "not finite": (mjcf(f"<joint name='j' armature='nan'/>{MASS}"), "is not finite"),
    "infinite mass": (mjcf("<joint/>" + HEAVY.format("inf", "1 1 1")), "is not finite"),
    "massless": (mjcf("<joint name='j'/>"), "joint 'j' moves a body without mass"),
    "massless behind a joint": (
        mjcf(f"{HINGE}<body name='b'><joint name='k'/></body>"),
        "joint 'k' moves a body without mass",
    ),
    "two axes on one line": (
        mjcf(f"<joint name='j'/><body name='b'><joint name='k'/>{MASS}</body>"),
        "joint 'j' moves a body without mass",
    ),
    "a point mass that turns": (
        mjcf("<freejoint name='f'/>" + HEAVY.format(1, "0 0 0")),
        "joint 'f' moves a body without mass or inertia",
    ),
    "negative inertia": (mjcf("<joint/>" + HEAVY.format(1, "1 1 -.1")), "negative principal"),
    "negative mass": (mjcf("<joint/>" + HEAVY.format(-1, "1 1 1")), "negative mass"),
    "unknown class": (mjcf(f"<joint class='c'/>{MASS}"), "default class 'c'"),
    "nothing moves": (mjcf(MASS), "no moving joint"),
    "same body twice": (mjcf(f"{HINGE}<body name='a'/>"), "two bodies are called 'a'"),
    "same joint twice": (
        mjcf(f"{HINGE}<body name='b'>{HINGE}</body>"),
        "two joints are called 'j'",
    ),
    "free inside": (mjcf(f"{HINGE}<body name='b'><freejoint/>{MASS}</body>"), "free joint"),
    "no size": (mjcf(f"{HINGE}<geom name='g' type='box' size='1'/>"), "3 positive sizes"),
    "replicate": (mjcf(f"{HINGE}<replicate count='2'/>"), "mj_saveLastXML"),
    "keyframe": (mjcf(HINGE, "<keyframe><key qpos='1 2'/></keyframe>"), "2 numbers where 1"),
    "include": ("<mujoco><include file='none.xml'/></mujoco>", "includes 'none.xml'"),
    "includes itself": ("<mujoco><include file='robot.xml'/></mujoco>", "within itself"),
    "mesh that weighs": (
        mjcf(
            "<joint/><geom type='mesh' mesh='m'/>", "<asset><mesh name='m' file='m.stl'/></asset>"
        ),
        "decides the mass of its body",
    ),
    "urdf: unknown joint": (urdf(joint("j", "a", "b", "screw")), "unknown type 'screw'"),
    "urdf: cycle": (urdf(joint("j", "a", "b") + joint("k", "b", "a")), "closes a loop"),
    "urdf: two parents": (urdf(joint("j", "a", "b") + joint("k", "a", "b")), "child of two"),
    "urdf: apart": (
        urdf(joint("j", "c", "b") + joint("k", "b", "c"), "<link name='c'/>"),
        "its own ancestor",
    ),
    "urdf: two roots": (urdf(links="<link name='c'/>"), "2 root links (a, c)"),
    "urdf: no such link": (urdf(joint("j", "a", "x")), "child 'x'"),
    "urdf: twice": (urdf(links="<link name='b'/>"), "two links are called 'b'"),
    "urdf: not finite": (urdf(inertial=LINK_MASS.replace("1", "nan", 1)), "is not finite"),
    "urdf: negative": (
        urdf(inertial=LINK_MASS.replace('ixx="1"', 'ixx="-1"')),
        "negative principal",
    ),
    "urdf: massless": (urdf(inertial=""), "moves a body without mass"),
    "urdf: no axis": (
        urdf(joint("j", "a", "b", more="<axis xyz='0 0 0'/>")),
        "'j' has no axis",
    ),
    "urdf: tilted plane": (
        urdf(joint("j", "a", "b", "planar", "<axis xyz='1 0 0'/>")),
        "normal is not z",
    ),
    "urdf: xacro": ("<robot name='r'><xacro:include/></robot>", "run `xacro"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_a_sentence(name, tmp_path):
    """LoadError with the file's name and the cause, and no other exception behind it."""
    text, expected = REFUSED[name]
    path = tmp_path / "robot.xml"
    path.write_text(text)
    with pytest.raises(LoadError) as caught:
        load(path)
    assert expected in str(caught.value)
    assert "robot.xml" in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_entity_in_another_encoding_is_refused(tmp_path):
    """A search for the letters <!DOCTYPE in the bytes would miss UTF-16."""
    path = tmp_path / "robot.xml"
    path.write_bytes('<!DOCTYPE m [<!ENTITY a "aa">]><mujoco>&a;</mujoco>'.encode("utf-16"))
    with pytest.raises(LoadError, match="document type or an entity"):
        load(path)


def test_missing_file_folder_and_name(tmp_path):
    """Each says what to do next; a name near a bundled one is suggested."""
    with pytest.raises(LoadError, match="no such file"):
        load(tmp_path / "none.urdf")
    with pytest.raises(LoadError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(LoadError, match=r"did you mean 'hoap1'\?.*Bundled: .*ball"):
        load("hoap-1")
    with pytest.raises(LoadError, match="give 'auto', 'floating' or 'fixed'"):
        load("ball", base="hanging")
    with pytest.raises(HeelstrikeError, match="'feet', 'all' or a list"):
        load("ball", points="hands")


WARNED = {
    "equality": (
        mjcf(HINGE, "<equality><joint name='loop' joint1='j'/><weld body1='a'/></equality>"),
        "2 equality constraints left out, the joints move freely: loop, weld a",
    ),
    "tendon": (
        mjcf(HINGE, "<tendon><fixed name='cord'><joint joint='j' coef='1'/></fixed></tendon>"),
        "1 tendon left out, the joints move freely: cord",
    ),
    "spring": (mjcf(f"<joint name='j' stiffness='3'/>{MASS}"), "the spring of joint 'j'"),
    "gravity": (mjcf(HINGE, "<option gravity='1 0 -9'/>"), "not along z"),
    "muscle": (mjcf(HINGE, "<actuator><muscle name='m' joint='j'/></actuator>"), "'m' is left out"),
    "one-sided": (
        mjcf(HINGE, "<actuator><motor joint='j' forcerange='-1 2'/></actuator>"),
        "is not symmetric",
    ),
    "mesh": (
        mjcf(f"{HINGE}<geom name='sole' type='mesh' mesh='s'/>"),
        "1 collision shapes left out, they give no contact points: sole",
    ),
    "urdf: mimic": (
        urdf(joint("j", "a", "b", more="<mimic joint='k'/>") + joint("k", "b", "c"),
             f"<link name='c'>{LINK_MASS}</link>"),
        "mimic joints move freely: j",
    ),
    "urdf: mesh": (
        urdf(links="").replace('<link name="b">', '<link name="b"><collision><geometry><mesh '
             'filename="package://p/foot.stl"/></geometry></collision>'),
        "b (package://p/foot.stl not found)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WARNED)
def test_left_out_with_a_warning(name, tmp_path):
    """What is not modelled is named, once, and the rest is loaded."""
    text, expected = WARNED[name]
    path = tmp_path / "robot.xml"
    path.write_text(text)
    with pytest.warns(HeelstrikeWarning) as caught:
        robot = load(path)
    assert robot.mass > 0
    assert len(caught) == 1
    assert expected in str(caught[0].message)
    assert caught[0].filename == __file__  # points at the caller


def test_massless_body_with_armature_is_fine(tmp_path):
    """A rotor inertia is an inertia."""
    path = tmp_path / "robot.xml"
    path.write_text(mjcf("<joint name='j' armature='.1'/>"))
    assert load(path).armature == pytest.approx([0.1])


def test_base_of_an_mjcf(tmp_path):
    """Freed and fixed: keyframes follow, and a freed base stands where the file draws it."""
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


EXAMPLES = [
    "talos_data/robots/talos_reduced.urdf",
    "solo_description/robots/solo12.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
]


def example(name: str) -> Path:
    try:
        found = [f for f in files("example-robot-data") or [] if str(f).endswith(name)]
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    return Path(str(found[0].locate()))


@pytest.mark.parametrize("name", EXAMPLES)
def test_urdf_tree_is_pinocchios(name):
    """The same inertia matrix as Pinocchio's own reading of the untouched file."""
    path = example(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        robot = load(path)
    theirs = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    assert [j.name for j in robot.joints] == list(theirs.names)[1:]
    q = pin.randomConfiguration(theirs, -np.ones(theirs.nq), np.ones(theirs.nq))
    ours = pin.crba(robot.model, robot.model.createData(), q)
    np.testing.assert_allclose(ours, pin.crba(theirs, theirs.createData(), q), atol=1e-12)


def rebuilt(robot) -> "pin.Model":
    """A Pinocchio model from nothing but a Robot's joints and bodies."""
    model = pin.Model()
    for joint_, body in zip(robot.joints, robot.bodies, strict=True):
        placement = pin.SE3(joint_.rotation, joint_.translation)
        kind = joint_model(joint_.kind, joint_.axis)
        new = model.addJoint(joint_.parent + 1, kind, placement, joint_.name)
        inertia = pin.Inertia(body.mass, body.com, body.inertia)
        model.appendBodyToJoint(new, inertia, pin.SE3.Identity())
    model.armature[:] = robot.armature
    return model


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


def test_combine_carries_everything():
    """A robot and two cubes: dynamics of each part alone, names, poses, points and gains."""
    hoap, cube = load("hoap1"), load("cube")
    both = combine({"hoap": hoap, "one": cube, "two": cube}, name="scene")
    assert both.name == "scene"
    assert both.nv == hoap.nv + 12
    assert both.mass == pytest.approx(hoap.mass + 2 * cube.mass)
    assert [j.name for j in both.joints] == list(both.model.names)[1:]
    assert both.joints[-1].name == "two/root"
    assert both.bodies[both.body("two/cube")].name == "two/cube"
    assert set(both.poses) == {"zero", "stance"}
    assert len(both.points) == len(hoap.points) + 2 * len(cube.points)
    assert len({p.name for p in both.points}) == len(both.points)

    rng = np.random.default_rng(1)
    q = pin.integrate(both.model, both.pose("stance"), rng.uniform(-1, 1, both.nv))
    whole = np.triu(pin.crba(both.model, both.model.createData(), q))
    chain = rebuilt(both)
    np.testing.assert_allclose(whole, np.triu(pin.crba(chain, chain.createData(), q)), atol=1e-12)
    iq = iv = 0
    for key, part in (("hoap", hoap), ("one", cube), ("two", cube)):
        own_q, own_v = slice(iq, iq + part.nq), slice(iv, iv + part.nv)
        assert both.joints[both.body(f"{key}/{part.bodies[-1].name}")].iv < iv + part.nv
        alone = np.triu(pin.crba(part.model, part.model.createData(), q[own_q]))
        np.testing.assert_allclose(whole[own_v, own_v], alone, atol=1e-12)
        np.testing.assert_array_equal(both.pose("stance")[own_q], part.pose("stance"))
        for vector in ("kp", "kd", "armature", "damping", "friction", "torque_limit"):
            np.testing.assert_array_equal(getattr(both, vector)[own_v], getattr(part, vector))
        np.testing.assert_array_equal(both.lower[own_q], part.lower)
        for point in part.points:
            [same] = [p for p in both.points if p.name == f"{key}/{point.name}"]
            assert both.bodies[same.body].name == f"{key}/{part.bodies[point.body].name}"
            np.testing.assert_array_equal(same.position, point.position)
        iq, iv = iq + part.nq, iv + part.nv


def test_combine_names_a_sequence_and_refuses_nonsense():
    cube, ball = load("cube"), load("ball")
    keys = [j.name for j in combine([cube, ball, cube]).joints]
    assert keys == ["cube1/root", "ball/root", "cube2/root"]
    with pytest.raises(HeelstrikeError, match="nothing to combine"):
        combine([])


def test_combined_once_more():
    """A combined system can be a part of another."""
    cube = load("cube")
    nested = combine({"pile": combine([cube, cube]), "third": cube})
    assert [j.name for j in nested.joints] == ["pile/cube1/root", "pile/cube2/root", "third/root"]


def test_every_bundled_name_loads():
    """Without a warning: they are ours."""
    assert bundled()
    for name in bundled():
        robot = load(name)
        assert robot.points, name
        assert "zero" in robot.poses


def test_robot_does_not_import_pinocchio():
    """Dataclasses alone are cheap to import."""
    code = "import sys, heelstrike.robot.robot; sys.exit('pinocchio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
