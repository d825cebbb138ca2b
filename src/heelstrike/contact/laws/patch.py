"""Friction of round contacts against rolling and spinning: moments of a patch of contact.

A sphere, an ellipsoid or a wheel touches on a patch, not at a point. Its pressure shifts against
the rolling, and its friction resists spinning, both with a moment that grows with the normal force.

As the bristle of contact/laws/bristle.py, a spring with a damper holds the body to an anchor, an
angle here, which slides along when the moment reaches its limit: so a ball on a slope less steep
than rolling / R rests. R is the lever of the shape (`Point.lever`), by which the spring has the
same limit of stable steps as a bristle of stiffness k.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.errors import ParameterError
from heelstrike.parameters import check_numbers, parameter

MIN_MOMENT = 1e-15
"""Smallest trial moment with a direction [N m]; its square is representable in float32."""
MEMORY = 3
"""Number of values that a contact carries from step to step: the angle of the spring [rad]."""


@dataclass(frozen=True)
class Patch:
    """Friction against rolling and spinning, of round points and of round shapes between bodies.

        h   = -k R^2 phi - c R^2 w                 trial moment, phi the angle from the anchor
        m_t = h_t, at most rolling f_n             about the tangents: against rolling
        m_n = h_n, at most spinning f_n            about the normal: against spinning

    w is the angular velocity of the body relative to the surface, R the radius of the shape, of an
    ellipsoid its middle half axis, of two round shapes the smaller one. Where a limit is reached,
    the anchor follows.

    Coupled laws have the same limits and neither spring nor damper: w = 0 up to the limit, with f_n
    of the step before.

    Args:
        rolling: largest moment against rolling over the normal force [m].
        spinning: largest moment against spinning over the normal force [m].
        k: stiffness at the distance R [N/m].
        c: damping at the distance R [N s/m].

    Examples:
        >>> lawn = hs.Elastic(patch=hs.Patch(rolling=2e-3, spinning=1e-3))
        >>> sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(lawn)), dt=1e-3)
    """

    rolling: float = parameter(0.0, "m", "largest moment against rolling over the normal force")
    spinning: float = parameter(0.0, "m", "largest moment against spinning over the normal force")
    k: float = parameter(2e4, "N/m", "stiffness at the distance of the shape's radius")
    c: float = parameter(100.0, "N s/m", "damping at the distance of the shape's radius")

    def __post_init__(self) -> None:
        check_numbers(self, rolling=(0, 1e3), spinning=(0, 1e3), k=(1e-9, 1e12), c=(0, 1e12))

    def moment(self, angle: SX, spin: SX, normal: SX, lever: SX | float) -> tuple[SX, SX]:
        """Return the moment about two tangents and the normal [N m], and the angle after slip.

        Args:
            angle: angle from the anchor about the same axes, (3,) [rad].
            spin: angular velocity relative to the surface about the same axes, (3,) [rad/s].
            normal: normal force [N].
            lever: lever R of the shape [m].
        """
        stiffness, damping = self.k * lever**2, self.c * lever**2
        trial = -stiffness * angle - damping * spin
        moments, angles = [], []
        for part, radius in ((slice(0, 2), self.rolling), (slice(2, 3), self.spinning)):
            own, limit = trial[part], radius * ca.fmax(normal, 0)
            size = ca.sqrt(ca.fmax(ca.dot(own, own), MIN_MOMENT**2))
            slides = size > limit
            moment = where(slides, limit / size * own, own)
            followed = -(moment + damping * spin[part]) / stiffness
            moments.append(moment)
            angles.append(where(slides, followed, angle[part]))
        return ca.vertcat(*moments), ca.vertcat(*angles)


def check_patch(owner: str, patch: Patch | None) -> None:
    """Raise an error if a law's patch is neither one nor None."""
    if not (patch is None or isinstance(patch, Patch)):
        raise ParameterError("patch", patch, "hs.Patch(...), or None", owner=owner)
