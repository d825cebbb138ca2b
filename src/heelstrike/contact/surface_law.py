"""The law of a surface: a force on each point at once, a target for the coupled problem, or both.

An elastic law returns a force (`SurfaceLaw.force`). A law whose forces depend on one another, such
as rigid contact, returns the velocity that a point shall have after the step, how far the contact
yields and how much friction it has (`SurfaceLaw.target`); contact/solver/ finds the impulses of all
such points together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Literal, TypeAlias

import casadi as ca

from heelstrike.contact.law import SX
from heelstrike.errors import HeelstrikeError
from heelstrike.ir.program import Program
from heelstrike.parameters import structure_of_fields

IMPACT_SPEED = 10.0
"""Approach speed, in units of |g| dt, above which a step counts as an impact."""
CORRECTION, ALLOWANCE = 10.0, 1e-3
"""Defaults of rigid laws: outward speed per depth [1/s] beyond a depth that is left [m]."""
SLOWEST = 1e-9
"""Correction of depth that is none: keeps divisors away from zero [1/s]."""
SMOOTHING = 1e-3
"""Default compliance of a solver pass, relative to the contact's own [-]."""

Rule: TypeAlias = Literal["consistent", "exact", "sugihara2006", "rengifo2009"]


@dataclass(frozen=True)
class PointState:
    """State of one point relative to one surface at the start of a step, as symbols.

    It is the input of `SurfaceLaw.force`, `SurfaceLaw.target` and functions of @hs.coupled_law.

    Attributes:
        depth: signed depth, positive inside the surface and negative above it [m].
        depth_rate: rate of the depth, positive while the point goes in [m/s].
        slip: velocity of the point relative to the surface, along its two tangents, (2,) [m/s].
        position: position on the surface, along its two tangents, (2,) [m].
        dt: time step [s].
        gravity: magnitude of gravity [m/s^2]; gravity dt is the scale of slow speeds.
        memory: memory that the law returned in the last step, a column; zero in the first step of
            a contact.
        loaded: 1 where the coupled impulse of the last step pushed the point.
        fall: gravity along the normal, into the surface [m/s^2].
        passing: 1 where a point above the surface would pass through it within the step.
    """

    depth: SX
    depth_rate: SX
    slip: SX
    position: SX
    dt: SX
    gravity: SX
    memory: SX
    loaded: SX | float = 0.0
    fall: SX | float = 0.0
    passing: SX | float = 0.0

    def let(self, p: Program) -> PointState:
        """Return the same state as symbols of a program; inside a block."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        passing = (
            self.passing if isinstance(self.passing, float) else p.let("passing", self.passing)
        )
        known = {key: p.let(key, SX(x)) for key, x in values.items() if key != "passing"}
        return PointState(**known, passing=passing)

    @property
    def touching(self) -> SX:
        """1 where depth > 0, and above the surface where the point was loaded in the last step, or
        would pass through the surface.

        A loaded point that moves over a convex surface is a little above it after the step.
        """
        return ca.logic_or(ca.logic_or(self.depth > 0, self.loaded), self.passing)

    @property
    def closing(self) -> SX:
        """Outward velocity after the step with which a point above the surface reaches it; else 0.

        It is negative or zero [m/s].
        """
        return ca.fmin(self.depth, 0) / self.dt

    @property
    def impact(self) -> SX:
        """1 where the point approaches faster than IMPACT_SPEED gravity dt."""
        return self.depth_rate > IMPACT_SPEED * self.gravity * self.dt

    @property
    def since_entry(self) -> SX:
        """Time since a point that hits the surface entered it, at most dt; else 0 [s]."""
        hits = ca.logic_and(self.impact, ca.logic_not(SX(self.loaded)))
        time = ca.fmin(ca.fmax(self.depth, 0) / ca.if_else(hits, self.depth_rate, 1), self.dt)
        return ca.if_else(hits, time, 0)

    def rebound(self, restitution: SX | float, timed: bool) -> SX:
        """Return the outward velocity after a rebound, `timed`: at the instant of entry [m/s].

        Velocities belong to the middle between two steps: a point that is timed fell until it
        entered, and has risen against gravity since.
        """
        plain = restitution * ca.fmax(self.depth_rate, 0)
        if not timed:
            return plain
        since, half = self.since_entry, 0.5 * self.dt
        hit = restitution * (self.depth_rate + (half - since) * self.fall)
        slowed = ca.fmax(hit - (half + since) * self.fall, 0)
        return ca.if_else(since > 0, slowed, plain)

    def recovery(self, correction: SX | float, allowance: SX | float) -> SX:
        """Return the outward velocity by which a point deeper than the allowance comes back [m/s].

            min(correction (d - allowance), g / correction)

        Points reach the allowance at rest: from speeds up to g / correction, slowing down takes no
        more than gravity, so that none leaves the surface. In an impact it is 0.
        """
        excess = ca.fmax(self.depth - allowance, 0)
        most = self.gravity / ca.fmax(correction, SLOWEST)
        return ca.if_else(self.impact, 0, ca.fmin(correction * excess, most))


@dataclass(frozen=True)
class ContactForce:
    """Force of one surface on one point, known at once, as symbols.

    Attributes:
        touching: 1 where the point is in contact.
        normal: normal force f_n; positive repels [N].
        tangent: friction along the surface's two tangents, (2,) [N].
        memory: memory of the law for the next step, a column.
    """

    touching: SX
    normal: SX
    tangent: SX
    memory: SX

    @classmethod
    def none(cls, state: PointState) -> ContactForce:
        """Return no force and no memory: the answer of a law that only sets targets."""
        return cls(state.depth > 0, SX(0), SX(ca.DM.zeros(2)), SX(0, 1))


@dataclass(frozen=True)
class PaperTerms:
    """Additional terms of a point under the literal rule of [Sugihara2006]."""

    kinetic: SX
    """1 in set K."""
    sigma: SX
    """Direction of slip along the two tangents, or zero (7)."""
    lam: SX
    """Weight of its impulse in (33) [1/kg^2]."""


@dataclass(frozen=True)
class ContactTarget:
    """Target of one point in the coupled problem, as symbols or numbers.

    With u+ the velocity of the point relative to the surface after the step, f the impulse on it
    and n, t its normal and tangential parts, the coupled problem solves

        u_n+ >= velocity - compliance f_n,   f_n >= 0,   one of them an equality
        u_t+ = slip   while |f_t| <= mu_s f_n,   else |f_t| = mu_k f_n against u_t+ - slip

    Attributes:
        velocity: outward normal velocity after the step [m/s].
        mu_s: coefficient of friction while the point sticks [-].
        mu_k: coefficient of friction while the point slides [-].
        active: 1 where the target holds; None: where depth > 0, and for a rigid point that was
            loaded in the last step, or would pass through, also above the surface, which it then
            reaches at most, unless `velocity` is positive.
        slip: velocity along the two tangents after the step, (2,) [m/s]; None: zero.
        compliance: loss of normal velocity per normal impulse [1/kg]; None: rigid.
        compliance_out: compliance where the point moves outward after the step [1/kg]; None: the
            same.
        smoothing: compliance of a solver pass, relative to the contact's own [-].
        impact: 1 where the impulse of the last step is no estimate for this one; None: where
            `PointState.impact` is 1.
        paper: terms of the literal rule of [Sugihara2006], None under every other rule.

    The last three are for the bundled laws and depend on the solver; leave them at their defaults.
    """

    velocity: SX | float = 0.0
    mu_s: SX | float = 0.0
    mu_k: SX | float = 0.0
    active: SX | float | None = None
    slip: SX | Sequence[float] | None = None
    compliance: SX | float | None = None
    compliance_out: SX | float | None = None
    smoothing: SX | float = SMOOTHING
    impact: SX | float | None = None
    paper: PaperTerms | None = None

    def completed(self, state: PointState) -> ContactTarget:
        """Return a copy as symbols, in which `active` and `impact` are set for this state."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "paper"}
        if self.active is None:
            values["active"] = state.depth > 0
            if self.compliance is None:
                values["active"] = state.touching
                rebounds = ca.logic_and(state.passing, SX(self.velocity) > 0)
                whole = ca.logic_or(state.depth > 0, rebounds)
                values["velocity"] = ca.if_else(whole, self.velocity, state.closing)
        values["impact"] = state.impact if self.impact is None else self.impact
        return replace(self, **{name: SX(x) for name, x in values.items() if x is not None})


@dataclass(frozen=True)
class CouplingRule:
    """Rule by which the impulses of coupled contacts are found.

    All coupled contacts of a scene are solved together, so that all of them need an equal rule.

    Attributes:
        rule: method of solution. "consistent": forces inside their friction cones, of least sum of
            squares where they are not unique; "exact": the complementarity problem itself, to the
            accuracy of the numbers; "sugihara2006", "rengifo2009": the literal methods of the
            papers.
        bias: "keep" or "drop" the velocity change of a point by the rotation of its body, the term
            that [Sugihara2006] (19) drops.
        forces: "b": all bias forces enter; "b-hat": gravity alone, as [Sugihara2006] (21) prints.
    """

    rule: Rule = "consistent"
    bias: str = "keep"
    forces: str = "b"

    @property
    def exact(self) -> bool:
        """True if the problem is solved to the accuracy of the numbers."""
        return self.rule == "exact"

    @property
    def literal(self) -> bool:
        """True if the method of a paper is taken literally."""
        return self.rule in ("sugihara2006", "rengifo2009")


@dataclass(frozen=True, eq=False)
class SurfaceLaw:
    """Base class of the laws of surfaces.

    A subclass is a frozen dataclass whose number fields are run-time parameters. It defines
    `force`, `target` or both:

        @dataclass(frozen=True)
        class Bouncing(hs.SurfaceLaw):
            e: float = 0.5

            def target(self, state: hs.PointState) -> hs.ContactTarget:
                return hs.ContactTarget(velocity=self.e * ca.fmax(state.depth_rate, 0))
    """

    sources: ClassVar[tuple[str, ...]] = ()
    """Citation keys."""

    @property
    def memory_size(self) -> int:
        """Number of values that a point carries from step to step; its last impulse not counted."""
        return 0

    @property
    def coupling(self) -> CouplingRule | None:
        """Rule by which the targets are met; None for a law without targets.

        The default is the consistent rule for every class that defines `target`.
        """
        return None if type(self).target is SurfaceLaw.target else CouplingRule()

    @property
    def couples(self) -> bool:
        """True if the law sets targets, so that its forces depend on those of other contacts."""
        return self.coupling is not None

    @property
    def acts_at_surface(self) -> bool:
        """Whether its force acts where the surface is, instead of at the point inside it."""
        return False

    @property
    def acts_apart(self) -> bool:
        """True if a point above the surface may have a force, a target or memory though the last
        step did not load it; False lets bodies that are apart skip their points.
        """
        return True

    @property
    def accelerates(self) -> bool:
        """True if the targets follow from an acceleration, which the integrator rk4 accepts."""
        return False

    @property
    def timed(self) -> bool:
        """True if impacts act at the instant at which points enter."""
        return False

    @property
    def implicit(self) -> bool:
        """True if the force is that at the end of the step."""
        return False

    def force(self, state: PointState) -> ContactForce:
        """Return the force that is known at once; by default none, for laws with targets."""
        if not self.couples:
            raise HeelstrikeError(
                f"the law {type(self).__name__} defines neither force() nor target()",
                remedy="define force(self, state) or target(self, state)",
            )
        return ContactForce.none(state)

    def target(self, state: PointState) -> ContactTarget:
        """Return the target of a point in the coupled problem."""
        raise NotImplementedError

    def structure(self) -> object:
        """Return what decides the compiled code: choices of the fields, and the equations."""
        from heelstrike.contact.tracing import surface_operations

        return [structure_of_fields(self), surface_operations(self)]
