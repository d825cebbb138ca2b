"""Lower bound of the distance of two boxes at right angles, from the axes of both.

In the axes of one box the other reaches no further than h' = |R| h about its centre t, so that they
are apart by at least

    |max(|t| - h_one - |R| h_other, 0)|

(Gottschalk et al. 1996, without the axes across two edges, and with the distance in place of a
sign). The larger of both answers counts. It is the distance itself where the boxes are parallel,
and may be 0 where two edges are nearest.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.spatial.vector import SX


@dataclass(frozen=True)
class PlacedBox:
    """A box in the world."""

    centre: SX
    """(3,) [m]"""
    axes: SX
    """Unit vectors along its edges as columns, (3, 3)."""
    half: SX
    """Half lengths of its edges, (3,) [m]."""


def box_gap(one: PlacedBox, other: PlacedBox) -> SX:
    """Return a lower bound of the distance of two boxes, 0 where they may overlap [m]."""
    offset, turn = other.centre - one.centre, ca.fabs(one.axes.T @ other.axes)
    apart = [
        ca.fmax(ca.fabs(one.axes.T @ offset) - one.half - turn @ other.half, 0),
        ca.fmax(ca.fabs(other.axes.T @ offset) - other.half - turn.T @ one.half, 0),
    ]
    return ca.sqrt(ca.fmax(*(ca.dot(x, x) for x in apart)))
