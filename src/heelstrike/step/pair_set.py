"""Sets of pairs of shapes: each pair is a bit of a number.

Pair k is bit 23 - k % 24 of word k // 24, which float32 holds exactly. A pair costs one addition to
put into the set, and a set has room for all pairs. Pairs are taken out in the order of their
numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.contact.law import where
from heelstrike.ir.number import number
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX

BITS = 24
"""Pairs in a word."""
HALVINGS = 16, 8, 4, 2, 1
"""Steps of the search for the highest bit of a word."""


@dataclass(frozen=True)
class PairSet:
    """A set of pairs, as variables of a program."""

    words: list[SX]

    def place(self, k: int) -> tuple[SX, SX]:
        """Return the word of pair k, and the value of its bit."""
        return self.words[k // BITS], number(2.0 ** (BITS - 1 - k % BITS))

    @property
    def some(self) -> SX:
        """1 where the set has a pair."""
        return sum(self.words, SX(0)) > 0

    def take_first(self, p: Program) -> SX:
        """Take the pair with the lowest number out of the set, and return it; inside a block."""
        word, first = SX(0), SX(0)
        for n, entry in reversed([*enumerate(self.words)]):
            word, first = where(entry > 0, entry, word), where(entry > 0, n, first)
        rest, bit, place = word, SX(1), SX(BITS - 1)
        for shift in HALVINGS:
            above = rest >= 2.0**shift
            rest, bit = where(above, rest * 2.0**-shift, rest), where(above, bit * 2.0**shift, bit)
            place = where(above, place - shift, place)
        pair = p.let("pair", BITS * first + place)
        for n, entry in enumerate(self.words):
            p.assign(entry, where(first == n, ca.fmax(entry - bit, 0), entry))
        return pair


def new_set(p: Program, count: int) -> PairSet:
    """Return a set with room for `count` pairs, empty; inside a block."""
    return PairSet([p.variable("pairs", SX(0)) for _ in range(0, count, BITS)])
