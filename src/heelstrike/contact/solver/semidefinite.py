"""Factors of small matrices that may lack rank.

A triangular factor has a zero column where nothing is left of its diagonal; solving with it leaves
that unknown zero.
"""

from __future__ import annotations

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.spatial.vector import zeros

DUST = 1e-60
"""Square of the length of a row that counts as zero."""


def root_of(matrix: SX, least: SX | float = 1e-13) -> SX:
    """Return L with L L^T = a symmetric positive semidefinite matrix.

    A column is zero where less than a share `least` is left of its diagonal.
    """
    n = matrix.shape[0]
    root = SX(n, n)
    for j in range(n):
        left = matrix[j, j]
        for k in range(j):
            left = left - root[j, k] * root[j, k]
        there = left > least * matrix[j, j]
        inverse = where(there, 1 / ca.sqrt(ca.fmax(left, 1e-30)), 0)
        root[j, j] = left * inverse
        for i in range(j + 1, n):
            entry = matrix[i, j]
            for k in range(j):
                entry = entry - root[i, k] * root[j, k]
            root[i, j] = entry * inverse
    return root


def solve_lower(root: SX, b: SX) -> SX:
    """Return x with root x = b, for b in the root's range; zero where the root's column is."""
    n = b.numel()
    x = zeros(n)
    for j in range(n):
        left = b[j]
        for k in range(j):
            left = left - root[j, k] * x[k]
        x[j] = _over(left, root[j, j])
    return x


def solve_upper(root: SX, b: SX) -> SX:
    """Return x with root x = b; zero where the root's row is."""
    n = b.numel()
    x = zeros(n)
    for j in reversed(range(n)):
        left = b[j]
        for k in range(j + 1, n):
            left = left - root[j, k] * x[k]
        x[j] = _over(left, root[j, j])
    return x


def triangular(matrix: SX, least: SX | float = 1e-13) -> tuple[SX, SX]:
    """Return T, O with T O = a matrix, T lower triangular, rows of O orthonormal.

    A row of O is zero where less than a share `least` of a row, or only dust, is left by those
    above it.
    """
    n = matrix.shape[0]
    lower, turn = SX(n, n), SX(n, matrix.shape[1])
    for i in range(n):
        lower[i, : i + 1], turn[i, :] = next_row(matrix[i, :], turn[:i, :], least)
    return lower, turn


def next_row(row: SX, above: SX, least: SX | float) -> tuple[SX, SX]:
    """Return the rows of T and of O that a row of the matrix adds to those above it.

    It is made orthogonal twice: what little of a row the first time leaves has its rounding along
    the rows above.
    """
    parts, whole = [SX(0)] * above.shape[0], ca.dot(row, row)
    for _ in range(2):
        for k in range(above.shape[0]):
            part = ca.dot(row, above[k, :])
            row = row - part * above[k, :]
            parts[k] = parts[k] + part
    left = ca.dot(row, row)
    there = left > ca.fmax(least * least * whole, DUST)
    inverse = where(there, 1 / ca.sqrt(ca.fmax(left, DUST)), 0)
    return ca.horzcat(*parts, left * inverse), row * inverse


def _over(left: SX, pivot: SX) -> SX:
    there = pivot > 0
    return where(there, left / where(there, pivot, 1), 0)
