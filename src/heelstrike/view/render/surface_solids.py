"""Surfaces of a recording as solids, made from the kind and the fields that it stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.robot.mesh import read_mesh
from heelstrike.robot.placement import placements
from heelstrike.robot.robot import Robot
from heelstrike.robot.rotations import turn_z_to
from heelstrike.view.render.camera import Viewpoint
from heelstrike.view.render.solid import (
    Mesh,
    Rgb,
    Solid,
    box,
    capsule,
    cylinder,
    ellipsoid,
    solid,
)

COLOURS: tuple[Rgb, ...] = (
    (0.93, 0.93, 0.92),
    (0.80, 0.86, 0.92),
    (0.93, 0.86, 0.78),
    (0.84, 0.90, 0.82),
)
"""Colours of surfaces, in their order."""
PLANE_SIZE = 6.0
"""Half length of a drawn plane over half the width of the picture."""
SHRINK = 0.997
"""Factor on surfaces of bodies, so that they lie below a body's own shape of the same size."""

SurfaceRecord = dict[str, Any]
"""A surface as a recording stores it: kind, name, body, and the fields of its class."""


def recorded_surfaces(info: Mapping[str, Any], world: int) -> list[SurfaceRecord]:
    """Return the surfaces of a recording with the parameters of one world, which may vary."""
    found = []
    for surface in info["scene"]["surfaces"]:
        now = dict(surface)
        for key in surface:
            path = f"{surface['name']}.{key}"
            if path in info["varied"]:
                now[key] = info["varied"][path][world]
            elif path in info["parameters"]:
                now[key] = np.squeeze(info["parameters"][path])
        found.append(now)
    return found


def surface_solids(
    shown: Sequence[SurfaceRecord], robot: Robot, q: np.ndarray, view: Viewpoint
) -> list[Solid]:
    """Return surfaces in the world; those of bodies are placed by q.

    A plane that would stand between camera and robot is left out.
    """
    poses = placements(robot, q)
    solids = []
    for k, surface in enumerate(shown):
        body, colour = surface.get("body"), COLOURS[k % len(COLOURS)]
        R, p = (np.eye(3), np.zeros(3)) if body is None else poses[robot.body(body)]
        if surface["kind"] == "Plane":
            solids += _plane(surface, R, p, view, colour)
        else:
            inner = 1.0 if body is None else SHRINK
            solids += [
                solid((inner * vertices, triangles), colour).moved(
                    R, R @ surface_origin(surface) + p
                )
                for vertices, triangles in surface_meshes(surface)
            ]
    return solids


def small_surface_points(shown: Sequence[SurfaceRecord], within: np.ndarray) -> np.ndarray:
    """Return vertices of small fixed surfaces, (n, 3) [m], which should be in the picture, too.

    A surface is small if it is less than twice as large as the extent of the points `within`.
    """
    largest = 2 * float(np.ptp(within, axis=0).max())
    found = [np.zeros((0, 3))]
    for surface in shown:
        own = (
            [vertices for vertices, _ in surface_meshes(surface)] if not surface.get("body") else []
        )
        places = np.vstack([np.zeros((0, 3)), *own])
        if len(places) and np.ptp(places, axis=0).max() < largest:
            found.append(places + surface_origin(surface))
    return np.vstack(found)


def _plane(
    surface: SurfaceRecord,
    R: np.ndarray,
    p: np.ndarray,
    view: Viewpoint,
    colour: Rgb,
) -> list[Solid]:
    normal = R @ plane_normal(surface)
    point = R @ surface_origin(surface) + p
    if (view.position - point) @ normal <= 0:
        return []
    centre = view.centre - normal * ((view.centre - point) @ normal)
    half = PLANE_SIZE * view.half_width
    square = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * half
    corners = np.array([[0, 1, 2], [0, 2, 3]])
    return [solid((square, corners), colour, floor=True).moved(turn_z_to(normal), centre)]


def plane_normal(surface: SurfaceRecord) -> np.ndarray:
    """Return the unit normal of a plane, by its slope where it has one, (3,)."""
    slope = surface.get("slope")
    normal = surface["normal"] if slope is None else (-slope[0], -slope[1], 1.0)
    return np.asarray(normal, dtype=float) / np.linalg.norm(normal)


def surface_origin(surface: SurfaceRecord) -> np.ndarray:
    """Return the position of a surface in its body's frame or the world, (3,) [m]."""
    return np.asarray(surface["point"], dtype=float)


def surface_meshes(surface: SurfaceRecord) -> list[Mesh]:
    """Return the meshes of a bounded surface about its origin; empty for unbounded kinds."""
    kind = surface["kind"]
    if kind == "Box":
        return [box(np.asarray(surface["size"]) / 2)]
    if kind == "Sphere":
        return [ellipsoid(np.full(3, float(surface["radius"])))]
    if kind in ("Capsule", "Cylinder"):
        rod = capsule if kind == "Capsule" else cylinder
        vertices, triangles = rod(float(surface["radius"]), float(surface["length"]) / 2)
        return [(vertices @ turn_z_to(np.asarray(surface["axis"], dtype=float)).T, triangles)]
    if kind == "Treadmill":
        half = np.asarray(surface["size"]) / 2
        vertices, triangles = box(half)
        vertices = (vertices - [0, 0, half[2]]) @ _along(surface, float(surface["incline"]))
        return [(vertices, triangles)]
    if kind == "Stairs":
        return _stairs(surface)
    if kind == "HeightField" and not isinstance(surface["heights"], str):
        return [_height_field(surface)]
    if kind == "Mesh":
        return _mesh(surface)
    return []


def _along(surface: SurfaceRecord, incline: float = 0.0) -> np.ndarray:
    """Return rows along the surface's direction, across it, and up, (3, 3); `incline` [rad]."""
    x, y = np.asarray(surface["direction"], dtype=float) / np.linalg.norm(surface["direction"])
    c, s = np.cos(incline), np.sin(incline)
    return np.array([[c * x, c * y, s], [-y, x, 0], [-s * x, -s * y, c]])


def _stairs(surface: SurfaceRecord) -> list[Mesh]:
    """Return a box for each step, from its riser to the end of the flight."""
    rise, run, width, landing = (float(surface[k]) for k in ("rise", "run", "width", "landing"))
    axes, count = _along(surface), int(surface["count"])
    end = count * run + landing
    steps = []
    for k in range(count):
        vertices, triangles = box(np.array([end - k * run, width, rise]) / 2)
        middle = np.array([(k * run + end) / 2, 0, (k + 0.5) * rise])
        steps.append(((vertices + middle) @ axes, triangles))
    return steps


def _mesh(surface: SurfaceRecord) -> list[Mesh]:
    """Return the triangles of a mesh; empty if its file is no longer there."""
    source = surface["mesh"]
    try:
        vertices, triangles = read_mesh(Path(source)) if isinstance(source, str) else source
    except (OSError, ValueError, RuntimeError):
        return []
    return [(float(surface["scale"]) * np.asarray(vertices, dtype=float), np.asarray(triangles))]


def _height_field(surface: SurfaceRecord) -> Mesh:
    """Return two triangles per cell of a grid of heights, whose rows lie along x."""
    heights = float(surface["scale"]) * np.asarray(surface["heights"], dtype=float)
    rows, columns = heights.shape
    x, y = (
        np.linspace(-s / 2, s / 2, n)
        for s, n in zip(np.asarray(surface["size"], dtype=float), (rows, columns), strict=True)
    )
    vertices = np.stack([*np.meshgrid(x, y, indexing="ij"), heights], axis=-1).reshape(-1, 3)
    first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    a, b, c, d = first, first + columns, first + columns + 1, first + 1
    return vertices, np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
