"""Pairs of convex shapes in random and degenerate poses, and what is known of them by other means.

Used by tests of heelstrike.contact.geometry. Shapes have sizes of 0.2 to 0.6 m.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

import casadi as ca
import coal
import numpy as np
from scipy.spatial import ConvexHull

from heelstrike.contact.geometry import Convex, contact_points
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program

BOX = np.array([0.3, 0.2, 0.12])
ELLIPSOID = np.array([0.3, 0.2, 0.12])
RADIUS, HALF_LENGTH = 0.15, 0.3
KINDS = ["sphere", "capsule", "box", "hull", "cylinder", "ellipsoid"]
ROUND = {"cylinder", "ellipsoid"}
"""Shapes whose core has an ellipsoid."""


@dataclass(frozen=True)
class Kind:
    """A shape in its own axes."""

    vertices: np.ndarray
    half_axes: np.ndarray | None
    radius: float
    coal: object


@cache
def kind(name: str) -> Kind:
    """Return a shape by its name."""
    ends = np.array([[0, 0, -HALF_LENGTH], [0, 0, HALF_LENGTH]])
    if name == "sphere":
        return Kind(np.zeros((1, 3)), None, 0.2, coal.Sphere(0.2))
    if name == "capsule":
        return Kind(ends, None, 0.1, coal.Capsule(0.1, 2 * HALF_LENGTH))
    if name == "box":
        corners = np.array(list(product((-1, 1), repeat=3))) * BOX
        return Kind(corners, None, 0.0, coal.Box(*(2 * BOX)))
    if name == "cylinder":
        disc = np.diag([RADIUS, RADIUS, 0])
        return Kind(ends, disc, 0.0, coal.Cylinder(RADIUS, 2 * HALF_LENGTH))
    if name == "ellipsoid":
        return Kind(np.zeros((1, 3)), np.diag(ELLIPSOID), 0.0, coal.Ellipsoid(*ELLIPSOID))
    points = np.random.default_rng(5).normal(size=(24, 3))
    points *= BOX / np.linalg.norm(points, axis=1)[:, None]
    return Kind(points, None, 0.0, _coal_hull(points))


def _coal_hull(points: np.ndarray) -> object:
    triangles, vertices = coal.StdVec_Triangle(), coal.StdVec_Vec3s()
    hull = ConvexHull(points)
    for simplex, plane in zip(hull.simplices, hull.equations, strict=True):
        a, b, c = points[simplex]
        order = simplex if np.cross(b - a, c - a) @ plane[:3] > 0 else simplex[::-1]
        triangles.append(coal.Triangle(*map(int, order)))
    for point in points:
        vertices.append(point)
    return coal.Convex(vertices, triangles)


@dataclass(frozen=True)
class Poses:
    """Rotations (n, 3, 3) and positions (n, 3) of both shapes."""

    R_a: np.ndarray
    p_a: np.ndarray
    R_b: np.ndarray
    p_b: np.ndarray

    def __len__(self) -> int:
        return len(self.R_a)

    def __getitem__(self, rows) -> Poses:
        return Poses(self.R_a[rows], self.p_a[rows], self.R_b[rows], self.p_b[rows])

    def moved(self, by: np.ndarray) -> Poses:
        """Return poses in which the first shape is moved."""
        return Poses(self.R_a, self.p_a + by, self.R_b, self.p_b)

    def with_(self, other: Poses) -> Poses:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Poses(*(np.concatenate(pair) for pair in pairs))


def rotations(rng, n: int) -> np.ndarray:
    """Return random rotations, (n, 3, 3)."""
    w, x, y, z = rng.normal(size=(n, 4)).T
    s = 2 / (w * w + x * x + y * y + z * z)
    rows = [1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)]
    rows += [s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)]
    rows += [s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)]
    return np.stack(rows, axis=1).reshape(n, 3, 3)


def random_poses(n: int, seed: int = 1, reach: float = 0.6) -> Poses:
    """Return random poses, from centre in centre to apart."""
    rng = np.random.default_rng(seed)
    offsets = rng.uniform(-reach, reach, (n, 3)) * rng.uniform(0, 1, (n, 1))
    return Poses(rotations(rng, n), offsets, rotations(rng, n), rng.uniform(-0.1, 0.1, (n, 3)))


def degenerate_poses() -> Poses:
    """Return poses with parallel faces, edges and axes, and coincident centres and corners."""
    turns = []
    for order, signs in product(permutations(range(3)), product((-1, 1), repeat=3)):
        matrix = np.zeros((3, 3))
        matrix[range(3), order] = signs
        if np.linalg.det(matrix) > 0:
            turns.append(matrix)
    half = np.sqrt(0.5)
    slant = np.array([[1, 0, 0], [0, half, -half], [0, half, half]])
    turns += [slant @ turn for turn in turns]
    steps = (0.0, 0.12, 0.3)
    offsets = [np.array(o) for o in product(steps, repeat=3)]
    grid = list(product(turns, offsets))
    R, p = (np.array(x) for x in zip(*grid, strict=True))
    n = len(R)
    return Poses(R, p, np.broadcast_to(np.eye(3), (n, 3, 3)).copy(), np.zeros((n, 3)))


@cache
def kernel(a: str, b: str, count: int = 1, dtype: str = "float64"):
    """Return the compiled program of a pair."""
    return compile_program(pair_program(a, b, count), dtype=dtype)


def pair_program(a: str, b: str, count: int, follow: bool = False) -> Program:
    """Return the program of a pair; `follow` gives it an input of the last normal."""
    p = Program("pair")
    shapes = []
    for side, name in (("a", a), ("b", b)):
        own = kind(name)
        vertices = ca.reshape(p.input(side, own.vertices.size), 3, -1)
        axes = None
        if own.half_axes is not None:
            axes = ca.reshape(p.input(f"{side} axes", 9), 3, 3)
        shapes.append(Convex(vertices, axes, own.radius, box=name == "box"))
    points = contact_points(p, *shapes, count, p.input("last", 3) if follow else None)
    with p.block("out"):
        p.output("depth", ca.vertcat(*(point.depth for point in points)))
        p.output("normal", ca.horzcat(*(point.normal for point in points)).T)
        p.output("position", ca.horzcat(*(point.position for point in points)).T)
    return p


def inputs(a: str, b: str, poses: Poses) -> dict[str, np.ndarray]:
    """Return the inputs of the program of a pair."""
    found, n = {}, len(poses)
    sides = (("a", a, poses.R_a, poses.p_a), ("b", b, poses.R_b, poses.p_b))
    for side, name, R, place in sides:
        own = kind(name)
        world = np.einsum("wij,nj->wni", R, own.vertices) + place[:, None]
        found[side] = world.reshape(n, -1)
        if own.half_axes is not None:
            found[f"{side} axes"] = np.einsum("wij,jk->wki", R, own.half_axes).reshape(n, -1)
    return found


def contacts(a: str, b: str, poses: Poses, count: int = 1, dtype: str = "float64"):
    """Return depths (n, count), normals and positions (n, count, 3)."""
    out = kernel(a, b, count, dtype)(**inputs(a, b, poses))
    return out["depth"], out["normal"].reshape(-1, count, 3), out["position"].reshape(-1, count, 3)


def coal_distances(a: str, b: str, poses: Poses) -> np.ndarray:
    """Return signed distances by coal (n) [m]."""
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-12
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    one, other, found = kind(a).coal, kind(b).coal, np.zeros(len(poses))
    for i in range(len(poses)):
        result = coal.DistanceResult()
        first = coal.Transform3s(poses.R_a[i], poses.p_a[i])
        second = coal.Transform3s(poses.R_b[i], poses.p_b[i])
        coal.distance(one, first, other, second, request, result)
        found[i] = result.min_distance
    return found


def reach(name: str, R: np.ndarray, place: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return how far a shape reaches along directions (n, m, 3), (n, m) [m]."""
    own = kind(name)
    local = np.einsum("wij,wmi->wmj", R, directions)
    far = (local @ own.vertices.T).max(axis=2)
    if own.half_axes is not None:
        far = far + np.linalg.norm(local @ own.half_axes, axis=2)
    return far + own.radius + np.einsum("wi,wmi->wm", place, directions)


def depth_along(a: str, b: str, poses: Poses, normals: np.ndarray) -> np.ndarray:
    """Return how far the first shape must move along normals (n, m, 3) to come apart (n, m)."""
    first = reach(a, poses.R_a, poses.p_a, -normals)
    return first + reach(b, poses.R_b, poses.p_b, normals)


def outside(name: str, R: np.ndarray, place: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return about how far points (n, 3) are outside a shape [m]; <= 0 inside."""
    q = np.einsum("wij,wi->wj", R, points - place)
    if name == "sphere":
        return np.linalg.norm(q, axis=1) - 0.2
    if name == "capsule":
        q[:, 2] -= np.clip(q[:, 2], -HALF_LENGTH, HALF_LENGTH)
        return np.linalg.norm(q, axis=1) - 0.1
    if name == "box":
        return (np.abs(q) - BOX).max(axis=1)
    if name == "cylinder":
        across = np.linalg.norm(q[:, :2], axis=1) - RADIUS
        return np.maximum(across, np.abs(q[:, 2]) - HALF_LENGTH)
    if name == "ellipsoid":
        return (np.linalg.norm(q / ELLIPSOID, axis=1) - 1) * ELLIPSOID.min()
    planes = ConvexHull(kind("hull").vertices).equations
    return (q @ planes[:, :3].T + planes[:, 3]).max(axis=1)
