"""Random numbers that depend on the seed and the episode of a world, and on nothing else.

    a = m(s + G e)     b = m(m(s ^ H) + e)
    x_k = m(m(a + G k) ^ b)     u_k = floor(x_k / 2^8) / 2^24

in integers modulo 2^32, for seed s, episode e and counter k; u is in [0, 1). m mixes the bits of
one number: "lowbias32" of C. Wellons' Hash Prospector (public domain). So a world draws the same
numbers alone, in any batch, and on any device. Not for cryptography.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heelstrike.environments.arrays import Array, Arrays, WorldSubset

GOLDEN = 0x9E3779B9 - 2**32
"""G, 2^32 over the golden ratio, as a signed integer of 32 bits."""
OTHER = 0x85EBCA6B - 2**32
"""H, another odd number."""


class WorldRandom:
    """The random numbers of all worlds."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.usual = 0
        """Count of numbers that the last start of an episode drew."""
        self._counters: dict[tuple[int, int], Array] = {}
        self.seed, self.other, self.episode, self.a, self.b = (
            arrays.int_array(np.zeros(arrays.worlds, np.int32)) for _ in range(5)
        )
        self.other[...] = other(self.seed)

    def begin(self, some: WorldSubset, seeds: Sequence[int] | None) -> None:
        """Begin the next episode, or the first one of new seeds, one per world."""
        if seeds is None:
            some.put(self.episode, some.pick(self.episode) + 1)
        else:
            new = self.arrays.int_array(fold_seeds(seeds))
            some.put(self.seed, some.pick(new))
            some.put(self.other, other(some.pick(new)))
            some.put(self.episode, 0 * some.pick(new))
        a, b = stream(*(some.pick(x) for x in (self.seed, self.other, self.episode)))
        some.put(self.a, a)
        some.put(self.b, b)

    def counters(self, first: int, count: int) -> Array:
        """Return first, first + 1, ... on the device; they are kept for the next call."""
        if (first, count) not in self._counters:
            k = np.arange(first, first + count)
            self._counters[first, count] = self.arrays.int_array(k)
        return self._counters[first, count]

    def uniform(self, some: WorldSubset, k: Array) -> Array:
        """Return numbers in [0, 1), (count, n), for counters k of shape (n,) or (count, n)."""
        a, b = (some.pick(part)[:, None] for part in (self.a, self.b))
        return self.arrays.real_array(bits(a, b, k)) * 2.0**-24


def fold_seeds(seeds: Sequence[int]) -> np.ndarray:
    """Return seeds of any size as int32; consecutive seeds stay different."""
    whole = np.array([int(seed) % 2**64 for seed in seeds], dtype=np.uint64)
    return (whole ^ (whole >> np.uint64(32))).astype(np.uint32).view(np.int32)


def other(seed: Array) -> Array:
    """Return m(s ^ H), which all episodes of a seed share."""
    return mix(seed ^ OTHER)


def stream(seed: Array, other: Array, episode: Array) -> tuple[Array, Array]:
    """Return (a, b) for arrays of int32 with an entry per world."""
    return mix(seed + GOLDEN * episode), mix(other + episode)


def bits(a: Array, b: Array, k: Array) -> Array:
    """Return floor(x_k / 2^8) for arrays of int32 whose shapes match."""
    return (mix(mix(a + GOLDEN * k) ^ b) >> 8) & 0xFFFFFF


def mix(x: Array) -> Array:
    """Return m(x) for an array of int32; products wrap around."""
    x = (x ^ ((x >> 16) & 0xFFFF)) * 0x7FEB352D
    x = (x ^ ((x >> 15) & 0x1FFFF)) * (0x846CA68B - 2**32)
    return x ^ ((x >> 16) & 0xFFFF)
