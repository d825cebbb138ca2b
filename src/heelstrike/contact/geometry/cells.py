"""Farthest corner of a hull of many corners, by a table of directions (robot/hull_cells.py)."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.contact.law import where
from heelstrike.ir.table import Table
from heelstrike.spatial.vector import SX


@dataclass(frozen=True)
class CellTable:
    """Corners of hulls by cells of directions, in the program."""

    table: Table
    """A row for each cell of each hull: the corners of the cell one after another [m]."""
    across: int
    """Cells along a side of the square of directions."""

    def farthest(self, first: SX | float, direction: SX) -> SX:
        """Return the corner that is farthest along a direction (3) [m]; inside a block or not.

        `first` is the row of the hull's first cell.
        """
        corners = ca.horzsplit(ca.reshape(self.table.row(first + self._cell(direction)), 3, -1))
        best, place = ca.dot(direction, corners[0]), corners[0]
        for corner in corners[1:]:
            along = ca.dot(direction, corner)
            place = where(along > best, corner, place)
            best = ca.fmax(best, along)
        return place

    def _cell(self, direction: SX) -> SX:
        """Return the number of a direction's cell."""
        x, y, z = ca.vertsplit(direction)
        scale = 1 / (ca.fabs(x) + ca.fabs(y) + ca.fabs(z))
        x, y = x * scale, y * scale
        u = where(z < 0, where(x < 0, -1, 1) * (1 - ca.fabs(y)), x)
        v = where(z < 0, where(y < 0, -1, 1) * (1 - ca.fabs(x)), y)
        along, across = (
            ca.fmin(ca.fmax(ca.floor((w + 1) * (self.across / 2)), 0), self.across - 1)
            for w in (u, v)
        )
        return along * self.across + across
