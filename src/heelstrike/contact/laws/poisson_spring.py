"""Poisson's hypothesis by two springs: stiff going in, soft coming out.

The law of Moore and Wilhelms [Moore1988], as described in [Marhefka1996] section 1. The impulses of
restitution and compression have the ratio e, (2), and any mass leaves at e times its speed, (1).
Departs from the paper, which prints k_receding = e k_compressing: that gives sqrt(e). The work of
the springs is k d^2 / 2 in and e^2 k d^2 / 2 out, so the square is meant.

Limits: e = 1 is a spring, e = 0 a surface that absorbs everything. The force jumps at the deepest
point. Under a load at rest the rate is zero, so that it chatters between the two springs: a law for
impacts, not for standing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heelstrike.contact.law import SX, Contact, NormalLaw, where
from heelstrike.parameters import check_numbers, parameter


@dataclass(frozen=True)
class PoissonSpring(NormalLaw):
    """Normal law of two springs: one restitution at every speed and mass.

        f_n = k d        while going in               [Marhefka1996] section 1, [Moore1988]
        f_n = e^2 k d    while coming out             sign: f_n > 0 repels

    Args:
        k: stiffness while going in [N/m].
        e: coefficient of restitution, 0 to 1 [-].

    Examples:
        >>> floor = hs.Plane(hs.Elastic(hs.PoissonSpring(k=2e4, e=0.8), friction=None))
        >>> sim = hs.Simulator(hs.Scene(hs.load("ball"), floor), dt=1e-4)
    """

    k: float = parameter(2e4, "N/m", "stiffness while going in")
    e: float = parameter(0.5, "1", "coefficient of restitution, 0 to 1")

    sources: ClassVar[tuple[str, ...]] = ("Marhefka1996", "Moore1988")

    def __post_init__(self) -> None:
        check_numbers(self, k=(0, 1e12), e=(0, 1))

    def force(self, c: Contact) -> SX:
        return where(c.depth_rate >= 0, 1, self.e * self.e) * (self.k * c.depth)
