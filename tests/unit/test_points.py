"""Contact points: how many a shape gives, where they are, and which the rule for feet keeps.

Oracles: corners and rims worked out by hand, the stated counts for known robots, and for meshes
the vertices that Pinocchio reads.
"""

import os
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.robot import Point, Shape, load
from heelstrike.robot.collision_hull import MAX_CORNERS
from heelstrike.robot.feet import LEVEL_TOLERANCE
from heelstrike.robot.load import reload
from heelstrike.robot.outline import outline
from heelstrike.robot.placement import lowest_place, placements
from heelstrike.robot.points import on_feet
from heelstrike.robot.urdf_shapes import find_mesh
from tests.models import example_file

DATA = os.environ.get("HEELSTRIKE_DATA")
QUARTER_TURN = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # z -> x


def shape(kind, size) -> Shape:
    offset = np.array([1.0, 2.0, 3.0])
    return Shape("s", 0, kind, QUARTER_TURN, offset, np.array(size, dtype=float))


def places(of: Shape, edge_points: int = 0) -> np.ndarray:
    return np.array([point.position for point in outline(of, edge_points)])


@pytest.mark.parametrize(
    ("kind", "size", "expected", "size_of_points"),
    [
        ("box", [1, 2, 4], [[1 + x, 2 + y, 3 + z]
                            for x in (-4, 4) for y in (-2, 2) for z in (-1, 1)], 0.0),
        ("sphere", [0.5], [[1, 2, 3]], 0.5),
        ("capsule", [0.1, 2], [[-1, 2, 3], [3, 2, 3]], 0.1),
        ("ellipsoid", [1, 2, 4], [[1, 2, 3]], 0.0),
    ],
)  # fmt: skip
def test_outline_of_a_turned_shape(kind, size, expected, size_of_points):
    """The shape has its z axis along x and its centre at (1, 2, 3)."""
    turned = shape(kind, size)
    ours = sorted(places(turned).round(12).tolist())
    assert ours == sorted([float(x) for x in row] for row in expected)
    assert {point.radius for point in outline(turned)} == {size_of_points}


@pytest.mark.parametrize("count", [1, 2])
def test_edges_of_a_box(count):
    """Corners first, then evenly spaced points on twelve edges: two coordinates at their ends."""
    corners, points = places(shape("box", [1, 2, 4])), places(shape("box", [1, 2, 4]), count)
    assert len(points) == 8 + 12 * count
    assert np.array_equal(points[:8], corners)
    local = (points[8:] - [1, 2, 3]) @ QUARTER_TURN / [1, 2, 4]
    assert (np.isclose(np.abs(local), 1).sum(axis=1) == 2).all()
    shares = np.linspace(-1, 1, count + 2)[1:-1]
    inner = local[~np.isclose(np.abs(local), 1)]
    assert np.allclose(np.sort(inner), np.sort(np.tile(shares, 12)))


def test_edge_points_of_soles_and_free_bodies():
    """Four edges of each sole, twelve of a cube; no other shape changes."""
    plain, more = (load("hoap1", collide="feet", edge_points=n) for n in (0, 2))
    assert len(more.points) == len(plain.points) + 2 * 4 * 2
    lowest = {point.position[2].round(9) for point in plain.points}
    assert {point.position[2].round(9) for point in more.points} == lowest
    assert len(load("cube", edge_points=1).points) == 20
    assert len(load("cube", collide="all", edge_points=3).points) == 8 + 36
    assert len(load("ball", edge_points=3).points) == 1
    for wrong in (-1, 1.5, True):
        with pytest.raises(HeelstrikeError, match=r"edge_points is .* whole number from 0 to 100"):
            load("cube", edge_points=wrong)
    with pytest.raises(HeelstrikeError, match="not to a list; add the points of the edges"):
        load("cube", points=[("cube", (0, 0, 0))], edge_points=1)


def test_caps_and_rims_of_a_cylinder():
    """Four points on each cap, inside the rim; the rim is a flat ellipsoid a little below the cap.

    In any direction but along the axis, the lowest place of a rim is that of the circle to 1e-3 R.
    """
    R, half = 0.5, 2.0
    points = outline(shape("cylinder", [R, half]))
    caps = np.array([p.position for p in points if p.half_axes is None]) - [1, 2, 3]
    assert len(points) == 10
    np.testing.assert_allclose(np.abs(caps[:, 0]), half)
    np.testing.assert_allclose(np.hypot(caps[:, 1], caps[:, 2]), 0.9 * R)
    assert len(np.unique(caps.round(9), axis=0)) == 8
    for down in np.random.default_rng(0).normal(size=(20, 3)):
        down /= np.linalg.norm(down)
        turn = np.linalg.svd(down[None])[2][[1, 2, 0]]  # its last row is along `down`
        turn[2] = -down
        low = min(lowest_place(p, (turn, np.zeros(3)))[2] for p in points)
        true = -np.dot(down, [1, 2, 3]) - half * abs(down[0]) - R * np.hypot(*down[1:])
        assert 0 <= low - true < 1.01e-3 * R


def test_an_ellipsoid_is_one_point():
    """Its lowest place is the support point, sum of h_i^2 n_i / |h n|."""
    (point,) = outline(shape("ellipsoid", [1, 2, 4]))
    tilt = pin.rpy.rpyToMatrix(0.3, -0.4, 0.5)
    inner = (tilt @ QUARTER_TURN).T[:, 2]  # up, in the shape's axes
    sizes = np.array([1.0, 2.0, 4.0])
    expected = tilt @ [1, 2, 3] - tilt @ QUARTER_TURN @ (
        sizes**2 * inner / np.linalg.norm(sizes * inner)
    )
    np.testing.assert_allclose(lowest_place(point, (tilt, np.zeros(3))), expected, atol=1e-13)
    assert point.extent == pytest.approx(4.0)


def robot_of(name):
    if not DATA:
        pytest.skip("HEELSTRIKE_DATA is not set: no third-party models")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        return load(Path(DATA, "robots", name), collide="feet")


@pytest.mark.parametrize(
    ("name", "count", "size"),
    [
        ("hoap1_like.xml", 8, 0.0),
        ("hrp2_like.xml", 8, 0.0),
        ("biped14_like.xml", 8, 0.0),
        ("mighty.xml", 8, 0.0),
        ("sr1.xml", 8, 0.0),
        ("g1.xml", 8, 0.005),
        ("anymal_c.xml", 4, 0.03),
        ("t1.xml", 8, 0.0),  # not its hands and its head
    ],
)
def test_feet_of_known_robots(name, count, size):
    """Eight sole corners or spheres of a humanoid, four of a quadruped, all at the ground."""
    robot = robot_of(name)
    assert len(robot.points) == count
    assert {point.radius for point in robot.points} == {size}
    place = placements(robot, next(iter(robot.poses.values())))
    heights = [(place[p.body][0] @ p.position + place[p.body][1])[2] - size for p in robot.points]
    assert np.ptp(heights) < 1e-3
    names = [point.name for point in robot.points]
    assert len(set(names)) == count


def test_names_of_points():
    """Points are named after the geom, or after the link of an unnamed one."""
    assert {p.name for p in robot_of("mighty.xml").points} == {
        f"{side}_sole.{k}" for side in "lr" for k in range(4)
    }
    assert robot_of("anymal_c.xml").points[0].name == "LF_SHANK.0"


def test_bundled_robots():
    """Soles of the humanoids, all corners of the objects, one point of the ball and the foot."""
    for name, count in {
        "hoap1": 8, "hrp2": 8, "biped14": 8, "box": 8, "cube": 8, "ball": 1, "foot": 1,
    }.items():  # fmt: skip
        assert len(load(name, collide="feet").points) == count, name


def test_shells_touch_only_where_all_are_asked_for():
    """hoap1: 17 boxes (five of the trunk; two an arm, a hand, two a leg, a sole) and the head."""
    robot = load("hoap1", collide="all")
    assert len(robot.points) == 17 * 8 + 1
    assert {p.name for p in load("hoap1", collide="feet").points} < {p.name for p in robot.points}
    named = {p.name.partition(".")[0] for p in robot.points}
    assert {"head", "backpack", "l_hand", "r_hand", "l_shin", "r_sole"} < named
    place = placements(robot, robot.pose("stance"))
    R_p = [(*place[p.body], p) for p in robot.points]
    heights = [(R @ p.position + origin)[2] - p.radius for R, origin, p in R_p]
    assert min(heights) == pytest.approx(0, abs=1e-9)  # nothing reaches below the soles


HANDS = (
    '<geom type="box" size=".1 .1 .2"/><body name="h" pos=".3 0 0"><joint name="h"/>{mass}<geom '
    'name="hand" size=".05"/></body><body name="f" pos="{x} 0 -.5"><joint name="f"/>{mass}<geom '
    'name="foot" type="box" size=".2 .1 .1"/></body>'
)


def test_hands_are_feet_only_if_the_robot_does_not_stand(tmp_path):
    """Under the trunk the lower box is a foot; far beside it, the robot would fall over."""
    standing, falling = (
        load(written(tmp_path, HANDS.format(mass=MASS, x=x)), collide="feet") for x in (0, -2)
    )
    assert {p.name.split(".")[0] for p in standing.points} == {"foot"}
    assert {p.name.split(".")[0] for p in falling.points} == {"foot", "hand"}


def test_a_foot_may_carry_a_body_without_shapes(tmp_path):
    """cassie: a foot carries a rod; each of its two capsules gives two points."""
    robot = robot_of("cassie.xml")
    assert {robot.bodies[p.body].name for p in robot.points} == {"left-foot", "right-foot"}
    assert len(robot.points) == 4


MASS = '<inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/>'


def written(tmp_path, inner: str) -> Path:
    path = tmp_path / "robot.xml"
    path.write_text(
        f'<mujoco><compiler angle="radian"/><worldbody><geom type="plane" size="1 1 1"/>'
        f'<body name="a" pos="0 0 1"><freejoint/>{MASS}{inner}</body></worldbody></mujoco>'
    )
    return path


TOE = (
    f'<geom type="box" size=".2 .2 .2"/><body name="leg" pos="0 0 -.3"><joint name="k"/>{MASS}'
    '<geom name="heel" type="box" size=".1 .05 .02" pos="0 0 -.1"/><body name="toe" pos=".1 0 0">'
    f'<joint name="t" axis="0 1 0"/>{MASS}<geom name="toe" type="box" size=".03 .05 .02"'
    ' pos=".05 0 -.1"/></body></body>'
)


def test_a_foot_behind_its_toe_counts(tmp_path):
    """The toe is the end body; the heel reaches as low and stands too; the trunk does not."""
    robot = load(written(tmp_path, TOE), collide="feet")
    assert {p.name.split(".")[0] for p in robot.points} == {"heel", "toe"}
    assert len(robot.points) == 8
    assert all(p.position[2] == pytest.approx(-0.12) for p in robot.points)
    assert len(load(written(tmp_path, TOE), collide="all").points) == 24


def test_a_wheel_keeps_its_rims_and_a_post_the_lower_one(tmp_path):
    wheel = (
        f'<body name="w" pos="0 0 -.5"><joint name="k" axis="0 1 0"/>{MASS}<geom type="cylinder" '
        'size=".1 .02" euler="1.5707963267948966 0 0"/></body>'
    )
    rims = load(written(tmp_path, wheel), collide="feet").points
    assert len(rims) == 2
    assert all(p.half_axes is not None for p in rims)
    post = wheel.replace("1.5707963267948966 0 0", ".1 0 0")
    points = load(written(tmp_path, post), collide="feet").points
    assert len(points) == 5
    assert max(p.position[2] for p in points) < 0


def test_only_a_free_body_is_alone(tmp_path):
    """A box that floats keeps its 8 corners, one on a hinge of the world its lower 4."""
    path = tmp_path / "robot.xml"
    text = (
        "<mujoco><worldbody><body>{}<geom type='box' size='.1 .1 .1'/></body></worldbody></mujoco>"
    )
    path.write_text(text.format("<freejoint/>"))
    assert len(load(path, collide="feet").points) == 8
    path.write_text(text.format("<joint axis='0 1 0'/>"))
    robot = load(path, collide="feet")
    assert [point.position[2] for point in robot.points] == [-0.1] * 4


def test_visual_geoms_and_the_world_give_no_points(tmp_path):
    """Geoms without contact bits are only drawn; the floor is not part of the robot."""
    visual = '<geom name="v" size=".1" contype="0" conaffinity="0"/><geom name="c" size=".2"/>'
    robot = load(written(tmp_path, visual), collide="all")
    assert [p.name for p in robot.points] == ["c.0"]
    assert [(s.name, s.collides) for s in robot.shapes] == [("v", False), ("c", True)]


def test_feet_are_found_in_the_first_keyframe(tmp_path):
    """A foot drawn on its side stands on the face that the keyframe puts down."""
    foot = (
        f'<body name="f" pos="0 0 -.5"><joint name="k" axis="0 1 0"/>{MASS}'
        '<geom name="f" type="box" size=".02 .05 .1"/></body>'
    )
    path = written(tmp_path, foot)
    assert {p.position[2] for p in load(path, collide="feet").points} == {-0.1}
    key = '<keyframe><key name="stand" qpos="0 0 1 1 0 0 0 1.5"/></keyframe></mujoco>'
    path.write_text(path.read_text().replace("</mujoco>", key))
    assert {p.position[0] for p in load(path, collide="feet").points} == {0.02}


def test_points_that_the_user_names(tmp_path):
    """Positions are in the frame of the link or site; a Point is used as it is."""
    site = '<site name="s" pos="0 0 1" euler="0 0 1.5707963267948966"/>'
    path = written(tmp_path, site)
    own = Point("mine", 0, np.array([0.0, 0.0, 9.0]), 0.5)
    robot = load(path, points=[("a", [1, 2, 3]), ("s", (1, 0, 0), 0.1), ("a", [0, 0, 0]), own])
    assert [p.name for p in robot.points] == ["a.0", "s.0", "a.1", "mine"]
    np.testing.assert_allclose(robot.points[1].position, [0, 1, 1], atol=1e-15)
    assert [p.radius for p in robot.points] == [0, 0.1, 0, 0.5]
    with pytest.raises(HeelstrikeError, match="has no body 'x'; bodies: a"):
        load(path, points=[("x", [0, 0, 0])])
    for position in ([0, 0], "abc", None, [0, 0, None], [0, 0, np.nan], 1.0):
        with pytest.raises(HeelstrikeError, match=r"position of a point on 'a' is .*three finite"):
            load(path, points=[("a", position)])
        with pytest.raises(HeelstrikeError, match=r"position of point 'p' is .*three finite"):
            load(path, points=[Point("p", 0, position)])
    for size in ("big", "1", None, -1, np.inf, [1, 2]):
        with pytest.raises(HeelstrikeError, match=r"radius of a point on .* allowed: a number"):
            load(path, points=[("a", [0, 0, 0], size)])
    for axes in ("abc", np.eye(2), np.diag([1, 1, 0]), np.diag([1, 1, np.inf])):
        with pytest.raises(HeelstrikeError, match="half axes of a point on 'a' are"):
            load(path, points=[("a", [0, 0, 0], 0, axes)])
    disc = load(path, points=[("s", [1, 0, 0], 0.0, np.diag([0.1, 0.2, 0.01]).tolist())])
    np.testing.assert_allclose(np.abs(disc.points[0].half_axes[0]), [0, 0.2, 0], atol=1e-12)
    again = reload(disc.source).points[0]
    np.testing.assert_array_equal(again.half_axes, disc.points[0].half_axes)
    with pytest.raises(HeelstrikeError, match="allowed: 'feet', 'all' or a list"):
        load(path, points=3)
    with pytest.raises(HeelstrikeError, match="two contact points are called 'mine'"):
        load(path, points=[own, own])
    with pytest.raises(HeelstrikeError, match="is not a contact point"):
        load(path, points=["a"])


def shapes_of(robot) -> set[str]:
    return {point.name.rpartition(".")[0] for point in robot.points}


def test_everything_collides_by_default():
    """collide="all" is the default, points="all" and "feet" mean the same as collide."""
    names = [p.name for p in load("hoap1").points]
    assert len(names) == 137
    assert names == [p.name for p in load("hoap1", collide="all").points]
    assert names == [p.name for p in load("hoap1", points="all").points]
    assert shapes_of(load("hoap1", points="feet")) == {"l_sole", "r_sole"}


def test_shapes_by_name(tmp_path):
    """Bodies with what is fixed to them, links, and shapes; named shapes need no contact bits."""
    plain = 'contype="0" conaffinity="0"'
    path = written(
        tmp_path,
        f'<geom name="t" size=".1"/><geom name="v" size=".1" {plain}/><body name="b"><geom '
        f'name="s" size=".1"/></body><body name="c" pos="0 0 -.3"><joint/>{MASS}<geom name="d" '
        f'size=".1"/><geom name="e" size=".1" {plain}/></body>',
    )
    for names, expected in (
        (["a"], {"t", "s"}), (["b"], {"s"}), (["t", "c"], {"t", "d"}), (["v"], {"v"}), ([], set())
    ):  # fmt: skip
        robot = load(path, collide=names)
        assert shapes_of(robot) == expected
        assert shapes_of(reload(robot.source)) == expected
    with pytest.raises(HeelstrikeError, match="robot has no shape 'tt'; did you mean 't'"):
        load(path, collide=["tt"])
    for wrong in ("t", [3], 3):
        with pytest.raises(HeelstrikeError, match="allowed: 'all', 'feet' or a list of names"):
            load(path, collide=wrong)
    with pytest.raises(HeelstrikeError, match="both points and collide are given; pass collide to"):
        load(path, collide="feet", points=[("a", (0, 0, 0))])


def test_a_mesh_that_is_only_drawn_collides_if_named():
    """solo's drawn base, named as a shape, is read and gives corners of its hull."""
    path = example_file("talos_data/robots/talos_reduced.urdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        robot = load(path, collide=["imu_link", "base_link"])
    drawn = [s for s in robot.shapes if s.link == "imu_link"]
    assert all(not s.collides for s in drawn)
    assert 4 <= len(robot.points) <= (len(drawn) + 1) * MAX_CORNERS


def test_points_of_feet_are_known_among_all():
    """hoap1: the eight lower corners; solo's soles keep their corners beside the reduced hull."""
    soles = on_feet(load("hoap1")).points
    expected = load("hoap1", collide="feet").points
    assert sorted(p.name for p in soles) == sorted(p.name for p in expected)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        path = example_file("solo_description/robots/solo.urdf")
        feet, everything = load(path, collide="feet"), load(path)
    ours = np.array([p.position for p in on_feet(everything).points])
    for point in feet.points:
        assert np.linalg.norm(ours - point.position, axis=1).min() < 1e-9
    listed = load("hoap1", points=[("CHEST", (0, 0, 0))])
    assert on_feet(listed).points == listed.points


def test_meshes_of_a_urdf():
    """talos: the points of every mesh, mirrored ones too, are vertices of Pinocchio's geometry."""
    path = example_file("talos_data/robots/talos_reduced.urdf")
    with pytest.warns(HeelstrikeWarning) as caught:
        robot = load(path, collide="feet")
    assert not any("left out" in str(w.message) for w in caught)  # package:// was found
    theirs: dict[int, list[np.ndarray]] = {}
    collision = pin.GeometryType.COLLISION
    geometry = pin.buildGeomFromUrdf(
        robot.model, str(path), collision, package_dirs=[str(path.parents[4])]
    )
    for thing in geometry.geometryObjects:
        if hasattr(thing.geometry, "vertices"):
            place = thing.placement
            vertices = np.array(thing.geometry.vertices()) @ place.rotation.T + place.translation
            theirs.setdefault(thing.parentJoint - 1, []).append(vertices)
    meshes = [s for s in robot.shapes if s.kind == "mesh" and s.collides]
    assert len(meshes) > 20
    for one in meshes:
        sides = outline(one)
        assert len(sides) == 4
        assert all(point.hull is sides[0].hull for point in sides)
        assert sides[0].hull is not None
        corners = sides[0].hull.corners
        assert 4 <= len(corners) <= MAX_CORNERS
        vertices = np.vstack(theirs[one.body])
        for point in [*corners, *sides[0].hull.places(np.array([0.6, 0.0, 0.8]))]:
            assert np.linalg.norm(vertices - point, axis=1).min() < 1e-9
    soles = [p for p in robot.points if p.name.startswith("leg_")]
    assert len(soles) >= 8
    assert np.ptp([p.position[2] for p in soles]) <= LEVEL_TOLERANCE


def test_package_lookup(tmp_path, monkeypatch):
    """package_dirs first, then ROS_PACKAGE_PATH, then above the file; a package may be renamed."""
    urdf = tmp_path / "x" / "urdf" / "robot.urdf"
    for folder in ("mine/p", "ros/p", "x"):
        (tmp_path / folder / "m").mkdir(parents=True)
        (tmp_path / folder / "m" / "a.stl").touch()
    uri = "package://p/m/a.stl"
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    assert find_mesh(urdf, uri, [tmp_path / "mine"]) == tmp_path / "mine/p/m/a.stl"
    assert find_mesh(urdf, uri, []) == tmp_path / "ros/p/m/a.stl"
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    assert find_mesh(urdf, uri, []) == tmp_path / "x/m/a.stl"
    assert find_mesh(urdf, "package://p/m/none.stl", []) is None
