"""Motions (velocities, accelerations) and forces of a rigid body, about the origin of a frame and
in its axes [Featherstone2008].
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.spatial.vector import SX, add_cross, cross, zeros


@dataclass(frozen=True, eq=False)
class Motion:
    """Velocity [m/s, rad/s] or acceleration of the body point at the origin, and of the body."""

    linear: SX
    angular: SX

    def __add__(self, other: Motion) -> Motion:
        return Motion(self.linear + other.linear, self.angular + other.angular)

    def cross(self, other: Motion) -> Motion:
        """Rate of `other`, fixed in a body that moves with this velocity."""
        linear = add_cross(cross(self.angular, other.linear), self.linear, other.angular)
        return Motion(linear, cross(self.angular, other.angular))

    def at(self, point: SX) -> SX:
        """Velocity of a body point, in the same axes."""
        return add_cross(self.linear, self.angular, point)

    @property
    def column(self) -> SX:
        return ca.vertcat(self.linear, self.angular)


@dataclass(frozen=True, eq=False)
class Force:
    """Force [N] and its moment [N m] about the origin."""

    linear: SX
    angular: SX

    def __add__(self, other: Force) -> Force:
        return Force(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: Force) -> Force:
        return Force(self.linear - other.linear, self.angular - other.angular)

    @property
    def column(self) -> SX:
        return ca.vertcat(self.linear, self.angular)


def no_motion() -> Motion:
    return Motion(zeros(), zeros())


def force_at(point: SX, force: SX) -> Force:
    """A pure force that acts at a point."""
    return Force(force, cross(point, force))
