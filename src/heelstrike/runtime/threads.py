"""Distribution of tiles over threads: a thread that is done early takes the next piece."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")

PIECES_PER_THREAD = 8
"""Largest number of pieces per thread: cores differ in speed, and other processes use them."""
MIN_TILES = 4
"""Tiles in a piece, at least."""


def distribute(tiles: int, frames: Sequence[T], work: Callable[[T, int, int], None]) -> None:
    """Call work(frame, first tile, end) until all tiles are done, with one thread per frame."""
    threads = len(frames)
    pieces = threads * max(1, min(PIECES_PER_THREAD, tiles // threads // MIN_TILES))
    left = deque(pairwise(tiles * k // pieces for k in range(pieces + 1)))

    def work_on(frame: T) -> None:
        while True:
            try:
                piece = left.popleft()
            except IndexError:  # none left
                return
            work(frame, *piece)

    list(_pool(threads).map(work_on, frames))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


if hasattr(os, "register_at_fork"):  # a forked child has none of the pool's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
