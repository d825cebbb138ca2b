"""What a contact law is given, and what it returns.

A law never sees a robot. It is given one point that touches one surface,

    depth d >= 0,  depth_rate d' (> 0: going in),  slip,  position,  dt,  memory

and returns the force, or (force, next memory). The caller has taken d = max(d, 0), selects "in
contact" (d > 0), and clamps the normal force at zero; so a law holds its equation and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import casadi as ca

SX: TypeAlias = ca.SX

Answer: TypeAlias = SX | tuple[SX, SX]
"""Force, or force and next memory."""

SLOWEST = 1e-12
"""Slip speed below which a direction has no meaning [m/s]."""


@dataclass(frozen=True)
class Contact:
    """One point that touches, as symbols."""

    depth: SX
    """d: how far the point is below the surface, >= 0 [m]."""
    depth_rate: SX
    """d': > 0 while going in [m/s]."""
    dt: SX
    """Step [s]."""
    memory: SX
    """What this law returned in the last step, a column; zero when contact has just begun."""
    slip: SX
    """Velocity of the point along the surface, relative to it, in its two tangents [m/s]."""
    position: SX
    """Where the point is on the surface, along its two tangents, in the surface's frame [m]."""
    normal_force: SX
    """f_n, for friction laws [N]."""

    @property
    def slip_speed(self) -> SX:
        """|slip|, at least SLOWEST: safe to divide by, and with a finite derivative at rest."""
        return ca.sqrt(ca.fmax(ca.dot(self.slip, self.slip), SLOWEST**2))


@dataclass(frozen=True, eq=False)
class Law(ABC):
    """An equation for a force. A law is a frozen dataclass whose number fields are parameters."""

    sources: ClassVar[tuple[str, ...]] = ()
    """Citation keys."""

    @property
    def memory_size(self) -> int:
        """Values carried from step to step."""
        return 0

    @abstractmethod
    def force(self, c: Contact) -> Answer:
        """The force on the point [N], or (force, next memory)."""

    def structure(self) -> object:
        """What decides over the compiled code: the operations of the equation itself."""
        from heelstrike.contact.tracing import operations

        return operations(self)


class NormalLaw(Law):
    """A force along the normal, from depth and its rate; > 0 repels."""

    @property
    def adhesive(self) -> bool:
        """True: the force is not clamped at zero, the surface may pull."""
        return False


class FrictionLaw(Law):
    """A force in the tangent plane, two components, from the normal force, slip and position."""


def where(condition: SX, then: SX | float, otherwise: SX | float) -> SX:
    """`then` where the condition holds, else `otherwise`: what `if` is to numbers, for symbols.

    Both are computed, and one is selected; entry by entry, a scalar condition for all entries.
    """
    return ca.if_else(condition, then, otherwise)


def answered(answer: Answer, memory: SX) -> tuple[SX, SX]:
    """(force, next memory) of a law with or without memory."""
    return answer if isinstance(answer, tuple) else (answer, memory)
