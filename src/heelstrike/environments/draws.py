"""Random numbers that depend on a world's seed and its episode, and on nothing else.

    a = m(s + G e)     b = m(m(s ^ H) + e)
    x_k = m(m(a + G k) ^ b)     u_k = floor(x_k / 2^8) / 2^24

in whole numbers modulo 2^32, of seed s, episode e and counter k; u is in [0, 1). m mixes the bits
of one number: "lowbias32" of C. Wellons' Hash Prospector (public domain). So a world draws the same
alone, beside any neighbours, and on any device. Not for secrets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

GOLDEN = 0x9E3779B9 - 2**32
"""G, 2^32 over the golden ratio, as a signed number of 32 bits."""
OTHER = 0x85EBCA6B - 2**32
"""H, another odd number."""


def folded(seeds: Sequence[int]) -> np.ndarray:
    """Seeds of any size as 32 bits each; neighbours stay different."""
    whole = np.array([int(seed) % 2**64 for seed in seeds], dtype=np.uint64)
    return (whole ^ (whole >> np.uint64(32))).astype(np.uint32).view(np.int32)


def other(seed: Any) -> Any:
    """m(s ^ H), which all episodes of a seed share."""
    return mixed(seed ^ OTHER)


def stream(seed: Any, other: Any, episode: Any) -> tuple[Any, Any]:
    """(a, b) of arrays of int32, one entry a world."""
    return mixed(seed + GOLDEN * episode), mixed(other + episode)


def bits(a: Any, b: Any, k: Any) -> Any:
    """floor(x_k / 2^8), of arrays of int32 that match in shape."""
    return (mixed(mixed(a + GOLDEN * k) ^ b) >> 8) & 0xFFFFFF


def mixed(x: Any) -> Any:
    """m(x) of an array of int32; products wrap around."""
    x = (x ^ ((x >> 16) & 0xFFFF)) * 0x7FEB352D
    x = (x ^ ((x >> 15) & 0x1FFFF)) * (0x846CA68B - 2**32)
    return x ^ ((x >> 16) & 0xFFFF)
