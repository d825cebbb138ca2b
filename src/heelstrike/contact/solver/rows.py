"""Rows of the swept problem: contacts. Those of joints are in joint_rows.py.

Each row has three functions of the trial: its value, its slope and, after a pass, its next anchor.
A contact's value is an impulse (3,) that depends on its velocity after the step. Slopes are
positive semidefinite, so that every Newton matrix is positive definite.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.cone import Nearest, in_cone, in_tube
from heelstrike.ir.arguments import LABEL
from heelstrike.spatial.vector import skew


@dataclass(frozen=True)
class Arm:
    """Part of a moving body in a contact."""

    body: int = field(metadata=LABEL)
    """Its number among the contacting bodies."""
    lever: SX
    """From its origin to the contact, in world axes [m]."""
    sign: float = 1.0
    """-1 for the body that carries the surface."""

    def map(self, axes: SX) -> SX:
        """Return G, from the twist of the body in world axes to the contact's velocity, (3, 6)."""
        return self.sign * ca.densify(ca.horzcat(axes, -axes @ skew(self.lever)))


@dataclass(frozen=True)
class Response:
    """Impulse of a contact at a velocity, and its slope."""

    near: Nearest
    tangential: SX
    """Impulse per velocity along the tangents [kg],"""
    normal: SX
    """and along the normal."""

    @property
    def f(self) -> SX:
        """Impulse (3) [N s]."""
        return self.near.f

    @property
    def slope(self) -> SX:
        """-df/du, (3, 3) [kg]."""
        return self.near.slope(self.tangential, self.normal)

    def where(self, condition: SX) -> Response:
        """Return the response where a condition holds, else none."""
        return replace(self, near=self.near.where(condition))


@dataclass(frozen=True)
class Row:
    """A contact in the problem, as symbols."""

    arms: tuple[Arm, ...]
    axes: SX
    """Tangents and normal as rows, (3, 3)."""
    active: SX
    """1 where it touches."""
    target: SX
    """Velocity wanted after the step (3) [m/s]."""
    mu_s: SX
    mu_k: SX
    smoothing: SX
    """Compliance of a pass, as a share of the contact's own."""
    past: SX
    """Impulse of the last step (3) [N s]."""
    slid: SX
    """1 where it is first taken to slide."""
    compliance: SX | None = None
    """Normal, of an elastic law made implicit [1/kg]."""
    leaving: SX | None = None
    """The same beyond `rest`."""
    rest: SX | float = 0.0
    """Velocity left, of a soft normal, at which its response bends [m/s]."""
    fresh: SX | float = 1.0
    """1 where the last step tells nothing of it: a new contact, or an impact."""
    misfit: SX | float = 0.0
    """Part of the target that no rigid motion of its body meets: the turning of its lever [m/s]."""
    moves: SX | float = 1.0
    """0 where it rests and sticks, 1 where its friction is at its bound, 2 where it moves: a new
    contact, an impact, one that slips."""

    @property
    def map(self) -> SX:
        """G, from the twist of its first body in world axes to its velocity in its axes, (3, 6).

        The velocity is that if the second body, if any, stands still.
        """
        return self.arms[0].map(self.axes)

    def response(self, a: SX, slides: SX, bound: SX, rho: SX, left: SX) -> Response:
        """Return the impulse at a velocity `left` over the target, with its slope.

            f = nearest(a - left / rho)      in the cone, or where it slides the tube

        `a` is the anchor of the pass, `bound` the radius of the tube, `rho` the compliance of the
        pass [1/kg].
        """
        normal, z = rho, a - left / rho
        if self.compliance is not None:
            push, normal = self.soft(left[2])
            z = ca.vertcat(z[:2], push)
        near = in_tube(z, bound)
        if self.compliance is None:
            near = near.where(slides, in_cone(z, ca.fmax(self.mu_s, self.mu_k)))
        return Response(near.where(self.active), 1 / rho, 1 / normal)

    def bound(self, normal: SX, slides: SX) -> SX:
        """Return the radius of the tube; a rigid contact that sticks is in its cone instead."""
        held = 0 if self.compliance is None else ca.fmax(self.mu_s, self.mu_k)
        return where(slides, self.mu_k, held) * ca.fmax(normal, 0)

    def soft(self, left: SX) -> tuple[SX, SX]:
        """Return the normal impulse of a compliant law at a velocity left, and its compliance: two
        straight lines that meet at `rest`.
        """
        assert self.compliance is not None
        if self.leaving is None:
            return -left / self.compliance, self.compliance
        out = left > self.rest
        push = -self.rest / self.compliance - (left - self.rest) / self.leaving
        return where(out, push, -left / self.compliance), where(out, self.leaving, self.compliance)


SLACK = 1e-9
"""Compliance of the load of a turning row [1/kg]: a number that no velocity depends on."""


@dataclass(frozen=True)
class TurningRow(Row):
    """Friction of a round contact against rolling or spinning, as that of a contact that slides.

        u = R w,   |f| <= (radius / R) f_n          R: lever of the shape, f: moment over R

    Its tangents are the axes about which it turns. Its normal acts on nothing: the target makes it
    f_n, the impulse that the contact carried in the last step.
    """

    lever: SX | float = 0.0
    """R [m]."""

    @property
    def map(self) -> SX:
        return self.arms[0].sign * self.lever * ca.densify(ca.horzcat(SX(3, 3), self.axes))
