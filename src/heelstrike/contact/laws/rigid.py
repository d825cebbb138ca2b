"""Rigid contact: impulses that give each point the velocity it must have.

    u_n+ >= e max(d', 0) + correction d,   f_n >= 0,   one an equality      [Sugihara2006] (29)
    u_t+ = 0                               while |f_t| <= mu_s f_n          [Sugihara2006] (25)

for every point at d > 0, found with all others (coupled.py).

rule="consistent" departs from the paper: the impulses of the last step are changed as little as
possible, instead of kept small; sticking impulses are sought inside the cones, instead of cut off
afterwards; so nothing sinks and no point slips while the body could stand.

rule="paper" is literal (paper_rule.py): sets S and K by |v| against epsilon, (29) in both
directions, the QP (33) with lam, (35), (36). Signs are ours (f_n > 0 repels), S and K are told
apart by the whole speed, and b of (1) stands where (21) prints b-hat, gravity alone, unless
forces="b-hat" asks for that. Its bias is dropped, as in (19), unless "keep" is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import casadi as ca

from heelstrike.contact.law import SLOWEST, SX
from heelstrike.contact.laws.coulomb import Coulomb
from heelstrike.contact.surface_law import Demand, Literal, Meeting, SurfaceLaw, Touch, untouched
from heelstrike.errors import HeelstrikeError
from heelstrike.parameters import MEANING, check_choice, check_numbers, parameter, static

FAST = 10.0
"""Approach, in g dt, above which a step is an impact: what was before says nothing of it."""
FIRM = 1e-2
"""Largest smoothing of an impact."""


@dataclass(frozen=True)
class Rigid(SurfaceLaw):
    """A surface that does not give way."""

    restitution: float = parameter(0.0, "1", "rebound speed over impact speed")
    friction: Coulomb = field(default_factory=Coulomb, metadata={MEANING: "hs.Coulomb(...)"})
    rule: str = static("consistent", meaning='"consistent", or "paper": literally')
    smoothing: float = parameter(1e-2, "1", "compliance of a pass, as a share of the contact's")
    correction: float = parameter(0.0, "1/s", "outward speed per depth, to push points out")

    lam: float = parameter(0.1, "1/kg^2", 'weight of impulses in (33); rule="paper"')
    epsilon: float = parameter(5e-3, "m/s", 'speed up to which a point rests; rule="paper"')
    bias: str = static("rule", meaning='"keep", "drop", or as the rule does, the term of (19)')
    forces: str = static("b", meaning='of (21): "b", or "b-hat", gravity alone; rule="paper"')

    sources: ClassVar[tuple[str, ...]] = ("Sugihara2006",)

    def __post_init__(self) -> None:
        if not isinstance(self.friction, Coulomb):
            raise HeelstrikeError(
                f"Rigid takes hs.Coulomb(mu_s, mu_k) as its friction, not {self.friction!r}; "
                "hs.Kinetic and hs.Bristle belong to hs.Elastic"
            )
        check_numbers(
            self,
            restitution=(0, 1),
            smoothing=(1e-9, 1e3),
            correction=(0, 1e6),
            lam=(0, 1e12),
            epsilon=(0, 1e3),
        )
        check_choice(self, rule=("consistent", "paper"), bias=("rule", "keep", "drop"))
        check_choice(self, forces=("b", "b-hat") if self.rule == "paper" else ("b",))

    @property
    def couples(self) -> bool:
        return True

    def touch(self, meeting: Meeting, memory: SX) -> Touch:
        return untouched(meeting)

    def demand(self, meeting: Meeting) -> Demand:
        return self._literal(meeting) if self.rule == "paper" else self._consistent(meeting)

    def _consistent(self, meeting: Meeting) -> Demand:
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
            bias="keep" if self.bias == "rule" else self.bias,
        )

    def _literal(self, meeting: Meeting) -> Demand:
        sliding = ca.dot(meeting.slip, meeting.slip)
        fast = self.epsilon * self.epsilon
        kinetic = sliding + meeting.depth_rate * meeting.depth_rate > fast
        speed = ca.sqrt(ca.fmax(sliding, SLOWEST**2))
        sigma = ca.if_else(sliding > fast, meeting.slip / speed, 0)  # (7)
        rebound = ca.if_else(kinetic, self.restitution * meeting.depth_rate, 0)  # (25), (29)
        return Demand(
            active=meeting.depth > 0,
            velocity=rebound + self.correction * ca.fmax(meeting.depth, 0),
            mu_s=self.friction.mu_s,
            mu_k=self.friction.mu_k,
            smoothing=SX(0),
            fresh=SX(0),
            literal=Literal(kinetic, sigma, self.lam),
            bias="drop" if self.bias == "rule" else self.bias,
            forces=self.forces,
        )
