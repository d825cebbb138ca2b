"""Tiles shared out among threads, piece by piece: who is done early takes the next piece."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")

PIECES, LEAST = 8, 4
"""Of the tiles for each thread, and tiles in a piece: cores differ, and others use them."""


def share_out(tiles: int, own: Sequence[T], work: Callable[[T, int, int], None]) -> None:
    """Calls work(what the thread owns, first tile, end) until all tiles are done; a thread for
    each of `own`.
    """
    threads = len(own)
    pieces = threads * max(1, min(PIECES, tiles // threads // LEAST))
    left = deque(pairwise(tiles * k // pieces for k in range(pieces + 1)))

    def go_on(mine: T) -> None:
        while True:
            try:
                piece = left.popleft()
            except IndexError:  # none left
                return
            work(mine, *piece)

    list(_pool(threads).map(go_on, own))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


if hasattr(os, "register_at_fork"):  # a forked child has none of the pool's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
