"""A normal law at the depth that the step will reach: a damper as strong as the step is long.

    f_n = F(max(d + d' dt, 0), d')                             [Sugihara2006] (14)
        = k d + (c + k dt) d'   going in,                      (15), for F of LinearSpring (13)
          k d + k dt d'         coming out

The text allows any law whose force grows with depth; so this takes any normal law. Sign: f_n > 0
repels (printed reversed). Departs from the paper: (14) pulls in the last step of a rebound, when
|d'| dt > d; the depth it is given is clamped at zero instead.

Limits: dt = 0 is the law itself. With kappa = k dt^2/m and gamma = c dt/m, going in is stable under
the symplectic integrator for kappa + 2 gamma < 4 by (13), for 3 kappa + 2 gamma < 4 by (14): it
helps where there is next to no damping. Under explicit Euler (13) always gains energy on the way
out, and (14) has the region that (13) has under the symplectic one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import casadi as ca

from heelstrike.contact.law import Answer, Contact, NormalLaw
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.errors import HeelstrikeError
from heelstrike.parameters import MEANING


@dataclass(frozen=True)
class TimestepDamper(NormalLaw):
    """Any normal law, evaluated where the point will be after this step."""

    law: NormalLaw = field(default_factory=LinearSpring, metadata={MEANING: "a normal law"})

    sources: ClassVar[tuple[str, ...]] = ("Sugihara2006",)

    def __post_init__(self) -> None:
        if not isinstance(self.law, NormalLaw):
            raise HeelstrikeError(
                f"TimestepDamper takes a normal law, such as hs.LinearSpring(), not {self.law!r}",
                path="law",
            )

    @property
    def memory_size(self) -> int:
        """That of the law inside."""
        return self.law.memory_size

    @property
    def adhesive(self) -> bool:
        """That of the law inside."""
        return self.law.adhesive

    def force(self, c: Contact) -> Answer:
        return self.law.force(replace(c, depth=ca.fmax(c.depth + c.depth_rate * c.dt, 0)))  # (14)
