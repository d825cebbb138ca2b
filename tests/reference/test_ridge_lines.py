"""Boxes, cylinders and hulls on ridges of random ground, between their own contact points.

Oracles: coal's distance of the shape from the ground's triangles, for poses half a millimetre above
the ground and moved a millimetre into it along coal's normal; a roof, on which statics are known;
MuJoCo for a plank on a height field. Heights are sums f(x) + g(y), which are flat in each cell, so
that the height field and coal's triangles are the same ground.
"""

from __future__ import annotations

from pathlib import Path

import coal
import mujoco
import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs

GAP, DEEP = 5e-4, 1e-3
SIZE, WIDE = (0.15, 0.1, 0.05), 2.0
RIGID = hs.Rigid(friction=hs.Coulomb(mu_s=0.8, mu_k=0.8))
CORNERS = np.random.default_rng(3).normal(size=(16, 3))
CORNERS *= np.array(SIZE) / np.linalg.norm(CORNERS, axis=1)[:, None]
VERTICES = " ".join(f"{x:.9f}" for x in CORNERS.ravel())
GEOMS = {
    "box": f'type="box" size="{SIZE[0]} {SIZE[1]} {SIZE[2]}"',
    "cylinder": 'type="cylinder" size="0.06 0.15"',
    "hull": 'type="mesh" mesh="hull"',
}


def body(kind: str, folder: Path) -> hs.Robot:
    """Return a free body of 1 kg."""
    asset = f'<asset><mesh name="hull" vertex="{VERTICES}"/></asset>' if kind == "hull" else ""
    path = folder / f"{kind}.xml"
    path.write_text(
        f'<mujoco>{asset}<worldbody><body name="{kind}"><freejoint/>'
        f'<geom name="{kind}" {GEOMS[kind]} mass="1"/></body></worldbody></mujoco>'
    )
    return hs.load(path)


def triangles(heights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a square grid of heights as vertices and triangles."""
    n = len(heights)
    x, y = np.meshgrid(*2 * [np.linspace(-WIDE / 2, WIDE / 2, n)], indexing="ij")
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    faces = [[corner, corner + n, corner + n + 1], [corner, corner + n + 1, corner + 1]]
    vertices = np.stack([x, y, heights], axis=-1).reshape(-1, 3)
    return vertices, np.concatenate([np.stack(own, axis=1) for own in faces])


def in_coal(kind: str, robot: hs.Robot) -> coal.CollisionGeometry:
    if kind == "box":
        return coal.Box(*(2 * x for x in SIZE))
    if kind == "cylinder":
        return coal.Cylinder(0.06, 0.3)
    shape, vertices = robot.shapes[0], coal.StdVec_Vec3s()
    for corner in shape.collision_vertices() @ shape.rotation.T + shape.translation:
        vertices.append(corner)
    return coal.Convex.convexHull(vertices, True, None)


def poses_above(
    shape: coal.CollisionGeometry, vertices: np.ndarray, faces: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return poses of a shape that is GAP from the ground, and coal's normals there."""
    ground, generator = coal.BVHModelOBBRSS(), np.random.default_rng(1)
    ground.beginModel(len(faces), len(vertices))
    places, corners = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for vertex in vertices:
        places.append(vertex)
    for face in faces:
        corners.append(coal.Triangle(*map(int, face)))
    ground.addSubModel(places, corners)
    ground.endModel()
    starts, normals = [], []
    while len(starts) < count:
        about = [*generator.normal(size=3) * generator.choice([0.05, 1.0]), 1.0]
        turn = pin.Quaternion(np.array(about) / np.linalg.norm(about))
        at = np.array([*generator.uniform(-0.5, 0.5, 2), 0.8])
        for _ in range(100):  # down by the distance, until it is GAP
            result, here = coal.DistanceResult(), coal.Transform3s(turn.matrix(), at)
            request = coal.DistanceRequest()
            far = coal.distance(ground, coal.Transform3s(), shape, here, request, result)
            at[2] -= far - GAP
        if abs(far - GAP) < 1e-9:
            way = np.array(result.getNearestPoint2()) - np.array(result.getNearestPoint1())
            starts.append(np.concatenate([at, turn.coeffs()]))
            normals.append(way / np.linalg.norm(way))
    return np.array(starts), np.array(normals)


def largest_depths(scene: hs.Scene, q: np.ndarray) -> np.ndarray:
    """Return the depth of the deepest contact in each pose [m], in slots or not."""
    names = ["depth", "self_depth"] if scene.edges else ["depth"]
    run = hs.Simulator(scene, worlds=len(q)).run(steps=1, q0=q, record=names).data.isel(time=0)
    found = run["depth"].values.max(axis=1)
    if not scene.edges:
        return found
    own = run["self_depth"].values.max(axis=1)
    return np.maximum(found, np.where(own == 0, -1, own))  # 0: the slot is free


@pytest.mark.parametrize(
    ("kind", "ground", "missed"),
    [
        ("box", "mesh", 20),
        ("box", "field", 10),
        ("hull", "mesh", 15),
        ("cylinder", "mesh", 15),
        pytest.param("hull", "field", 5, marks=pytest.mark.nightly),
        pytest.param("cylinder", "field", 5, marks=pytest.mark.nightly),
    ],
)
def test_depths_beside_coal(tmp_path, kind, ground, missed):
    """Above the ground and inside it the deepest contact is as deep as coal's; without ridges at
    least `missed` of 100 poses are off by more than 0.2 mm."""
    generator, n = np.random.default_rng(0), 11
    heights = generator.uniform(0, 0.03, (n, 1)) + generator.uniform(0, 0.03, (1, n))
    if ground == "mesh":
        heights = generator.uniform(0, 0.06, (n, n))
    vertices, faces = triangles(heights)
    surface: hs.Surface = hs.Mesh(RIGID, "ground", mesh=(vertices, faces))
    if ground == "field":
        surface = hs.HeightField(RIGID, "ground", heights=heights, size=(WIDE, WIDE))
    robot = body(kind, tmp_path)
    q, normals = poses_above(in_coal(kind, robot), vertices, faces, 100)
    inside = q.copy()
    inside[:, :3] -= (GAP + DEEP) * normals
    with_ridges = hs.Scene(robot, surface)
    # 1e-3 of the distance from the middle, 0.19 mm, may be given up for a place farther out. The
    # rim of a cylinder tries four normals on a mesh and the plane below it on a height field, so
    # that it may miss a face; measured in 1 pose of 100, by 1.8 mm
    rims = 3 if kind == "cylinder" else 0
    for start, depth in ((q, -GAP), (inside, DEEP)):
        error = np.sort(np.abs(largest_depths(with_ridges, start) - depth))
        assert error[: len(error) - rims].max() < 2e-4
        assert error.max() < 2e-4 + rims * 1e-3
    points_alone = largest_depths(hs.Scene(robot, surface, edges=False), inside)
    assert (points_alone < DEEP - 2e-4).sum() >= missed


def roof(kind: str, law: hs.SurfaceLaw, cells: int) -> hs.Surface:
    """Return a ridge along y with slopes of 0.4."""
    x = np.linspace(-1, 1, cells + 1)
    heights = -0.4 * np.abs(x)[:, None] + np.zeros(cells + 1)
    if kind == "mesh":
        return hs.Mesh(law, "roof", mesh=triangles(heights))
    return hs.HeightField(law, "roof", heights=heights, size=(WIDE, WIDE))


@pytest.mark.parametrize("kind", ["mesh", "field"])
@pytest.mark.parametrize("cells", [2, 20])
def test_a_box_rests_with_its_face_on_a_ridge(tmp_path, kind, cells):
    """It stays level, carries its weight there, and none of its corners touches."""
    scene = hs.Scene(body("box", tmp_path), roof(kind, RIGID, cells))
    start = [0, 0.013, SIZE[2], 0, 0, 0, 1]
    last = hs.Simulator(scene).run(1.0, q0=start, every=100).data.isel(world=0, time=-1)
    # Rigid lets it sink by g dt^2, 1e-5 m, in the first step
    assert last["q"].values == pytest.approx(start, abs=2e-5)
    assert np.abs(last["v"].values).max() < 1e-6
    assert last["self_force"].values[0] == pytest.approx([0, 0, 9.81], abs=1e-5)
    assert str(last["shape_pair"].values[0]) == "box on roof"
    assert not last["touching"].any()


@pytest.mark.parametrize("kind", ["mesh", "field"])
def test_a_box_slides_along_a_ridge_of_many_lines(tmp_path, kind):
    """Without friction neither the ends of the lines nor those of the box slow it down."""
    law = hs.Rigid(friction=hs.Coulomb(mu_s=0, mu_k=0))
    scene = hs.Scene(body("box", tmp_path), roof(kind, law, 40))
    start, speed = [0, -0.3, SIZE[2] - 1e-5, 0, 0, 0, 1], [0, 0.5, 0, 0, 0, 0]
    run = hs.Simulator(scene).run(0.8, q0=start, v0=speed, every=10).data.isel(world=0)
    # measured 6e-9 m/s: rounding turns the box, which nothing holds across the ridge; an end of a
    # line that leaned by the 1e-4 that it may would take g dt * 1e-4, 1e-6 m/s, in each step
    assert np.abs(run["v"].values[:, 1] - 0.5).max() < 5e-8
    assert np.ptp(run["q"].values[1:, 2]) < 1e-9


def test_flat_ground_has_no_ridges(tmp_path):
    """A box on a level mesh of 200 triangles rests on its corners; no shape can touch a ridge."""
    inner = triangles(np.zeros((11, 11)))
    scene = hs.Scene(body("box", tmp_path), hs.Mesh(RIGID, "flat", mesh=inner))
    run = hs.Simulator(scene).run(0.1, q0=[0, 0, SIZE[2], 0, 0, 0, 1]).data.isel(world=0, time=-1)
    assert run["touching"].values.sum() == 4
    assert not (run["self_pair"].values >= 0).any()


def test_a_box_rests_on_bumps_as_in_mujoco(tmp_path):
    """Three spikes carry a face: it ends as high and as level as in MuJoCo."""
    n, heights = 21, np.zeros((21, 21))
    for place in ((9, 9), (9, 11), (11, 10)):
        heights[place] = 0.06
    field = hs.HeightField(RIGID, "spikes", heights=heights, size=(WIDE, WIDE))
    start = np.array([-0.03, 0, 0.06 + SIZE[2] + 2e-3, 0, 0, 0, 1])
    sim = hs.Simulator(hs.Scene(body("box", tmp_path), field))
    last = sim.run(1.5, q0=start, every=100).data.isel(world=0, time=-1)
    rows = " ".join(f"{x:.9f}" for x in (heights.T / 0.06).ravel())
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="0.001"/><asset><hfield name="h" nrow="{n}" ncol="{n}" '
        f'size="{WIDE / 2} {WIDE / 2} 0.06 0.1" elevation="{rows}"/></asset><worldbody>'
        f'<geom type="hfield" hfield="h"/><body><freejoint/><geom {GEOMS["box"]} mass="1"/>'
        f"</body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qpos[:] = [*start[:3], 1, 0, 0, 0]
    for _ in range(1500):
        mujoco.mj_step(model, data)
    # MuJoCo's springs yield by less than 1 mm
    assert last["q"].values[2] == pytest.approx(data.qpos[2], abs=2e-3)
    assert last["q"].values[2] == pytest.approx(0.06 + SIZE[2], abs=1e-3)
    assert np.abs(last["v"].values).max() < 1e-5
    assert abs(last["q"].values[6]) > 1 - 1e-5
