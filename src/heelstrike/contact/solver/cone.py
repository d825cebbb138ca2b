"""Nearest points of the sets of admissible contact impulses, with their derivatives.

    cone   |f_t| <= mu f_n                     a contact that may stick
    tube   f_n >= 0,  |f_t| <= r               one that slides, r = mu f_n of the pass before

Slopes are symmetric: f = nearest(z) is the gradient of a convex function. Components are (tangent,
tangent, normal).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.contact.law import SX, where

TINY = 1e-15
"""Impulse below which a direction has no meaning [N s]."""


@dataclass(frozen=True)
class Nearest:
    """Nearest point of a set, with its derivative."""

    f: SX
    """(3,)"""
    slope: SX
    """df / dz, symmetric (3, 3)."""


def in_cone(z: SX, mu: SX) -> Nearest:
    """Return the nearest point of the cone |f_t| <= mu f_n."""
    size = _size(z)
    along = z[:2] / size
    inside = size <= mu * z[2]
    away = mu * size <= -z[2]
    share = 1 / (mu * mu + 1)
    height = (mu * size + z[2]) * share
    f = where(inside, z, where(away, 0, ca.vertcat(mu * height * along, height)))
    edge = ca.vertcat(mu * along, 1)
    across = ca.vertcat(-along[1], along[0], 0)
    bent = share * edge @ edge.T + mu * height / size * across @ across.T
    eye = SX(ca.DM.eye(3))
    slope = where(inside, eye, where(away, SX(ca.DM.zeros(3, 3)), bent))
    return Nearest(f, slope)


def in_tube(z: SX, radius: SX) -> Nearest:
    """Return the nearest point of the tube f_n >= 0, |f_t| <= radius."""
    size = _size(z)
    along = z[:2] / size
    inside = size <= radius
    f = ca.vertcat(where(inside, z[:2], radius * along), ca.fmax(z[2], 0))
    across = ca.vertcat(-along[1], along[0])
    flat = where(inside, SX(ca.DM.eye(2)), radius / size * across @ across.T)
    slope = ca.diagcat(ca.densify(flat), where(z[2] > 0, 1, 0))
    return Nearest(f, ca.densify(slope))


def _size(z: SX) -> SX:
    return ca.sqrt(ca.fmax(ca.dot(z[:2], z[:2]), TINY**2))
