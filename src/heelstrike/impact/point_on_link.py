"""Check that a point is on a link, by its distance from the link's collision and visual shapes.

A shape is taken as the convex hull of its outline, blown up by its radius. The nearest point of a
hull with corners x_i is sum w_i x_i, w_i >= 0, sum w_i = 1, by non-negative least squares.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy.optimize import nnls

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.mesh import hull
from heelstrike.robot.outline import outline
from heelstrike.robot.robot import WORLD, Frame, Robot, Shape

FAR = 2.0
"""Largest distance of a point from the frame of a link without shapes [m]."""
NEAR = 0.03
"""A point this close to a shape, or to a named frame of the link, is on it [m]: shapes are hulls,
and pads, gloves or fists are often left out of them."""
STIFF = 1e3
"""Weight of sum w_i = 1 beside metres."""


def placed(robot: Robot, link: str, point: np.ndarray) -> np.ndarray:
    """Return the point in the frame of the body that carries the link; raise an error if it is not
    on the link.
    """
    body = robot.body(link)
    frame = robot.frames.get(link)
    if frame is None or frame.body == WORLD:
        frame = Frame(body, np.eye(3), np.zeros(3))
    place = frame.translation + frame.rotation @ point
    tried = [nearest(shape, place) for shape in robot.shapes if shape.body == body]
    found = [x for x in tried if x is not None]
    if not found:
        if np.linalg.norm(point) > FAR:
            raise HeelstrikeError(
                f"the point {_told(point)} is not on link '{link}' of {robot.name}; give three "
                f"numbers in the link's frame, within {FAR:g} m of it"
            )
        return place
    named = [x.translation for x in robot.frames.values() if x.body == body]
    closest = min([*found, np.zeros(3), *named], key=lambda x: float(np.linalg.norm(x - place)))
    away = float(np.linalg.norm(closest - place))
    if away > NEAR:
        raise HeelstrikeError(
            f"the point {_told(point)} is not on link '{link}' of {robot.name}: it is {away:.3g} m "
            f"from it, nearest to {_told(frame.rotation.T @ (closest - frame.translation))} in the "
            "link's frame"
        )
    return place


def nearest(shape: Shape, place: np.ndarray) -> np.ndarray | None:
    """Return the point of a shape that is nearest to a position, both in the body's frame [m].

    A position inside the shape is its own nearest point; None for a mesh that cannot be read.
    """
    if shape.kind == "ellipsoid":
        local = (place - shape.translation) @ shape.rotation
        size = max(float(np.linalg.norm(local / shape.size)), 1.0)
        return shape.translation + shape.rotation @ (local / size)
    if shape.kind == "cylinder":
        local, (radius, half) = (place - shape.translation) @ shape.rotation, shape.size
        aside = local[:2] * min(1.0, radius / max(float(np.hypot(*local[:2])), 1e-12))
        inside = np.array([*aside, np.clip(local[2], -half, half)])
        return shape.translation + shape.rotation @ inside
    corners = _corners(shape)
    if corners is None:
        return None
    sides = np.vstack([(corners - place).T, np.full(len(corners), STIFF)])
    weights, _ = nnls(sides, np.array([0.0, 0.0, 0.0, STIFF]))
    core = weights @ corners / weights.sum()
    away = float(np.linalg.norm(place - core))
    radius = shape.size[0] if shape.kind in ("sphere", "capsule") else 0.0
    return core + (place - core) * min(1.0, radius / max(away, 1e-12))


def _corners(shape: Shape) -> np.ndarray | None:
    """Return the corners whose inflated hull is the shape, in the body's frame; no round shapes."""
    if shape.kind != "mesh":
        return np.array([point.position for point in outline(shape)])
    vertices = shape.vertices
    if vertices is None and shape.file is not None:
        with suppress(OSError, ValueError, RuntimeError):
            vertices = hull(shape.file.read()[0])[0]
    return None if vertices is None else vertices @ shape.rotation.T + shape.translation


def _told(point: np.ndarray) -> str:
    return "(" + ", ".join(f"{x:g}" for x in np.round(point, 3) + 0.0) + ")"
