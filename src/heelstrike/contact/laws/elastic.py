"""Elastic contact: forces from the local state alone, one point at a time.

    f = f_n nu + f_t          [Sugihara2006] (9), f_n from a normal law and f_t from a friction law

The micro model of [Sugihara2006], and the contact of [Marhefka1996]. Here is what laws are spared:
a force exists only at depth d > 0; f_n is clamped at zero, unless the normal law is adhesive; where
the surface pulls it does not rub; memory is zeroed where there is no contact. All by selects, so
what a law computes out of contact does not matter, not even NaN.

implicit=True takes the force at the end of the step, which is what [Sugihara2006] (14) gropes for:
with F(d, w) linearised at the start, w = d',

    f = F0 + G w+,    G = F_w + dt F_d,    F0 = F - F_w w

a demand on the coupled problem with compliance 1 / (dt G) and velocity F0 / G outward. For a linear
spring and damper that is implicit Euler, stable at any step, still in N/m and N s/m.

A damper of one direction bends F at w = 0, so G has two values, and w+ says which: that of the side
that the step began on, and on the other side that plus the jump of F_w + dt F_d across w = 0. Both
meet in F0 at w+ = 0, so f falls as the point moves out, whichever side it ends on. Where F itself
jumps there (PoissonSpring), it does so when the next step begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import casadi as ca

from heelstrike.contact.law import SX, Contact, FrictionLaw, NormalLaw, answered
from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.coulomb import Coulomb
from heelstrike.contact.laws.hunt_crossley import HuntCrossley
from heelstrike.contact.surface_law import (
    ContactForce,
    ContactTarget,
    CouplingRule,
    PointState,
    SurfaceLaw,
)
from heelstrike.errors import HeelstrikeError
from heelstrike.parameters import MEANING, static

REST = 1e-30
"""Rate that tells one side of rest from the other, and is lost beside any other number [m/s]."""
LEAST = 1e-9
"""Damping below which a law counts as a given force [N s/m]."""


@dataclass(frozen=True)
class Elastic(SurfaceLaw):
    """A surface that gives way: a normal law and a friction law (None: no friction)."""

    normal: NormalLaw = field(default_factory=HuntCrossley, metadata={MEANING: "a normal law"})
    friction: FrictionLaw | Coulomb | None = field(
        default_factory=Bristle, metadata={MEANING: "a friction law; None: no friction"}
    )

    implicit: bool = static(False, meaning="the force at the end of the step; with hs.Coulomb")

    sources: ClassVar[tuple[str, ...]] = ("Sugihara2006", "Marhefka1996")

    def __post_init__(self) -> None:
        if not isinstance(self.normal, NormalLaw):
            raise HeelstrikeError(
                f"Elastic takes a normal law first, such as hs.HuntCrossley(), not {self.normal!r}",
                path="normal",
            )
        kind, names = (
            (Coulomb, "hs.Coulomb()")
            if self.implicit
            else (FrictionLaw, "hs.Kinetic() or hs.Bristle()")
        )
        if not (self.friction is None or isinstance(self.friction, kind)):
            how = ", which is solved with the impulses" if self.implicit else ""
            raise HeelstrikeError(
                f"Elastic(implicit={self.implicit}) takes a friction law, {names}{how}, or None, "
                f"not {self.friction!r}",
                path="implicit" if self.implicit else "friction",
            )
        if self.implicit and self.normal.memory_size:
            raise HeelstrikeError(
                f"a normal law with memory cannot be implicit: {self.normal!r}; take one without",
                path="implicit",
            )

    @property
    def memory_size(self) -> int:
        """Values that a point carries from step to step."""
        friction = self.friction.memory_size if isinstance(self.friction, FrictionLaw) else 0
        return self.normal.memory_size + friction

    @property
    def coupling(self) -> CouplingRule | None:
        return CouplingRule() if self.implicit else None

    def target(self, state: PointState) -> ContactTarget:
        dt, w = state.dt, state.depth_rate
        enters = w > 0
        f0, g = self._slopes(state, ca.if_else(enters, ca.fmax(w, REST), ca.fmin(w, -REST)))
        jump = self._slopes(state, SX(REST))[1] - self._slopes(state, SX(-REST))[1]
        entering = ca.fmax(ca.if_else(enters, g, g + jump), LEAST)
        leaving = ca.fmax(ca.if_else(enters, g - jump, g), LEAST)
        friction = self.friction if isinstance(self.friction, Coulomb) else Coulomb(0, 0)
        return ContactTarget(
            velocity=f0 / entering,
            mu_s=friction.mu_s,
            mu_k=friction.mu_k,
            impact=SX(0),
            compliance=1 / (dt * entering),
            compliance_out=1 / (dt * leaving),
        )

    def _slopes(self, state: PointState, rate: SX) -> tuple[SX, SX]:
        """Return F0 and G at a rate."""
        d, w, dt = SX.sym("d"), SX.sym("w"), state.dt
        none, still = SX(0, 1), SX(ca.DM.zeros(2))
        force, _ = answered(self.normal.force(Contact(d, w, dt, none, still, still, SX(0))), none)
        slopes = ca.jacobian(force, ca.vertcat(d, w))
        here = ca.vertcat(ca.fmax(state.depth, 0), rate)
        parts = ca.substitute(ca.horzcat(force, slopes), ca.vertcat(d, w), here)
        f, by_depth, by_rate = ca.horzsplit(parts)
        return f - by_rate * rate, by_rate + dt * by_depth

    def force(self, state: PointState) -> ContactForce:
        if self.implicit:
            return ContactForce.none(state)
        own, memory = self.normal.memory_size, state.memory
        d, rate, dt, slip = state.depth, state.depth_rate, state.dt, state.slip
        touching = d > 0
        depth = ca.fmax(d, 0)
        c = Contact(depth, rate, dt, memory[:own, :], slip, state.position, SX(0))
        normal, kept = answered(self.normal.force(c), memory[:own, :])
        if not self.normal.adhesive:
            normal = ca.fmax(normal, 0)
        normal = ca.if_else(touching, normal, 0)
        tangent, anchors = SX.zeros(2), memory[own:, :]
        if isinstance(self.friction, FrictionLaw):
            pressing = ca.fmax(normal, 0)  # a surface that pulls does not rub
            c = Contact(depth, rate, dt, anchors, slip, state.position, pressing)
            tangent, anchors = answered(self.friction.force(c), anchors)
            tangent = ca.if_else(touching, tangent, 0)
        following = ca.if_else(touching, ca.vertcat(kept, anchors), 0)
        return ContactForce(touching, normal, tangent, following)
