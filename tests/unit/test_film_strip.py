"""Film strips, by what a person would check on them.

Oracles: pixels (a falling robot changes them, a still one does not, the floor darkens them, an
arrow is of the arrows' colour), closed forms of the camera, and volumes: by the divergence theorem
the triangles of a shape hold its volume if they close and look outward.
"""

from __future__ import annotations

import builtins
import subprocess
import sys
from dataclasses import replace

import matplotlib.image
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.robot.load import reload
from heelstrike.robot.robot import WORLD, Shape
from heelstrike.view import plot
from heelstrike.view.render.camera import Camera, fit_camera
from heelstrike.view.render.film_strip import ABOVE, BELOW, GAP, SIDE, film_strip
from heelstrike.view.render.raytrace import GAMMA, SKY, render
from heelstrike.view.render.robot_solids import place_solids, robot_solids
from heelstrike.view.render.solid import box, corner_normals, solid, solid_of_shape
from heelstrike.view.render.surface_solids import small_surface_points, surface_solids

WIDTH = 2.4
"""Of the strips here [inch]."""
WHITE = (1.0, 1.0, 1.0)


@pytest.fixture(scope="module")
def ball():
    """A ball that falls 0.2 m, lands and rests; the ground is drawn at z = 0."""
    robot = hs.load("ball")
    floor = hs.Plane(law=hs.Elastic(hs.LinearSpring(k=2e4, c=300.0), hs.Kinetic(mu=0.5)))
    sim = hs.Simulator(hs.Scene(robot, floor), dt=1e-3)
    return sim.run(1.0, q0=[0, 0, 0.25, 0, 0, 0, 1])


def cells(path, count, width=WIDTH):
    """The pictures of a strip of one row."""
    image = matplotlib.image.imread(path)[..., :3]
    cell = (width - SIDE - (count - 1) * GAP) / count
    down = slice(round(ABOVE * plot.DPI) + 2, image.shape[0] - round(BELOW * plot.DPI) - 2)
    starts = [SIDE + k * (cell + GAP) for k in range(count)]
    side = round(cell * plot.DPI) - 4
    return [image[down, round(s * plot.DPI) + 2 :][:, :side] for s in starts]


def test_frames_of_a_falling_ball_differ_and_of_a_resting_one_do_not(ball, tmp_path):
    path = ball.film_strip(
        tmp_path / "fall.png", times=[0, 0.1, 0.8, 0.9], width=WIDTH, forces=False
    )
    high, lower, rest, still = cells(path, 4)
    assert np.abs(high - lower).max() > 0.3
    assert np.abs(lower - rest).max() > 0.3
    np.testing.assert_array_equal(rest, still)
    orange = [np.argwhere(frame[..., 0] - frame[..., 2] > 0.25)[:, 0] for frame in (high, rest)]
    assert orange[0].min() < orange[1].min() - 10  # it is higher up
    assert len(list(tmp_path.iterdir())) == 1  # nothing half-written beside it


def test_number_and_order_of_frames(ball, tmp_path):
    """A strip of six in two rows is about twice as high as one of three in a row."""
    one = matplotlib.image.imread(ball.film_strip(tmp_path / "one.png", frames=3, width=WIDTH))
    two = matplotlib.image.imread(
        ball.film_strip(tmp_path / "two.png", frames=6, columns=3, width=WIDTH)
    )
    assert one.shape[1] == two.shape[1] == WIDTH * plot.DPI
    below = round(BELOW * plot.DPI)
    assert abs((two.shape[0] - below) - 2 * (one.shape[0] - below)) <= 3
    rows = film_strip([ball, ball], tmp_path / "rows.png", frames=3, width=WIDTH, labels=["a", "b"])
    assert abs(matplotlib.image.imread(rows).shape[0] - two.shape[0]) <= 3


def test_ground_and_arrows_are_seen(ball, tmp_path):
    """Without ground all is white but the ball; an arrow is drawn where it rests."""
    still = ball.film_strip(tmp_path / "still.png", times=[0, 0.9], width=WIDTH)
    air, ground = cells(still, 2)
    arrow = np.array(matplotlib.colors.to_rgb(plot.COLOURS[1]))
    drawn = [np.all(np.abs(frame - arrow) < 0.02, axis=-1).sum() for frame in (air, ground)]
    assert drawn[0] == 0
    assert drawn[1] > 10
    bottom = air[-10:]
    assert bottom.max() < 0.99
    assert bottom.min() > 0.5
    free = hs.Simulator(hs.Scene(hs.load("ball"))).run(0.1)
    nothing = cells(free.film_strip(tmp_path / "free.png", frames=2, width=WIDTH), 2)[0]
    assert nothing[-3:].min() == 1.0


def test_few_colours_are_near_all_of_them(tmp_path):
    """A thousand greens and twenty pixels of an arrow's colour: none is lost."""
    figure, (ax,) = plot.figure(size=(2.0, 2.0))
    ax.set_position((0, 0, 1, 1))
    ax.set_axis_off()
    picture = np.zeros((300, 300, 3))
    picture[..., 1] = np.linspace(0, 1, 90_000).reshape(300, 300)
    picture[100, 100:120] = matplotlib.colors.to_rgb(plot.COLOURS[1])
    ax.imshow(picture, interpolation="none")
    saved = [plot.save(figure, tmp_path / f"{few}.png", few) for few in (False, True)]
    all_of_them, few = (matplotlib.image.imread(path)[..., :3] for path in saved)
    assert np.abs(all_of_them - few).max() < 0.06
    assert len(np.unique(few.reshape(-1, 3), axis=0)) <= 256


def test_a_recording_from_a_file_draws_the_same(ball, tmp_path):
    ball.save(tmp_path / "ball.nc")
    again = hs.Recording.load(tmp_path / "ball.nc")
    for k, run in enumerate((ball, again)):
        run.film_strip(tmp_path / f"{k}.png", frames=2, width=WIDTH)
    first, second = (matplotlib.image.imread(tmp_path / f"{k}.png") for k in range(2))
    np.testing.assert_array_equal(first, second)


STAND = {
    "urdf": """<robot name="stand"><link name="post">
  <visual><origin xyz="0 0 0.5"/><geometry><box size="0.2 0.2 1"/></geometry></visual>
  <collision><origin xyz="0 0 0.5"/><geometry><box size="0.2 0.2 1"/></geometry></collision>
</link><link name="arm"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
  <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
  <collision><geometry><sphere radius="0.1"/></geometry></collision>
</link><joint name="j" type="revolute"><origin xyz="0 0 1"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/><parent link="post"/><child link="arm"/>
</joint></robot>""",
    "xml": """<mujoco model="stand"><worldbody><body name="post"><freejoint/>
  <geom type="box" pos="0 0 0.5" size="0.1 0.1 0.5"/>
  <body name="arm" pos="0 0 1"><joint name="j" axis="0 1 0"/><geom size="0.1"/></body>
</body></worldbody></mujoco>""",
}
"""A ball on a post of 0.2 x 0.2 x 1 m."""


@pytest.mark.parametrize("ending", STAND)
def test_a_fixed_base_is_drawn_and_nothing_touches_it(ending, tmp_path):
    """Where it stands, by itself and as a part; the points are those of the ball."""
    path = tmp_path / f"stand.{ending}"
    path.write_text(STAND[ending])
    robot = hs.load(path, base="fixed", collide="all")
    assert {point.body for point in robot.points} == {0}
    for whole in (robot, hs.combine({"ball": hs.load("ball"), "stand": robot})):
        post = [s for body, s in robot_solids(whole) if body == WORLD]
        corners = np.vstack([s.vertices for s in post])
        assert corners.min(axis=0) == pytest.approx([-0.1, -0.1, 0])
        assert corners.max(axis=0) == pytest.approx([0.1, 0.1, 1])
        shown = place_solids(whole, robot_solids(whole), whole.neutral)
        assert np.vstack([s.vertices for s in shown])[:, 2].max() == pytest.approx(1.1, abs=2e-3)


def test_parts_that_were_combined_are_found_again():
    pair = hs.combine({"one": hs.load("cube"), "two": hs.load("ball")})
    again = reload(pair.source)
    assert [b.name for b in again.bodies] == [b.name for b in pair.bodies]
    assert [s.kind for s in again.shapes] == ["box", "sphere"]


def volume_and_centroid(vertices, triangles):
    """Sum of the tetrahedra from the origin to each triangle: exact for a closed surface."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    return volumes.sum(), (volumes[:, None] * (a + b + c)).sum(axis=0) / (4 * volumes.sum())


@pytest.mark.parametrize(
    ("kind", "size", "volume"),
    [
        ("box", [0.1, 0.2, 0.3], 8 * 0.006),
        ("sphere", [0.2], 4 / 3 * np.pi * 0.2**3),
        ("ellipsoid", [0.1, 0.2, 0.3], 4 / 3 * np.pi * 0.006),
        ("cylinder", [0.1, 0.4], np.pi * 0.01 * 0.8),
        ("capsule", [0.1, 0.4], np.pi * 0.01 * 0.8 + 4 / 3 * np.pi * 0.001),
    ],
)
def test_shapes_are_closed_and_look_outward(kind, size, volume):
    place = np.array([1.0, 2.0, 3.0])
    made = solid_of_shape(Shape("s", 0, kind, np.eye(3), place, np.array(size)), WHITE)
    found, centre = volume_and_centroid(made.vertices, made.triangles)
    # a circle of 40 sides lacks 1 - sin(2 pi / 40) / (2 pi / 40) = 0.4 % of its area; a ball 1.2 %
    assert found == pytest.approx(volume, rel=0.015)
    np.testing.assert_allclose(centre, place, atol=1e-9)
    outward = made.vertices[made.triangles].mean(axis=1) - place
    assert (np.einsum("ij,ikj->ik", outward, made.normals) > 0).all()


def test_normals_are_round_on_a_ball_and_sharp_on_a_box():
    ball = solid_of_shape(Shape("s", 0, "sphere", np.eye(3), np.zeros(3), np.array([1.0])), WHITE)
    exact = ball.vertices[ball.triangles]
    np.testing.assert_allclose(ball.normals, exact, atol=0.03)  # weighted by area: not exact
    normals = corner_normals(*box(np.array([0.1, 0.2, 0.3])))
    assert np.all(np.sort(np.abs(normals), axis=-1) == [0, 0, 1])


def test_camera_holds_everything_and_projects_as_its_rays_go():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(200, 3)) * [0.5, 0.3, 1.0] + [3, 2, 1]
    for camera in (Camera(), Camera(azimuth=200, elevation=60, angle=50)):
        view = fit_camera(camera, places)
        seen = view.project(places)
        assert np.abs(seen[:, 0]).max() < 1
        assert np.abs(seen[:, 1]).max() < view.ratio
        largest = max(np.abs(seen[:, 0]).max(), np.abs(seen[:, 1]).max() / view.ratio)
        assert largest > 0.85  # and no smaller than it need be
        across, down = 40, round(40 * view.ratio)
        rays = view.rays(across, down).reshape(down, across, 3)
        at = view.project(view.position + 2.0 * rays[3, 7])[0]
        wanted = ((7 + 0.5) / across * 2 - 1, view.ratio * (1 - (3 + 0.5) / down * 2))
        np.testing.assert_allclose(at, wanted, atol=1e-5)  # single precision


def test_a_shadow_falls_on_the_floor():
    """A board hides the sun from the middle of a floor; without it that place is lighter."""
    floor = solid(box(np.array([2.0, 2.0, 0.01])), WHITE)
    board = solid(box(np.array([0.5, 0.5, 0.01])), WHITE).moved(np.eye(3), np.array([0, 0, 0.4]))
    view = fit_camera(Camera(elevation=15), np.vstack([floor.vertices, board.vertices]))
    pictures = [render(solids, view, 200) for solids in ([floor], [floor, board])]
    x, y = view.project(np.array([0.0, 0.0, 0.01]))[0]
    row = int((1 - y / view.ratio) / 2 * pictures[0].shape[0])
    column = int((1 + x) / 2 * pictures[0].shape[1])
    assert pictures[1][row, column].max() <= SKY ** (1 / GAMMA)  # of the sky at most all
    assert pictures[0][row, column].min() > 0.95  # both, on white
    assert pictures[0].min() >= 0
    assert pictures[0].max() <= 1


def test_bodies_without_anything_to_see_are_rods():
    """hoap1 without its shapes: rods to all joints that are off their parent's, ankles to neck."""
    robot = replace(hs.load("hoap1", collide="feet"), shapes=())
    solids = robot_solids(robot)
    reaching = {j.parent for j in robot.joints if j.parent >= 0 and j.translation.any()}
    assert reaching <= {body for body, _ in solids}
    heights = np.vstack([s.vertices for s in place_solids(robot, solids, robot.pose("stance"))])[
        :, 2
    ]
    assert 0 < heights.min() < 0.05
    assert 0.35 < heights.max() < 0.48


KINDS = [
    ({"kind": "Box", "size": [0.2, 0.4, 0.6]}, (-0.3, 0.3)),
    ({"kind": "Sphere", "radius": 0.3}, (-0.3, 0.3)),
    ({"kind": "Treadmill", "size": [2, 1, 0.2], "direction": [0, 2], "incline": 0.0}, (-0.2, 0.0)),
    (
        {"kind": "Stairs", "rise": 0.1, "run": 0.3, "count": 3, "width": 1, "landing": 0.5}
        | {"direction": [1, 0]},
        (0.0, 0.3),
    ),
    ({"kind": "HeightField", "heights": [[0, 1], [2, 3]], "size": [1, 1], "scale": 0.1}, (0, 0.3)),
]


@pytest.mark.parametrize(("surface", "heights"), KINDS, ids=lambda v: str(v)[:20])
def test_surfaces_reach_from_where_to_where(surface, heights):
    shown = [{"name": "s", "body": None, "point": [5.0, 0, 1.0], **surface}]
    places = small_surface_points(shown, np.array([[0.0, 0, 0], [9, 9, 9]]))
    np.testing.assert_allclose([places[:, 2].min(), places[:, 2].max()], np.array(heights) + 1.0)
    view = fit_camera(Camera(), places)
    robot = hs.load("ball")
    assert surface_solids(shown, robot, robot.pose("stance"), view)


def test_mistakes_are_sentences(ball, tmp_path, monkeypatch):
    def refused(match, *args, **options):
        with pytest.raises(hs.HeelstrikeError, match=match):
            film_strip(*args, **options)

    path = tmp_path / "x.png"
    refused("nothing to draw; pass at least one recording", [], path)
    refused("frames is 0; allowed: integers from 1", ball, path, frames=0)
    refused("allowed: times between 0 and 1 s", ball, path, times=[3.0])
    refused("columns is 0; allowed: integers from 1", ball, path, columns=0)
    refused("2 labels for 1 recordings", ball, path, labels=["a", "b"])
    refused("unknown picture format 'jpgg'", ball, tmp_path / "x.jpgg")
    refused("world is 4; allowed: 0 to 0", ball, path, world=4)
    refused(
        "27 coordinates, but the recording has 7",
        ball,
        path,
        robot=hs.load("hoap1", collide="feet"),
    )
    final = hs.Simulator(hs.Scene(hs.load("ball"))).run(0.01, record="final")
    refused("holds no q over time, .* run with record='standard'", final, path)
    lost = hs.Recording(ball.data.copy())
    lost.data.attrs.pop("robot_source")
    refused("does not say where 'ball' was loaded from", lost, path)
    kept = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("embreex"):
            raise ImportError(name)
        return kept(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    refused("need embreex, which is not installed; run pip install embreex", ball, path, frames=1)
    assert not list(tmp_path.iterdir())


def test_drawing_packages_are_imported_where_they_are_used():
    code = """
import sys, heelstrike as hs
hs.load("hoap1", collide="feet")
sys.exit(bool({"embreex", "matplotlib"} & set(sys.modules)))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


URDF = """<robot name="one"><material name="paint"><color rgba="1 0.5 0 1"/></material>
<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<visual><geometry><mesh filename="wedge.obj" scale="2 2 -2"/></geometry>
<material name="paint"/></visual>
<visual><geometry><mesh filename="nowhere.stl"/></geometry></visual>
<collision><geometry><box size="1 1 1"/></geometry></collision></link></robot>"""
MJCF = """<mujoco><asset><material name="paint" rgba="1 0.5 0 1"/>
<mesh file="wedge.obj" scale="2 2 -2"/></asset>
<worldbody><body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<geom type="mesh" mesh="wedge" contype="0" conaffinity="0" material="paint" group="2"/>
<geom type="box" size=".5 .5 .5" group="3"/></body></worldbody></mujoco>"""
WEDGE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.mark.parametrize(("name", "text"), [("one.urdf", URDF), ("one.xml", MJCF)])
def test_meshes_that_are_only_to_be_seen_are_kept_and_read_late(name, text, tmp_path):
    """A mirrored tetrahedron of volume 8/6: painted, outward; the box is not seen."""
    (tmp_path / name).write_text(text)
    (tmp_path / "wedge.obj").write_text(WEDGE)
    robot = hs.load(tmp_path / name)
    mesh, box_ = robot.shapes
    assert (mesh.kind, mesh.collides, mesh.visible, mesh.vertices) == ("mesh", False, True, None)
    assert mesh.colour == (1, 0.5, 0, 1)
    assert (box_.kind, box_.collides, box_.visible) == ("box", True, False)
    ((_, solid_),) = robot_solids(robot)
    assert volume_and_centroid(solid_.vertices, solid_.triangles)[0] == pytest.approx(8 / 6)
    assert solid_.colour == (1, 0.5, 0)
    (tmp_path / "wedge.obj").write_text("no mesh")
    ((_, left),) = robot_solids(robot)  # the box instead
    assert volume_and_centroid(left.vertices, left.triangles)[0] == pytest.approx(1.0)
