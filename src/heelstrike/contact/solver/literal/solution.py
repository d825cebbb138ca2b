"""Solution of a literal rule, and its problem: impulses of contacts and twists of their bodies.

V = V_free + Lambda^-1 sum_j G_j^T f_j                twists of the contacting bodies, 6 each
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.contact.law import SX
from heelstrike.contact.solver.rows import Row


@dataclass(frozen=True)
class Solution:
    """Impulses of the contacts in a step, and the motion that follows."""

    impulses: list[SX]
    """Of each row, in its axes [N s]."""
    slides: list[SX]
    twists: SX
    """Of the bodies after the step."""
    wrenches: SX
    """Impulse and moment on each body, world axes [N s, N m s]."""
    rounds: SX
    unfinished: SX
    """1 where the limit of rounds was reached."""
    residual: SX
    """Velocity by which the worst contact misses its law (residual.py) [m/s]."""


def maps_of(rows: Sequence[Row], size: int) -> list[SX]:
    """Return G of each row, from the bodies' twists to the contact's velocity, (3, size)."""
    return [_map_of(row, size) for row in rows]


def _map_of(row: Row, size: int) -> SX:
    g = SX(3, size)
    for arm in row.arms:
        g[:, 6 * arm.body : 6 * arm.body + 6] = arm.map(row.axes)
    return ca.sparsify(g)
