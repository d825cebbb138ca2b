"""Shapes, and who touches what, in plain numbers.

Oracles: distances to a ball and to the polyline of a staircase, by clamping; coal's cylinder;
bilinear interpolation by scipy; pairs, laws and names counted by hand; sentences of errors.
"""

from __future__ import annotations

from dataclasses import fields

import casadi as ca
import coal
import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

import heelstrike as hs
from heelstrike.dynamics.effective_mass import contact_mass
from heelstrike.robot.rotations import turn_z_to
from heelstrike.simulate.start import contacts_at
from heelstrike.step.plan import StepPlan

SHAPES = (
    *(hs.Plane, hs.Box, hs.Sphere, hs.Capsule, hs.Cylinder, hs.Stairs, hs.HeightField),
    hs.Treadmill,
)


def met(surface, places, radius=0.0, part=0):
    """Depths and axes at places, (n), (n, 3, 3)."""
    place = ca.SX.sym("place", 3)
    depth, axes = surface.depth_and_axes(place, radius, part)
    found = ca.Function("meet", [place], [depth, ca.vec(ca.densify(axes).T)])(places.T)
    axes = np.broadcast_to(np.array(found[1]).T, (len(places), 9)).reshape(-1, 3, 3)
    return np.array(found[0]).ravel(), axes


def right_handed(axes):
    return np.allclose(axes @ axes.transpose(0, 2, 1), np.eye(3), atol=1e-9) and np.allclose(
        np.linalg.det(axes), 1
    )


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_ball(rng):
    ball = hs.Sphere(point=(1, -2, 0.5), radius=0.7)
    places = np.array(ball.point) + rng.uniform(-1, 1, (5000, 3))
    depth, axes = met(ball, places, radius=0.1)
    away = np.linalg.norm(places - ball.point, axis=1)
    assert np.allclose(depth, 0.8 - away, atol=1e-14)
    assert np.allclose(axes[:, 2], (places - ball.point) / away[:, None], atol=1e-14)
    assert right_handed(axes)


def test_rod(rng):
    """Its line sampled finely, instead of by projection."""
    rod = hs.Capsule(point=(1, -2, 0.5), radius=0.1, length=0.8, axis=(1, 2, 2))
    places = np.array(rod.point) + rng.uniform(-1, 1, (300, 3))
    depth, axes = met(rod, places, radius=0.05)
    line = np.array(rod.point) + np.linspace(-0.4, 0.4, 4001)[:, None] * np.array([1, 2, 2]) / 3
    offsets = places[:, None] - line
    far = np.linalg.norm(offsets, axis=2)
    nearest = far.argmin(axis=1)
    rows = np.arange(len(places))
    assert np.allclose(depth, 0.15 - far[rows, nearest], atol=1e-6)  # (1e-4)^2 / 2 over 0.01 m
    normals = offsets[rows, nearest] / far[rows, nearest][:, None]
    assert np.allclose(axes[:, 2], normals, atol=0.01)
    assert right_handed(axes)


def test_post(rng):
    """Distances of spheres outside against coal; inside, the way out along the normal."""
    axis, radius = np.array([2, -1, 2]) / 3, 0.05
    post = hs.Cylinder(point=(1, -2, 0.5), radius=0.3, length=0.8, axis=axis)
    turn = turn_z_to(axis)
    size = rng.uniform((0, 0), (0.6, 0.7), (4000, 2)) * rng.choice((-1, 1), (4000, 2))
    angle = rng.uniform(0, 2 * np.pi, 4000)
    own = np.stack([size[:, 0] * np.cos(angle), size[:, 0] * np.sin(angle), size[:, 1]], axis=1)
    places = own @ turn.T + post.point
    depth, axes = met(post, places, radius)
    shapes = coal.Sphere(radius), coal.Cylinder(0.3, 0.8)
    placed = coal.Transform3s(turn, np.array(post.point))
    inside = (np.abs(size[:, 0]) < 0.3) & (np.abs(size[:, 1]) < 0.4)
    for k in np.flatnonzero(~inside & (depth < 0)):
        found = coal.DistanceResult()
        ball = coal.Transform3s(np.eye(3), places[k])
        coal.distance(shapes[0], ball, shapes[1], placed, coal.DistanceRequest(), found)
        assert depth[k] == pytest.approx(-found.min_distance, abs=2e-6)  # coal's tolerance: 1e-6
        assert axes[k, 2] == pytest.approx(-np.array(found.normal), abs=1e-3)
    assert right_handed(axes)
    assert 800 < inside.sum() < 3000
    ways = (depth[inside] - radius)[:, None] * axes[inside, 2]
    for share in (1 - 1e-9, 1 + 1e-9):
        assert ((met(post, places[inside] + share * ways)[0] > 0) == (share < 1)).all()
    sideways = rng.normal(size=ways.shape)
    sideways *= (depth[inside] - radius)[:, None] / np.linalg.norm(sideways, axis=1)[:, None]
    assert (met(post, places[inside] + (1 - 1e-9) * sideways)[0] > 0).all()  # none is shorter


def test_a_ball_has_axes_at_its_poles_and_in_its_middle():
    near = [(0, 0, 0), (0, 0, 1), (0, 0, -1), (1e-4, 0, -1), (0, 3e-3, -1)]
    depth, axes = met(hs.Sphere(radius=1), np.array(near, dtype=float))
    assert right_handed(axes)
    assert np.allclose(depth, [1, 0, 0, 0, 0], atol=1e-5)


STAIRS = hs.Stairs(
    point=(0.3, -0.2, 0.1), rise=0.2, run=0.3, count=4, width=2, direction=(0.6, 0.8)
)


def seen_from_the_side(stairs, places):
    """Along the direction, across it, and up."""
    x, y = np.asarray(stairs.direction) / np.linalg.norm(stairs.direction)
    offset = places - np.asarray(stairs.point)
    return offset[:, :2] @ [x, y], offset[:, :2] @ [-y, x], offset[:, 2]


def to_the_outline(stairs, s, z):
    """Distance to treads and risers, (n)."""
    found = []
    for k in range(stairs.count):
        tread, riser = (k + 1) * stairs.rise, k * stairs.run
        along = np.clip(s, riser, riser + stairs.run)
        found.append(np.hypot(s - along, z - tread))
        foot = tread - stairs.rise - (stairs.rise if k == 0 else 0)
        found.append(np.hypot(s - riser, z - np.clip(z, foot, tread)))
    return np.min(found, axis=0)


def test_stairs_hold_a_point_at_the_nearest_face_and_in_corners_at_both(rng):
    places = np.array(STAIRS.point) + rng.uniform((-0.6, -0.6, -0.1), (1.3, 1.3, 1), (40_000, 3))
    s, aside, z = seen_from_the_side(STAIRS, places)
    treads, risers = (met(STAIRS, places, part=part)[0] for part in (0, 1))
    step = np.floor(s / STAIRS.run)
    within = (s > 0) & (s < STAIRS.count * STAIRS.run) & (np.abs(aside) < STAIRS.width / 2)
    inside = within & (z < (step + 1) * STAIRS.rise) & (z > -STAIRS.rise)
    assert 3000 < inside.sum() < 35_000
    assert ((np.maximum(treads, risers) > 0) == inside).all()
    far = to_the_outline(STAIRS, s, z)
    shallow = inside & (far < 0.1)
    out = np.hypot(np.maximum(treads, 0), np.maximum(risers, 0))
    assert np.allclose(out[shallow], far[shallow], atol=1e-14)
    both = shallow & (treads > 0) & (risers > 0)
    corners = np.arange(STAIRS.count)
    to_corners = np.hypot(
        s[both, None] - corners * STAIRS.run, z[both, None] - corners * STAIRS.rise
    )
    assert both.sum() > 20
    assert np.allclose(to_corners.min(axis=1), far[both], atol=1e-14)  # where nothing is nearer


def test_a_sphere_on_stairs_meets_noses(rng):
    places = np.array(STAIRS.point) + rng.uniform((-0.6, -0.6, 0), (1.3, 1.3, 1.2), (40_000, 3))
    s, aside, z = seen_from_the_side(STAIRS, places)
    radius = 0.1
    above = (s > -0.1) & (s < STAIRS.count * STAIRS.run) & (np.abs(aside) < 1) & (z > 0)
    air = above & (z > (np.floor(s / STAIRS.run) + 1) * STAIRS.rise)
    far = to_the_outline(STAIRS, s, z)
    near = air & (far < radius)
    found = [met(STAIRS, places, radius, part) for part in (0, 1)]
    depth = np.max([depth for depth, _ in found], axis=0)
    assert near.sum() > 2000
    assert np.allclose(depth[near], radius - far[near], atol=1e-14)
    assert (depth[air & ~near] <= 1e-14).all()
    assert right_handed(found[1][1])


def test_treads_alone():
    stairs = hs.Stairs(risers=False, landing=0.5)
    assert len(stairs.parts) == 1
    toe = np.array([(0.01, 0, 0.1), (5 * 0.29 + 0.4, 0, 0.84), (5 * 0.29 + 0.6, 0, 0.84)])
    depth, _ = met(stairs, toe)
    assert depth == pytest.approx([-0.01, 0.01, -0.1])


def test_a_belt_ends_at_its_edges_and_underneath():
    belt = hs.Treadmill(direction=(0, 2), speed=1.5, size=(2, 0.8, 0.1), incline=0.2)
    up = np.array([0, -np.sin(0.2), np.cos(0.2)])
    along = np.array([0, np.cos(0.2), np.sin(0.2)])
    places = [0.9 * along - 0.01 * up, 1.1 * along - 0.01 * up, -0.2 * up, (0.5, 0, -0.01)]
    depth, axes = met(belt, np.array(places))
    assert (depth > 0).tolist() == [True, False, False, False]
    assert depth[0] == pytest.approx(0.01)
    assert np.allclose(axes[:, 2], up)
    assert np.allclose(np.array(ca.evalf(belt.material_velocity)).ravel(), 1.5 * along)


def on_field(field, places):
    """Depths and axes by numbers: a ball of radius 0.05 at each place."""
    ball = hs.load("ball", points=[("ball", (0, 0, 0))])
    scene = hs.Scene(ball, field)
    found = [contacts_at(scene, np.array([*place, 0, 0, 0, 1])) for place in places]
    return np.array([depth[0] for depth, _ in found]), np.array([c[0].normal for _, c in found])


@pytest.mark.parametrize("outside", ["hold", "none"])
def test_height_field_is_bilinear(rng, outside):
    heights = rng.normal(size=(5, 7))
    field = hs.HeightField(
        heights=heights, size=(2, 3), scale=0.1, point=(1, 2, 3), outside=outside
    )
    x, y = 1 + np.linspace(-1, 1, 5), 2 + np.linspace(-1.5, 1.5, 7)
    surface = RegularGridInterpolator((x, y), 3 + 0.1 * heights)
    places = np.column_stack(
        [rng.uniform(0.01, 1.99, 50), rng.uniform(0.51, 3.49, 50), np.full(50, 3)]
    )
    depth, normals = on_field(field, places)
    small = 1e-6
    slopes = [
        (surface(places[:, :2] + step) - surface(places[:, :2] - step)) / (2 * small)
        for step in np.array([[small, 0], [0, small]])
    ]
    expected = np.column_stack([-slopes[0], -slopes[1], np.ones(50)])
    expected /= np.linalg.norm(expected, axis=1)[:, None]
    assert np.allclose(normals, expected, atol=1e-8)  # differences of 1e-6
    assert np.allclose(depth, (surface(places[:, :2]) - 3) * normals[:, 2], atol=1e-12)
    beyond, up = on_field(field, np.array([(2.5, 4.0, 2.0)]))
    if outside == "hold":
        assert beyond[0] == pytest.approx(3 + 0.1 * heights[-1, -1] - 2)
        assert up[0] == pytest.approx([0, 0, 1])
    else:
        assert beyond[0] == pytest.approx(-0.5)


GAPS = {
    "plane": hs.Plane(point=(0.1, 0.2, 0.3), normal=(0.3, -0.2, 1)),
    "box": hs.Box(point=(0.1, 0.2, 0.3), size=(0.4, 0.6, 0.8)),
    "box with open faces": hs.Box(point=(0.1, 0.2, 0.3), size=(0.4, 0.6, 0.8), faces=("+z", "-x")),
    "ball": hs.Sphere(point=(0.1, 0.2, 0.3), radius=0.4),
    "rod": hs.Capsule(point=(0.1, 0.2, 0.3), radius=0.2, length=0.7, axis=(1, 2, 2)),
    "post": hs.Cylinder(point=(0.1, 0.2, 0.3), radius=0.2, length=0.7, axis=(1, 2, 2)),
    "stairs": hs.Stairs(rise=0.2, run=0.3, count=3, width=0.9, direction=(1, 2), landing=0.2),
    "steep stairs": hs.Stairs(rise=0.4, run=0.1, count=3, width=0.9),
    "belt": hs.Treadmill(point=(0.1, 0.2, 0.3), size=(1.0, 0.6, 0.2), incline=0.3),
    "hills": hs.HeightField(
        heights=np.random.default_rng(1).normal(size=(5, 6)), scale=0.2, size=(1.5, 1.2)
    ),
    "holes": hs.HeightField(
        heights=np.random.default_rng(2).uniform(0, 1, size=(4, 4)),
        scale=-0.3,
        size=(1.0, 1.2),
        outside="none",
    ),
}
EXACT = ("plane", "ball", "rod")
"""Shapes whose bound is the distance itself."""


@pytest.mark.parametrize("name", GAPS)
@pytest.mark.parametrize("radius", [0.0, 0.04])
def test_nothing_is_inside_within_the_gap(rng, name, radius):
    """Spheres within 20,000 balls that the gap calls free: none has a depth above 0.

    Half of the spheres touch their balls from inside; where the bound is exact, on the side of the
    surface.
    """
    surface, count = GAPS[name], 20_000
    place = ca.SX.sym("place", 3)
    gap = ca.Function("gap", [place], [surface.gap(place, radius)])
    if isinstance(surface, hs.HeightField):
        places = rng.uniform(-1.2, 1.2, (600, 3))
        places = np.repeat(places[places[:, 2] > 0.1], 5, axis=0)
        count = len(places)
    else:
        places = rng.uniform(-1.2, 1.2, (count, 3))
    free = np.array(gap(places.T)).ravel()
    away = rng.normal(size=(count, 3))
    away /= np.linalg.norm(away, axis=1)[:, None]
    if name in EXACT:
        away = -met(surface, places)[1][:, 2]
    share = np.where(rng.uniform(size=count) < 0.5, 1.0, rng.uniform(size=count))
    reach = (free - radius) * share
    fits = reach > 0
    assert fits.sum() > 500
    spheres = places[fits] + (reach * (1 - 1e-9))[fits, None] * away[fits]
    for part in range(len(surface.parts)):
        if isinstance(surface, hs.HeightField):
            depth = np.array([float(surface.depth_and_axes(ca.DM(x), radius)[0]) for x in spheres])
        else:
            depth, _ = met(surface, spheres, radius, part)
        assert depth.max() <= 1e-12
        if name in EXACT:  # and the bound is reached
            assert depth.max() > -1e-6


def test_heights_from_files(tmp_path):
    """Grey from black to white; x to the right, y up."""
    from matplotlib.image import imsave

    grey = np.array([[0.0, 0.2, 0.4], [0.6, 0.8, 1.0]])  # seen: two rows, three columns
    imsave(tmp_path / "hill.png", grey, cmap="gray", vmin=0, vmax=1)
    read = hs.HeightField(heights=tmp_path / "hill.png").table
    assert np.allclose(read, grey[::-1].T, atol=1 / 255)
    np.save(tmp_path / "hill.npy", grey)
    assert np.array_equal(hs.HeightField(heights=str(tmp_path / "hill.npy")).table, grey)


def test_fields_are_plain_and_shared():
    for shape in SHAPES:
        names = [field.name for field in fields(shape)]
        assert names[:6] == ["law", "name", "point", "velocity", "body", "touches"]
        shape()  # every field has a default


def test_the_code_of_a_height_field_knows_its_size_alone():
    flat, wavy = (hs.HeightField(heights=h, scale=0.1) for h in (np.zeros((4, 5)), np.eye(4, 5)))
    assert flat.structure() == wavy.structure()
    assert flat.structure() != hs.HeightField(heights=np.zeros((5, 4))).structure()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: hs.Sphere(radius=0), "radius"),
        (
            lambda: hs.Sphere(point=(0, 0)),
            "Sphere 'ground': point is \\(0, 0\\); allowed: three numbers",
        ),
        (
            lambda: hs.Capsule(axis=(0, 0, 0)),
            "Capsule 'ground': axis is .* allowed: three numbers, not all 0",
        ),
        (lambda: hs.Stairs(count=0), "Stairs 'ground': count is 0; allowed: a whole number"),
        (lambda: hs.Stairs(count=2.5), "whole number"),
        (lambda: hs.Stairs(rise=-0.1), "rise"),
        (
            lambda: hs.Stairs(direction=(0, 0)),
            "Stairs 'ground': direction is .* allowed: two numbers, not all 0",
        ),
        (lambda: hs.Treadmill(direction=(0, 0, 1)), "two numbers"),
        (lambda: hs.Treadmill(speed="fast"), "speed is 'fast'; allowed: a number"),
        (lambda: hs.HeightField(heights=[1, 2, 3]), "at least two rows"),
        (lambda: hs.HeightField(heights=[[1, 2], [3]]), "at least two rows"),
        (lambda: hs.HeightField(heights=[[1, np.nan], [3, 4]]), "finite"),
        (lambda: hs.HeightField(heights="nowhere.png"), "no such file"),
        (lambda: hs.HeightField(heights=__file__), "sample the heights"),
        (lambda: hs.HeightField(size=(1, 2, 3)), "two numbers"),
        (lambda: hs.HeightField(outside="sea"), "'hold' or 'none'"),
        (lambda: hs.Plane(touches=3), "names of bodies"),
        (lambda: hs.Plane(name=""), "without dots"),
    ],
)
def test_errors_of_shapes(make, words):
    with pytest.raises(hs.HeelstrikeError, match=words):
        make()


def test_a_broken_picture(tmp_path):
    path = tmp_path / "hill.png"
    path.write_bytes(b"no picture")
    with pytest.raises(hs.HeelstrikeError, match="cannot read heights"):
        hs.HeightField(heights=path)


SOFT, HARD = hs.Elastic(hs.LinearSpring(k=1e3)), hs.Elastic(hs.LinearSpring(k=1e5))


def touching(scene):
    return sorted({(pair.point.name, scene.surfaces[pair.surface].name) for pair in scene.pairs})


def test_a_surface_on_a_body_leaves_out_its_neighbours():
    """hoap1's foot, its shin above it, and the other foot."""
    robot = hs.load("hoap1", collide="feet")
    ends = [robot.bodies[b].name for b in sorted({point.body for point in robot.points})]
    one = robot.body(ends[0])
    above = robot.bodies[robot.joints[one].parent].name
    robot = hs.load("hoap1", points=[(name, (0, 0, 0)) for name in (*ends, above)])
    box = {"body": ends[0], "name": "shoe"}
    assert touching(hs.Scene(robot, hs.Box(**box))) == [(f"{ends[1]}.0", "shoe")]
    named = hs.Scene(robot, hs.Box(**box, touches=[above]))
    assert touching(named) == [(f"{above}.0", "shoe")]
    assert touching(hs.Scene(robot, hs.Box(**box, touches=()))) == []
    ground = hs.Scene(robot, hs.Plane(touches=ends[1]))
    assert touching(ground) == [(f"{ends[1]}.0", "ground")]
    with pytest.raises(hs.HeelstrikeError, match="cannot touch that body"):
        hs.Scene(robot, hs.Box(**box, touches=[ends[0]]))
    with pytest.raises(hs.HeelstrikeError, match="has no body 'tail'"):
        hs.Scene(robot, hs.Box(**box, touches=["tail"]))


def test_points_of_the_world_touch_what_rides_on_bodies():
    cube = hs.load("cube", points=[("cube", (0, 0, 0))])
    scene = hs.Scene(
        cube, hs.Plane(), hs.Box(name="lid", body="cube"), points=[(0, 0, 0), (1, 0, 0, 0.1)]
    )
    assert touching(scene) == [("cube.0", "ground"), ("world.0", "lid"), ("world.1", "lid")]
    none = hs.Scene(cube, hs.Box(name="lid", body="cube", touches=()), points=[(0, 0, 0)])
    assert touching(none) == []
    for points, words in (
        ([(0, 0)], r"\(x, y, z\)"),
        ([(0, 0, 0, -1)], "a radius of at least 0 m"),
        ([1], "points is 1; allowed"),
    ):
        with pytest.raises(hs.HeelstrikeError, match=words):
            hs.Scene(cube, hs.Box(body="cube"), points=points)
    with pytest.raises(hs.HeelstrikeError, match="ride on a body"):
        hs.Scene(cube, hs.Plane(), points=[(0, 0, 0)])


def test_which_law_holds():
    """The pair's, else the body's, else the surface's."""
    two = hs.combine({"a": hs.load("ball"), "b": hs.load("ball")})
    floors = hs.Plane(SOFT, "floor"), hs.Plane(SOFT, "ice")
    scene = hs.Scene(two, *floors, materials={"a/ball": HARD, "a/ball on ice": hs.Rigid()})
    assert {pair.name: pair.law for pair in scene.pairs} == {
        "a/ball.0 on floor": "a/ball",
        "a/ball.0 on ice": "a/ball on ice",
        "b/ball.0 on floor": "floor",
        "b/ball.0 on ice": "ice",
    }
    for materials, words in (
        ({"c": HARD}, "has no body 'c'"),
        ({"a/ball": hs.LinearSpring()}, "allowed: a surface law"),
        ({"floor": HARD}, "parameter paths use it"),
        ({"a/ball on sand": HARD}, "surfaces: floor, ice"),
        ({"a/ball": HARD, "a/root": SOFT}, "same body"),
    ):
        with pytest.raises(hs.HeelstrikeError, match=words):
            hs.Scene(two, *floors, materials=materials)
    with pytest.raises(hs.HeelstrikeError, match="rk4 takes elastic laws"):
        hs.Simulator(scene, integrator="rk4")


def test_keys_tell_scenes_apart():
    """What is compiled into a step is part of its key."""
    cube, lid = hs.load("cube"), hs.Box(name="lid", body="cube")
    scenes = [
        hs.Scene(cube, lid, points=[(0, 0, 0)]),
        hs.Scene(cube, lid, points=[(0, 0, 1)]),
        hs.Scene(cube, lid, points=[(0, 0, 1)], materials={"cube": HARD}),
        hs.Scene(cube, hs.Box(name="lid", body="cube", touches="world"), points=[(0, 0, 1)]),
        hs.Scene(cube, hs.Stairs()),
        hs.Scene(cube, hs.Stairs(count=4)),
        hs.Scene(cube, hs.Stairs(risers=False)),
        hs.Scene(cube, hs.HeightField()),
        hs.Scene(cube, hs.HeightField(outside="none")),
    ]
    keys = [str(hs.Simulator(scene).plan.key()) for scene in scenes]
    assert len(set(keys)) == len(keys)
    assert isinstance(hs.Simulator(scenes[0]).plan, StepPlan)


def test_what_a_contact_weighs():
    """Between two free balls half of one's mass; of a vertex of the world off a cube's middle by b,
    1 / (1/m + b^2/I).
    """
    two = hs.combine({"a": hs.load("ball"), "b": hs.load("ball")})
    skin = hs.Sphere(name="skin", body="a/ball", radius=0.05)
    q = np.array([0, 0, 0, 0, 0, 0, 1, 0.06, 0.05, 0, 0, 0, 0, 1])
    depth, contacts = contacts_at(hs.Scene(two, skin), q)
    assert depth == pytest.approx(0.1 - np.hypot(0.06, 0.05))
    assert contact_mass(two, q, contacts) == pytest.approx(0.5)
    cube = hs.load("cube", points=[])
    scene = hs.Scene(cube, hs.Box(body="cube", size=(0.1048,) * 3), points=[(0.02, 0, 0.001)])
    q = np.array([0, 0, 0.0524, 0, 0, 0, 1])
    depth, contacts = contacts_at(scene, q)
    assert depth == pytest.approx(1e-3)
    assert contact_mass(cube, q, contacts) == pytest.approx(1 / (1 / 0.37 + 0.02**2 / 8.1e-4))


@pytest.mark.parametrize("name", ["push", "push0", "push12", "servo", "dt"])
def test_names_of_parameter_paths_are_reserved(name):
    """A push has the path push0, push1, ...: a floor of that name would move with its point."""
    with pytest.raises(hs.HeelstrikeError, match="which parameter paths reserve"):
        hs.Scene(hs.load("box"), hs.Plane(name=name))
    assert hs.Scene(hs.load("box"), hs.Plane(name="pushed")).surfaces[0].name == "pushed"
