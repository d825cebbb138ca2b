"""Shares of a batch on a GPU: groups of tiles that are launched apart, a few steps at a time.

A multiprocessor holds few blocks at once. In one launch of all tiles and all steps, multiprocessors
that are done early wait for the last blocks, each of which makes all its steps. With shares, each
in a stream of its own, they meanwhile work on the next launch of another share.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

MAX_SHARES = 4
"""Shares of a batch. With two, both may be in their last blocks at once; eight are no faster."""


@dataclass(frozen=True)
class Share:
    """Tiles that follow one another."""

    first: int
    tiles: int


def shares(tiles: int, per_block: int, resident: int) -> list[Share]:
    """Return the shares of a number of tiles; one where all blocks are resident at once.

    Args:
        tiles: Number of tiles, 32 worlds each.
        per_block: Number of tiles of a block.
        resident: Number of blocks that the GPU works on at once.
    """
    blocks = -(-tiles // per_block)
    count = MAX_SHARES if blocks > max(resident, MAX_SHARES) else 1
    each = -(-blocks // count) * per_block
    return [Share(first, min(each, tiles - first)) for first in range(0, tiles, each)]


def steps_of_launches(steps: int, waves: float) -> list[int]:
    """Return the steps of each launch of a share.

    A launch of c steps begins with work that takes as long as a quarter of a step, which adds
    1 / 4c to the time of a run; at its end multiprocessors wait for c / 2 steps of `waves` x
    `steps` that they make. c = sqrt(waves steps / 2) is where the sum is least.

    Args:
        steps: Number of steps of the run.
        waves: Number of blocks over that of resident ones.
    """
    each = ceil(sqrt(waves * steps / 2))
    return [min(each, steps - made) for made in range(0, steps, each)]
