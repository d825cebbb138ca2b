"""Sums over the contacts of a body."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import casadi as ca

from heelstrike.contact.law import SX
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call

MANY, FEW = 8, 4
"""Contacts of a body above which they are summed this many at a time."""


def total(parts: Sequence[SX]) -> SX:
    """Return the sum."""
    return reduce(lambda a, b: a + b, parts)


def fewer(
    p: Program, parts: Sequence[tuple[SX, ...]], limb: str | None, member: int
) -> list[tuple[SX, ...]]:
    """Return parts with the same sum.

    Many are summed a few at a time, in order, by blocks that share their code: a block for each
    number of contacts would make the code grow with the bodies.
    """
    if len(parts) <= MANY:
        return list(parts)
    whole = parts[0]
    for k in range(1, len(parts), FEW):
        some = [whole, *parts[k : k + FEW]]
        whole = call(p, "sum", _summed, p, some, limb=limb, member=member)
    return [whole]


def _summed(p: Program, parts: Sequence[tuple[SX, ...]]) -> tuple[SX, ...]:
    return tuple(p.let("sum", total(columns)) for columns in zip(*parts, strict=True))


def joined(columns: Sequence[SX], largest: int) -> SX:
    """Return the largest of the first entries of several columns, and the sums of the others."""
    return ca.vertcat(
        reduce(ca.fmax, (x[:largest] for x in columns)), total([x[largest:] for x in columns])
    )
