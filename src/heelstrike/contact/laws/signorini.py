"""Signorini's condition and Coulomb's law, exactly: the reference to judge other laws by.

    0 <= f_n,   u_n+ >= e max(d', 0),   one an equality
    |f_t| <= mu f_n;   where the point slips, f_t = -mu f_n u_t+ / |u_t+|      most dissipation

for every point at d > 0: the complementarity of f and u+ + (0, 0, mu |u_t+|), [LeLidec2024] (15),
without relaxation. No compliance, no cone made of planes, no convex stand-in that lifts what
slides. The passes of coupled.py, each a proximal problem solved by Newton's method, go on until
these hold to 1e-8 of the largest free velocity (accuracy.EXACT). There is one coefficient.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import casadi as ca

from heelstrike.contact.law import SX
from heelstrike.contact.laws.coulomb import Coulomb
from heelstrike.contact.surface_law import ContactTarget, CouplingRule, PointState, SurfaceLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.parameters import MEANING, check_numbers, is_number, parameter


@dataclass(frozen=True)
class Signorini(SurfaceLaw):
    """Rigid contact with Coulomb friction as an exact complementarity problem."""

    friction: Coulomb = field(
        default_factory=partial(Coulomb, 0.8, 0.8),
        metadata={MEANING: "hs.Coulomb(mu, mu): one coefficient"},
    )
    restitution: float = parameter(0.0, "1", "rebound speed over impact speed")

    sources: ClassVar[tuple[str, ...]] = ("LeLidec2024",)
    coupling: ClassVar[CouplingRule] = CouplingRule("exact")

    def __post_init__(self) -> None:
        if not isinstance(self.friction, Coulomb):
            raise HeelstrikeError(
                f"Signorini takes hs.Coulomb(mu, mu) as its friction, not {self.friction!r}; "
                "hs.Kinetic and hs.Bristle belong to hs.Elastic",
                path="friction",
            )
        mu_s, mu_k = self.friction.mu_s, self.friction.mu_k
        if is_number(mu_s) and is_number(mu_k) and mu_s != mu_k:
            raise HeelstrikeError(
                f"Signorini has one coefficient of friction, not mu_s = {mu_s:g} and mu_k = "
                f"{mu_k:g}: write hs.Coulomb({mu_k:g}, {mu_k:g}), or take hs.Rigid for both",
                path="friction",
            )
        check_numbers(self, restitution=(0, 1))

    def target(self, state: PointState) -> ContactTarget:
        return ContactTarget(
            velocity=self.restitution * ca.fmax(state.depth_rate, 0),
            mu_s=self.friction.mu_s,
            mu_k=self.friction.mu_k,
            impact=SX(0),
        )
