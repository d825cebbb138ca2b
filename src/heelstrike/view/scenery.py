"""Surfaces as a recording tells of them, made visible: planes with tiles, boxes, spheres."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from heelstrike.robot.points import placements
from heelstrike.robot.robot import Robot, Shape
from heelstrike.robot.rotations import turn_z_to
from heelstrike.view.camera import View
from heelstrike.view.solid import Solid, of_shape, solid

COLOURS = ((0.93, 0.93, 0.92), (0.80, 0.86, 0.92), (0.93, 0.86, 0.78), (0.84, 0.90, 0.82))
"""Of surfaces one after another."""
FAR = 6.0
"""Half length of a drawn plane over half the picture's width."""

Surface = Mapping[str, Any]
"""kind, name, and the fields of a surface's class."""


def surfaces(info: Mapping[str, Any], world: int) -> list[dict[str, Any]]:
    """Those of a recording, with the parameters of one world: they may vary."""
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


def scenery(shown: list[dict[str, Any]], robot: Robot, q: np.ndarray, view: View) -> list[Solid]:
    """The surfaces in the world, those on bodies where the bodies are at q. A plane that would
    stand between camera and robot is left out.
    """
    poses = placements(robot, q)
    solids = []
    for k, surface in enumerate(shown):
        body = surface.get("body")
        R, p = (np.eye(3), np.zeros(3)) if body is None else poses[robot.body(body)]
        colour = COLOURS[k % len(COLOURS)]
        if surface["kind"] == "Plane":
            made = _plane(surface, R, p, view, colour)
        else:
            made = _fixed(surface, colour)
            made = None if made is None else made.moved(R, p)
        solids += [] if made is None else [made]
    return solids


def reach(shown: list[dict[str, Any]], within: np.ndarray) -> np.ndarray:
    """Corners of small surfaces that stand in the world: they should be in the picture, too.
    Small is below twice the size of the places `within`.
    """
    largest = 2 * float(np.ptp(within, axis=0).max())
    corners = [np.zeros((0, 3))]
    for surface in shown:
        made = _fixed(surface, COLOURS[0]) if surface.get("body") is None else None
        if made is not None and np.ptp(made.vertices, axis=0).max() < largest:
            corners.append(made.vertices)
    return np.vstack(corners)


def _plane(
    surface: Surface, R: np.ndarray, p: np.ndarray, view: View, colour: tuple[float, float, float]
) -> Solid | None:
    normal = R @ np.asarray(surface["normal"], dtype=float)
    normal /= np.linalg.norm(normal)
    point = R @ np.asarray(surface["point"], dtype=float) + p
    if (view.place - point) @ normal <= 0:
        return None
    centre = view.middle - normal * ((view.middle - point) @ normal)
    half = FAR * view.distance * view.slope
    turn = turn_z_to(normal)
    square = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=float) * half
    corners = np.array([[0, 1, 2], [0, 2, 3]])
    return solid((square, corners), colour, floor=True).moved(turn, centre)


def _fixed(surface: Surface, colour: tuple[float, float, float]) -> Solid | None:
    """A surface of a size of its own, in the frame that it is given in."""
    size = SHAPES.get(surface["kind"])
    if size is None:
        return None
    kind, half = size(surface)
    point = np.asarray(surface["point"], dtype=float)
    return of_shape(Shape(surface["name"], 0, kind, np.eye(3), point, half), colour)


SHAPES: dict[str, Callable[[Surface], tuple[str, np.ndarray]]] = {
    "Box": lambda surface: ("box", np.asarray(surface["size"], dtype=float) / 2),
    "Sphere": lambda surface: ("sphere", np.atleast_1d(np.asarray(surface["radius"], dtype=float))),
}
"""Kinds of surfaces that look like shapes of bodies: the shape's kind and size."""
