"""Evens out what few rays found, without blurring edges.

A sample takes the mean of its neighbours that lie in its own plane and look the same way; twice,
first near ones and then ones twice as far: an "a trous" filter, as Dammertz et al. 2010 have it
for ray tracing, with edges that stop it altogether.
"""

from __future__ import annotations

import numpy as np

STRIDES = (2, 4)
"""Between a sample and its neighbours."""
ALIKE = 0.97
"""Cosine of the angle between normals that count as one."""


def smooth(
    values: np.ndarray,
    met: np.ndarray,
    shape: tuple[int, int],
    place: np.ndarray,
    normal: np.ndarray,
    thick: float,
) -> np.ndarray:
    """Smoothed values (n, k) of the samples `met` of a grid; `thick` is how far apart planes are
    that count as one [m].
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
            same = np.einsum("ij,ij->i", normal, normal[other]) > ALIKE
            same &= np.abs(np.einsum("ij,ij->i", place[other], normal) - height) < thick
            same &= other >= 0
            total += np.where(same[:, None], values[other], 0)
            count += same[:, None]
        values = total / count
    return values
