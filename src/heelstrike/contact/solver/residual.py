"""Residual of an impulse in Signorini's condition and Coulomb's law.

    f_n = max(f_n - u_n / A, 0)                   0 <= f_n, 0 <= u_n, one of them 0
    f_t = nearest(f_t - u_t / A)                  |f_t| <= mu f_n, equal and against any slip

Both hold for a solution, whatever A > 0 is; what the sides differ by, times A, is a velocity. u is
the velocity after the step less its target, A the contact's own share of the inverse inertia. The
zeros are those of the complementarity problem of f and u + (0, 0, mu |u_t|), [LeLidec2024] (15).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.cone import in_tube
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call

if TYPE_CHECKING:
    from heelstrike.contact.solver.rows import Row


def worst_missed(
    p: Program,
    rows: Sequence[Row],
    own: Sequence[SX],
    left: Sequence[SX],
    impulses: Sequence[SX],
    slides: Sequence[SX],
) -> SX:
    """Return the largest residual of the rows [m/s]."""
    parts = zip(rows, own, left, impulses, slides, strict=True)
    each = [
        call(p, "missed", _missed_row, p, *part, limb="coupled", member=j)
        for j, part in enumerate(parts)
    ]
    with p.block("coupled worst"):
        return p.let("missed", ca.mmax(ca.vertcat(*each)))


def _missed_row(p: Program, row: Row, own: SX, left: SX, f: SX, slid: SX) -> SX:
    """Return the residual of a row [m/s]; inside a block."""
    mu = where(slid, row.mu_k, ca.fmax(row.mu_s, row.mu_k))
    push = None if row.compliance is None else row.soft(left[2])[0]
    return p.let("missed", where(row.active, missed(f, left, own, mu, push), 0))


def missed(f: SX, left: SX, own: SX, mu: SX, push: SX | None = None) -> SX:
    """Return the residual of one contact that touches [m/s]; `left` is u, `own` A.

    An implicit elastic law has f_n = max(push, 0) in place of Signorini's condition.
    """
    scale = where(own > 0, own, 1)
    wanted = f - left / scale
    if push is not None:
        wanted = ca.vertcat(wanted[:2], push)
    return scale * ca.mmax(ca.fabs(f - in_tube(wanted, mu * f[2]).f))
