"""Loads that bodies share where joints leave it open how (docs/solver.md).

Bodies that few joints join can press against one another through the ground without moving. Equal,
vanishing compliance of all contacts then means that the fields y of the bodies (anchors.py) are the
twists of one motion z of the joints,

    y = J z        with z of least squares, over the loaded points, of G y - G J z

This leaves the effect of the anchors on the joints as it is, unless friction is at its bound, which
follows the load. There fields go half of the way: the whole of it may bring other points to their
bounds, from where the next step would lead back. It takes one sweep, after the first step in which
all loaded points rest and stick since passes changed a field by more than rounding: fields that are
turned over in every step, while contacts come, go or slide, cost many rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.anchors import WEAK, WEAK_SINGLE, weights_of
from heelstrike.contact.solver.passes import AT_BOUND
from heelstrike.contact.solver.state import Body, Point, Tree, full
from heelstrike.contact.solver.sums import fewer, total
from heelstrike.ir.guard import guarded, left, reopened
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.vector import zeros

SHARE, SHARE_SINGLE = 1e-9, 1e-5
"""Share of the robot's inertia beside the weights of its points, in float64 and in float32."""
DRIFT, DRIFT_SINGLE = 1e-6, 3e-3
"""Sum of changes of the fields, relative to the largest of them, from which on loads are shared out
anew, in float64 and in float32: more than a sweep changes by its rounding alone."""
LEAST = 1e-30
"""Size of a field that counts as none [N s]."""


def share_out(
    p: Program,
    tree: Tree,
    bodies: Sequence[Body],
    joined: Sequence[int],
    unshared: SX,
    diagonal: SX,
    single: SX,
) -> SX:
    """Assign fields that are twists of one motion; return how far they moved since that was done.

    `joined` are the bodies of links, whose forces count for nothing here; `unshared` is what the
    last step returned.
    """
    changes = []
    for body in bodies:
        with reopened(p, body.touch) as touch, p.block("news", limb=body.limb, member=body.number):
            change, size = ca.mmax(ca.fabs(body.y - body.y0)), ca.mmax(ca.fabs(body.y))
            changes.append(left(p, touch, "change", ca.vertcat(change, size)))
    with p.block("news"):
        change, size = ca.vertsplit(reduce(ca.fmax, changes))
        drift = p.let("drift", unshared + change / ca.fmax(size, LEAST))
        moves = reduce(ca.fmax, (body.scales[2] for body in bodies))
        news = drift > where(single, DRIFT_SINGLE, DRIFT)
        rests = p.let("rests", ca.logic_and(news, moves < 1))
        weak = p.let("weak", where(single, WEAK_SINGLE, WEAK))
        least = reduce(ca.fmin, (body.points[0].own for body in bodies))
        share = p.let("share", where(single, SHARE_SINGLE, SHARE) * least)
    with guarded(p, "shares", rests):
        for number in joined:
            with p.block("no weights", member=number):
                tree.set_force(tree.loads[number], zeros(6))
        bounds = []
        for body in bodies:
            with reopened(p, body.touch) as touch:
                limb, number = body.limb, body.number
                weights = [
                    call(p, "weights", _weights, p, x, weak, limb=limb, member=x.number)
                    for x in body.points
                ]
                columns, at_bound = zip(*fewer(p, weights, limb, number), strict=True)
                own = p, tree, tree.loads[number], columns, body.y
                call(p, "weights", _weigh, *own, limb=limb, member=number)
                with p.block("bound", limb=limb, member=number):
                    bounds.append(left(p, touch, "at bound", total(at_bound)))
        with p.block("part"):
            part = p.let("part", where(total(bounds) > 0, 0.5, 1))
        tree.factor_stiffness(diagonal, share)
        _, moved = tree.solve({})
        for body in bodies:
            with (
                reopened(p, body.touch),
                p.block("shared", limb=body.limb, member=body.number),
            ):
                p.assign(body.y, body.y + part * (moved[body.number] - body.y))
    return where(rests, 0, drift)


def _weigh(p: Program, tree: Tree, load: Any, columns: Sequence[SX], y: SX) -> None:
    """Assign the weights of a body's contacts as its K, and what its field makes of them as r."""
    matrix = full(p.let("weights", total(columns)))
    tree.set_stiffness(load, matrix)
    tree.set_force(load, matrix @ y)


def _weights(p: Program, point: Point, weak: SX) -> tuple[SX, SX]:
    """Return the weights of a contact as a matrix of its body: its upper triangle as a column.

    And whether it sticks with friction at its bound.
    """
    row, f, g = point.row, point.f, point.map
    if row.compliance is not None:
        return zeros(21), SX(0)
    loaded = f[2] > 0
    held = ca.logic_and(loaded, ca.logic_not(point.anchor.slides))
    matrix = ca.densify(g.T @ ca.diag(weights_of(row, held, loaded, weak)) @ g)
    bound = AT_BOUND * ca.fmax(row.mu_s, row.mu_k) * f[2]
    at_bound = ca.logic_and(ca.logic_and(held, bound > 0), ca.dot(f[:2], f[:2]) >= bound * bound)
    return p.let("weights", ca.triu(matrix).nz[:]), p.let("at bound", at_bound)
