"""Elastic contact: forces from the local state alone, one point at a time.

    f = f_n nu + f_t          [Sugihara2006] (9), f_n from a normal law and f_t from a friction law

The micro model of [Sugihara2006], and the contact of [Marhefka1996]. Here is what laws are spared:
a force exists only at depth d > 0; f_n is clamped at zero, unless the normal law is adhesive; where
the surface pulls it does not rub; memory is zeroed where there is no contact. All by selects, so
what a law computes out of contact does not matter, not even NaN.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import casadi as ca

from heelstrike.contact.bristle import Bristle
from heelstrike.contact.contact import SX, Contact, FrictionLaw, NormalLaw, answered
from heelstrike.contact.hunt_crossley import HuntCrossley
from heelstrike.contact.parameters import MEANING
from heelstrike.errors import HeelstrikeError


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
class Elastic:
    """A surface that gives way: a normal law and a friction law (None: no friction)."""

    normal: NormalLaw = field(default_factory=HuntCrossley, metadata={MEANING: "a normal law"})
    friction: FrictionLaw | None = field(
        default_factory=Bristle, metadata={MEANING: "a friction law; None: no friction"}
    )

    sources: ClassVar[tuple[str, ...]] = ("Sugihara2006", "Marhefka1996")

    def __post_init__(self) -> None:
        if not isinstance(self.normal, NormalLaw):
            raise HeelstrikeError(
                f"Elastic takes a normal law first, such as hs.HuntCrossley(), not {self.normal!r}"
            )
        if not (self.friction is None or isinstance(self.friction, FrictionLaw)):
            raise HeelstrikeError(
                f"Elastic takes a friction law, hs.Kinetic() or hs.Bristle(), or None, not "
                f"{self.friction!r}"
            )

    @property
    def memory_size(self) -> int:
        """Values that a point carries from step to step."""
        return self.normal.memory_size + (self.friction.memory_size if self.friction else 0)

    def touch(self, d: SX, rate: SX, slip: SX, position: SX, dt: SX, memory: SX) -> Touch:
        """The force on a point at signed depth d; the rest as in `Contact`."""
        own = self.normal.memory_size
        touching = d > 0
        depth = ca.fmax(d, 0)
        c = Contact(depth, rate, dt, memory[:own, :], slip, position, SX(0))
        normal, kept = answered(self.normal.force(c), memory[:own, :])
        if not self.normal.adhesive:
            normal = ca.fmax(normal, 0)
        normal = ca.if_else(touching, normal, 0)
        tangent, anchors = SX.zeros(2), memory[own:, :]
        if self.friction is not None:
            pressing = ca.fmax(normal, 0)  # a surface that pulls does not rub
            c = Contact(depth, rate, dt, anchors, slip, position, pressing)
            tangent, anchors = answered(self.friction.force(c), anchors)
            tangent = ca.if_else(touching, tangent, 0)
        following = ca.if_else(touching, ca.vertcat(kept, anchors), 0)
        return Touch(touching, normal, tangent, following)
