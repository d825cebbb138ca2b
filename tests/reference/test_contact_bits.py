"""Contact bits, pairs and excludes of an MJCF against the contacts that MuJoCo finds.

With a margin larger than the model, MuJoCo reports a contact for every pair of geoms that it lets
touch, whatever the pose. Disabled pairs of a URDF are counted in the SRDF by hand.
"""

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

from heelstrike.errors import HeelstrikeWarning
from heelstrike.robot import Robot, load
from tests.models import data_file, example_file

MASS = '<inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/>'


def found_by_mujoco(path: Path) -> set[frozenset[str]]:
    """Return the pairs of names of geoms between which MuJoCo finds a contact."""
    spec = mujoco.MjSpec.from_file(str(path))
    for k, geom in enumerate(spec.geoms):
        geom.name = geom.name or f"unnamed{k}"
        if geom.type != mujoco.mjtGeom.mjGEOM_PLANE:  # margins of boxes and meshes act less far
            geom.type, geom.size, geom.meshname = mujoco.mjtGeom.mjGEOM_SPHERE, [0.01, 0, 0], ""
        geom.margin = 1e3
    for pair in spec.pairs:
        pair.margin = 1e3
    for mesh in list(spec.meshes):
        spec.delete(mesh)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return {frozenset(model.geom(i).name for i in contact.geom) for contact in data.contact}


def quiet(path: Path, **options: object) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        return load(path, **options)


def pairs_of(robot: Robot) -> set[frozenset[str]]:
    return {frozenset((robot.shapes[i].name, robot.shapes[j].name)) for i, j in robot.self_pairs}


def box(name: str, bits: str = "") -> str:
    return f'<geom name="{name}" type="box" size=".1 .1 .1" {bits}/>'


def written(tmp_path: Path, floor: str, contact: str = "", option: str = "") -> Path:
    """A trunk with two legs, a fixed shell on the trunk, and an object, on a floor."""
    path = tmp_path / "robot.xml"
    path.write_text(
        f"""<mujoco>{option}<worldbody>{floor}
        <body name="trunk" pos="0 0 1"><freejoint/>{MASS}{box("trunk")}{box("plain", NONE)}
          <body name="shell">{box("shell", 'contype="2" conaffinity="4"')}</body>
          <body name="l" pos="0 .3 0"><joint/>{MASS}{box("l", 'contype="1" conaffinity="2"')}
            <body name="lf" pos="0 0 -.3"><joint/>{MASS}{box("lf")}</body></body>
          <body name="r" pos="0 -.3 0"><joint/>{MASS}{box("r", 'contype="4" conaffinity="0"')}
            <body name="rf" pos="0 0 -.3"><joint/>{MASS}{box("rf")}</body></body>
        </body>
        <body name="thing" pos="1 0 1"><freejoint/>{MASS}{box("thing", 'contype="8"')}</body>
        </worldbody><contact>{contact}</contact></mujoco>"""
    )
    return path


NONE = 'contype="0" conaffinity="0"'
PLANE = '<geom name="floor" type="plane" size="1 1 1" {}/>'
PAIR = '<pair geom1="plain" geom2="floor"/>'
PAIRS = PAIR + '<pair geom1="plain" geom2="rf"/>'
EXCLUDE = '<exclude body1="lf" body2="rf"/><exclude body1="thing" body2="trunk"/>'
NO_FILTER = '<option><flag filterparent="disable"/></option>'


@pytest.mark.parametrize("contact", ["", PAIR, PAIRS, EXCLUDE, PAIRS + EXCLUDE])
@pytest.mark.parametrize("floor", ["", NONE, 'contype="4" conaffinity="8"'])
@pytest.mark.parametrize("option", ["", NO_FILTER])
def test_bits_pairs_and_excludes(tmp_path, floor, contact, option):
    """Geoms meet the floor, and one another, exactly where MuJoCo finds contacts."""
    path = written(tmp_path, PLANE.format(floor), contact, option)
    robot, theirs = quiet(path), found_by_mujoco(path)
    floors = {pair for pair in theirs if "floor" in pair}
    assert pairs_of(robot) == theirs - floors
    meeting = {shape.name for shape in robot.shapes if shape.meets_floor}
    if floor == NONE and "floor" not in contact:  # a floor that touches nothing is only drawn
        assert meeting == {"trunk", "shell", "l", "lf", "r", "rf", "thing"}
    else:
        assert {frozenset((name, "floor")) for name in meeting} == floors


def test_a_file_without_a_floor_leaves_it_to_the_scene(tmp_path):
    """Every geom that has a contact bit touches the ground then, as in cassie's own scene."""
    robot = quiet(written(tmp_path, ""))
    assert {s.name for s in robot.shapes if not s.meets_floor} == {"plain"}
    assert len({p.body for p in quiet(data_file("robots/cassie.xml"), collide="all").points}) == 9


def test_shapes_that_overlap_are_known(tmp_path):
    """Of spheres of 0.2 m, those 0.15 m apart overlap by 0.05 m, and those 0.225 m apart do not."""
    path = tmp_path / "r.urdf"
    path.write_text(urdf(0.075))
    with pytest.warns(HeelstrikeWarning, match=r"overlap in a pose .* a and d \(50 mm\)") as raised:
        robot = load(path)
    assert len(raised) == 1
    assert {"".join(sorted(pair)) for pair in pairs_of(robot)} == {"ad", "ae", "be", "ce"}
    names = {"".join(sorted(robot.shapes[i].link for i in p)) for p in robot.overlapping}
    assert names == {"ad", "be", "ce"}


def test_a_robot_that_touches_nothing_is_warned_of(tmp_path):
    """Bits of 0 and no pair with the floor: menagerie's Apollo without its scene."""
    path = tmp_path / "robot.xml"
    body = f'<body name="a"><freejoint/>{MASS}{box("sole", NONE)}</body>'
    path.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with pytest.warns(HeelstrikeWarning, match="no geom touches the ground"):
        assert not load(path).points
    floor = PLANE.format("")
    contact = '<contact><pair geom1="sole" geom2="floor"/></contact>'
    path.write_text(f"<mujoco><worldbody>{floor}{body}</worldbody>{contact}</mujoco>")
    assert len(load(path).points) == 8


@pytest.mark.parametrize("name", ["talos.xml", "jvrc1.xml", "op3.xml", "anymal_c.xml", "t1.xml"])
def test_pairs_of_known_robots(name):
    """As many pairs of geoms, with excludes, as MuJoCo finds."""
    path = data_file(f"robots/{name}")
    theirs = [pair for pair in found_by_mujoco(path)]
    robot = quiet(path)
    assert len(robot.self_pairs) == len(theirs)


URDF = """<robot name="r">{links}
<joint name="ab" type="continuous"><parent link="a"/><child link="b"/>{offset}</joint>
<joint name="bc" type="fixed"><parent link="b"/><child link="c"/></joint>
<joint name="cd" type="continuous"><parent link="c"/><child link="d"/>{offset}</joint>
<joint name="de" type="continuous"><parent link="d"/><child link="e"/>{offset}</joint></robot>"""
LINK = (
    '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    '<collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
)
SRDF = '<robot name="r"><disable_collisions link1="{}" link2="{}" reason="Never"/></robot>'


def urdf(apart: float) -> str:
    """Return a chain of spheres of radius 0.1 m about links that are so far apart [m]."""
    links = "".join(LINK.format(name) for name in "abcde")
    return URDF.format(links=links, offset=f'<origin xyz="{apart} 0 0"/>')


def test_links_of_a_urdf(tmp_path):
    """All but neighbours: b and c are one body, beside a and d; an SRDF takes pairs away."""
    path = tmp_path / "r.urdf"
    path.write_text(urdf(0.3))

    def pairs() -> set[str]:
        return {"".join(sorted(pair)) for pair in pairs_of(load(path))}

    assert pairs() == {"ad", "ae", "be", "ce"}
    (tmp_path / "r.srdf").write_text(SRDF.format("e", "a"))
    assert pairs() == {"ad", "be", "ce"}
    other = tmp_path / "other.srdf"
    other.write_text(SRDF.format("c", "e"))
    found = pairs_of(load(path, srdf=other))
    assert {"".join(sorted(pair)) for pair in found} == {"ad", "ae", "be"}


def test_an_srdf_in_the_folder_beside():
    """example-robot-data keeps them in ../srdf: a1 disables pairs of its links."""
    path = example_file("a1_description/urdf/a1.urdf")
    robot = quiet(path)
    links = {frozenset(robot.shapes[i].link for i in pair) for pair in robot.self_pairs}
    text = path.parent.parent.joinpath("srdf/a1.srdf").read_text()
    disabled = text.count("<disable_collisions")
    assert disabled > 0
    assert all(f'link1="{a}" link2="{b}"' not in text for a, b in np.array([[*p] for p in links]))
