"""Rigid contact: impulses that give each point the velocity it must have.

The target holds for every point at d > 0, and for points that were loaded in the last step and are
now above the surface; the impulses of all points are found together (contact/solver/swept.py).

rule="consistent" departs from the paper: velocities meet their targets, and where impulses are not
unique those of least sum of squares are taken, where the paper weighs impulses against velocities;
sticking impulses are sought inside the cones, where the paper cuts them off afterwards. So nothing
sinks, and no point slips while the body could stand.

rule="paper" is literal (contact/solver/literal/paper_rule.py): sets S and K by |v| against epsilon,
(29) in both directions, the QP (33) with lam, (35), (36). Signs are ours (f_n > 0 repels), S and K
are distinguished by the whole speed, and b of (1) stands where (21) prints b-hat, gravity alone,
unless forces="b-hat". The bias is dropped, as in (19), unless bias="keep".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import casadi as ca

from heelstrike.contact.law import MIN_SLIP, SX
from heelstrike.contact.laws.coulomb import Coulomb, check_coulomb
from heelstrike.contact.laws.patch import Patch, check_patch
from heelstrike.contact.surface_law import (
    ALLOWANCE,
    CORRECTION,
    SMOOTHING,
    ContactTarget,
    CouplingRule,
    PaperTerms,
    PointState,
    SurfaceLaw,
)
from heelstrike.parameters import MEANING, check_choice, check_numbers, parameter, static


@dataclass(frozen=True)
class Rigid(SurfaceLaw):
    """Rigid surface with restitution and dry friction.

        u_n+ >= e max(d', 0),   f_n >= 0,   one an equality                     [Sugihara2006] (29)
        u_t+ = 0                while |f_t| <= mu_s f_n                         [Sugihara2006] (25)

    for every point at depth d > 0: u+ is its velocity after the step, outward (n) and along the
    surface (t), f the impulse on it, f_n > 0 repels. A point that was loaded in the last step and
    is now above the surface has u_n+ >= d / dt instead, and one that is deeper than the allowance
    u_n+ >= min(correction (d - allowance), g / correction) but in an impact.

    Args:
        restitution: rebound speed over impact speed, e [-].
        friction: dry friction, hs.Coulomb(...).
        rule: "consistent", or "paper": literally as in [Sugihara2006].
        smoothing: compliance of a solver pass, relative to the contact's own [-]; at least 1e-2 is
            used in float32. Results do not depend on it.
        correction: outward speed per depth beyond the allowance [1/s]; 0: points stay where they
            are. rule="consistent".
        allowance: depth that is left to points at rest [m].
        time_of_impact: impacts act at the instant at which points enter, instead of at the end of
            that step; rule="consistent".
        patch: friction of round points against rolling and spinning, hs.Patch(...), of which the
            radii count; None: they roll and spin freely. rule="consistent".
        lam: weight of impulses in (33) [1/kg^2]; rule="paper".
        epsilon: speed up to which a point rests [m/s]; rule="paper".
        bias: "keep" or "drop" the term that (19) drops; "rule": as the rule does.
        forces: bias forces of (21): "b", or "b-hat": gravity alone; rule="paper".

    Examples:
        >>> steel = hs.Rigid(restitution=0.3, friction=hs.Coulomb(mu_s=0.6, mu_k=0.5))
        >>> sim = hs.Simulator(hs.Scene(hs.load("box"), hs.Plane(steel)), dt=1e-3)
    """

    restitution: float = parameter(0.0, "1", "rebound speed over impact speed")
    friction: Coulomb = field(default_factory=Coulomb, metadata={MEANING: "hs.Coulomb(...)"})
    rule: str = static("consistent", meaning='"consistent", or "paper": literally as published')
    smoothing: float = parameter(
        1e-3, "1", "compliance of a solver pass, relative to the contact's own"
    )
    correction: float = parameter(CORRECTION, "1/s", "outward speed per depth beyond the allowance")
    allowance: float = parameter(ALLOWANCE, "m", "depth that is left to points at rest")
    time_of_impact: bool = static(
        False, meaning="impacts act when points enter, not at the end of that step"
    )
    patch: Patch | None = field(
        default=None,
        metadata={MEANING: "hs.Patch(...): friction against rolling and spinning; None: no such"},
    )

    lam: float = parameter(0.1, "1/kg^2", 'weight of impulses in (33); rule="paper"')
    epsilon: float = parameter(5e-3, "m/s", 'speed up to which a point rests; rule="paper"')
    bias: str = static(
        "rule", meaning='"keep" or "drop" the term of (19); "rule": as the rule does'
    )
    forces: str = static(
        "b", meaning='bias forces of (21): "b"; "b-hat": gravity alone; rule="paper"'
    )

    sources: ClassVar[tuple[str, ...]] = ("Sugihara2006",)

    def __post_init__(self) -> None:
        check_choice(self, rule=("consistent", "paper"), bias=("rule", "keep", "drop"))
        check_coulomb("Rigid", self.friction)
        check_patch("Rigid", self.patch)
        if self.rule == "paper":
            check_choice(self, patch=(None,))
        check_numbers(
            self,
            restitution=(0, 1),
            smoothing=(1e-9, 1e3),
            correction=(0, 1e6),
            allowance=(0, 1),
            lam=(0, 1e12),
            epsilon=(0, 1e3),
        )
        check_choice(self, time_of_impact=(False,) if self.rule == "paper" else (False, True))
        check_choice(self, forces=("b", "b-hat") if self.rule == "paper" else ("b",))

    @property
    def coupling(self) -> CouplingRule:
        if self.rule == "paper":
            bias = "drop" if self.bias == "rule" else self.bias
            return CouplingRule("sugihara2006", bias, self.forces)
        return CouplingRule("consistent", "keep" if self.bias == "rule" else self.bias)

    @property
    def timed(self) -> bool:
        return self.time_of_impact

    @property
    def acts_apart(self) -> bool:
        return False

    def target(self, state: PointState) -> ContactTarget:
        return self._literal(state) if self.rule == "paper" else self._consistent(state)

    def _consistent(self, state: PointState) -> ContactTarget:
        rebound = state.rebound(self.restitution, self.time_of_impact)  # (29)
        out = ca.fmax(rebound, state.recovery(self.correction, self.allowance))
        firm = ca.fmin(self.smoothing, SMOOTHING)
        return ContactTarget(
            velocity=out,
            mu_s=self.friction.mu_s,
            mu_k=self.friction.mu_k,
            smoothing=ca.if_else(state.impact, firm, self.smoothing),
        )

    def _literal(self, state: PointState) -> ContactTarget:
        sliding = ca.dot(state.slip, state.slip)
        fast = self.epsilon * self.epsilon
        kinetic = sliding + state.depth_rate * state.depth_rate > fast
        speed = ca.sqrt(ca.fmax(sliding, MIN_SLIP**2))
        sigma = ca.if_else(sliding > fast, state.slip / speed, 0)  # (7)
        rebound = ca.if_else(kinetic, self.restitution * state.depth_rate, 0)  # (25), (29)
        return ContactTarget(
            active=state.depth > 0,
            velocity=rebound,
            mu_s=self.friction.mu_s,
            mu_k=self.friction.mu_k,
            smoothing=SX(0),
            impact=SX(0),
            paper=PaperTerms(kinetic, sigma, self.lam),
        )
