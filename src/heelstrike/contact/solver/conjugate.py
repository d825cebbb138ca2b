"""Links' part of a direction by conjugate gradients, where links are known at run time only.

As links.py has it, with l the wrenches that the stiffness K of links takes off the bodies, v the
twists J T^-1 y and A = J T^-1 J^T,

    l = K w,      (1 + A K) w = v

1 + A K is self-adjoint and positive definite in the inner product x . K y, in which conjugate
gradients solve for w. A product with A is one solve of the tree. In exact arithmetic they end after
as many rounds as K has independent columns, three for each contact that pushes, plus one. Where
they end before, r goes on from the l that acted, and later rounds of Newton's method mend it.

K resists along few directions. For links that hardly move along those, x . K x is rounding of
either sign, and rounds go nowhere. No eigenvalue of 1 + A K is below 1, so that the curvature along
a direction is at least x . K x of what is left of v. Rounds end where it is far from that, or where
x . K x is not positive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.criteria import SINGLE
from heelstrike.contact.solver.sums import total
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program

MAX_ROUNDS = 60
"""Solves of the tree in a direction, at most."""
LEAST_SIZE = 0.5
"""Share of its least value in exact arithmetic that a curvature may have by rounding."""
DUST_SINGLE = 1e-34
"""x . K x [J] that counts as none in float32: the reciprocal of less than 3e-39 is infinite."""


def taken_by_links(
    p: Program,
    stiffnesses: Sequence[SX],
    twists: Sequence[SX],
    respond: Callable[[Sequence[SX]], list[SX]],
    tolerance: SX,
) -> list[SX]:
    """Return l of the links, (6,) each, as variables.

    `respond` returns A times wrenches of the links; it is called outside blocks. Rounds end where
    what is left of v is below the tolerance, in the norm of K, or is no more than rounding.
    """
    links = range(len(twists))
    with p.block("conjugate"):
        lack = [p.variable("lack", twists[n]) for n in links]
        forces = [stiffnesses[n] @ twists[n] for n in links]
        along = [p.variable("along", twists[n]) for n in links]
        pushed = [p.variable("pushed", forces[n]) for n in links]
        taken = [p.variable("taken", 0 * twists[n]) for n in links]
        first = p.let("first", _dot(twists, forces))
        norm = p.variable("norm", first)
        dust = p.let("dust", where(tolerance > SINGLE, DUST_SINGLE, 0))
    with repeated(p, "conjugate", limit=MAX_ROUNDS) as loop:
        answers = respond(pushed)
        with p.block("conjugate"):
            images = [along[n] + answers[n] for n in links]
            size = p.let("size", _dot(images, pushed))
            sound = p.let("sound", ca.logic_and(norm > dust, size > LEAST_SIZE * norm))
            share = p.let("share", where(sound, norm / size, 0))
            rest = [p.let("rest", lack[n] - share * images[n]) for n in links]
            forces = [p.let("force", stiffnesses[n] @ rest[n]) for n in links]
            left = p.let("left", _dot(rest, forces))
            turn = p.let("turn", where(norm > 0, left / norm, 0))
            for n in links:
                p.assign(taken[n], taken[n] + share * pushed[n])
                p.assign(lack[n], rest[n])
                p.assign(along[n], rest[n] + turn * along[n])
                p.assign(pushed[n], forces[n] + turn * pushed[n])
            p.assign(norm, left)
            small = left <= tolerance * tolerance * first
            loop.until(ca.logic_or(small, ca.logic_not(sound)))
    return taken


def _dot(one: Sequence[SX], other: Sequence[SX]) -> SX:
    return total([ca.dot(x, y) for x, y in zip(one, other, strict=True)])
