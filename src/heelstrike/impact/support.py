"""The support polygon under the held links, and the distance of a ZMP from its edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heelstrike.impact.hit import Hit
from heelstrike.robot.placement import lowest_place, placements


def support(
    hit: Hit, q: np.ndarray, bodies: Sequence[int] | None = None
) -> tuple[np.ndarray, float]:
    """Return the corners (k, 2) [m] of the convex hull of the held links' contact points at q (or
    of some of them), counter-clockwise, and the height of the lowest [m]; no corners where there
    are no points.
    """
    placed = placements(hit.robot, q)
    chosen = hit.held if bodies is None else bodies
    own = [point for point in hit.robot.points if point.body in chosen]
    if len(own) < 3:
        return np.zeros((0, 2)), 0.0
    places = np.array([lowest_place(p, placed[p.body]) for p in own])
    return hull(places[:, :2]), float(places[:, 2].min())


def hull(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull of points (n, 2), counter-clockwise."""
    ordered = sorted({(float(x), float(y)) for x, y in points})

    def half(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for p in points:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def margin(zmp: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the distance of points (..., 2) from the polygon's nearest edge [m]: > 0 inside."""
    inward, offset = edges(corners)
    return np.asarray((zmp @ inward.T - offset).min(axis=-1))


def edges(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the unit normals (k, 2) of the edges, inward, and offsets (k): n x > offset inside."""
    along = np.roll(corners, -1, axis=0) - corners
    inward = np.stack([-along[:, 1], along[:, 0]], axis=1)
    inward = inward / np.linalg.norm(inward, axis=1)[:, None]
    return inward, np.sum(inward * corners, axis=1)


def zmp_of(wrench: np.ndarray, height: float) -> np.ndarray:
    """Return the ZMP (..., 2) in the plane z = height of wrenches (..., 6) about the origin; NaN
    where the ground would have to pull.
    """
    fx, fy, fz, mx, my = (wrench[..., i] for i in range(5))
    pushes = np.where(fz > 0, fz, np.nan)
    return np.stack([(height * fx - my) / pushes, (height * fy + mx) / pushes], axis=-1)


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
