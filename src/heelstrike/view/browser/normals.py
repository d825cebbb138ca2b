"""Outward normals of surfaces at contact points.

A recording holds forces, not normals. It holds the fields of the surfaces, though, so that each
surface can be rebuilt and evaluated at the point.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.outline import between, corner_points
from heelstrike.robot.placement import placements
from heelstrike.robot.robot import WORLD, Point
from heelstrike.scene.deepest import deepest_in_pose
from heelstrike.scene.surfaces import SURFACES, Surface
from heelstrike.view.browser.run_arrays import RunArrays
from heelstrike.view.render.surface_solids import SurfaceRecord, recorded_surfaces

KINDS = {kind.__name__: kind for kind in SURFACES}
"""Classes of surfaces by name."""


class Normals:
    """The normals at the contacts of a run."""

    def __init__(self, run: RunArrays) -> None:
        self._robot = run.robot
        rebuilt = {s["name"]: _rebuilt(s) for s in recorded_surfaces(run.info, run.world)}
        self._contacts = [
            _contact(run, name, rebuilt[on]) if on in rebuilt else None
            for name, on in zip(run.points, run.surfaces, strict=True)
        ]

    def at(self, q: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return unit normals in the world at the chosen contacts, (contacts, 3).

        They are NaN at other contacts, and where a surface cannot be rebuilt. `chosen` is a mask.
        """
        found = np.full((len(self._contacts), 3), np.nan)
        poses = placements(self._robot, q) if chosen.any() else []
        for k in np.flatnonzero(chosen):
            contact = self._contacts[k]
            if contact is None:
                continue
            point, surface, part = contact
            carrier = WORLD if surface.body is None else self._robot.body(surface.body)
            both = _pose(poses, point.body), _pose(poses, carrier)
            found[k] = deepest_in_pose(surface, part, point, *both)[1]
        return found


def _pose(poses: list[tuple[np.ndarray, np.ndarray]], body: int) -> tuple[np.ndarray, np.ndarray]:
    return (np.eye(3), np.zeros(3)) if body == WORLD else poses[body]


def _rebuilt(surface: SurfaceRecord) -> Surface | None:
    """Return a surface from its fields in a recording; None if they are not enough."""
    kind = KINDS.get(surface["kind"])
    if kind is None:
        return None
    values = {f.name: surface[f.name] for f in fields(kind) if f.name in surface}
    try:
        return kind(**values)
    except HeelstrikeError:  # the file of its heights is missing
        return None


def _contact(
    run: RunArrays, name: str, surface: Surface | None
) -> tuple[Point, Surface, int] | None:
    """Return the point of a contact, its surface and the index of the surface's part.

    They are found by the contact's name in the recording: `point`, or `point on surface part`.
    """
    if surface is None:
        return None
    own, _, rest = name.partition(" on ")
    world_points = run.info["scene"].get("world_points", [])
    own_points = [
        x for point in run.robot.points for x in (point, *corner_points(point), *between(point))
    ]
    known = {point.name: point for point in own_points} | {
        f"world.{k}": Point(f"world.{k}", WORLD, np.array(x[:3]), x[3])
        for k, x in enumerate(world_points)
    }
    part = rest.removeprefix(surface.name).strip()
    if own not in known or part not in surface.parts:
        return None
    return known[own], surface, surface.parts.index(part)
