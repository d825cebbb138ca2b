"""Loading: what is refused and in which words, what is warned of.

The oracle is the sentence that each small broken file must produce.
"""

from pathlib import Path

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
