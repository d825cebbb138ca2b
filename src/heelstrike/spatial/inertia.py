"""Inertias about a frame's origin: of rigid bodies and of articulated ones [Featherstone2008].

The force f of an acceleration (a linear, w angular) is

    f = [ M    H ] [a]      M: force per linear acceleration, symmetric
        [ H^T  I ] [w]      H: force per angular acceleration;  I: moment per it, symmetric
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.vector import (
    ROUND_OFF,
    SX,
    add_cross,
    constant,
    cross,
    mac,
    skew,
    symmetric,
)


@dataclass(frozen=True, eq=False)
class RigidInertia:
    """Mass [kg] of a rigid body, its centre of mass [m], and its inertia about it [kg m^2]."""

    mass: SX
    com: SX
    central: SX

    def momentum(self, v: MotionVector) -> ForceVector:
        """Return the momentum I v about the origin."""
        linear = self.mass * v.at(self.com)
        return ForceVector(linear, mac(self.central, v.angular, cross(self.com, linear)))

    def force(self, a: MotionVector, v: MotionVector) -> ForceVector:
        """Return I a + v x* (I v), the force that gives a body moving at v the acceleration a.

        With the velocity u = v + w x c of the centre of mass, the force is m (a + alpha x c + w x
        u) and the moment I_c alpha + w x I_c w + c x force.
        """
        linear = self.mass * add_cross(a.at(self.com), v.angular, v.at(self.com))
        spin = add_cross(
            mac(self.central, a.angular, cross(self.com, linear)),
            v.angular,
            self.central @ v.angular,
        )
        return ForceVector(linear, spin)

    def bias(self, v: MotionVector) -> ForceVector:
        """Return the bias force v x* (I v)."""
        linear = cross(v.angular, self.mass * v.at(self.com))
        return ForceVector(
            linear, add_cross(cross(self.com, linear), v.angular, self.central @ v.angular)
        )

    def energy(self, v: MotionVector) -> SX:
        """Return the kinetic energy [J]."""
        u = v.at(self.com)
        return 0.5 * (self.mass * ca.dot(u, u) + ca.dot(v.angular, self.central @ v.angular))


@dataclass(frozen=True, eq=False)
class Inertia:
    """Spatial inertia: its blocks M (linear), H (coupling) and I (angular)."""

    linear: SX
    coupling: SX
    angular: SX

    def scaled(self, share: SX) -> Inertia:
        """Return a share of it."""
        return Inertia(share * self.linear, share * self.coupling, share * self.angular)

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(
            symmetric(self.linear + other.linear),
            self.coupling + other.coupling,
            symmetric(self.angular + other.angular),
        )

    def times(self, columns_linear: SX, columns_angular: SX) -> tuple[SX, SX]:
        """Return the linear and angular parts of the forces of several motions, one per column."""
        return (
            mac(self.coupling, columns_angular, self.linear @ columns_linear),
            mac(self.angular, columns_angular, self.coupling.T @ columns_linear),
        )

    def renamed(self, rename: Callable[[SX], SX], rename_symmetric: Callable[[SX], SX]) -> Inertia:
        """Return the inertia with every block passed through `rename`.

        The symmetric blocks M and I are passed through `rename_symmetric`.
        """
        return Inertia(
            rename_symmetric(self.linear), rename(self.coupling), rename_symmetric(self.angular)
        )

    def minus_outer(
        self, u_linear: SX, u_angular: SX, weighted_linear: SX, weighted_angular: SX
    ) -> Inertia:
        """Return I - U D^-1 U^T from the parts of U and of U D^-1 (weighted)."""
        return Inertia(
            symmetric(mac(-weighted_linear, u_linear.T, self.linear)),
            mac(-weighted_linear, u_angular.T, self.coupling),
            symmetric(mac(-weighted_angular, u_angular.T, self.angular)),
        )


def rigid_inertia(mass: float, com: np.ndarray, central: np.ndarray) -> RigidInertia:
    """Return a constant inertia, without moments that are round-off beside the largest one."""
    moments = 0.5 * (central + central.T)
    moments[np.abs(moments) < ROUND_OFF * np.abs(moments).max()] = 0.0
    return RigidInertia(SX(mass), constant(com), SX(moments))


def spatial_inertia(body: RigidInertia) -> Inertia:
    """Return the spatial inertia of a rigid body about the origin of its frame."""
    c = skew(body.com)
    return Inertia(
        ca.densify(body.mass * ca.DM.eye(3)),
        -body.mass * c,
        symmetric(body.central - body.mass * (c @ c)),
    )
