"""Loading: what is refused and in which words, what is warned of, what base and combine do.

Oracles: the sentence that each small broken file must produce; for URDF trees Pinocchio's own
reader; for composite joints and combined systems Pinocchio's inertia matrix of the original.
"""

import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from heelstrike.errors import HeelstrikeError, HeelstrikeWarning, LoadError
from heelstrike.robot import bundled, combine, load
from heelstrike.robot.convert import from_pinocchio, joint_model
from tests.models import example_file

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


def urdf_shape(shape: str) -> str:
    collision = f"<collision><geometry>{shape}</geometry></collision>"
    return urdf().replace('<link name="b">', f'<link name="b">{collision}')


def mesh(attributes: str) -> str:
    asset = f"<asset><mesh name='m' {attributes}/></asset>"
    return mjcf(f"<joint/>{MASS}<geom type='mesh' mesh='m'/>", asset)


LIMIT = "<limit lower='{}' upper='{}' effort='{}' velocity='1'/>"
CORNERS = "0 0 0 1 0 0 0 1 0 0 0 1"
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
    "urdf: plane without an axis": (urdf(joint("j", "a", "b", "planar")), "normal is not z"),
    "urdf: plane upside down": (
        urdf(joint("j", "a", "b", "planar", "<axis xyz='0 0 -1'/>")),
        "normal is not z",
    ),
    "urdf: no moment": (
        urdf(inertial=LINK_MASS.replace('ixx="1"', "")),
        "link 'a': <inertia> lacks ixx",
    ),
    "urdf: no mass": (urdf(inertial=LINK_MASS.replace('value="1"', "")), "<mass> lacks value"),
    "urdf: no limit": (
        urdf(joint("j", "a", "b", "revolute")),
        "<joint> 'j' is revolute and has no <limit>",
    ),
    "urdf: limits exchanged": (
        urdf(joint("j", "a", "b", "prismatic", LIMIT.format(2, 1, 1))),
        "lower limit above its upper",
    ),
    "urdf: negative effort": (
        urdf(joint("j", "a", "b", "prismatic", LIMIT.format(1, 2, -1))),
        "negative effort or velocity",
    ),
    "urdf: negative damping": (
        urdf(joint("j", "a", "b", more="<dynamics damping='-1'/>")),
        "negative damping -1",
    ),
    "urdf: negative radius": (urdf_shape("<sphere radius='-1'/>"), "sizes must be positive"),
    "urdf: flat box": (urdf_shape("<box size='1 0 1'/>"), "'size' of a box of link 'b'"),
    "negative radius": (mjcf(f"{HINGE}<geom type='sphere' size='-1'/>"), "1 positive sizes"),
    "unknown geom": (mjcf(f"{HINGE}<geom type='boxx' size='1'/>"), "unknown type 'boxx'"),
    "negative geom": (mjcf("<joint/><geom size='1' mass='-1'/>"), "negative mass"),
    "negative damping": (mjcf(f"<joint name='j' damping='-1'/>{MASS}"), "damping of joint 'j'"),
    "angle": (mjcf(HINGE, "<compiler angle='rad'/>"), "it takes degree, radian"),
    "autolimits": (mjcf(HINGE, "<compiler autolimits='yes'/>"), "it takes true, false"),
    "limited": (mjcf(f"<joint limited='maybe'/>{MASS}"), "it takes auto, true, false"),
    "limited without range": (mjcf(f"<joint limited='true'/>{MASS}"), "the lower one first"),
    "range exchanged": (mjcf(f"<joint range='2 1'/>{MASS}"), "has the range '2 1'"),
    "control range exchanged": (
        mjcf(HINGE, "<actuator><motor joint='j' ctrlrange='1 -1'/></actuator>"),
        "has the ctrlrange '1 -1'",
    ),
    "range without autolimits": (
        mjcf(f"<joint range='1 2'/>{MASS}", "<compiler autolimits='false'/>"),
        "say limited='true'",
    ),
    "keyframe twice": (
        mjcf(HINGE, "<keyframe><key name='k'/><key name='k'/></keyframe>"),
        "two keyframes are called 'k'",
    ),
    "mesh: vertices": (mesh(f"vertex='{CORNERS} 1'"), "13 numbers, not a multiple of 3"),
    "mesh: faces": (mesh(f"vertex='{CORNERS}' face='0 1 2 3'"), "4 numbers, not a multiple of 3"),
    "mesh: no such vertex": (
        mesh(f"vertex='{CORNERS}' face='0 1 4'"),
        "the mesh has vertices 0 to 3",
    ),
    "mesh: no rotation": (mesh(f"vertex='{CORNERS}' refquat='0 0 0 0'"), "is no rotation"),
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
    with pytest.raises(LoadError, match=r"no robot 'zzz'\. Bundled: "):
        load("zzz")
    for nothing in (None, 3, b"hoap1", ""):
        with pytest.raises(LoadError, match="names no robot; give a path to"):
            load(nothing)
    assert load(Path("cube")).name == "cube"
    with pytest.raises(LoadError, match="give 'auto', 'floating' or 'fixed'"):
        load("ball", base="hanging")
    with pytest.raises(HeelstrikeError, match="'feet', 'all' or a list"):
        load("ball", points="hands")


def driven(kind: str, attributes: str) -> str:
    return mjcf(HINGE, f"<actuator><{kind} name='m' joint='j' {attributes}/></actuator>")


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
    "timeconst": (driven("position", "timeconst='.1'"), "timeconst of <position> 'm'"),
    "dynamics": (driven("general", "dyntype='filter'"), "dyntype filter of <general> 'm'"),
    "affine gain": (driven("general", "gaintype='affine'"), "gaintype affine of <general> 'm'"),
    "muscle bias": (driven("general", "biastype='muscle'"), "biastype muscle of <general> 'm'"),
    "air": (mjcf(HINGE, "<option density='1.2'/>"), "the option density='1.2' is not followed"),
    "wind": (mjcf(HINGE, "<option wind='1 0 0'/>"), "the option wind='1 0 0' is not followed"),
    "misspelt attribute": (
        mjcf(f"<joint name='j' axi='0 1 0'/>{MASS}"),
        "the unknown attribute 'axi' of <joint> 'j' is not read; did you mean 'axis'?",
    ),
    "misspelt element": (
        mjcf(f"{HINGE}<gom size='1'/>"),
        "the unknown element <gom> of <body> 'a' is not read; did you mean 'geom'?",
    ),
    "misspelt in a class": (
        mjcf(HINGE, "<default><joint dampin='1'/></default>"),
        "the unknown attribute 'dampin' of <joint> in <default> is not read",
    ),
    "impossible inertia": (
        mjcf("<joint/>" + HEAVY.format(1, "1 1 3")),
        "body 'a' has an inertia that no mass can have (1 + 1 < 3 kg m^2)",
    ),
    "urdf: impossible inertia": (
        urdf(inertial=LINK_MASS).replace('ixx="1"', 'ixx="3"', 1),
        "link 'a' has an inertia that no mass can have (1 + 1 < 3 kg m^2)",
    ),
    "urdf: misspelt": (
        urdf(joint("j", "a", "b", more="<axis xzy='0 1 0'/>")),
        "the unknown attribute 'xzy' of <axis> in <joint> 'j' is not read; did you mean 'xyz'?",
    ),
    "urdf: no effort": (
        urdf(joint("j", "a", "b", "revolute", "<limit lower='-1' upper='1' velocity='1'/>")),
        "<joint> 'j' has no effort limit",
    ),
    "urdf: no range": (
        urdf(joint("j", "a", "b", "revolute", "<limit effort='1' velocity='1'/>")),
        "has neither lower nor upper",
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


def test_urdf_products_of_inertia_may_be_left_out(tmp_path):
    """urdfdom would drop all six moments; here only the missing ones are zero."""
    path = tmp_path / "robot.urdf"
    path.write_text(urdf(inertial=LINK_MASS.replace(' ixy="0" ixz="0" iyz="0"', "")))
    for body in load(path).bodies:
        np.testing.assert_array_equal(body.inertia, np.eye(3))


def test_urdf_joint_elements_that_urdfdom_refuses(tmp_path):
    """What a simulation does not need is not handed on; a missing effort is no limit."""
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
    """As MuJoCo has it, from wherever the second <include> comes."""
    (tmp_path / "part.xml").write_text("<mujoco><option gravity='0 0 -1'/></mujoco>")
    (tmp_path / "other.xml").write_text("<mujoco><include file='part.xml'/></mujoco>")
    path = tmp_path / "robot.xml"
    path.write_text(mjcf(HINGE, "<include file='part.xml'/>"))
    assert load(path).gravity == 1
    path.write_text(mjcf(HINGE, "<include file='other.xml'/><include file='part.xml'/>"))
    with pytest.raises(LoadError, match=r"includes 'part\.xml' twice"):
        load(path)


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
    robot = load("hoap1")
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
    with pytest.raises(HeelstrikeError, match=r"give combine\(\[robot"):
        combine(cube)
    with pytest.raises(HeelstrikeError, match="part 0 is 'cube', not a robot; load it first"):
        combine(["cube"])
    with pytest.raises(HeelstrikeError, match="not a generator"):
        combine(part for part in (cube, ball))
    with pytest.raises(HeelstrikeError, match="the key 1 is no name"):
        combine({1: cube})


def test_combine_keeps_edits():
    """Bodies and joints that were edited, in the robot and in its Pinocchio model."""
    cube = load("cube")
    body = replace(
        cube.bodies[0], mass=7.0, com=np.array([0.1, 0.2, 0.3]), inertia=np.diag([1.0, 2.0, 2.5])
    )
    shift = np.array([0.0, 0.0, 5.0])
    joint_ = replace(cube.joints[0], translation=shift)
    both = combine({"plain": cube, "edited": replace(cube, bodies=(body,), joints=(joint_,))})
    assert both.mass == pytest.approx(cube.mass + 7.0)
    np.testing.assert_array_equal(both.joints[1].translation, shift)
    np.testing.assert_array_equal(both.model.jointPlacements[2].translation, shift)
    inertia = both.model.inertias[2]
    for ours, edited in ((both.bodies[1].com, body.com), (both.bodies[1].inertia, body.inertia)):
        np.testing.assert_array_equal(ours, edited)
    assert inertia.mass == 7.0
    np.testing.assert_array_equal(inertia.lever, body.com)
    np.testing.assert_allclose(inertia.inertia, body.inertia, atol=1e-15)


def test_combine_keeps_every_kind_of_joint(tmp_path):
    """Continuous about a slanting axis, planar, and a link fixed to the world."""
    path = tmp_path / "robot.urdf"
    links = "".join(f"<link name='{name}'>{LINK_MASS}</link>" for name in "cd")
    path.write_text(
        urdf(joint("j", "a", "b", more="<axis xyz='1 2 3'/><origin xyz='1 0 0'/>")
             + joint("k", "b", "c", "planar", "<axis xyz='0 0 1'/>")
             + joint("l", "c", "d", "continuous", "<axis xyz='0 1 0'/>"), links)
    )  # fmt: skip
    arm = load(path, base="fixed")
    both = combine([arm, arm])
    assert [j.kind for j in both.joints] == 2 * ["continuous", "planar", "continuous"]
    assert both.frames["r2/a"].body == -1
    assert both.frames["r2/d"].body == both.body("r2/l") == 5
    q = pin.integrate(arm.model, arm.neutral, np.linspace(-1, 1, arm.nv))
    alone = np.triu(pin.crba(arm.model, arm.model.createData(), q))
    whole = np.triu(pin.crba(both.model, both.model.createData(), np.tile(q, 2)))
    np.testing.assert_allclose(whole, np.kron(np.eye(2), alone), atol=1e-12)


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
