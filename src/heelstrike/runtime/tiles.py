"""Arrays in tiles of W worlds, (tiles, size, W): a vector load takes one value of W neighbours."""

from __future__ import annotations

import numpy as np

from heelstrike.codegen.real import Real

ALIGNMENT = 64
"""Of an array's first value [bytes]: a line of the cache, a vector of AVX-512."""


def fill(tiles: np.ndarray, rows: np.ndarray) -> None:
    """Rows (worlds, size) into tiles (tiles, size, W); the rest of the last tile repeats the last
    world.
    """
    n, size, width = tiles.shape
    full = len(rows) // width
    tiles[:full] = rows[: full * width].reshape(full, width, size).transpose(0, 2, 1)
    if full < n:
        rest = rows[full * width :]
        tiles[full, :, : len(rest)] = rest.T
        tiles[full, :, len(rest) :] = rest[-1][:, None]


def aligned(shape: tuple[int, ...], real: Real) -> np.ndarray:
    """Zeros that begin at a multiple of ALIGNMENT."""
    size = int(np.prod(shape)) * real.bytes
    raw = np.zeros(size + ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(real.dtype).reshape(shape)
