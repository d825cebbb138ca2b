"""Nearest points of the sets of admissible contact impulses, with their derivatives.

    cone   |f_t| <= mu f_n                     a contact that may stick
    tube   f_n >= 0,  |f_t| <= r               one that slides, r = mu f_n of the pass before

Both are round, so that the nearest point f of z and its derivative follow from five numbers and the
direction t of z_t, with s across it:

    f_t = shrink z_t                df/dz = radial t t^T + shrink s s^T + lift n n^T
    f_n = normal                            + mixed (t n^T + n t^T)

The derivative is symmetric: f = nearest(z) is the gradient of a convex function. Components are
(tangent, tangent, normal).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.ir.number import number

TINY = 1e-15
"""Impulse below which a direction has no meaning [N s]."""


@dataclass(frozen=True)
class Nearest:
    """Nearest point of a set, with its derivative."""

    tangent: SX
    """z_t, (2,)."""
    along: SX
    """Its direction t, (2,)."""
    shrink: SX
    normal: SX
    radial: SX
    lift: SX
    mixed: SX

    @property
    def f(self) -> SX:
        """The nearest point, (3,)."""
        return ca.vertcat(self.shrink * self.tangent, self.normal)

    def slope(self, tangential: SX | float = 1.0, normal: SX | float = 1.0) -> SX:
        """Return df/dz with its rows weighted, (3, 3)."""
        t, across = self.along, tangential * self.shrink
        further, mixed = tangential * (self.radial - self.shrink), tangential * self.mixed
        flat = across * ca.DM.eye(2) + (further * t) @ t.T
        side = mixed * t
        return ca.densify(ca.blockcat(flat, side, side.T, normal * self.lift))

    def where(self, condition: SX, other: Nearest | None = None) -> Nearest:
        """Return this where a condition holds, else another one of the same z.

        None is zero, whatever z is.
        """
        if other is None:
            return Nearest(*(masked(condition, getattr(self, x.name)) for x in fields(self)))
        chosen = {
            x.name: where(condition, getattr(self, x.name), getattr(other, x.name))
            for x in fields(self)
            if x.name not in ("tangent", "along")
        }
        return replace(self, **chosen)


def in_cone(z: SX, mu: SX) -> Nearest:
    """Return the nearest point of the cone |f_t| <= mu f_n."""
    size = _size(z)
    inside, away = size <= mu * z[2], mu * size <= -z[2]
    share = 1 / (mu * mu + 1)
    height = (mu * size + z[2]) * share
    not_away = ca.logic_not(away)
    shrink, normal, radial, lift = (
        where(inside, held, masked(not_away, edge))
        for held, edge in (
            (1, mu * height / size),
            (z[2], height),
            (1, mu * mu * share),
            (1, share),
        )
    )
    mixed = masked(ca.logic_not(ca.logic_or(inside, away)), mu * share)
    return Nearest(z[:2], z[:2] / size, shrink, normal, radial, lift, mixed)


def in_tube(z: SX, radius: SX) -> Nearest:
    """Return the nearest point of the tube f_n >= 0, |f_t| <= radius."""
    size = _size(z)
    inside = size <= radius
    shrink, radial = where(inside, 1, radius / size), masked(inside, SX(1))
    normal, lift = ca.fmax(z[2], 0), masked(z[2] > 0, SX(1))
    return Nearest(z[:2], z[:2] / size, shrink, normal, radial, lift, SX(0))


def masked(condition: SX, value: SX) -> SX:
    """Return a value where a condition holds, else zero.

    CasADi may not see the zero: it would choose after each product with the value, not before.
    """
    return where(condition, value, number(0.0))


def _size(z: SX) -> SX:
    return ca.sqrt(ca.fmax(ca.dot(z[:2], z[:2]), TINY**2))
