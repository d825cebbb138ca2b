"""Deepest point of a contact shape in a surface: where a contact point touches.

A contact shape is a point, a sphere of radius r or an ellipsoid with half axes B (columns), or the
sum of both. Its deepest point against the normal nu is

    p = c - r nu - s,    s = B B^T nu / |B^T nu|

On a plane this is exact. Where the normal varies, nu is that of the sphere which is tangent to the
shape at p and has the shape's extent as its radius, found by a fixed number of repetitions:
they end at once for spheres, and for wheels that roll in their plane. On balls and rods the depth
is that of p, so that it is never larger than the shape's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from heelstrike.contact.law import where
from heelstrike.ir.program import Program
from heelstrike.robot.hull import NORMALS
from heelstrike.robot.placement import Placement
from heelstrike.robot.robot import Point
from heelstrike.scene.ridge import half_of, place_on
from heelstrike.scene.surfaces import Mesh, Plane, Surface
from heelstrike.scene.surfaces.mesh import NearestPlace
from heelstrike.spatial.vector import SX, cross

REPETITIONS = 6
"""Evaluations of a surface whose normal varies."""
NORMALS_TRIED = 2
"""Normals that an ellipsoid on a mesh tries, from each of two starts."""
APART = 1.0
"""Distance from its surface of a side of a hull whose corner is that of another side [m]."""


def deepest(
    surface: Surface,
    centre: SX,
    radius: float = 0.0,
    half_axes: SX | None = None,
    extent: float = 0.0,
    part: int = 0,
) -> tuple[SX, SX, SX | None]:
    """Return the depth of a contact shape [m], the axes of contact, and s of its ellipsoid [m].

    Everything is in the surface's frame.

    Args:
        surface: the surface.
        centre: centre of the shape, (3,) [m].
        radius: radius of its sphere [m].
        half_axes: half axes of its ellipsoid as columns, (3, 3) [m]; None: there is none.
        extent: largest distance of the shape's surface from its centre [m].
        part: index in the surface's parts.
    """
    if half_axes is None:
        return *surface.depth_and_axes(centre, radius, part), None
    varies = surface.tangents_vary(extent, part)
    inner = extent - radius if varies else 0.0
    depth, axes = surface.depth_and_axes(centre, extent, part)
    reach = support(half_axes, axes[2, :].T)
    for _ in range(REPETITIONS if varies else 1):
        place = centre - reach + inner * axes[2, :].T
        depth, axes = surface.depth_and_axes(place, radius + inner, part)
        reach = support(half_axes, axes[2, :].T)
    if varies and any(solid.is_round for solid in surface.solids()):
        # at the shape itself: where repetitions do not settle, as for the flat side of a rim, a
        # sphere of the shape's extent would reach beyond the shape
        depth, axes = surface.depth_and_axes(centre - reach, radius, part)
    return depth, axes, reach


def search(p: Program, surface: Surface, centre: SX, half_axes: SX | None) -> Surface:
    """Return a surface of many parts near a shape, an ellipsoid or a ball; outside blocks.

    On a mesh an ellipsoid is as deep as its own point c - s is, since a triangle may end before a
    wheel does. Normals are those of the places nearest to c and to such points, and upward: the
    deepest counts.
    """
    found = surface.search(p, centre)
    if half_axes is None or not isinstance(found, Mesh):
        return found
    best = NearestPlace(centre, SX(np.inf), SX([0, 0, 1]))
    for normal in (_nearest(found).normal, SX([0, 0, 1])):
        for _ in range(NORMALS_TRIED):
            with p.block("rim"):
                place = p.let("place", centre - support(half_axes, normal))
            near = _nearest(surface.search(p, place))
            with p.block("rim"):
                closer = p.let("closer", near.distance < best.distance)
                pairs = (place, best.point), (near.distance, best.distance), (normal, best.normal)
                best = NearestPlace(*(p.let("rim", where(closer, x, y)) for x, y in pairs))
            normal = near.normal
    return replace(found, mesh=best)


def _nearest(surface: Surface) -> NearestPlace:
    assert isinstance(surface, Mesh)
    assert isinstance(surface.mesh, NearestPlace)
    return surface.mesh


def support(half_axes: SX, normal: SX) -> SX:
    """Return the point of an ellipsoid farthest along a unit normal, from its centre [m]."""
    along = half_axes.T @ normal
    return half_axes @ (along / ca.sqrt(ca.dot(along, along)))


def support_rate(half_axes: SX, normal: SX, spin: SX) -> SX:
    """Return the rate of `support` while the ellipsoid turns with a spin [m/s].

    With B' = w x B and q = B^T nu:   s' = w x s + B (q' - q (q . q') / |q|^2) / |q|
    """
    along = half_axes.T @ normal
    length = ca.sqrt(ca.dot(along, along))
    along, change = along / length, half_axes.T @ cross(normal, spin)
    across = change - along * ca.dot(along, change)
    return cross(spin, half_axes @ along) + half_axes @ (across / length)


def deepest_in_pose(
    surface: Surface, part: int, point: Point, pose: Placement, frame: Placement
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return depth [m], normal and place [m] of a contact point on a surface, in the world.

    `pose` and `frame` place the point's body and the surface in the world.
    """
    depths, normals, places = DeepestPoints(surface, part, [point]).at([pose], frame)
    return float(depths[0]), normals[0], places[0]


def normals_of(surface: Surface) -> int:
    """Return at how many places the normal for a hull is taken (robot/hull.py).

    Beyond an edge of boxes and stairs it would be that of another face.
    """
    solids = surface.solids()
    flat = isinstance(surface, Plane) or any(not solid.is_round for solid in solids)
    return 1 if flat else NORMALS


def place_of(
    surface: Surface, part: int, point: Point, pose: Placement, frame: Placement
) -> np.ndarray:
    """Return where a side of a hull touches a surface, or the point itself [m], in the frame of its
    body.

    `pose` and `frame` place the point's body and the surface in the world.
    """
    if point.hull is None:
        own = np.asarray(point.position, dtype=float)
        return own if point.half is None else _between(surface, part, point, pose, frame)
    (R, p), (R_s, p_s) = pose, frame

    def normal_at(place: np.ndarray) -> np.ndarray:
        _, axes = surface.depth_and_axes(SX(R_s.T @ (R @ place + p - p_s)), 0.0, part)
        return np.asarray(R.T @ R_s @ ca.evalf(axes).full()[2])

    normal = point.hull.normal(normal_at, normals_of(surface))
    return np.asarray(point.hull.places(normal)[point.side])


def _between(
    surface: Surface, part: int, point: Point, pose: Placement, frame: Placement
) -> np.ndarray:
    """Return `place_of` a capsule between its ends; its first end where the ground has no ridge."""
    (R, p), (R_s, p_s) = pose, frame
    half = half_of(point)
    start, way = R_s.T @ (R @ half.start + p - p_s), R_s.T @ R @ half.way

    state = half.start_of_search()
    for _ in range(half.rounds):
        share = SX(ca.evalf(half.share(state)))
        own = place_on(surface, part, point.radius, share, SX(start) + share * SX(way), SX(way))
        state = SX(ca.evalf(half.after(state, own)))
        if float(half.is_over(state)):
            break
    if not float(half.is_found(state)):
        return np.asarray(point.position)
    return np.asarray(half.start + float(half.share(state)) * half.way)


class DeepestPoints:
    """Contact points on a surface, to be evaluated in poses, all points of a shape at once."""

    def __init__(self, surface: Surface, part: int, points: Sequence[Point]) -> None:
        self.surface, self.part, self.points = surface, part, points
        self._radii = np.array([x.radius for x in points])
        self._hulls = [k for k, x in enumerate(points) if x.hull is not None]
        groups: dict[tuple[float, float, bool], list[int]] = {}
        for k, x in enumerate(points):
            groups.setdefault((x.radius, x.roundness, x.half_axes is not None), []).append(k)
        self._groups = [(own, self._evaluate(*key)) for key, own in groups.items()]

    def at(
        self, poses: Sequence[Placement], frame: Placement
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return depths (n,) [m], normals (n, 3) and places (n, 3) [m] in the world.

        `poses` place the points' bodies in the world, and `frame` the surface.
        """
        R_s, p_s = frame
        held = list(zip(self.points, poses, strict=True))
        places = [place_of(self.surface, self.part, x, pose, frame) for x, pose in held]
        centres = np.array([R @ own + p for own, (R, p) in zip(places, poses, strict=True)])
        found = np.empty((len(held), 7))
        for own, evaluate in self._groups:
            turned = [R_s.T @ held[k][1][0] @ held[k][0].half_axes
                      for k in own if held[k][0].half_axes is not None]  # fmt: skip
            found[own] = evaluate((centres[own] - p_s) @ R_s, turned)
        found[self._repeated(centres, places), 0] = -APART
        normals, reach = found[:, 1:4] @ R_s.T, found[:, 4:] @ R_s.T
        return found[:, 0], normals, centres - self._radii[:, None] * normals - reach

    def _repeated(self, centres: np.ndarray, places: Sequence[np.ndarray]) -> list[int]:
        """Return the sides of hulls whose corner is that of another side, and capsules between
        whose ends there is no ridge: they are at the first end.
        """
        known, found = set(), []
        for k, x in enumerate(self.points):
            if x.half is not None and np.array_equal(places[k], x.position):
                found.append(k)
        for k in self._hulls:
            key = id(self.points[k].hull), *centres[k]
            if key in known:
                found.append(k)
            known.add(key)
        return found

    def _evaluate(
        self, radius: float, extent: float, is_ellipsoid: bool
    ) -> Callable[[np.ndarray, list[np.ndarray]], np.ndarray]:
        """Return a function of centres (n, 3) and half axes: depth, normal and s, (n, 7)."""

        def row(centre: SX, half_axes: SX | None = None) -> SX:
            found = deepest(self.surface, centre, radius, half_axes, extent, self.part)
            depth, axes, reach = found
            rest = SX.zeros(3) if reach is None else reach
            return ca.densify(ca.vertcat(depth, axes[2, :].T, rest))

        def one_by_one(centres: np.ndarray, turned: list[np.ndarray]) -> np.ndarray:
            given = zip(centres, turned, strict=True) if is_ellipsoid else zip(centres)
            return np.array([ca.evalf(row(*map(SX, own))).full()[:, 0] for own in given])

        def together(centres: np.ndarray, turned: list[np.ndarray]) -> np.ndarray:
            given = (np.concatenate(turned, axis=1),) if is_ellipsoid else ()
            return mapped(centres.T, *given).full().T

        if self.surface.by_number:
            return one_by_one
        inputs = [SX.sym("c", 3), *([SX.sym("B", 3, 3)] if is_ellipsoid else [])]
        mapped = ca.Function("deepest", inputs, [row(*inputs)])
        return together
