"""Random numbers in a compiled step: the generator of Wichmann and Hill (Algorithm AS 183, 1982).

    x = 171 x mod 30269,   y = 172 y mod 30307,   z = 170 z mod 30323
    u = (x / 30269 + y / 30307 + z / 30323) mod 1
    g = sqrt(-2 log u1) cos(2 pi u2),  sqrt(-2 log u1) sin(2 pi u2)         Box and Muller

All products are integers below 2^23, so that float32 and float64 go through the same states, on
every device. The state is a memory of the world; it is set from a seed in the first step after a
reset. Its period is 7e12. It serves noise, not cryptography.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX

FACTORS = (171, 172, 170)
MODULI = (30269, 30307, 30323)
STATE = "sensor random"
"""Name of the memory of the generator."""
SMALLEST = 2.0**-24
"""Smallest u: log u is finite."""


class WorldGenerator:
    """The generator of a world, over symbols; draws follow one another inside blocks."""

    def __init__(self, p: Program, seed: SX) -> None:
        self.p = p
        own = p.memory(STATE, len(MODULI), initial=1.0)
        with p.block("seed", limb="sensors"):
            first = [1 + ca.fmod(seed, modulus - 1) for modulus in MODULI]
            start = ca.if_else(p.clock < 0.5, ca.vertcat(*first), own)
            self._state = ca.vertsplit(p.let("state", start))

    def normal(self, count: int) -> SX:
        """Return independent numbers of the standard normal distribution, (count,)."""
        found: list[SX] = []
        while len(found) < count:
            radius = ca.sqrt(-2 * ca.log(ca.fmax(self._uniform(), SMALLEST)))
            angle = 2 * np.pi * self._uniform()
            found += [radius * ca.cos(angle), radius * ca.sin(angle)]
        return ca.vertcat(*found[:count])

    def _uniform(self) -> SX:
        """Return a number in [0, 1)."""
        for k, (factor, modulus) in enumerate(zip(FACTORS, MODULI, strict=True)):
            self._state[k] = self.p.let("state", ca.fmod(factor * self._state[k], modulus))
        total = sum((x / m for x, m in zip(self._state, MODULI, strict=True)), SX(0))
        return total - ca.floor(total)

    def remember(self) -> None:
        """Update the memory of the generator."""
        with self.p.block("seed", limb="sensors"):
            self.p.update(STATE, ca.vertcat(*self._state))
