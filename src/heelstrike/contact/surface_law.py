"""What a surface's law does to one point: a force at once, a demand on the coupled problem, both.

An elastic law answers with a force (`touch`). A law whose forces depend on one another says what
velocity it wants after the step, and how firmly (`demand`); coupled.py finds the impulses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from heelstrike.contact.law import SX


@dataclass(frozen=True)
class Meeting:
    """A point and a surface at the start of a step, as symbols."""

    depth: SX
    """Signed [m]: negative above the surface."""
    depth_rate: SX
    """> 0 while going in [m/s]."""
    slip: SX
    """Along the surface's two tangents [m/s]."""
    position: SX
    """On the surface, along its two tangents [m]."""
    dt: SX
    gravity: SX
    """|g| [m/s^2], by which slow is told from fast."""


@dataclass(frozen=True)
class Touch:
    """What one point feels of one surface, as symbols."""

    touching: SX
    """1 where d > 0."""
    normal: SX
    """f_n [N]."""
    tangent: SX
    """Along the surface's two tangents [N]."""
    memory: SX
    """For the next step."""


@dataclass(frozen=True)
class Literal:
    """A point under the literal rule of [Sugihara2006]."""

    kinetic: SX
    """1 in set K."""
    sigma: SX
    """Direction of slip along the two tangents, or zero (7)."""
    lam: SX
    """Weight of its impulse in (33) [1/kg^2]."""


@dataclass(frozen=True)
class Demand:
    """What a law wants of the coupled problem at one point."""

    active: SX
    """1 where it wants anything."""
    velocity: SX
    """Outward, relative to the surface, after the step [m/s]; more is allowed where nothing
    pushes."""
    mu_s: SX
    mu_k: SX
    smoothing: SX
    """Compliance of a pass, as a share of the contact's own [-]."""
    fresh: SX
    """1 where the last step's impulse says nothing about this one."""
    compliance: SX | None = None
    """Of the normal impulse, where the law has its own [1/kg]."""
    leaving: SX | None = None
    """The same where the point moves out after the step; the two meet where it is at rest."""
    literal: Literal | None = None
    """What the literal rule of [Sugihara2006] needs; None: the consistent rule."""
    along: SX | None = None
    """Along the two tangents, relative to the surface, after the step [m/s]; None: none."""
    least_norm: bool = False
    """The literal rule of [Rengifo2009]."""
    bias: str = "keep"
    """"keep" or "drop" the change of a point's velocity by the bodies' turning, (19)."""
    forces: str = "b"
    """"b", or gravity alone, "b-hat", which the coupled problem sees of the bias forces, (21)."""
    exact: bool = False
    """Whether the coupled problem is solved as far as numbers go (accuracy.EXACT)."""


class SurfaceLaw(ABC):
    """The law of a surface."""

    sources: ClassVar[tuple[str, ...]] = ()
    """Citation keys."""

    @property
    def memory_size(self) -> int:
        """Values that a point carries from step to step, besides its last impulse."""
        return 0

    @property
    def couples(self) -> bool:
        """Whether the law makes demands."""
        return False

    @property
    def accelerates(self) -> bool:
        """Whether what it demands is an acceleration, which RK4 may integrate."""
        return False

    @abstractmethod
    def touch(self, meeting: Meeting, memory: SX) -> Touch:
        """The force on the point that is known at once."""

    def demand(self, meeting: Meeting) -> Demand:
        """Of a law that couples."""
        raise NotImplementedError


def untouched(meeting: Meeting) -> Touch:
    """No force at once."""
    return Touch(meeting.depth > 0, SX(0), SX(ca.DM.zeros(2)), SX(0, 1))
