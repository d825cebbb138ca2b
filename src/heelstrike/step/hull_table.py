"""Hulls of many corners in the program of a step: the table of their corners by directions."""

from __future__ import annotations

from functools import reduce

import casadi as ca
import numpy as np

from heelstrike.contact.geometry.cells import CellTable
from heelstrike.contact.geometry.convex import tangents
from heelstrike.ir.program import Program
from heelstrike.ir.table import table
from heelstrike.robot.hull import LEAN, TURNS, Hull
from heelstrike.robot.hull_cells import ACROSS
from heelstrike.scene.scene import Scene
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, constant

HULLS = "hulls"
"""Name of the table."""
Sides = list[tuple[SX, SX]]
"""Corners of a hull in the frame of its body (3) [m], and 1 where they are not repeated."""


class HullTable:
    """Corners of all hulls of a scene by directions."""

    def __init__(self, p: Program, scene: Scene) -> None:
        arrays = hull_tables(scene)
        self.cells = CellTable(table(p, HULLS, *arrays[HULLS].shape), ACROSS) if arrays else None
        self.first = {id(cells): ACROSS**2 * k for k, cells in enumerate(scene.hull_cells)}
        """Row of the first cell of each hull."""

    def lowest(self, hull: Hull, pose: Transform, normal: SX) -> SX:
        """Return the corner of a hull that is deepest along a normal in the world (3), in the frame
        of its body [m]; inside a block.
        """
        assert self.cells is not None
        turn = constant(hull.rotation)
        own = -turn.T @ pose.unrotate(normal)
        return turn @ self.cells.farthest(self.first[id(hull.cells)], own) + constant(
            hull.translation
        )

    def sides(self, p: Program, hull: Hull, pose: Transform, normal: SX) -> Sides:
        """Return the corners of a hull that touch ground with a normal in the world (3); inside a
        block.
        """
        assert self.cells is not None
        turn, offset = constant(hull.rotation), constant(hull.translation)
        own = p.let("normal", turn.T @ pose.unrotate(normal))
        s, t = (p.let("tangent", x) for x in tangents(own))
        found: list[tuple[SX, SX]] = []
        for angle in TURNS:
            direction = p.let("leaning", LEAN * (np.cos(angle) * s + np.sin(angle) * t) - own)
            place = self.cells.farthest(self.first[id(hull.cells)], direction)
            place = p.let("corner", turn @ place + offset)
            same = (ca.mmax(ca.fabs(place - other)) <= 0 for other, _ in found)
            repeated = reduce(ca.logic_or, same, SX(0))
            found.append((place, p.let("present", ca.logic_not(repeated))))
        return found


def hull_tables(scene: Scene) -> dict[str, np.ndarray]:
    """Return the array that the step looks up, by the name of its table."""
    if not scene.hull_cells:
        return {}
    return {HULLS: np.concatenate([x.rows.reshape(ACROSS**2, -1) for x in scene.hull_cells])}
