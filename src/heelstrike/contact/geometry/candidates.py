"""Directions to start from where cores overlap.

Two polytopes come apart soonest along the normal of a face of one of them, or across an edge of
both. Where normals and edges are known and few, as for boxes, all are tried, and the best one is
the answer. Else directions are spread over the sphere.
"""

from __future__ import annotations

from itertools import product

import casadi as ca
import numpy as np

from heelstrike.contact.geometry.convex import TINY, Convex, extent
from heelstrike.contact.law import where
from heelstrike.ir.loop import counted
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.vector import SX, cross, zeros

CELLS = 26
"""Number of cells of the sphere."""
CORNERS = 4
"""Number of directions in each."""
PARALLEL = 1e-10
"""Square of the sine of the angle below which edges count as parallel."""
NEVER = 1e30
"""Depth along a direction that is none [m]."""


def over_the_sphere(count: int) -> np.ndarray:
    """Return unit vectors spread evenly over the sphere along a spiral, (count, 3)."""
    k = np.arange(count) + 0.5
    z, turn = 1 - 2 * k / count, np.pi * (1 + 5**0.5) * k
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def cells_of_the_sphere() -> np.ndarray:
    """Return directions in a row for each cell of the sphere, (CELLS, 3 CORNERS)."""
    centres = over_the_sphere(CELLS)
    spread = over_the_sphere(CELLS * CORNERS)
    cells: list[list[np.ndarray]] = [[] for _ in centres]
    order = np.argsort(-(spread @ centres.T).max(axis=1))
    for k in order[::-1]:  # the farthest from all centres choose first
        for c in np.argsort(-(centres @ spread[k])):
            if len(cells[c]) < CORNERS:
                cells[c].append(spread[k])
                break
    return np.array(cells).reshape(CELLS, 3 * CORNERS)


def all_known(first: Convex, second: Convex) -> bool:
    """Return whether the known normals and edges are all that can part two cores soonest.

    Edges of a point are none, so that of the other shape only faces count.
    """
    shapes = first, second
    faces = all(not s.round and (s.count <= 2 or s.normals is not None) for s in shapes)
    return faces and (any(s.count == 1 for s in shapes) or all(s.edges is not None for s in shapes))


def columns(matrix: SX | None) -> list[SX]:
    """Return the columns of a matrix, none of None."""
    return [] if matrix is None else ca.horzsplit(matrix)


def start_count(first: Convex, second: Convex) -> int:
    """Return the number of columns of `start_directions`."""
    told = first.normals is not None or second.normals is not None
    told = told or (first.edges is not None and second.edges is not None)
    return 1 if all_known(first, second) else CELLS + told


def start_directions(p: Program, first: Convex, second: Convex) -> SX:
    """Return directions (3) along which the cores come apart soon, and depths, (4, k).

    The first is the best of those that normals and edges tell, the only one if they tell all;
    others are the best of a part of the sphere each.
    """
    with p.block("candidates"):
        best = p.variable("best", ca.vertcat(0, 0, 1, NEVER))
    normals = [*columns(first.normals), *columns(second.normals)]
    for i, axis in enumerate(normals):
        call(p, "face", _try, p, first, second, axis, best, member=i)
    pairs = list(product(columns(first.edges), columns(second.edges)))
    for i, (a, b) in enumerate(pairs):
        call(p, "edges", _try_edges, p, first, second, a, b, best, member=i)
    if all_known(first, second):
        return best
    with counted(p, "cells", CELLS) as loop:
        cell = ca.reshape(loop.constants(cells_of_the_sphere()), 3, CORNERS)
        cells = loop.carry("cells", zeros(4, CELLS))
        with p.block("cell"):
            own = ca.vertcat(0, 0, 1, NEVER)
            for direction in ca.horzsplit(cell):
                low, high = extent(first, direction)[0], extent(second, direction)[1]
                depth = p.let("depth", high - low)
                own = where(depth < own[3], ca.vertcat(direction, depth), own)
            loop.next(cells, ca.horzcat(cells[:, 1:], own))
    with p.block("cells"):
        parts = p.variable("cells", cells)
    return ca.horzcat(best, parts) if normals or pairs else parts


def _try(p: Program, first: Convex, second: Convex, axis: SX, best: SX) -> None:
    """Take a direction, or its opposite, if it is better than the best so far; in a block."""
    _take(p, first, second, axis, best, SX(1))


def _try_edges(p: Program, first: Convex, second: Convex, a: SX, b: SX, best: SX) -> None:
    """Try the direction across two edges, if they are not parallel; in a block."""
    across = cross(a, b)
    square = ca.dot(across, across)
    axis = across / ca.sqrt(ca.fmax(square, TINY))
    _take(p, first, second, axis, best, square > PARALLEL)


def _take(p: Program, first: Convex, second: Convex, axis: SX, best: SX, valid: SX) -> None:
    (a_low, a_high), (b_low, b_high) = extent(first, axis), extent(second, axis)
    along, against = b_high - a_low, a_high - b_low
    depth = ca.fmin(along, against)
    found = ca.vertcat(where(along <= against, axis, -axis), depth)
    p.assign(best, where(ca.logic_and(valid, depth < best[3]), found, best))
