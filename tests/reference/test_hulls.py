"""Hulls of many corners: farthest corners by tables, distances between bodies, rest on the ground.

Oracles: products with all corners; coal (GJK and EPA) for distances; MuJoCo for the pose of rest,
and the weight for the forces in it.
"""

from __future__ import annotations

from pathlib import Path

import coal
import mujoco
import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs
from heelstrike.contact.geometry import Convex, contact_points
from heelstrike.contact.geometry.cells import CellTable
from heelstrike.contact.geometry.convex import PlacedCorners
from heelstrike.ir.table import table
from heelstrike.measure.peer.model import handed_over
from heelstrike.robot.hull_cells import ACROSS, hull_cells
from heelstrike.robot.mesh import hull, read_mesh
from heelstrike.robot.mjcf_model import rotation
from heelstrike.simulate.start import contacts_at
from heelstrike.spatial.vector import SX

GENERATOR = np.random.default_rng(3)
LEVEL = np.array([[x, y, 0.0] for x in (-1, 1) for y in (-1, 1)]), [[0, 2, 3], [0, 3, 1]]
"""Vertices and triangles of level ground."""


def egg(count: int = 300) -> np.ndarray:
    """Corners of a smooth hull of 0.3 m, one end of which is cut off flat."""
    ball = np.random.default_rng(0).normal(size=(count, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    ball[:, 2] = np.maximum(ball[:, 2], -0.6)
    return hull(ball * [0.15, 0.1, 0.07])[0]


def disc() -> np.ndarray:
    """Corners of a thin prism with 60 sides: two faces of 60 corners each."""
    angle = 2 * np.pi * np.arange(60) / 60
    rim = 0.1 * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([np.column_stack([rim, np.full(60, z)]) for z in (-0.01, 0.01)])


@pytest.mark.parametrize("vertices", [egg(), disc(), egg(40) * [1, 1, 0], egg()[:2]])
def test_farthest_corners(vertices):
    """No corner of the hull is farther along a direction by more than the stated error."""
    cells = hull_cells(vertices)
    directions = GENERATOR.normal(size=(20_000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    found = np.einsum("ij,ij->i", cells.farthest(directions), directions)
    missed = (directions @ vertices.T).max(axis=1) - found
    assert missed.min() > -1e-15
    # the error is that of 41 directions of each cell: between them it may be larger, twice as large
    # for flat sets, whose cells have no arcs
    assert missed.max() < 2.5 * cells.error + 1e-4 * np.ptp(vertices, axis=0).max()
    assert cells.error < 0.005 * np.ptp(vertices, axis=0).max()


def distances(vertices: np.ndarray, poses: list[pin.SE3]) -> np.ndarray:
    """Return the depths of a hull by its table in a placed copy of itself [m]."""
    p, cells = hs.Program("hulls"), hull_cells(vertices)
    turn, offset = p.input("turn", 9), p.input("offset", 3)
    rows = CellTable(table(p, "cells", ACROSS**2, cells.rows[0].size), ACROSS)
    size = SX(np.linalg.norm(vertices - vertices[0], axis=1).max())
    shapes = []
    with p.block("shapes"):
        for R, at in ((SX.eye(3), SX.zeros(3)), (turn.reshape((3, 3)), offset)):
            corners = PlacedCorners(rows, SX(0), p.let("turn", R), p.let("offset", at), size)
            ends = p.let("ends", R @ SX(vertices[:2].T) + at)
            shapes.append(Convex(ends, corners=corners))
    points = contact_points(p, shapes[1], shapes[0], 1)
    with p.block("out"):
        p.output("depth", points[0].depth)
    kernel = hs.compile_program(p)
    turns = np.array([pose.rotation.ravel(order="F") for pose in poses])
    places = np.array([pose.translation for pose in poses])
    rows = cells.rows.reshape(ACROSS**2, -1)
    return np.asarray(kernel(turn=turns, offset=places, cells=rows)["depth"])[:, 0]


@pytest.mark.parametrize("vertices", [egg(), disc()])
def test_distances_are_those_of_coal(vertices):
    """Shapes apart and up to a quarter of their size inside one another."""
    poses = []
    for _ in range(300):
        pose = pin.SE3.Random()
        direction = pose.translation / np.linalg.norm(pose.translation)
        pose.translation = direction * GENERATOR.uniform(0.05, 0.4)
        poses.append(pose)
    corners, triangles = hull(vertices)
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for corner in corners:
        points.append(corner)
    for triangle in triangles.tolist():
        faces.append(coal.Triangle(*triangle))
    solid = coal.Convex(points, faces)
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    expected = []
    for pose in poses:
        placed = coal.Transform3s(pose.rotation, pose.translation)
        ends = solid, placed, solid, coal.Transform3s.Identity()
        expected.append(-coal.distance(*ends, request, coal.DistanceResult()))
    found, expected = distances(vertices, poses), np.array(expected)
    allowed = 3 * hull_cells(vertices).error + 1e-6  # of both shapes; see the test above
    near = expected < 0.03
    assert near.sum() > 150
    assert (near & (expected > 0)).sum() > 10
    assert np.abs(found - expected)[near].max() < allowed
    # deeper overlaps may end at another minimum, as those of few corners do (docs/shapes.md)
    assert (np.abs(found - expected) > allowed).mean() < 0.02


def xml(vertices: np.ndarray) -> str:
    """Return a model of a hull that falls on a floor."""
    numbers = " ".join(f"{x:.17g}" for x in vertices.ravel())
    return f"""<mujoco><option timestep="0.002"/>
      <asset><mesh name="hull" vertex="{numbers}"/></asset>
      <worldbody><geom type="plane" size="2 2 1"/>
        <body pos="0 0 0.4"><freejoint/>
          <geom type="mesh" mesh="hull" density="1000"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    "law", [hs.Elastic(hs.HuntCrossley(k=2e4)), hs.Rigid()], ids=["elastic", "rigid"]
)
def test_a_hull_comes_to_rest_as_in_mujoco(tmp_path, law):
    """An egg that is dropped on its flat end tilted by 0.2 rad lies on that end, at its height."""
    path = tmp_path / "egg.xml"
    path.write_text(xml(egg()))
    model = mujoco.MjModel.from_xml_string(path.read_text())
    robot = hs.load(path)
    assert robot.points[0].hull is not None
    assert len(robot.points) == 4
    assert not robot.fidelity
    q0 = np.array([0, 0, 0.15, 0, np.sin(0.1), 0, np.cos(0.1)])
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law, name="floor")))
    run = sim.run(3.0, q0=q0)
    last = run.data.isel(world=0, time=-1)
    data = mujoco.MjData(model)
    data.qpos[:] = [*q0[:3], q0[6], *q0[3:6]]
    for _ in range(1500):
        mujoco.mj_step(model, data)
    # MuJoCo rests about 0.3 mm deep, the elastic law weight / 4 k = 0.1 mm
    assert abs(last["q"].values[2] - data.qpos[2]) < 1.5e-3
    up = [
        pin.XYZQUATToSE3(q).rotation[2, 2]
        for q in (last["q"].values, [0, 0, 0, *data.qpos[4:], data.qpos[3]])
    ]
    assert min(up) > 1 - 1e-4
    weight = 9.81 * robot.mass
    assert abs(last["force"].values[:, 2].sum() - weight) < 0.01 * weight


def test_a_hull_is_handed_over_as_a_mesh(tmp_path):
    """MuJoCo lays the scene's hull on its flat end as it does with the file's own."""
    path = tmp_path / "egg.xml"
    path.write_text(xml(egg()))
    q0 = np.array([0, 0, 0.15, 0, np.sin(0.1), 0, np.cos(0.1)])
    heights = []
    scene = hs.Scene(hs.load(path), hs.Plane(name="floor"))
    for model in (
        mujoco.MjModel.from_xml_string(path.read_text()),
        handed_over(scene, 2e-3, q0),
    ):
        data = mujoco.MjData(model)
        data.qpos[:] = [*q0[:3], q0[6], *q0[3:6]]
        for _ in range(1500):
            mujoco.mj_step(model, data)
        assert data.ncon > 0
        heights.append(data.qpos[2])
    assert abs(heights[0] - heights[1]) < 1e-4


def test_depths_in_any_pose(tmp_path):
    """The deepest contact point is the lowest corner of the hull, to its tolerance of 1 %."""
    path = tmp_path / "egg.xml"
    path.write_text(xml(egg()))
    robot = hs.load(path)
    scene = hs.Scene(robot, hs.Plane(hs.Elastic(), name="floor"))
    sim = hs.Simulator(scene, worlds=200)
    turns = [pin.Quaternion(pin.SE3.Random().rotation) for _ in range(200)]
    q = np.array([[0, 0, 0.5, x.x, x.y, x.z, x.w] for x in turns])
    shape = next(shape for shape in robot.shapes if shape.vertices is not None)
    body = shape.vertices @ shape.rotation.T + shape.translation
    run = sim.run(steps=1, q0=q, record=["depth"])
    depths = run.data["depth"].values[:, 0]
    lowest = np.array([(body @ x.matrix()[2]).min() + 0.5 for x in turns])
    missed = -depths.max(axis=1) - lowest
    assert missed.min() > -1e-9
    assert missed.max() < 0.003  # 1 % of 0.3 m; measured 4e-5


def test_a_corner_with_many_neighbours(tmp_path):
    """Two cones of 400 sides load, though coal takes no corner with more than 255 neighbours."""
    angle = 2 * np.pi * np.arange(400) / 400
    rim = np.column_stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), 0 * angle])
    numbers = " ".join(f"{x:.9g}" for x in [*rim.ravel(), 0, 0, 0.1])
    bodies = "".join(
        f'<body pos="{x} 0 1"><freejoint/><geom type="mesh" mesh="cone"/></body>' for x in (0, 0.15)
    )
    path = tmp_path / "cones.xml"
    path.write_text(
        f"""<mujoco><asset><mesh name="cone" vertex="{numbers}"/></asset>
        <worldbody>{bodies}</worldbody></mujoco>"""
    )
    with pytest.warns(hs.HeelstrikeWarning, match="overlap"):
        robot = hs.load(path)
    assert len(robot.self_pairs) == 1
    assert robot.overlapping == robot.self_pairs


def test_mujoco_format(tmp_path):
    """Vertices of an .msh, MuJoCo's own format, are those that MuJoCo reads; a short file is not
    read.
    """
    path = Path(mujoco.__file__).parent / "testdata" / "abdomen_1_body.msh"
    text = f'<mujoco><asset><mesh name="m" file="{path}"/></asset></mujoco>'
    m = mujoco.MjModel.from_xml_string(text)
    placed = pin.SE3(rotation(m.mesh_quat[0]), np.array(m.mesh_pos[0]))
    theirs = np.array([placed.act(np.array(v, dtype=float)) for v in m.mesh_vert])
    ours, triangles = read_mesh(path)
    # MuJoCo joins vertices that are equal; float32 of a mesh of 0.1: 1e-8
    size = np.abs(theirs).max()
    for one, other in ((ours, theirs), (theirs, ours)):
        nearest = [np.abs(other - v).max(axis=1).min() for v in one]
        assert max(nearest) < 1e-6 * size
    assert len(triangles) == m.nmeshface
    cut = tmp_path / "cut.msh"
    cut.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match="its size"):
        read_mesh(cut)


SLOPE = 0.3


def grounds(law: hs.SurfaceLaw) -> dict[str, tuple[hs.Surface, np.ndarray, float]]:
    """Return surfaces that are flat where the egg is, their normals, and the height at x = 0."""
    level, tilted = np.array([0, 0, 1.0]), np.array([-SLOPE, 0, 1.0]) / np.hypot(1, SLOPE)
    heights = SLOPE * np.linspace(-1, 1, 21)[:, None] + np.zeros(21)
    corners = np.array([[x, y, SLOPE * x] for x in (-1, 1) for y in (-1, 1)])
    return {
        "box": (hs.Box(law, "floor", point=(0, 0, -0.5), size=(2, 2, 1)), level, 0),
        "stairs": (hs.Stairs(law, "floor", point=(-1, 0, -0.2), rise=0.2, run=2), level, 0),
        "field": (hs.HeightField(law, "floor", heights=heights, size=(2, 2)), tilted, 0),
        "mesh": (hs.Mesh(law, "floor", mesh=(corners, [[0, 2, 3], [0, 3, 1]])), tilted, 0),
    }


@pytest.mark.parametrize("name", ["box", "stairs", "field", "mesh"])
def test_depths_on_ground_that_is_no_plane(tmp_path, name):
    """Where ground is flat, the deepest contact point is the deepest of all corners; few corners
    alone miss it by millimetres."""
    path = tmp_path / "egg.xml"
    path.write_text(xml(egg()))
    robot = hs.load(path)
    surface, normal, _ = grounds(hs.Elastic())[name]
    scene = hs.Scene(robot, surface, edges=False)
    sim = hs.Simulator(scene, worlds=200)
    shape = next(shape for shape in robot.shapes if shape.vertices is not None)
    body = shape.vertices @ shape.rotation.T + shape.translation
    turns = [pin.Quaternion(pin.SE3.Random().rotation) for _ in range(200)]
    reach = np.array([(body @ x.matrix().T @ normal).min() for x in turns])
    up = (-1e-3 - reach) / normal[2]  # the deepest corner is 1 mm deep
    q = np.array([[0, 0, z, x.x, x.y, x.z, x.w] for z, x in zip(up, turns, strict=True)])
    run = sim.run(steps=1, q0=q, record=["depth"])
    depths = run.data["depth"].isel(time=0).values
    few = [".corner" in str(point) for point in run.data["point"].values]
    missed = 1e-3 - depths.max(axis=1)
    assert missed.min() > -1e-9
    assert missed.max() < 5e-4  # as on a plane
    assert (1e-3 - depths[:, few].max(axis=1)).max() > 0.005
    # what the checks of a start read
    assert np.allclose(contacts_at(scene, q[0])[0].max(), depths[0].max(), atol=1e-12)


@pytest.mark.parametrize("name", ["box", "mesh"])
def test_a_hull_rests_on_other_ground_as_on_a_plane(tmp_path, name):
    """The egg that is dropped on its flat end comes to rest as MuJoCo's on a plane, on `Rigid`."""
    path = tmp_path / "egg.xml"
    path.write_text(xml(egg()))
    robot, law = hs.load(path), hs.Rigid()
    surface = hs.Mesh(law, "floor", mesh=LEVEL) if name == "mesh" else grounds(law)["box"][0]
    q0 = np.array([0, 0, 0.15, 0, np.sin(0.1), 0, np.cos(0.1)])
    last = hs.Simulator(hs.Scene(robot, surface)).run(3.0, q0=q0).data.isel(world=0, time=-1)
    model = mujoco.MjModel.from_xml_string(path.read_text())
    data = mujoco.MjData(model)
    data.qpos[:] = [*q0[:3], q0[6], *q0[3:6]]
    for _ in range(1500):
        mujoco.mj_step(model, data)
    assert abs(last["q"].values[2] - data.qpos[2]) < 1.5e-3
    assert pin.XYZQUATToSE3(last["q"].values).rotation[2, 2] > 1 - 1e-4
    assert np.abs(last["v"].values).max() < 1e-3


def test_depths_on_waves(tmp_path):
    """On ground with waves of 1.6 m no corner of the hull is deeper than the deepest contact point;
    few corners alone miss by 1 % of its size and more."""
    path = tmp_path / "egg.xml"
    path.write_text(xml(egg()))
    robot = hs.load(path)
    x = np.linspace(-1, 1, 201)
    heights = 0.02 * np.sin(4 * x)[:, None] * np.cos(3 * x)
    ground = hs.HeightField(hs.Elastic(), "floor", heights=heights, size=(2, 2))
    sim = hs.Simulator(hs.Scene(robot, ground), worlds=200)
    turns = [pin.Quaternion(pin.SE3.Random().rotation) for _ in range(200)]
    at = GENERATOR.uniform(-0.5, 0.5, (200, 2))
    q = np.array([[*xy, 0.18, t.x, t.y, t.z, t.w] for xy, t in zip(at, turns, strict=True)])
    shape = next(shape for shape in robot.shapes if shape.vertices is not None)
    body = shape.vertices @ shape.rotation.T + shape.translation
    run = sim.run(steps=1, q0=q, record=["depth"])
    depths = run.data["depth"].isel(time=0).values
    few = [".corner" in str(point) for point in run.data["point"].values]
    exact = []
    for own, turn in zip(q, turns, strict=True):
        px, py, pz = (body @ turn.matrix().T + own[:3]).T
        rise = 0.08 * np.cos(4 * px) * np.cos(3 * py), -0.06 * np.sin(4 * px) * np.sin(3 * py)
        above = pz - 0.02 * np.sin(4 * px) * np.cos(3 * py)
        exact.append((-above / np.sqrt(1 + rise[0] ** 2 + rise[1] ** 2)).max())
    missed = np.array(exact) - depths.max(axis=1)
    assert missed.max() < 5e-4  # measured 1e-6
    assert (np.array(exact) - depths[:, few].max(axis=1)).max() > 0.005
