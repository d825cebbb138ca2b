"""Ground of triangles.

Oracles: the signed distance of a box in closed form, and a plane, which a flat mesh of 9,800
triangles must equal: nothing is felt where two triangles of a plane meet. Under an overhang the
ground is above.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import heelstrike as hs
from heelstrike.codegen.cuda.ptx import make_ptx
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program
from heelstrike.step.step import step_program
from heelstrike.step.surfaces import with_symbols

LAWS = {
    "rigid": hs.Rigid(),
    "elastic": hs.Elastic(hs.LinearSpring(k=2e4, c=100, damping="both"), hs.Bristle()),
}
PLACE = np.array([0.1, 0.2, 0.3])
HALF = np.array([0.3, 0.2, 0.1])


def box_mesh(half):
    """Return a box of twelve triangles."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    hull = ConvexHull(corners)
    triangles = hull.simplices.copy()
    for k, (a, b, c) in enumerate(corners[triangles]):
        if np.cross(b - a, c - a) @ hull.equations[k, :3] < 0:
            triangles[k] = triangles[k, ::-1]
    return corners, triangles


def sheet(heights, size, rng=None):
    """Return a sheet of triangles over a square; `rng` moves its vertices sideways."""
    n = len(heights)
    x = np.linspace(-size / 2, size / 2, n)
    vertices = np.stack([*np.meshgrid(x, x, indexing="ij"), heights], axis=-1).reshape(-1, 3)
    if rng is not None:
        vertices[:, :2] += rng.uniform(-0.2, 0.2, (n * n, 2)) * size / n
    i = np.arange(n * n).reshape(n, n)
    a, b, c, d = i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]
    faces = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)]).reshape(-1, 3)
    return vertices, faces


def box_distance(places):
    beyond = np.abs(places) - HALF
    return np.linalg.norm(np.maximum(beyond, 0), axis=1) + np.minimum(beyond.max(axis=1), 0)


def test_distance_in_numbers():
    mesh = hs.Mesh(mesh=box_mesh(HALF), point=PLACE)
    places = np.random.default_rng(0).uniform(-0.5, 0.5, (300, 3))
    found = [float(mesh.depth_and_axes(place + PLACE, 0.05)[0]) for place in places]
    np.testing.assert_allclose(found, 0.05 - box_distance(places), atol=1e-14)


@pytest.mark.parametrize(("dtype", "within"), [("float64", 1e-15), ("float32", 1e-6)])
def test_distance_and_normal_as_compiled(dtype, within):
    """Also inside, on edges and corners, and beyond the reach, where nothing touches."""
    mesh = hs.Mesh(mesh=box_mesh(HALF), reach=0.25)
    p = Program("mesh")
    x = p.input("x", 3)
    with p.block("place"):
        place = p.let("place", 1.0 * x)
    near = with_symbols(p, mesh, {}).search(p, place)
    with p.block("depth"):
        depth, axes = near.depth_and_axes(place)
        p.output("depth", depth)
        p.output("normal", axes[2, :].T)
    rng = np.random.default_rng(0)
    places = rng.uniform(-0.5, 0.5, (4000, 3))
    places[:50] = HALF * rng.choice([-1, 1], (50, 3)) * rng.choice([1, 1, 0.5], (50, 3))
    tables = {f"ground.{name}": table for name, table in mesh.tables().items()}
    found = compile_program(p, dtype=dtype)(x=places, **tables)
    distance = box_distance(places)
    near = distance < 0.25 - within
    np.testing.assert_allclose(found["depth"][near, 0], -distance[near], atol=within)
    assert (found["depth"][~near] <= -0.25 + within).all()
    moved = places - 1e-3 * found["normal"]  # against the normal the depth grows
    deeper = box_distance(moved) - distance
    outside = near & (distance > 1e-2)
    np.testing.assert_allclose(deeper[outside], -1e-3, atol=1e-3 * 1e-4 if within < 1e-9 else 1e-6)


@pytest.mark.parametrize("law", LAWS)
def test_ball_rolls_over_a_flat_mesh_as_over_a_plane(law):
    robot, rng = hs.load("ball"), np.random.default_rng(0)
    radius = robot.points[0].radius
    q0, v0 = [-1.4, -0.9, radius, 0, 0, 0, 1], [1.0, 0.4, 0, -0.4 / radius, 1.0 / radius, 0]
    paths = []
    for ground in (
        hs.Mesh(LAWS[law], mesh=sheet(np.zeros((71, 71)), 5.0, rng)),
        hs.Plane(LAWS[law]),
    ):
        sim = hs.Simulator(hs.Scene(robot, ground), dt=1e-3)
        paths.append(sim.run(2.0, q0=q0, v0=v0).data["q"].values[0])
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-12)
    across = (paths[0][-1, :2] - q0[:2]) @ [-0.4, 1.0]
    assert abs(across) < 1e-9  # m: it keeps its direction


@pytest.mark.nightly
def test_robot_stands_on_two_triangles_as_on_a_plane():
    robot = hs.load("hoap1", collide="feet")
    square = np.array([[-3.0, -3, 0], [3, -3, 0], [3, 3, 0], [-3, 3, 0]])
    ends = []
    for ground in (
        hs.Mesh(hs.Rigid(), mesh=(square, np.array([[0, 1, 2], [0, 2, 3]]))),
        hs.Plane(hs.Rigid()),
    ):
        sim = hs.Simulator(hs.Scene(robot, ground), dt=1e-3, control=hs.Servo())
        ends.append(sim.run(0.2, q0=robot.pose("stance")).data["q"].values)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)


def test_overhang_stops_from_below():
    """A ball is thrown up under a slab, and falls back; one dropped from above lies on the slab."""
    robot = hs.load("ball")
    radius = robot.points[0].radius
    slab = hs.Mesh(hs.Rigid(), "slab", mesh=box_mesh(HALF), point=(0, 0, 0.5))
    sim = hs.Simulator(hs.Scene(robot, slab, hs.Plane(hs.Rigid(), "floor")), dt=1e-3)
    start = [[0, 0, 0.2, 0, 0, 0, 1], [0.1, 0, 0.8, 0, 0, 0, 1]]
    velocity = [[0, 0, 4.0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]
    height = sim.run(1.0, worlds=2, q0=start, v0=velocity).data["q"].values[:, :, 2]
    assert height[0].max() == pytest.approx(0.4 - radius, abs=4e-3)  # of a step at 4 m/s
    assert height[0, -1] == pytest.approx(radius, abs=3e-3)
    assert height[1, -1] == pytest.approx(0.6 + radius, abs=3e-3)  # of a step at 2 m/s


def test_cube_slides_down_a_mesh_as_down_a_slope():
    slope, side = 0.5, np.linspace(-2, 2, 21)
    heights = np.broadcast_to(-slope * side[:, None], (21, 21))
    law = hs.Rigid(friction=hs.Coulomb(0.2, 0.2))
    ends = []
    tilt = np.arctan(slope)
    for ground in (
        hs.Mesh(law, mesh=sheet(heights, 4.0)),
        hs.Plane(law, normal=(slope, 0, 1)),
    ):
        robot = hs.load("cube")
        lift = 0.5 * 0.1 / np.cos(tilt) + 0.05
        q0 = [-1.2, 0, 1.2 * slope + lift, 0, np.sin(tilt / 2), 0, np.cos(tilt / 2)]
        sim = hs.Simulator(hs.Scene(robot, ground), dt=1e-3)
        ends.append(sim.run(0.8, q0=q0).data["q"].values[0, -1])
    assert ends[1][0] > -0.9
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-8)


@pytest.mark.nightly
def test_bits_do_not_depend_on_lanes_and_a_gpu_has_a_kernel():
    robot, law = hs.load("hoap1", collide="feet"), LAWS["elastic"]
    scene = hs.Scene(robot, hs.Mesh(law, mesh=sheet(np.zeros((5, 5)), 2.0)))
    starts = np.tile(robot.pose("stance"), (9, 1))
    starts[:, 2] += np.linspace(-1e-3, 1e-3, 9)
    together = hs.Simulator(scene, dt=1e-3).run(steps=50, worlds=9, q0=starts).data["q"].values
    alone = hs.Simulator(scene, dt=1e-3)
    for k, start in enumerate(starts):
        assert np.array_equal(alone.run(steps=50, q0=start).data["q"].values[0], together[k])
    assert make_ptx(step_program(alone.plan), []).tiles == 2  # a thread per world


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"mesh": ()}, "vertices (n, 3) and triangles (m, 3)"),
        ({"mesh": "nowhere.stl"}, "no such file"),
        ({"mesh": __file__}, "cannot read a mesh"),
        ({"mesh": (np.eye(3), np.array([[0, 1, 3]]))}, "numbers from 0"),
        ({"mesh": (np.eye(3), np.array([[0, 1, 1]]))}, "with an area"),
        ({"mesh": (np.full((3, 3), np.nan), np.array([[0, 1, 2]]))}, "finite"),
        ({"mesh": (np.eye(3), np.full((1, 3), 0.5))}, "vertices (n, 3)"),
        ({"mesh": box_mesh(HALF), "scale": 0}, "scale"),
    ],
)
def test_errors(wrong, told):
    with pytest.raises(hs.HeelstrikeError, match=re.escape(told)):
        hs.Mesh(**wrong)


def test_reach_must_exceed_radii():
    with pytest.raises(hs.HeelstrikeError, match="more than the radius of its contact points"):
        hs.Scene(hs.load("ball"), hs.Mesh(mesh=box_mesh(HALF), reach=0.01))


def test_scene_file_names_a_mesh(tmp_path):
    vertices, faces = sheet(np.zeros((3, 3)), 4.0)
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + [
        "f " + " ".join(str(i + 1) for i in face) for face in faces
    ]
    (tmp_path / "ground.obj").write_text("\n".join(lines))
    text = '[[robot]]\nmodel = "cube"\n[[surface]]\ntype = "mesh"\nmesh = "ground.obj"\n'
    (tmp_path / "scene.toml").write_text(text)
    made = hs.load_scene(tmp_path / "scene.toml")
    assert made.scene.surfaces[0].grid.most > 0


def test_gap_is_a_lower_bound():
    mesh = hs.Mesh(mesh=box_mesh(HALF), point=PLACE)
    places = np.random.default_rng(0).uniform(-1, 1, (500, 3))
    gaps = np.array([float(mesh.gap(place + PLACE)) for place in places])
    assert (gaps <= np.maximum(box_distance(places), 0) + 1e-12).all()
    assert gaps.max() > 0.5
