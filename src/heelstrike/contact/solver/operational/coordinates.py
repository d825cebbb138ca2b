"""Velocities that the coupled problem is written in: as few as its contacts depend on.

A body that several contacts hold has six, its twist. Where one contact is all that its bodies have,
as a foot that is a ball, what else they do is not the contact's business: its own velocity is three
coordinates, in its axes. With B from the bodies' twists V to the coordinates c,

    c = B V,    B Lambda^-1 B^T in place of Lambda^-1,    G_j V = C_j c

A robot on four such feet has 12 coordinates instead of 24: its Newton's matrix is cheaper, and it
is not singular for the want of joints, as that of 24 velocities is that 18 joints make.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from heelstrike.contact.law import SX
from heelstrike.spatial.vector import skew

if TYPE_CHECKING:
    from heelstrike.contact.solver.rows import Row


@dataclass(frozen=True)
class Coordinates:
    """Coordinates of a set of rows."""

    full: list[SX]
    """G of each row, (3, 6 a body)."""
    maps: list[SX]
    """C of each row, (3, coordinates)."""
    basis: SX
    """B."""


def coordinates_of(rows: Sequence[Row], size: int) -> Coordinates:
    """Return the coordinates of rows on bodies with `size` velocities together."""
    full = [map_of(row, size) for row in rows]
    uses = Counter(arm.body for row in rows for arm in row.arms)
    lone = [all(uses[arm.body] == 1 for arm in row.arms) for row in rows]
    shared = sorted(
        {arm.body for row, own in zip(rows, lone, strict=True) if not own for arm in row.arms}
    )
    eye = SX(ca.Sparsity.diag(size))
    eye.nz[:] = 1
    kept = [k for body in shared for k in range(6 * body, 6 * body + 6)]
    parts = [eye[kept, :], *(g for g, own in zip(full, lone, strict=True) if own)]
    basis = ca.vertcat(*parts)
    maps, start = [], len(kept)
    for g, own in zip(full, lone, strict=True):
        c = SX(3, basis.shape[0])
        if own:
            c[:, start : start + 3] = SX(ca.DM.eye(3))
            start += 3
        else:
            c[:, : len(kept)] = g[:, kept]
        maps.append(ca.sparsify(c))
    return Coordinates(full, maps, ca.sparsify(basis))


def map_of(row: Row, size: int) -> SX:
    """Return G, from the bodies' twists to the contact's velocity in its axes, (3, size)."""
    g = SX(3, size)
    for arm in row.arms:
        start = 6 * arm.body
        g[:, start : start + 3] = arm.sign * row.axes
        g[:, start + 3 : start + 6] = -arm.sign * row.axes @ skew(arm.lever)
    return ca.sparsify(g)
