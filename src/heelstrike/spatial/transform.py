"""Placement of an inner frame in an outer one: a chain of rotations and an origin.

x_outer = R_1 R_2 ... x_inner + origin
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from heelstrike.spatial.inertia import Inertia
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.rotation import MatrixRotation, Rotation, renamed
from heelstrike.spatial.vector import SX, add_cross, skew, symmetric


@dataclass(frozen=True)
class Transform:
    """Rotations, outermost first, and the origin of the inner frame [m].

    Rotations are kept apart, because two about coordinate axes cost less than their product.
    """

    rotations: tuple[Rotation, ...]
    origin: SX

    def rotate(self, x: SX) -> SX:
        """Rotate vectors, one per column, from the inner to the outer frame."""
        for rotation in reversed(self.rotations):
            x = rotation.apply(x)
        return x

    def unrotate(self, x: SX) -> SX:
        """Rotate vectors, one per column, from the outer to the inner frame."""
        for rotation in self.rotations:
            x = rotation.undo(x)
        return x

    def point(self, x: SX) -> SX:
        """Transform a point from the inner to the outer frame."""
        return self.origin + self.rotate(x)

    def motion_in(self, motion: MotionVector) -> MotionVector:
        """Transform a motion from the outer to the inner frame."""
        at_origin = add_cross(motion.linear, motion.angular, self.origin)
        return MotionVector(self.unrotate(at_origin), self.unrotate(motion.angular))

    def force_out(self, force: ForceVector) -> ForceVector:
        """Transform a force from the inner to the outer frame."""
        linear = self.rotate(force.linear)
        return ForceVector(linear, add_cross(self.rotate(force.angular), self.origin, linear))

    def force_columns_out(self, forces: ForceVector) -> ForceVector:
        """Transform several forces, one per column, from the inner to the outer frame."""
        linear = self.rotate(forces.linear)
        return ForceVector(linear, ca.mac(skew(self.origin), linear, self.rotate(forces.angular)))

    def motion_columns_in(self, motions: MotionVector) -> MotionVector:
        """Transform several motions, one per column, from the outer to the inner frame."""
        linear = ca.mac(-skew(self.origin), motions.angular, motions.linear)
        return MotionVector(self.unrotate(linear), self.unrotate(motions.angular))

    def inertia_out(self, inertia: Inertia) -> Inertia:
        """Transform an inertia from the inner to the outer frame."""
        linear, coupling, angular = inertia.linear, inertia.coupling, inertia.angular
        for rotation in reversed(self.rotations):
            linear = rotation.of_symmetric(linear)
            coupling = rotation.of_matrix(coupling)
            angular = rotation.of_symmetric(angular)
        # with P = [origin]: H' = H - M P,  I' = I - H^T P + P H'
        p = skew(self.origin)
        shifted = ca.mac(-linear, p, coupling)
        return Inertia(
            linear, shifted, symmetric(ca.mac(p, shifted, ca.mac(-coupling.T, p, angular)))
        )

    def then(self, inner: Transform) -> Transform:
        """Return the placement of a frame placed in this one, with one rotation matrix."""
        columns = inner.matrix
        for rotation in reversed(self.rotations):
            columns = rotation.apply(columns)
        return Transform((MatrixRotation(columns),), self.point(inner.origin))

    @property
    def matrix(self) -> SX:
        """Product of the rotations, (3, 3)."""
        product = SX(ca.DM.eye(3))
        for rotation in reversed(self.rotations):
            product = rotation.apply(product)
        return product

    def renamed(self, rename: Callable[[SX], SX]) -> Transform:
        """Return the transform with each expression passed through `rename`."""
        return Transform(tuple(renamed(r, rename) for r in self.rotations), rename(self.origin))
