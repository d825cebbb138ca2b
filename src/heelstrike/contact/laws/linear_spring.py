"""Linear spring and damper, the classical law.

    f_n = k d + c max(d', 0)     damping="compression"   [Sugihara2006] (13)
    f_n = k d + c d'             damping="both"          [Marhefka1996] (3), [Rengifo2009] (2)

d > 0 is penetration, d' > 0 going in, f_n > 0 repels; the papers print other signs. Three choices
that have names in the literature:
- "compression": a damper that works on the way in only. It is (13), and the one that gives Table
  III of [Tsujita2009];
- "both", adhesive=True: tension is kept, as [Marhefka1996] (3), (4) and [Rengifo2009] (2) have it;
- "both", adhesive=False: tension is set to zero, as [Marhefka1996] says "many cases" do.

With z = c / (2 sqrt(k m)) and B = acos(z) / sqrt(1 - z^2), a mass m rebounds with

    e = exp(-z B)      exp(-pi z / sqrt(1 - z^2)), (4)      exp(-2 z B)        in this order

Limits: e depends on m and not on speed; with c > 0 the force jumps from 0 to c d' at impact; c = 0
is a spring, e = 1; under "compression" f_n >= 0 by itself, so `adhesive` changes nothing there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from heelstrike.contact.law import SX, Contact, NormalLaw
from heelstrike.parameters import check_choice, check_numbers, parameter, static


@dataclass(frozen=True)
class LinearSpring(NormalLaw):
    """Compliant ground with constant stiffness and damping."""

    k: float = parameter(2e4, "N/m", "stiffness")
    c: float = parameter(200.0, "N s/m", "damping")
    damping: str = static("compression", meaning='"compression": going in only; "both": also out')
    adhesive: bool = static(False, meaning="True: tension is kept")

    sources: ClassVar[tuple[str, ...]] = ("Marhefka1996", "Sugihara2006", "Rengifo2009")

    def __post_init__(self) -> None:
        check_numbers(self, k=(0, 1e12), c=(0, 1e12))
        check_choice(self, damping=("compression", "both"), adhesive=(False, True))

    def force(self, c: Contact) -> SX:
        rate = c.depth_rate if self.damping == "both" else ca.fmax(c.depth_rate, 0)
        return self.k * c.depth + self.c * rate  # (13), or (3)
