"""Loading: errors and warnings of small broken files.

The oracle is the sentence that each file must produce; those of MJCF that begin with "MuJoCo
reports" are MuJoCo's own.
"""

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mujoco
import pytest

from heelstrike.errors import HeelstrikeError, HeelstrikeWarning, LoadError
from heelstrike.robot import load
from tests.robot_files import (
    CORNERS,
    HEAVY,
    HINGE,
    LIMIT,
    LINK_MASS,
    MASS,
    joint,
    mesh,
    mjcf,
    urdf,
    urdf_shape,
)

REFUSED = {
    "empty": ("", "empty"),
    "broken": ("<mujoco><worldbody>", "not well-formed XML at line 1"),
    "not a robot": ("<sdf/>", "starts with <sdf>"),
    "doctype": ('<!DOCTYPE m SYSTEM "x"><mujoco/>', "document type or an entity"),
    "entity bomb": ('<!DOCTYPE m [<!ENTITY a "aa">]><mujoco>&a;</mujoco>', "refused for safety"),
    "too deep": ("<mujoco>" * 600, "nested more than"),
    "no body": ("<mujoco><worldbody/></mujoco>", "no <body>"),
    "unknown joint": (
        mjcf(f"<joint name='j' type='screw'/>{MASS}"),
        "invalid keyword: 'screw' (Element 'joint', line 1)",
    ),
    "no axis": (
        mjcf(f"<joint name='j' axis='0 0 0'/>{MASS}"),
        "axis too small in joint (Element name 'j', id 0, line 1)",
    ),
    "not a number": (
        mjcf(f"<joint name='j' axis='0 x 0'/>{MASS}"),
        "bad format in attribute 'axis'",
    ),
    "too few numbers": (
        mjcf(f"<joint name='j' axis='0 0'/>{MASS}"),
        "attribute 'axis' does not have enough data",
    ),
    "not finite": (mjcf(f"<joint name='j' armature='nan'/>{MASS}"), "is not finite"),
    "infinite mass": (mjcf("<joint/>" + HEAVY.format("inf", "1 1 1")), "is not finite"),
    "massless": (mjcf("<joint name='j'/>"), "moving bodies must be larger than mjMINVAL (Element"),
    "massless behind a joint": (
        mjcf(f"{HINGE}<body name='b'><joint name='k'/></body>"),
        "moving bodies must be larger than mjMINVAL (Element name 'b'",
    ),
    "two axes on one line": (
        mjcf(f"<joint name='j'/><body name='b'><joint name='k'/>{MASS}</body>"),
        "moving bodies must be larger than mjMINVAL (Element name 'a'",
    ),
    "a point mass that turns": (
        mjcf("<freejoint name='f'/>" + HEAVY.format(1, "0 0 0")),
        "moving bodies must be larger than mjMINVAL (Element name 'a'",
    ),
    "negative inertia": (mjcf("<joint/>" + HEAVY.format(1, "1 1 -.1")), "larger than mjMINVAL"),
    "negative mass": (mjcf("<joint/>" + HEAVY.format(-1, "1 1 1")), "larger than mjMINVAL"),
    "unknown class": (mjcf(f"<joint class='c'/>{MASS}"), "unknown default class name 'c'"),
    "nothing moves": (mjcf(MASS), "no moving joint"),
    "same body twice": (
        mjcf(f"{HINGE}<body name='a'/>"),
        "repeated name 'a' in body (Element 'body', line 1)",
    ),
    "same joint twice": (
        mjcf(f"{HINGE}<body name='b'>{HINGE}</body>"),
        "repeated name 'j' in joint",
    ),
    "free inside": (mjcf(f"{HINGE}<body name='b'><freejoint/>{MASS}</body>"), "free joint"),
    "no size": (
        mjcf(f"{HINGE}<geom name='g' type='box' size='1'/>"),
        "size 1 must be positive in geom",
    ),
    "keyframe": (
        mjcf(HINGE, "<keyframe><key qpos='1 2'/></keyframe>"),
        "invalid qpos size, expected 1, got 2",
    ),
    "include": ("<mujoco><include file='none.xml'/></mujoco>", "none.xml"),
    "includes itself": (
        "<mujoco><include file='robot.xml'/></mujoco>",
        "<include> of 'robot.xml' closes a circle of files",
    ),
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
    "urdf: massless root": (
        urdf(inertial="").replace('<link name="b">', f'<link name="b">{LINK_MASS}'),
        "load it with base='fixed'",
    ),
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
    "urdf: negative damping": (
        urdf(joint("j", "a", "b", more="<dynamics damping='-1'/>")),
        "negative damping -1",
    ),
    "urdf: negative radius": (urdf_shape("<sphere radius='-1'/>"), "sizes must not be negative"),
    "negative radius": (
        mjcf(f"{HINGE}<geom type='sphere' size='-1'/>"),
        "size 0 must be positive in geom",
    ),
    "unknown geom": (mjcf(f"{HINGE}<geom type='boxx' size='1'/>"), "invalid keyword: 'boxx'"),
    "negative geom": (mjcf("<joint/><geom size='1' mass='-1'/>"), "density are negative in geom"),
    "negative damping": (
        mjcf(f"<joint name='j' damping='-1'/>{MASS}"),
        "damping of joint 'j' is negative; allowed: 0 or more",
    ),
    "angle": (mjcf(HINGE, "<compiler angle='rad'/>"), "invalid keyword: 'rad' (Element 'compiler'"),
    "autolimits": (mjcf(HINGE, "<compiler autolimits='yes'/>"), "invalid keyword: 'yes'"),
    "limited": (mjcf(f"<joint limited='maybe'/>{MASS}"), "invalid keyword: 'maybe'"),
    "limited without range": (
        mjcf(f"<joint limited='true'/>{MASS}"),
        "range[0] should be smaller than range[1] in joint",
    ),
    "range exchanged": (mjcf(f"<joint range='2 1'/>{MASS}"), "is '2 1'; give the lower end first"),
    "short keyframe": (
        mjcf(f"<freejoint/>{MASS}", "<keyframe><key name='home' qpos='1 2'/></keyframe>"),
        "keyframe 'home' has 2 values of qpos; allowed: 7",
    ),
    "keyframe called as an unnamed one": (
        mjcf(HINGE, "<keyframe><key name='key1' qpos='1'/><key qpos='2'/></keyframe>"),
        "two keyframes are called 'key1'",
    ),
    "control range exchanged": (
        mjcf(HINGE, "<actuator><motor joint='j' ctrlrange='1 -1'/></actuator>"),
        "the ctrlrange of the actuator of 'j' is '1 -1'",
    ),
    "range without autolimits": (
        mjcf(f"<joint range='1 2'/>{MASS}", "<compiler autolimits='false'/>"),
        "joint has `range` but not `limited`",
    ),
    "keyframe twice": (
        mjcf(HINGE, "<keyframe><key name='k'/><key name='k'/></keyframe>"),
        "repeated name 'k' in key",
    ),
    "mesh: vertices": (mesh(f"vertex='{CORNERS} 1'"), "vertex data must be a multiple of 3"),
    "mesh: faces": (
        mesh(f"vertex='{CORNERS}' face='0 1 2 3'"),
        "face data must be a multiple of 3",
    ),
    "mesh: no such vertex": (
        mesh(f"vertex='{CORNERS}' face='0 1 4'"),
        "in face 0, vertex index 4 does not exist",
    ),
    "mesh: no rotation": (
        mesh(f"vertex='{CORNERS}' refquat='0 0 0 0'"),
        "mesh surface area is too small",
    ),
    "misspelt attribute": (
        mjcf(f"<joint name='j' axi='0 1 0'/>{MASS}"),
        "unrecognized attribute: 'axi' (Element 'joint', line 1)",
    ),
    "misspelt element": (mjcf(f"{HINGE}<gom size='1'/>"), "unrecognized element (Element 'gom'"),
    "misspelt in a class": (
        mjcf(HINGE, "<default><joint dampin='1'/></default>"),
        "unrecognized attribute: 'dampin'",
    ),
    "impossible inertia": (
        mjcf("<joint/>" + HEAVY.format(1, "1 1 3")),
        "inertia must satisfy A + B >= C; use 'balanceinertia' to fix",
    ),
    "muscle bias": (
        mjcf(HINGE, "<actuator><general joint='j' biastype='muscle'/></actuator>"),
        "range[0]<range[1] required in muscle",
    ),
    "unknown mesh": (mjcf(f"{HINGE}<geom type='mesh' mesh='s'/>"), "mesh 's' not found"),
    "attaches itself": (
        mjcf(
            f"{HINGE}<attach model='m' body='a' prefix='x'/>",
            "<asset><model name='m' file='robot.xml'/></asset>",
        ),
        "<model> of 'robot.xml' closes a circle of files",
    ),
    "too many copies": (
        mjcf(
            f"{HINGE}<replicate count='500'><replicate count='50'><site/></replicate></replicate>"
        ),
        "<replicate> has a count of 25000; allowed: up to 10000",
    ),
    "too many keyframes": (mjcf(HINGE, "<size nkey='2000000000'/>"), "<size> has a count of 2e+09"),
    "too much memory": (mjcf(HINGE, "<size memory='1000T'/>"), "Could not allocate memory"),
    "flexible body": (
        mjcf(
            f"{HINGE}</body><body name='s'><flexcomp name='f' type='grid' count='2 2 2' dim='3' "
            "spacing='.1 .1 .1' radius='.01' mass='1'/>"
        ),
        "has flexible bodies, which are not simulated",
    ),
    "urdf: xacro": ("<robot name='r'><xacro:include/></robot>", "run `xacro"),
}


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
    """Each error has a remedy; a name close to a bundled one is suggested."""
    with pytest.raises(LoadError, match="no such file"):
        load(tmp_path / "none.urdf")
    with pytest.raises(LoadError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(LoadError, match=r"did you mean 'hoap1'\? bundled: .*ball"):
        load("hoap-1")
    with pytest.raises(LoadError, match="no robot 'zzz'; bundled: "):
        load("zzz")
    for nothing in (None, 3, b"hoap1", ""):
        with pytest.raises(LoadError, match=r"is not a robot; bundled: .* or pass a path to"):
            load(nothing)
    assert load(Path("cube")).name == "cube"
    with pytest.raises(LoadError, match="allowed: 'auto', 'floating' or 'fixed'"):
        load("ball", base="hanging")
    with pytest.raises(HeelstrikeError, match="'feet', 'all' or a list"):
        load("ball", points="hands")


def driven(kind: str, attributes: str) -> str:
    return mjcf(HINGE, f"<actuator><{kind} name='m' joint='j' {attributes}/></actuator>")


WARNED = {
    "friction of a tendon": (
        mjcf(
            HINGE + "<body><joint name='k' axis='0 1 0'/>" + MASS + "</body>",
            "<tendon><fixed name='cord' frictionloss='1'><joint joint='j' coef='1'/>"
            "<joint joint='k' coef='1'/></fixed></tendon>",
        ),
        "left out of tendon 'cord': the dry friction",
    ),
    "spatial tendon": (
        mjcf(
            f"{HINGE}<site name='s' pos='1 0 0'/><site name='t'/><geom name='g' size='.1'/>",
            "<tendon><spatial name='cord' stiffness='3'><site site='s'/><geom geom='g'/>"
            "<site site='t'/></spatial></tendon>",
        ),
        "left out of the spatial tendon 'cord': the spring (it wraps around geoms, or has pulleys)",
    ),
    "hardening spring": (
        mjcf(f"<joint name='j' stiffness='3 1'/>{MASS}"),
        "of the stiffness of joint 'j' only the linear term is used",
    ),
    "yielding spring": (
        mjcf(f"<joint name='j' stiffness='3' springyield='.1'/>{MASS}"),
        "the spring of joint 'j' does not yield",
    ),
    "range of a sum of forces": (
        mjcf(
            HINGE.replace("/>", " actuatorfrcrange='-1 1'/>", 1),
            "<actuator><motor joint='j'/><motor name='n' joint='j'/></actuator>",
        ),
        "actuatorfrcrange of joint 'j' is left out: it limits a sum",
    ),
    "range of a joint that a site drives": (
        mjcf(
            HINGE.replace("/>", " actuatorfrcrange='-1 1'/>", 1) + "<site name='s' pos='1 0 0'/>",
            "<actuator><motor site='s' gear='0 0 1 0 0 0'/></actuator>",
        ),
        "actuatorfrcrange of joint 'j' is left out: it limits a sum",
    ),
    "range of a sum along a tendon": (
        mjcf(
            HINGE,
            "<tendon><fixed name='t' actuatorfrcrange='-1 1'><joint joint='j' coef='2'/></fixed>"
            "</tendon><actuator><motor name='m' tendon='t'/><motor name='n' tendon='t'/>"
            "</actuator>",
        ),
        "actuatorfrcrange of tendon 't' is left out: it limits a sum",
    ),
    "gravity compensation without actuators": (
        mjcf(HINGE.replace("/>", " actuatorgravcomp='true'/>", 1)).replace(
            '<body name="a"', '<body name="a" gravcomp="1"'
        ),
        "gravity compensation at joint 'j' acts all the same (MuJoCo leaves it out",
    ),
    "gravity compensation within a range": (
        driven("motor", "")
        .replace("name='j'", "name='j' actuatorgravcomp='true' actuatorfrcrange='-1 1'")
        .replace('<body name="a"', '<body name="a" gravcomp="1"'),
        "actuatorfrcrange of joint 'j' does not limit its gravity compensation",
    ),
    "soft constraint": (
        mjcf(HINGE, "<equality><joint joint1='j' solref='-50 -1'/></equality>"),
        "equality constraint joint j is rigid (its solref, -50 -1, makes it a spring in MuJoCo)",
    ),
    "slow constraint": (
        mjcf(HINGE, "<equality><joint joint1='j' solref='.1 1'/></equality>"),
        "equality constraint joint j is rigid (its solref, 0.1 1",
    ),
    "soft stop": (
        mjcf(f"<joint name='j' range='0 1' solreflimit='.1 1'/>{MASS}"),
        "stops are those of hs.Stops: joint 'j' (their solreflimit makes them softer",
    ),
    "pid": (driven("pid", "kp='3'"), "actuator 'm' is left out: a pid actuator is not simulated"),
    "delay": (driven("motor", "delay='.01' nsample='5'"), "the delay of actuator 'm' is left out"),
    "muscle": (mjcf(HINGE, "<actuator><muscle name='m' joint='j'/></actuator>"), "'m' is left out"),
    "one-sided": (
        mjcf(HINGE, "<actuator><motor joint='j' forcerange='-1 2'/></actuator>"),
        "is not symmetric",
    ),
    "mesh": (
        mjcf(
            f"{HINGE}<geom name='sole' type='mesh' mesh='s'/>",
            "<asset><mesh name='s' file='none.stl'/></asset>",
        ),
        "1 collision shapes left out, they give no contact points: sole",
    ),
    "air around a shape": (
        mjcf(HINGE + "<geom size='.1' fluidshape='ellipsoid'/>", "<option density='1.2'/>"),
        "no fluid resists body 'a': fluidshape='ellipsoid' is not simulated",
    ),
    "urdf: impossible inertia": (
        urdf(inertial=LINK_MASS).replace('ixx="1"', 'ixx="3"', 1),
        "link 'a' has an inertia that no mass can have (1 + 1 < 3 kg m^2)",
    ),
    "urdf: flat box": (
        urdf_shape("<box size='1 0 1'/>"),
        "1 collision shapes left out, they give no contact points: b (a box of size 0)",
    ),
    "urdf: mesh of a package": (
        urdf_shape("<mesh filename='package://legs/b.stl'/>"),
        "b (package://legs/b.stl not found); name the folder that holds 'legs' in ROS_PACKAGE_PATH",
    ),
    "urdf: misspelt": (
        urdf(joint("j", "a", "b", more="<axis xzy='0 1 0'/>")),
        "the unknown attribute 'xzy' of <axis> in <joint> 'j' is not read; did you mean 'xyz'?",
    ),
    "urdf: no effort": (
        urdf(joint("j", "a", "b", "revolute", "<limit lower='-1' upper='1' velocity='1'/>")),
        "<joint> 'j' has no effort limit",
    ),
    "urdf: negative effort": (
        urdf(joint("j", "a", "b", "prismatic", LIMIT.format(1, 2, -1))),
        "the negative effort -1 of <joint> 'j' is read as 1",
    ),
    "urdf: no range": (
        urdf(joint("j", "a", "b", "revolute", "<limit effort='1' velocity='1'/>")),
        "has neither lower nor upper",
    ),
    "urdf: mimic": (
        urdf(
            joint("j", "a", "b", more="<mimic joint='k'/>") + joint("k", "b", "c", "floating"),
            f"<link name='c'>{LINK_MASS}</link>",
        ),
        "mimic <joint> 'j' moves freely (it and the joint that it follows must have one",
    ),
    "urdf: mesh": (
        urdf(links="").replace(
            '<link name="b">',
            '<link name="b"><collision><geometry><mesh '
            'filename="package://p/foot.stl"/></geometry></collision>',
        ),
        "b (package://p/foot.stl not found)",
    ),
}


def test_strict_refuses_what_is_left_out(tmp_path):
    """What concerns motion or contact is an error; remarks, and files without loss, load."""
    path = tmp_path / "robot.xml"
    path.write_text(WARNED["spatial tendon"][0])
    with pytest.raises(LoadError, match="is not simulated as it says: left out of the spatial"):
        load(path, strict=True)
    path.write_text(WARNED["one-sided"][0])
    with pytest.warns(HeelstrikeWarning, match="is not symmetric"):
        assert load(path, strict=True).joints
    assert load("hoap1", strict=True).name == "hoap1"
    with pytest.raises(HeelstrikeError, match="strict"):
        load("hoap1", strict="yes")


def test_contacts_that_the_file_switches_off(tmp_path):
    """Bodies that would touch do not; the ground is the scene's."""
    path = tmp_path / "robot.xml"
    fingers = "<body name='b'><joint axis='0 1 0'/><geom size='.1'/></body>"
    text = mjcf(
        HINGE + fingers + fingers.replace("'b'", "'c' pos='1 0 0'"), "<option><flag {}/></option>"
    )
    pairs = {}
    for flag in ("contact='enable'", "contact='disable'", "constraint='disable'"):
        path.write_text(text.format(flag))
        robot = load(path)
        pairs[flag] = len(robot.self_pairs), len(robot.points)
    assert list(pairs.values()) == [(1, 2), (0, 2), (0, 2)]


@pytest.mark.parametrize("name", WARNED)
def test_left_out_with_a_warning(name, tmp_path):
    """Each part that is not modelled is named once, and the rest is loaded."""
    text, expected = WARNED[name]
    path = tmp_path / "robot.xml"
    path.write_text(text)
    with pytest.warns(HeelstrikeWarning) as caught:
        robot = load(path)
    assert robot.mass > 0
    assert len(caught) == 1
    assert expected in str(caught[0].message)
    assert caught[0].filename == __file__  # points at the caller
    assert [str(difference) for difference in robot.fidelity] == [
        str(caught[0].message).removeprefix("robot.xml: ")
    ]


def test_mujoco_leaves_no_log_and_keeps_the_users_handler(tmp_path, monkeypatch, capfd):
    """MuJoCo's own warnings become errors or warnings of ours, and nothing is printed."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "robot.xml"
    path.write_text(mjcf(f"<joint name='j' armature='nan'/>{MASS}"))
    messages = []
    mujoco.set_mju_user_warning(messages.append)
    try:
        with pytest.raises(LoadError, match="is not finite"):
            load(path)
        assert mujoco.get_mju_user_warning() == messages.append
    finally:
        mujoco.set_mju_user_warning(None)
    assert messages == []
    assert list(tmp_path.iterdir()) == [path]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("reference", ["<include file='part.xml'/>", "<asset>{}</asset>"])
def test_referenced_files_are_checked_as_xml(reference, tmp_path):
    """An included or attached file is as untrusted as the file itself."""
    path, part = tmp_path / "robot.xml", tmp_path / "part.xml"
    path.write_text(mjcf(HINGE, reference.format("<model name='m' file='part.xml'/>")))
    part.write_text('<!DOCTYPE m [<!ENTITY a "aa">]><mujoco>&a;</mujoco>')
    with pytest.raises(LoadError, match=r"part\.xml: declares a document type") as caught:
        load(path)
    assert caught.value.path == str(part)


TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.mark.parametrize(("away", "told"), [("0 1.57 0", True), ("0 1.2 0", False)])
def test_a_mesh_that_collides_far_from_where_it_is_drawn(away, told, tmp_path):
    """An angle written as a distance: the mesh is sqrt(3) x 0.8 m long, and stands 1.57 m aside."""
    (tmp_path / "m.obj").write_text(TETRAHEDRON)
    geometry = "<geometry><mesh filename='m.obj' scale='0.8 0.8 0.8'/></geometry>"
    shapes = f"<visual>{geometry}</visual><collision>{geometry}<origin xyz='{away}'/></collision>"
    (tmp_path / "r.urdf").write_text(
        urdf(links="").replace('<link name="b">', f'<link name="b">{shapes}')
    )
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        load(tmp_path / "r.urdf")
    said = [str(x.message) for x in raised if "from where it is drawn" in str(x.message)]
    wanted = "r.urdf: m.obj of link 'b' collides 1.57 m from where it is drawn; check the <origin>"
    assert bool(said) == told
    assert all(text.startswith(wanted) for text in said)


def test_errors_of_mujoco_carry_the_line(tmp_path):
    """File and line are attributes of the error."""
    path = tmp_path / "robot.xml"
    path.write_text(mjcf(f"\n\n<joint axi='0 1 0'/>{MASS}"))
    with pytest.raises(LoadError, match="MuJoCo reports: Schema violation") as caught:
        load(path)
    assert (caught.value.path, caught.value.line) == (str(path), 3)


def test_suffix_does_not_matter(tmp_path):
    """MuJoCo chooses a parser by the suffix; includes and meshes are found all the same."""
    (tmp_path / "part.xml").write_text("<mujoco><option gravity='0 0 -1'/></mujoco>")
    (tmp_path / "m.obj").write_text(TETRAHEDRON)
    body = "<freejoint/><geom type='mesh' mesh='m'/>"
    text = mjcf(body, "<include file='part.xml'/><asset><mesh file='m.obj'/></asset>")
    for name in ("robot.xml", "robot.mjcf", "robot"):
        (tmp_path / name).write_text(text)
        robot = load(tmp_path / name)
        assert robot.gravity == 1
        assert robot.mass == pytest.approx(1000 / 6)


def test_loading_in_threads_keeps_the_users_handler_of_mujoco_warnings():
    """MuJoCo has one handler for the process; each load borrows it and gives it back."""
    own: list[str] = []
    previous = mujoco.get_mju_user_warning()
    handler = own.append
    mujoco.set_mju_user_warning(handler)
    try:
        with ThreadPoolExecutor(4) as pool:
            robots = list(pool.map(load, ["hoap1", "cube", "box", "biped14"] * 2))
        assert mujoco.get_mju_user_warning() == handler
    finally:
        mujoco.set_mju_user_warning(previous)
    assert [robot.name for robot in robots] == ["hoap1", "cube", "box", "biped14"] * 2
