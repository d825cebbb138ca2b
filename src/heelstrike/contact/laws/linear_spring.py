"""Linear spring and damper, the classical contact law.

Three choices that have names in the literature:
- damping="compression": a damper that acts on the way in only. It is [Sugihara2006] (13), and the
  one that reproduces Table III of [Tsujita2009];
- "both", adhesive=True: tension is kept, as in [Marhefka1996] (3), (4) and [Rengifo2009] (2);
- "both", adhesive=False: tension is set to zero, as [Marhefka1996] says "many cases" do.

The papers print other signs. Restitution in closed form: contact/restitution.py.

Limits: e depends on m and not on speed; with c > 0 the force jumps from 0 to c d' at impact; c = 0
is a spring, e = 1; under "compression" f_n >= 0 by itself, so that `adhesive` changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from heelstrike.contact.law import SX, Contact, NormalLaw
from heelstrike.parameters import check_choice, check_numbers, parameter, static


@dataclass(frozen=True)
class LinearSpring(NormalLaw):
    """Normal law of a linear spring and damper.

        f_n = k d + c max(d', 0)     damping="compression"   [Sugihara2006] (13)
        f_n = k d + c d'             damping="both"          [Marhefka1996] (3), [Rengifo2009] (2)

    d > 0 is the depth, d' > 0 going in, f_n > 0 repels.

    Args:
        k: stiffness [N/m].
        c: damping [N s/m].
        damping: "compression": the damper acts going in only; "both": also coming out.
        adhesive: keep tension, f_n < 0; otherwise the force is clamped at zero.

    Examples:
        >>> floor = hs.Plane(hs.Elastic(hs.LinearSpring(k=2e4, c=200), hs.Kinetic(mu=0.6)))
        >>> sim = hs.Simulator(hs.Scene(hs.load("ball"), floor), dt=1e-3)
    """

    k: float = parameter(2e4, "N/m", "stiffness")
    c: float = parameter(200.0, "N s/m", "damping")
    damping: str = static("compression", meaning='"compression": going in only; "both": also out')
    adhesive: bool = static(False, meaning="True: keep tension")

    sources: ClassVar[tuple[str, ...]] = ("Marhefka1996", "Sugihara2006", "Rengifo2009")

    def __post_init__(self) -> None:
        check_numbers(self, k=(0, 1e12), c=(0, 1e12))
        check_choice(self, damping=("compression", "both"), adhesive=(False, True))

    def force(self, c: Contact) -> SX:
        rate = c.depth_rate if self.damping == "both" else ca.fmax(c.depth_rate, 0)
        return self.k * c.depth + self.c * rate  # (13), or (3)
