"""Which way the surfaces push: outward normals at contact points, as the surfaces themselves tell.

A recording holds forces, not normals. It holds the surfaces, though, with all their fields; made
again, each says its normal where the point is.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import casadi as ca
import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.placement import placements
from heelstrike.robot.robot import WORLD, Point
from heelstrike.scene import surfaces as shapes
from heelstrike.spatial.vector import SX
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.render.surface_solids import recorded_surfaces


class Normals:
    """Of the contacts of a run."""

    def __init__(self, run: RunArrays) -> None:
        self._robot = run.robot
        made = {s["name"]: _again(s) for s in recorded_surfaces(run.info, run.world)}
        self._contacts = [
            _contact(run, name, made[on]) if on in made else None
            for name, on in zip(run.points, run.surfaces, strict=True)
        ]

    def at(self, q: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Unit normals in the world where `wanted`, (contacts, 3); NaN elsewhere, and where a
        surface cannot be made again.
        """
        found = np.full((len(self._contacts), 3), np.nan)
        poses = placements(self._robot, q) if wanted.any() else []
        for k in np.flatnonzero(wanted):
            contact = self._contacts[k]
            if contact is None:
                continue
            point, surface, part = contact
            R, p = _pose(poses, point.body)
            carrier = WORLD if surface.body is None else self._robot.body(surface.body)
            R_s, p_s = _pose(poses, carrier)
            place = R_s.T @ (R @ point.position + p - p_s)
            _, axes = surface.depth_and_axes(SX(place), point.radius, part)
            found[k] = R_s @ np.array(ca.DM(axes))[2]
        return found


def _pose(poses: list[tuple[np.ndarray, np.ndarray]], body: int) -> tuple[np.ndarray, np.ndarray]:
    return (np.eye(3), np.zeros(3)) if body == WORLD else poses[body]


def _again(surface: dict[str, Any]) -> shapes.Surface | None:
    """A surface from what a recording says of it; None where that is not enough."""
    kind = getattr(shapes, surface["kind"], None)
    if kind is None:
        return None
    given = {f.name: surface[f.name] for f in fields(kind) if f.name in surface}
    try:
        return kind(**given)
    except HeelstrikeError:  # heights in a file that is gone
        return None


def _contact(
    run: RunArrays, name: str, surface: shapes.Surface | None
) -> tuple[Point, shapes.Surface, int] | None:
    """The point of a contact and the part of the surface, from the contact's name: `point`, or
    `point on surface part`.
    """
    if surface is None:
        return None
    own, _, rest = name.partition(" on ")
    standing = run.info["scene"].get("world_points", [])
    known = {point.name: point for point in run.robot.points} | {
        f"world.{k}": Point(f"world.{k}", WORLD, np.array(x[:3]), x[3])
        for k, x in enumerate(standing)
    }
    part = rest.removeprefix(surface.name).strip()
    if own not in known or part not in surface.parts:
        return None
    return known[own], surface, surface.parts.index(part)
