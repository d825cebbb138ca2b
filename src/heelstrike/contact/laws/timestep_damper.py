"""A normal law at the depth that the step will reach: a damper as strong as the step is long.

The paper allows any law whose force grows with depth, and so does this one. Sign: f_n > 0 repels
(printed reversed). Departs from the paper: (14) pulls in the last step of a rebound, when
|d'| dt > d; here the depth that the inner law receives is clamped at zero.

Limits: dt = 0 is the inner law. With kappa = k dt^2/m and gamma = c dt/m, going in is stable under
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
from heelstrike.errors import ParameterError
from heelstrike.parameters import MEANING


@dataclass(frozen=True)
class TimestepDamper(NormalLaw):
    """Normal law evaluated at the depth that the point reaches in this step.

        f_n = F(max(d + d' dt, 0), d')                             [Sugihara2006] (14)
            = k d + (c + k dt) d'   going in,                      (15), for F of LinearSpring (13)
              k d + k dt d'         coming out

    F is the force of the inner law; f_n > 0 repels.

    Args:
        law: inner normal law.

    Examples:
        >>> normal = hs.TimestepDamper(hs.LinearSpring(k=5512, c=158))
        >>> floor = hs.Plane(hs.Elastic(normal, hs.Kinetic(mu=0.4)))
    """

    law: NormalLaw = field(default_factory=LinearSpring, metadata={MEANING: "a normal law"})

    sources: ClassVar[tuple[str, ...]] = ("Sugihara2006",)

    def __post_init__(self) -> None:
        if not isinstance(self.law, NormalLaw):
            raise ParameterError(
                "law", self.law, "a normal law, such as hs.LinearSpring()", owner="TimestepDamper"
            )

    @property
    def memory_size(self) -> int:
        """Number of values that the inner law carries from step to step."""
        return self.law.memory_size

    @property
    def adhesive(self) -> bool:
        """True if the inner law is adhesive."""
        return self.law.adhesive

    def force(self, c: Contact) -> Answer:
        return self.law.force(replace(c, depth=ca.fmax(c.depth + c.depth_rate * c.dt, 0)))  # (14)
