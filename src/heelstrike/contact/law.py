"""Normal and friction laws: their input, the state of one contact, and their base classes.

A law never sees a robot. Its input is one point that touches one surface,

    depth d >= 0,  depth_rate d' (> 0: going in),  slip,  position,  dt,  memory

and its output the force, or (force, next memory). The caller has taken d = max(d, 0), selects "in
contact" (d > 0), and clamps the normal force at zero; so a law holds its equation and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import casadi as ca

from heelstrike.errors import ParameterError

SX: TypeAlias = ca.SX

Answer: TypeAlias = SX | tuple[SX, SX]
"""Output of a law: the force [N], or (force, next memory)."""

MIN_SLIP = 1e-12
"""Smallest slip speed that has a direction [m/s]."""


@dataclass(frozen=True)
class Contact:
    """State of one point that touches a surface, as symbols: the input of elastic laws.

    Attributes:
        depth: depth d of the point below the surface, >= 0 [m].
        depth_rate: rate d' of the depth, > 0 while going in [m/s].
        dt: time step [s].
        memory: memory that the law returned in the last step, a column; zero in the first step of
            a contact.
        slip: velocity of the point relative to the surface, along its two tangents, (2,) [m/s].
        position: position on the surface, along its two tangents, in its frame, (2,) [m].
        normal_force: normal force f_n >= 0, for friction laws [N].
    """

    depth: SX
    depth_rate: SX
    dt: SX
    memory: SX
    slip: SX
    position: SX
    normal_force: SX

    @property
    def slip_speed(self) -> SX:
        """Magnitude of the slip, at least MIN_SLIP: a safe divisor, with a derivative [m/s]."""
        return ca.sqrt(ca.fmax(ca.dot(self.slip, self.slip), MIN_SLIP**2))


@dataclass(frozen=True, eq=False)
class Law(ABC):
    """Base class of normal and friction laws.

    A law is a frozen dataclass whose number fields are run-time parameters.
    """

    sources: ClassVar[tuple[str, ...]] = ()
    """Citation keys."""

    @property
    def memory_size(self) -> int:
        """Number of values that a point carries from step to step."""
        return 0

    @abstractmethod
    def force(self, c: Contact) -> Answer:
        """Return the force on the point [N], or (force, next memory)."""

    def structure(self) -> object:
        """Return what decides the compiled code: the operations of the equation."""
        from heelstrike.contact.tracing import operations

        return operations(self)


class NormalLaw(Law):
    """Base class of laws for the normal force f_n [N], from depth and its rate; f_n > 0 repels.

    @dataclass(frozen=True)
    class Spring(hs.NormalLaw):
        k: float = 2e4

        def force(self, c: hs.Contact) -> SX:
            return self.k * c.depth
    """

    @property
    def adhesive(self) -> bool:
        """True if the surface may pull: the force is then not clamped at zero."""
        return False


class FrictionLaw(Law):
    """Base class of laws for friction f_t [N], two components along the tangents of the surface.

    @dataclass(frozen=True)
    class Viscous(hs.FrictionLaw):
        b: float = 20.0

        def force(self, c: hs.Contact) -> SX:
            return -self.b * c.slip
    """


def where(condition: SX, then: SX | float, otherwise: SX | float) -> SX:
    """Return `then` where the condition holds, else `otherwise`: the `if` of symbols.

    Both are computed, and one is selected entry by entry; a scalar condition holds for all entries.
    """
    try:
        return ca.if_else(condition, then, otherwise)
    except (NotImplementedError, RuntimeError) as error:
        shown = (condition, then, otherwise)
        raise ParameterError("where", shown, "symbols or numbers of fitting sizes") from error


def force_and_memory(answer: Answer, memory: SX) -> tuple[SX, SX]:
    """Return (force, next memory) of a law with or without memory."""
    return answer if isinstance(answer, tuple) else (answer, memory)
