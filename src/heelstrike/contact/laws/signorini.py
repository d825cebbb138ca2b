"""Signorini's condition and Coulomb's law, exactly: the reference for other laws.

The complementarity of f and u+ + (0, 0, mu |u_t+|), [LeLidec2024] (15), without relaxation: no
compliance, no cone made of planes, no convex substitute that lifts sliding bodies. The passes of
contact/solver/swept.py, each a proximal problem solved by Newton's method, go on until the
conditions hold to 1e-8 of the largest free velocity (criteria.EXACT). There is one coefficient of
friction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import casadi as ca
import numpy as np

from heelstrike.contact.law import SX
from heelstrike.contact.laws.coulomb import Coulomb, check_coulomb
from heelstrike.contact.laws.patch import Patch, check_patch
from heelstrike.contact.surface_law import (
    ALLOWANCE,
    CORRECTION,
    ContactTarget,
    CouplingRule,
    PointState,
    SurfaceLaw,
)
from heelstrike.errors import ParameterError
from heelstrike.parameters import MEANING, check_numbers, is_number, parameter, static


@dataclass(frozen=True)
class Signorini(SurfaceLaw):
    """Rigid surface as an exact complementarity problem, to judge other laws by.

        0 <= f_n,   u_n+ >= e max(d', 0),   one an equality                       [LeLidec2024] (15)
        |f_t| <= mu f_n;   where the point slips, f_t = -mu f_n u_t+ / |u_t+|     most dissipation

    for every point at depth d > 0: u+ is its velocity after the step, outward (n) and along the
    surface (t), f the impulse on it, f_n > 0 repels. A point that was loaded in the last step and
    is now above the surface has u_n+ >= d / dt instead, and one that is deeper than the allowance
    u_n+ >= min(correction (d - allowance), g / correction) but in an impact.

    Args:
        friction: dry friction with one coefficient, hs.Coulomb(mu, mu).
        restitution: rebound speed over impact speed, e [-].
        correction: outward speed per depth beyond the allowance [1/s]; 0: points stay where they
            are.
        allowance: depth that is left to points at rest [m].
        time_of_impact: impacts act at the instant at which points enter, instead of at the end of
            that step.
        patch: friction of round points against rolling and spinning, hs.Patch(...), of which the
            radii count; None: they roll and spin freely.

    Examples:
        >>> exact = hs.Signorini(friction=hs.Coulomb(0.5, 0.5))
        >>> sim = hs.Simulator(hs.Scene(hs.load("box"), hs.Plane(exact)), dt=1e-3)
    """

    friction: Coulomb = field(
        default_factory=partial(Coulomb, 0.8, 0.8),
        metadata={MEANING: "hs.Coulomb(mu, mu): one coefficient"},
    )
    restitution: float = parameter(0.0, "1", "rebound speed over impact speed")
    correction: float = parameter(CORRECTION, "1/s", "outward speed per depth beyond the allowance")
    allowance: float = parameter(ALLOWANCE, "m", "depth that is left to points at rest")
    time_of_impact: bool = static(
        False, meaning="impacts act when points enter, not at the end of that step"
    )
    patch: Patch | None = field(
        default=None,
        metadata={MEANING: "hs.Patch(...): friction against rolling and spinning; None: no such"},
    )

    sources: ClassVar[tuple[str, ...]] = ("LeLidec2024",)
    coupling: ClassVar[CouplingRule] = CouplingRule("exact")

    def __post_init__(self) -> None:
        check_coulomb("Signorini", self.friction, "hs.Coulomb(mu, mu)")
        check_patch("Signorini", self.patch)
        mu_s, mu_k = self.friction.mu_s, self.friction.mu_k
        if is_number(mu_s) and is_number(mu_k) and np.any(np.not_equal(mu_s, mu_k)):
            raise ParameterError(
                "friction",
                self.friction,
                "one coefficient, mu_s = mu_k",
                f"write hs.Coulomb({mu_k:g}, {mu_k:g}), or use hs.Rigid",
                owner="Signorini",
            )
        check_numbers(self, restitution=(0, 1), correction=(0, 1e6), allowance=(0, 1))

    @property
    def timed(self) -> bool:
        return self.time_of_impact

    @property
    def acts_apart(self) -> bool:
        return False

    def target(self, state: PointState) -> ContactTarget:
        rebound = state.rebound(self.restitution, self.time_of_impact)
        return ContactTarget(
            velocity=ca.fmax(rebound, state.recovery(self.correction, self.allowance)),
            mu_s=self.friction.mu_s,
            mu_k=self.friction.mu_k,
            impact=SX(0),
        )
