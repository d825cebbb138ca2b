"""Boxes, cylinders and hulls on ridges of random ground: errors beside coal, and what it costs.

    python -m benchmarks.ridges [--json FILE] [--quick] [--pages]

Errors: poses half a millimetre above the ground by coal's distance from its triangles, and moved a
millimetre into it along coal's normal; the deepest contact should be as deep. Heights of a height
field are sums f(x) + g(y), which are flat in each cell, so that it is the ground of coal's
triangles. Cost: the bundled hoap1, limp, on elastic ground, with and without ridges by turns.
"""

from __future__ import annotations

import json
import warnings
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import coal
import numpy as np
import pinocchio as pin
from rich.console import Console

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.pages import markdown, placed
from heelstrike.bench.timing import Contender, timed

ROOT = Path(__file__).parents[1]
GAP, DEEP, OFF = 5e-4, 1e-3, 1e-4
"""Distance and depth of poses, and the error above which one is off [m]."""
WIDE, HALF, RADIUS = 2.0, (0.15, 0.1, 0.05), 0.06
"""Width of the ground; half lengths of the box and of the ball that hulls fill; of the cylinder
radius and, the first of the lengths, half length [m]."""
CORNERS = np.random.default_rng(3).normal(size=(16, 3))
CORNERS *= np.array(HALF) / np.linalg.norm(CORNERS, axis=1)[:, None]
GEOMS = {
    "box": f'type="box" size="{HALF[0]} {HALF[1]} {HALF[2]}"',
    "hull": 'type="mesh" mesh="hull"',
    "cylinder": f'type="cylinder" size="{RADIUS} {HALF[0]}"',
}
GROUNDS = ("mesh", 10), ("mesh", 40), ("field", 10)
"""Kinds of ground, and cells across."""
WORLDS, STEPS, TURNS = 64, 200, 30
LYING = 2.0
"""Time for which the robot falls before it is measured lying [s]."""


def body(kind: str, folder: Path) -> hs.Robot:
    """Return a free body of 1 kg."""
    numbers = " ".join(f"{x:.9f}" for x in CORNERS.ravel())
    asset = f'<asset><mesh name="hull" vertex="{numbers}"/></asset>' if kind == "hull" else ""
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


def ground(
    kind: str, cells: int, law: hs.SurfaceLaw, seed: int = 0
) -> tuple[hs.Surface, np.ndarray, np.ndarray]:
    """Return random ground, and its vertices and triangles."""
    generator, n = np.random.default_rng(seed), cells + 1
    high = 0.6 / cells  # [m]
    if kind == "mesh":
        vertices, faces = triangles(generator.uniform(0, high, (n, n)))
        return hs.Mesh(law, "ground", mesh=(vertices, faces)), vertices, faces
    heights = generator.uniform(0, high / 2, (n, 1)) + generator.uniform(0, high / 2, (1, n))
    field = hs.HeightField(law, "ground", heights=heights, size=(WIDE, WIDE))
    return field, *triangles(heights)


def in_coal(kind: str, robot: hs.Robot) -> coal.CollisionGeometry:
    """Return a body's shape."""
    if kind == "box":
        return coal.Box(*(2 * x for x in HALF))
    if kind == "cylinder":
        return coal.Cylinder(RADIUS, 2 * HALF[0])
    shape, vertices = robot.shapes[0], coal.StdVec_Vec3s()
    for corner in shape.collision_vertices() @ shape.rotation.T + shape.translation:
        vertices.append(corner)
    return coal.Convex.convexHull(vertices, True, None)


def poses_above(
    shape: coal.CollisionGeometry, vertices: np.ndarray, faces: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return poses of a shape that is GAP from the ground, and those DEEP inside it."""
    mesh, generator = coal.BVHModelOBBRSS(), np.random.default_rng(1)
    mesh.beginModel(len(faces), len(vertices))
    places, corners = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for vertex in vertices:
        places.append(vertex)
    for face in faces:
        corners.append(coal.Triangle(*map(int, face)))
    mesh.addSubModel(places, corners)
    mesh.endModel()
    starts, normals = [], []
    while len(starts) < count:
        about = [*generator.normal(size=3) * generator.choice([0.05, 1.0]), 1.0]
        turn = pin.Quaternion(np.array(about) / np.linalg.norm(about))
        at = np.array([*generator.uniform(-0.5, 0.5, 2), 0.8])
        for _ in range(100):  # down by the distance, until it is GAP
            result, here = coal.DistanceResult(), coal.Transform3s(turn.matrix(), at)
            request = coal.DistanceRequest()
            far = coal.distance(mesh, coal.Transform3s(), shape, here, request, result)
            at[2] -= far - GAP
        if abs(far - GAP) < 1e-9:
            way = np.array(result.getNearestPoint2()) - np.array(result.getNearestPoint1())
            starts.append(np.concatenate([at, turn.coeffs()]))
            normals.append(way / np.linalg.norm(way))
    above = np.array(starts)
    inside = above.copy()
    inside[:, :3] -= (GAP + DEEP) * np.array(normals)
    return above, inside


def largest_depths(scene: hs.Scene, q: np.ndarray) -> np.ndarray:
    """Return the depth of the deepest contact in each pose [m], of points and of slots."""
    names = ["depth", "self_depth"] if scene.edges else ["depth"]
    run = hs.Simulator(scene, worlds=len(q)).run(steps=1, q0=q, record=names).data.isel(time=0)
    found: np.ndarray = run["depth"].values.max(axis=1)
    if not scene.edges:
        return found
    own = run["self_depth"].values.max(axis=1)
    return np.maximum(found, np.where(own == 0, -1, own))  # 0: the slot is free


def errors(kind: str, on: str, cells: int, count: int) -> dict[str, Any]:
    """Return how many poses are off, and the largest error [m], without ridges and with them."""
    surface, vertices, faces = ground(on, cells, hs.Elastic())
    with TemporaryDirectory() as folder:
        robot = body(kind, Path(folder))
    poses = poses_above(in_coal(kind, robot), vertices, faces, count)
    row: dict[str, Any] = {"poses": count}
    for name, edges in (("points alone", False), ("with ridges", True)):
        scene = hs.Scene(robot, surface, edges=edges)
        off = [largest_depths(scene, q) - x for q, x in zip(poses, (-GAP, DEEP), strict=True)]
        most = np.abs(off).max(axis=0)
        row[name] = {"off": int((most > OFF).sum()), "largest [m]": float(most.max())}
    return row


def cost(on: str, turns: int) -> dict[str, float]:
    """Return CPU time per world and step of hoap1 that lies there [us]."""
    robot = hs.load("hoap1")
    k = robot.mass * robot.gravity / 8e-3
    law = hs.Elastic(hs.HuntCrossley(k=k, alpha=1.0), hs.Kinetic(mu=0.6))
    surface = ground(on, 20, law)[0]
    q = surface.place(robot, robot.pose("stance"))
    fallen = None
    contenders = {}
    for name, edges in (("with ridges", True), ("points alone", False)):
        sim = hs.Simulator(hs.Scene(robot, surface, edges=edges), dt=1e-4, worlds=WORLDS)
        options: dict[str, Any] = {"record": ("q", "v"), "threads": 1}
        if fallen is None:
            last = sim.run(LYING, q0=q, every=round(LYING / 1e-4), **options).data.isel(time=-1)
            fallen = {"q0": last["q"].values, "v0": last["v"].values}
        run = partial(sim.run, steps=STEPS, every=STEPS, **fallen, **options)
        contenders[name] = Contender(run, WORLDS * STEPS)
    return {name: each["us"] for name, each in timed(contenders, turns, shortest=1e-3).items()}


def table(result: dict[str, Any]) -> str:
    """Return errors and cost as a table in Markdown."""
    rows = []
    for name, row in result["errors"].items():
        one, other = (row[x] for x in ("points alone", "with ridges"))
        cells = [f"{x['off']}; {1e3 * x['largest [m]']:.2f}" for x in (one, other)]
        rows.append(
            [f"{name}: of {row['poses']} poses, off by more than 0.1 mm; at most [mm]", *cells]
        )
    for name, row in result["cost"].items():
        cells = [f"{row[x]:.2f}" for x in ("points alone", "with ridges")]
        rows.append([f"hoap1 lies on a {name}, 400 cells of 0.1 m: us per step", *cells])
    return markdown(["", "points alone", "with ridges"], rows)


def main() -> None:
    made = parser(__doc__, "40 poses, few turns")
    made.add_argument("--pages", action="store_true", help="write the table into docs/shapes.md")
    options = made.parse_args()
    warnings.simplefilter("ignore", hs.HeelstrikeWarning)
    result: dict[str, Any] = {"errors": {}, "cost": {}}
    for kind in GEOMS:
        for on, cells in GROUNDS:
            name = f"{kind}, {'mesh' if on == 'mesh' else 'height field'} of {WIDE / cells:g} m"
            result["errors"][name] = errors(kind, on, cells, 40 if options.quick else 200)
    for on, name in (("field", "height field"), ("mesh", "mesh")):
        result["cost"][name] = cost(on, 3 if options.quick else TURNS)
    Console(width=200).print(table(result), markup=False, highlight=False, soft_wrap=True)
    keep(result, options.json)
    if options.pages:
        page = ROOT / "docs/shapes.md"
        text = {"ridges of benchmarks/results/ridges.json": table(json.loads(json.dumps(result)))}
        page.write_text(placed(page.read_text(), text))


if __name__ == "__main__":
    main()
