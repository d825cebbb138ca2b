"""Spatial motions and forces of a rigid body [Featherstone2008].

Both are taken about the origin of a frame, with components along its axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.spatial.vector import SX, add_cross, cross, zeros


@dataclass(frozen=True, eq=False)
class MotionVector:
    """Velocity [m/s, rad/s] or acceleration: of the body's point at the origin, and angular."""

    linear: SX
    angular: SX

    def __add__(self, other: MotionVector) -> MotionVector:
        return MotionVector(self.linear + other.linear, self.angular + other.angular)

    def cross(self, other: MotionVector) -> MotionVector:
        """Return the rate of a motion that is fixed in a body moving with this velocity."""
        linear = add_cross(cross(self.angular, other.linear), self.linear, other.angular)
        return MotionVector(linear, cross(self.angular, other.angular))

    def at(self, point: SX) -> SX:
        """Return the velocity of a point of the body, in the same axes."""
        return add_cross(self.linear, self.angular, point)

    @property
    def column(self) -> SX:
        """Linear, then angular part, (6,)."""
        return ca.vertcat(self.linear, self.angular)


@dataclass(frozen=True, eq=False)
class ForceVector:
    """Force [N] and its moment [N m] about the origin."""

    linear: SX
    angular: SX

    def __add__(self, other: ForceVector) -> ForceVector:
        return ForceVector(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: ForceVector) -> ForceVector:
        return ForceVector(self.linear - other.linear, self.angular - other.angular)

    @property
    def column(self) -> SX:
        """Linear, then angular part, (6,)."""
        return ca.vertcat(self.linear, self.angular)


def no_motion() -> MotionVector:
    """Return the motion that is zero."""
    return MotionVector(zeros(), zeros())


def force_at(point: SX, force: SX) -> ForceVector:
    """Return the spatial force of a force [N] that acts at a point."""
    return ForceVector(force, cross(point, force))
