"""Rigid contact: impulses that give each point the velocity it must have.

    u_n+ >= e max(d', 0) + correction d,   f_n >= 0,   one an equality      [Sugihara2006] (29)
    u_t+ = 0                               while |f_t| <= mu_s f_n          [Sugihara2006] (25)

for every point at d > 0, found with all others (coupled.py).

Departs from the paper (rule="consistent"): the impulses of the last step are changed as little as
possible, instead of kept small; sticking impulses are sought inside the cones, instead of cut off
afterwards; so nothing sinks and no point slips while the body could stand. docs/errata.md: M2, M5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import casadi as ca

from heelstrike.contact.contact import SX
from heelstrike.contact.coulomb import Coulomb
from heelstrike.contact.parameters import MEANING, check_numbers, parameter
from heelstrike.contact.surface_law import Demand, Meeting, SurfaceLaw, Touch, untouched
from heelstrike.errors import HeelstrikeError

FAST = 10.0
"""Approach, in g dt, above which a step is an impact: what was before says nothing of it."""
FIRM = 1e-2
"""Largest smoothing of an impact."""


@dataclass(frozen=True)
class Rigid(SurfaceLaw):
    """A surface that does not give way."""

    restitution: float = parameter(0.0, "1", "rebound speed over impact speed")
    friction: Coulomb = field(default_factory=Coulomb, metadata={MEANING: "hs.Coulomb(...)"})
    smoothing: float = parameter(1e-2, "1", "compliance of a pass, as a share of the contact's")
    correction: float = parameter(0.0, "1/s", "outward speed per depth, to push points out")

    sources: ClassVar[tuple[str, ...]] = ("Sugihara2006",)

    def __post_init__(self) -> None:
        if not isinstance(self.friction, Coulomb):
            raise HeelstrikeError(
                f"Rigid takes hs.Coulomb(mu_s, mu_k) as its friction, not {self.friction!r}; "
                "hs.Kinetic and hs.Bristle belong to hs.Elastic"
            )
        check_numbers(self, restitution=(0, 1), smoothing=(1e-9, 1e3), correction=(0, 1e6))

    @property
    def couples(self) -> bool:
        return True

    def touch(self, meeting: Meeting, memory: SX) -> Touch:
        return untouched(meeting)

    def demand(self, meeting: Meeting) -> Demand:
        approach = ca.fmax(meeting.depth_rate, 0)
        impact = meeting.depth_rate > FAST * meeting.gravity * meeting.dt
        out = self.restitution * approach + self.correction * ca.fmax(meeting.depth, 0)  # (29)
        smoothing = ca.if_else(impact, ca.fmin(self.smoothing, FIRM), self.smoothing)
        return Demand(
            active=meeting.depth > 0,
            velocity=out,
            mu_s=self.friction.mu_s,
            mu_k=self.friction.mu_k,
            smoothing=smoothing,
            fresh=impact,
        )
