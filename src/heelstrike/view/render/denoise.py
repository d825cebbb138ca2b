"""Filter of the light that few rays found; it does not blur edges.

A sample takes the mean of its neighbours that lie in its own plane and have the same normal, first
over near neighbours and then over ones twice as far: the "a trous" filter of Dammertz et al. 2010
for ray tracing, with edges that stop it altogether.
"""

from __future__ import annotations

import numpy as np

STRIDES = (2, 4)
"""Distances between a sample and its neighbours, one for each pass [samples]."""
SAME_NORMAL = 0.97
"""Smallest cosine of the angle between normals that count as equal."""


def denoise(
    values: np.ndarray,
    met: np.ndarray,
    shape: tuple[int, int],
    place: np.ndarray,
    normal: np.ndarray,
    thickness: float,
) -> np.ndarray:
    """Return filtered values (n, k).

    Args:
        met: Indices (n,) of the samples in a grid of `shape` (rows, columns).
        place: Points (n, 3) [m] of the samples.
        normal: Unit normals (n, 3) there.
        thickness: Largest distance between planes that count as one [m].
    """
    row, column = np.divmod(met, shape[1])
    number = np.full((shape[0] + 2 * max(STRIDES), shape[1] + 2 * max(STRIDES)), -1)
    row, column = row + max(STRIDES), column + max(STRIDES)
    number[row, column] = np.arange(len(met))
    height = np.einsum("ij,ij->i", place, normal)
    for stride in STRIDES:
        total, count = values.copy(), np.ones((len(met), 1), dtype=np.float32)
        for down, right in [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]:
            other = number[row + stride * down, column + stride * right]
            same = np.einsum("ij,ij->i", normal, normal[other]) > SAME_NORMAL
            same &= np.abs(np.einsum("ij,ij->i", place[other], normal) - height) < thickness
            same &= other >= 0
            total += np.where(same[:, None], values[other], 0)
            count += same[:, None]
        values = total / count
    return values
