"""Elastic contact: forces from the local state alone, one point at a time.

The micro model of [Sugihara2006], and the contact of [Marhefka1996]. What normal and friction laws
need not do is done here: a force exists only at depth d > 0; f_n is clamped at zero, unless the
normal law is adhesive; a surface that pulls exerts no friction; memory is zeroed where there is no
contact. All by selects, so that what a law computes out of contact does not matter, not even NaN.

implicit=True takes the force at the end of the step, which [Sugihara2006] (14) approximates: with
F(d, w) linearised at the start, w = d',

    f = F0 + G w+,    G = F_w + dt F_d,    F0 = F - F_w w

a target in the coupled problem with compliance 1 / (dt G) and outward velocity F0 / G. For a linear
spring and damper that is implicit Euler, stable at any step, still in N/m and N s/m.

The force acts at the height of the surface. Points that sink to different depths could not all
stick there while their body turns, and would press against one another along it.

A damper of one direction bends F at w = 0, so that G has two values, and w+ decides which: that of
the side that the step began on, and on the other side that plus the jump of F_w + dt F_d across
w = 0. Both meet in F0 at w+ = 0, so that f falls as the point moves out, whichever side it ends on.
Where F itself jumps there (PoissonSpring), it does so when the next step begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import casadi as ca

from heelstrike.contact.law import SX, Contact, FrictionLaw, NormalLaw, force_and_memory
from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.coulomb import Coulomb
from heelstrike.contact.laws.hunt_crossley import HuntCrossley
from heelstrike.contact.laws.patch import Patch, check_patch
from heelstrike.contact.surface_law import (
    ContactForce,
    ContactTarget,
    CouplingRule,
    PointState,
    SurfaceLaw,
)
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.parameters import MEANING, check_choice, static

REST = 1e-30
"""Rate on one side of rest [m/s], small enough to vanish in a sum with any other rate."""
MIN_DAMPING = 1e-9
"""Smallest G; below it the law counts as a constant force [N s/m]."""


@dataclass(frozen=True)
class Elastic(SurfaceLaw):
    """Surface law of a normal law and a friction law, one point at a time.

        f = f_n nu + f_t      [Sugihara2006] (9), f_n from the normal law, f_t from the friction law

    nu is the outward normal; f acts on the point, at depth d > 0 only.

    Args:
        normal: normal law, such as hs.HuntCrossley(...).
        friction: friction law, such as hs.Bristle(...), or hs.Coulomb(...) if implicit; None: no
            friction.
        implicit: take the force at the end of the step, so that any stiffness is stable.
        patch: friction of round points against rolling and spinning, hs.Patch(...); None: they
            roll and spin freely. With implicit, its radii alone count.

    Examples:
        >>> mat = hs.Elastic(hs.HuntCrossley(k=5e4, alpha=0.4), hs.Bristle(mu_s=0.8, mu_k=0.6))
        >>> stiff = hs.Elastic(hs.LinearSpring(k=1e6, c=2e3), hs.Coulomb(), implicit=True)
    """

    normal: NormalLaw = field(default_factory=HuntCrossley, metadata={MEANING: "a normal law"})
    friction: FrictionLaw | Coulomb | None = field(
        default_factory=Bristle, metadata={MEANING: "a friction law; None: no friction"}
    )

    implicit: bool = static(False, meaning="True: force at the end of the step; with hs.Coulomb")
    patch: Patch | None = field(
        default=None,
        metadata={MEANING: "hs.Patch(...): friction against rolling and spinning; None: no such"},
    )

    sources: ClassVar[tuple[str, ...]] = ("Sugihara2006", "Marhefka1996")

    def __post_init__(self) -> None:
        if not isinstance(self.normal, NormalLaw):
            allowed = "a normal law, such as hs.HuntCrossley()"
            raise ParameterError("normal", self.normal, allowed, owner="Elastic")
        check_choice(self, implicit=(True, False))
        kind, names = (
            (Coulomb, "hs.Coulomb()")
            if self.implicit
            else (FrictionLaw, "hs.Kinetic() or hs.Bristle()")
        )
        if not (self.friction is None or isinstance(self.friction, kind)):
            raise HeelstrikeError(
                f"Elastic(implicit={self.implicit}): friction is {self.friction!r:.80}",
                path="implicit" if self.implicit else "friction",
                value=self.friction,
                allowed=f"{names}, or None",
            )
        check_patch("Elastic", self.patch)
        if self.implicit and self.normal.memory_size:
            raise HeelstrikeError(
                f"Elastic: the normal law {self.normal!r} has memory and cannot be implicit",
                path="implicit",
                remedy="use a normal law without memory, or implicit=False",
            )

    @property
    def memory_size(self) -> int:
        """Number of values that a point carries from step to step."""
        friction = self.friction.memory_size if isinstance(self.friction, FrictionLaw) else 0
        return self.normal.memory_size + friction

    @property
    def coupling(self) -> CouplingRule | None:
        return CouplingRule() if self.implicit else None

    @property
    def acts_at_surface(self) -> bool:
        return self.implicit

    @property
    def acts_apart(self) -> bool:
        return False

    def target(self, state: PointState) -> ContactTarget:
        dt, w = state.dt, state.depth_rate
        enters = w > 0
        f0, g = self._slopes(state, ca.if_else(enters, ca.fmax(w, REST), ca.fmin(w, -REST)))
        jump = self._slopes(state, SX(REST))[1] - self._slopes(state, SX(-REST))[1]
        entering = ca.fmax(ca.if_else(enters, g, g + jump), MIN_DAMPING)
        leaving = ca.fmax(ca.if_else(enters, g - jump, g), MIN_DAMPING)
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
        force, _ = force_and_memory(
            self.normal.force(Contact(d, w, dt, none, still, still, SX(0))), none
        )
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
        normal, kept = force_and_memory(self.normal.force(c), memory[:own, :])
        if not self.normal.adhesive:
            normal = ca.fmax(normal, 0)
        normal = ca.if_else(touching, normal, 0)
        tangent, anchors = SX.zeros(2), memory[own:, :]
        if isinstance(self.friction, FrictionLaw):
            pressing = ca.fmax(normal, 0)  # a surface that pulls exerts no friction
            c = Contact(depth, rate, dt, anchors, slip, state.position, pressing)
            tangent, anchors = force_and_memory(self.friction.force(c), anchors)
            tangent = ca.if_else(touching, tangent, 0)
        following = ca.if_else(touching, ca.vertcat(kept, anchors), 0)
        return ContactForce(touching, normal, tangent, following)
