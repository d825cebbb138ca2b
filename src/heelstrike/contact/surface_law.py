"""The law of a surface: a force on each point at once, a target for the coupled problem, or both.

An elastic law returns a force (`SurfaceLaw.force`). A law whose forces depend on one another, such
as rigid contact, returns the velocity that a point shall have after the step, how far the contact
yields and how much friction it has (`SurfaceLaw.target`); contact/solver/ finds the impulses of all
such points together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

import casadi as ca

from heelstrike.contact.law import SX
from heelstrike.errors import HeelstrikeError
from heelstrike.parameters import structure_of_fields

IMPACT_SPEED = 10.0
"""Approach speed, in units of |g| dt, above which a step counts as an impact."""
SMOOTHING = 1e-2
"""Default compliance of a solver pass, relative to the contact's own [-]."""

Rule: TypeAlias = Literal["consistent", "exact", "sugihara2006", "rengifo2009"]


@dataclass(frozen=True)
class PointState:
    """State of one point relative to one surface at the start of a step, as symbols."""

    depth: SX
    """Signed depth [m]: positive inside the surface, negative above it."""
    depth_rate: SX
    """Rate of the depth [m/s]: positive while the point goes in."""
    slip: SX
    """Velocity of the point relative to the surface, along its two tangents, (2,) [m/s]."""
    position: SX
    """Position on the surface, along its two tangents, (2,) [m]."""
    dt: SX
    """Time step [s]."""
    gravity: SX
    """Magnitude of gravity |g| [m/s^2]; |g| dt is the scale of slow speeds."""
    memory: SX
    """Memory that the law returned in the last step, a column; zero in the first step of a
    contact."""

    @property
    def impact(self) -> SX:
        """1 where the point approaches faster than IMPACT_SPEED |g| dt."""
        return self.depth_rate > IMPACT_SPEED * self.gravity * self.dt


@dataclass(frozen=True)
class ContactForce:
    """Force of one surface on one point, known at once, as symbols."""

    touching: SX
    """1 where the point is in contact."""
    normal: SX
    """Normal force f_n [N]; positive repels."""
    tangent: SX
    """Friction along the surface's two tangents, (2,) [N]."""
    memory: SX
    """Memory of the law for the next step, a column."""

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
    """Target of one point in the coupled problem, as symbols.

    With u+ the velocity of the point relative to the surface after the step, f the impulse on it
    and n, t its normal and tangential parts, the coupled problem solves

        u_n+ >= velocity - compliance f_n,   f_n >= 0,   one of them an equality
        u_t+ = slip   while |f_t| <= mu_s f_n,   else |f_t| = mu_k f_n against u_t+ - slip
    """

    velocity: SX | float = 0.0
    """Outward normal velocity after the step [m/s]; larger values are allowed without force."""
    mu_s: SX | float = 0.0
    """Coefficient of friction while the point sticks [-]."""
    mu_k: SX | float = 0.0
    """Coefficient of friction while the point slides [-]."""
    active: SX | None = None
    """1 where the target holds; None: where depth > 0."""
    slip: SX | None = None
    """Velocity along the two tangents after the step, (2,) [m/s]; None: zero."""
    compliance: SX | None = None
    """Loss of normal velocity per normal impulse [1/kg]; None: the contact is rigid."""
    compliance_out: SX | None = None
    """Compliance where the point moves outward after the step [1/kg]; None: the same."""
    smoothing: SX | float = SMOOTHING
    """Compliance of a solver pass, relative to the contact's own [-]: it decides how fast the
    passes converge."""
    impact: SX | None = None
    """1 where the impulse of the last step says nothing about this one; None: where
    `PointState.impact` is 1."""
    paper: PaperTerms | None = None
    """Terms of the literal rule of [Sugihara2006]; None under every other rule."""

    def completed(self, state: PointState) -> ContactTarget:
        """Return a copy in which `active` and `impact` are set for this state."""
        active = state.depth > 0 if self.active is None else self.active
        impact = state.impact if self.impact is None else self.impact
        return replace(self, velocity=SX(self.velocity), active=active, impact=impact)


@dataclass(frozen=True)
class CouplingRule:
    """Rule by which the impulses of coupled contacts are found.

    All coupled contacts of a scene are solved together, so that all of them need an equal rule.
    """

    rule: Rule = "consistent"
    """Method of solution:
    "consistent": forces inside their friction cones that change least from step to step;
    "exact": the complementarity problem itself, to the accuracy of the numbers;
    "sugihara2006", "rengifo2009": the literal methods of the papers."""
    bias: str = "keep"
    """"keep" or "drop" the velocity change of a point by the rotation of its body, the term that
    [Sugihara2006] (19) drops."""
    forces: str = "b"
    """"b": all bias forces enter; "b-hat": gravity alone, as [Sugihara2006] (21) prints."""

    @property
    def exact(self) -> bool:
        """True if the problem is solved to the accuracy of the numbers."""
        return self.rule == "exact"


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
    def accelerates(self) -> bool:
        """True if the targets follow from an acceleration, which the integrator rk4 accepts."""
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
