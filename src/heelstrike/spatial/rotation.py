"""Rotations: about a coordinate axis, which is cheap, or by a full matrix.

A rotation maps components in the inner frame to components in the outer one: x_outer = R x_inner.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import casadi as ca
import numpy as np
from scipy.spatial.transform import Rotation as SpatialRotation

from heelstrike.spatial.vector import ROUND_OFF, SX, constant, symmetric

NEXT = (1, 2, 0)
"""Next coordinate axis in cyclic order."""
SERIES_BELOW = 0.25
"""(angle / 2)^2 [rad^2] below which series stand for sinc and cos."""


@dataclass(frozen=True)
class AxisRotation:
    """Rotation by an angle about coordinate axis 0, 1 or 2."""

    axis: int
    cos: SX
    sin: SX

    def apply(self, x: SX) -> SX:
        """Return R x, for each column of x."""
        return self._turn(x, self.sin)

    def undo(self, x: SX) -> SX:
        """Return R^T x, for each column of x."""
        return self._turn(x, -self.sin)

    def _turn(self, x: SX, sin: SX) -> SX:
        i, j, k = self.axis, NEXT[self.axis], NEXT[NEXT[self.axis]]
        rows = ca.vertsplit(x)
        turned = list(rows)
        turned[i], turned[j], turned[k] = (
            rows[i],
            self.cos * rows[j] - sin * rows[k],
            sin * rows[j] + self.cos * rows[k],
        )
        return cast(SX, ca.vertcat(*turned))

    def then(self, inner: AxisRotation) -> AxisRotation:
        """Return the product with a rotation about the same axis."""
        cos = inner.cos * self.cos - inner.sin * self.sin
        sin = inner.sin * self.cos + inner.cos * self.sin
        return AxisRotation(self.axis, cos, sin)

    def of_symmetric(self, a: SX) -> SX:
        """Return R A R^T of a symmetric matrix A.

        With e = sin (A_jj - A_kk) + 2 cos A_jk the rotated block has the entries A_jj - sin e,
        A_kk + sin e and cos e - A_jk.
        """
        i, j, k = self.axis, NEXT[self.axis], NEXT[NEXT[self.axis]]
        e = self.sin * (a[j, j] - a[k, k]) + (2 * self.cos) * a[j, k]
        out: list[list[SX]] = [[SX(0)] * 3 for _ in range(3)]
        out[i][i], out[j][j], out[k][k] = a[i, i], a[j, j] - self.sin * e, a[k, k] + self.sin * e
        out[j][k] = out[k][j] = self.cos * e - a[j, k]
        out[i][j] = out[j][i] = self.cos * a[i, j] - self.sin * a[i, k]
        out[i][k] = out[k][i] = self.sin * a[i, j] + self.cos * a[i, k]
        return cast(SX, ca.vertcat(*(ca.horzcat(*row) for row in out)))

    def of_matrix(self, b: SX) -> SX:
        """Return R B R^T."""
        return self.apply(self.apply(b).T).T

    @property
    def matrix(self) -> SX:
        """R, (3, 3)."""
        return self.apply(SX(ca.DM.eye(3)))


@dataclass(frozen=True)
class MatrixRotation:
    """Rotation by a matrix, (3, 3)."""

    matrix: SX

    def apply(self, x: SX) -> SX:
        """Return R x, for each column of x."""
        return cast(SX, self.matrix @ x)

    def undo(self, x: SX) -> SX:
        """Return R^T x, for each column of x."""
        return cast(SX, self.matrix.T @ x)

    def of_symmetric(self, a: SX) -> SX:
        """Return R A R^T of a symmetric matrix A."""
        return symmetric(self.matrix @ a @ self.matrix.T)

    def of_matrix(self, b: SX) -> SX:
        """Return R B R^T."""
        return cast(SX, self.matrix @ b @ self.matrix.T)


Rotation = AxisRotation | MatrixRotation


def constant_rotation(matrix: np.ndarray, kept: np.ndarray | None = None) -> tuple[Rotation, ...]:
    """Return the cheapest form of a constant rotation, outermost first; () for the identity.

    Entries where the mask `kept` holds stay factors of the code (ir/number.py). Where the sign s
    of an axis' own entry is kept, the form is a rotation about that axis and, for s = -1, half a
    turn about the next.
    """
    signs = np.zeros(3, bool) if kept is None else np.diag(kept)
    if kept is None and np.abs(matrix - np.eye(3)).max() < ROUND_OFF:
        return ()
    entries = constant(matrix, kept)
    for axis in sorted(range(3), key=lambda i: bool(signs[i])):
        j, k = NEXT[axis], NEXT[NEXT[axis]]
        # off-diagonal entries: 1 - cos of a small tilt is only its square
        if np.abs([*matrix[axis, [j, k]], *matrix[[j, k], axis]]).max() < ROUND_OFF:
            turn = AxisRotation(axis, entries[j, j], entries[k, j])
            if signs[axis]:
                half = np.eye(3)
                half[axis, axis] = half[k, k] = matrix[axis, axis]
                return turn, MatrixRotation(constant(half, np.diag(np.arange(3) != j)))
            if matrix[axis, axis] > 0:
                return (turn,)
    return (MatrixRotation(entries),)


def axis_rotations(matrix: np.ndarray, last: int) -> tuple[AxisRotation, ...]:
    """Return rotations about the three coordinate axes whose product is a constant rotation.

    The innermost is about axis `last`, so that a joint that turns about this axis takes it over.
    The other two cost less than a matrix: 90 instead of 144 operations for an inertia.
    """
    axes = NEXT[last], NEXT[NEXT[last]], last
    letters = "".join("XYZ"[axis] for axis in axes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of angles that are not unique: any will do
        angles = SpatialRotation.from_matrix(matrix).as_euler(letters)
    return tuple(
        AxisRotation(axis, *ca.vertsplit(constant(np.array([np.cos(angle), np.sin(angle)]))))
        for axis, angle in zip(axes, angles, strict=True)
    )


def about_axis(axis: np.ndarray, cos: SX, sin: SX, kept: np.ndarray | None = None) -> Rotation:
    """Return the rotation about a unit axis by an angle with this cosine and sine."""
    for i in range(3):
        if np.abs(np.delete(axis, i)).max() < ROUND_OFF:
            return AxisRotation(i, cos, constant(axis, kept)[i] * sin)
    a = SX(axis)
    # Rodrigues: R = cos 1 + sin [a] + (1 - cos) a a^T
    return MatrixRotation(ca.densify(cos * ca.DM.eye(3) + sin * ca.skew(a) + (1 - cos) * (a @ a.T)))


def from_quaternion(xyzw: SX) -> MatrixRotation:
    """Return the rotation of a unit quaternion xyzw."""
    x, y, z, w = ca.vertsplit(xyzw)
    x2, y2, z2 = 2 * x, 2 * y, 2 * z
    return MatrixRotation(
        ca.vertcat(
            ca.horzcat(1 - y2 * y - z2 * z, x2 * y - z2 * w, x2 * z + y2 * w),
            ca.horzcat(x2 * y + z2 * w, 1 - x2 * x - z2 * z, y2 * z - x2 * w),
            ca.horzcat(x2 * z - y2 * w, y2 * z + x2 * w, 1 - x2 * x - y2 * y),
        )
    )


def quaternion_product(a: SX, b: SX) -> SX:
    """Return the product a b of quaternions xyzw."""
    ax, ay, az, aw = ca.vertsplit(a)
    bx, by, bz, bw = ca.vertsplit(b)
    return cast(
        SX,
        ca.vertcat(
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ),
    )


def unit(x: SX) -> SX:
    """Return a vector scaled to length 1."""
    return x / ca.sqrt(ca.dot(x, x))


def quaternion_exp(rotation: SX) -> SX:
    """Return the quaternion xyzw of a rotation vector [rad]; it is smooth through zero."""
    half = ca.dot(rotation, rotation) / 4
    far = ca.sqrt(ca.fmax(half, SERIES_BELOW))
    near = half < SERIES_BELOW
    sinc = ca.if_else(near, _series(half, 1), ca.sin(far) / far)
    return cast(
        SX, ca.vertcat(0.5 * sinc * rotation, ca.if_else(near, _series(half, 0), ca.cos(far)))
    )


def _series(x: SX, odd: int) -> SX:
    """Return cos(sqrt x) or, for odd = 1, sin(sqrt x) / sqrt x, by the first nine terms.

    The error is below 1e-17 for x < SERIES_BELOW.
    """
    total = SX(0)
    for n in reversed(range(1, 10)):
        step = (2 * n - 1 + odd) * (2 * n + odd)
        total = (1 + total) * (-x / step)
    return 1 + total


def renamed(rotation: Rotation, rename: Callable[[SX], SX]) -> Rotation:
    """Return the rotation with each of its expressions passed through `rename`."""
    if isinstance(rotation, AxisRotation):
        return AxisRotation(rotation.axis, rename(rotation.cos), rename(rotation.sin))
    return MatrixRotation(rename(rotation.matrix))
