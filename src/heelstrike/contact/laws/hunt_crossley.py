"""Hunt-Crossley contact: damping that grows with depth.

Force starts and ends at zero, never sticks in a simple impact (v > -2/(3 alpha), (22)), and the
restitution e depends on neither m, k nor n: with u = 1 + 3/2 alpha v_i, (19) at x = 0 gives

    e = (1 + W(-u exp(-u))) / (u - 1)             W: Lambert's function, principal branch

Departs from the paper: clamped at zero when something else pulls the bodies apart faster than (22),
unless `adhesive`, which shows where the law sticks. `alpha_restitution`, another alpha on the way
out, is the paper's future work (section 6).

Limits: alpha = 0 is a spring k d^n, e = 1. Under a load f_n at rest the damping is 3/2 alpha f_n
[N s/m], so that a light contact rings for long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from heelstrike.contact.law import SX, Contact, NormalLaw, where
from heelstrike.parameters import check_choice, check_numbers, parameter, static


@dataclass(frozen=True)
class HuntCrossley(NormalLaw):
    """Normal law whose damping grows with depth: restitution falls with impact speed.

        f_n = k d^n (1 + 3/2 alpha d')               [Marhefka1996] (6), (18), sign: f_n > 0 repels
        e   = 1 - alpha v_i + ...  at low speed       [Marhefka1996] (5)

    d > 0 is the depth, d' > 0 going in, e the restitution of an impact at the speed v_i.

    Args:
        k: stiffness [N/m^n].
        alpha: loss of restitution per impact speed [s/m].
        n: exponent, at least 1: 1 for flat faces, 3/2 for a sphere on a plane [-]. Static: part of
            the compiled code.
        alpha_restitution: alpha on the way out [s/m]; None: alpha.
        adhesive: keep f_n < 0, beyond (22); otherwise the force is clamped at zero.

    Examples:
        >>> floor = hs.Plane(hs.Elastic(hs.HuntCrossley(k=5e4, alpha=0.4), hs.Bristle()))
        >>> sim = hs.Simulator(hs.Scene(hs.load("ball"), floor), dt=1e-3)
    """

    k: float = parameter(50e3, "N/m^n", "stiffness")
    alpha: float = parameter(0.2, "s/m", "loss of restitution per impact speed")
    n: float = static(1.0, "1", "exponent >= 1: 1 for flat faces, 3/2 for a sphere on a plane")
    alpha_restitution: float | None = parameter(None, "s/m", "alpha on the way out; None: alpha")
    adhesive: bool = static(False, meaning="True: do not clamp the force at zero")

    sources: ClassVar[tuple[str, ...]] = ("Marhefka1996", "Hunt1975")

    def __post_init__(self) -> None:
        rates = (0, 1e6)
        check_numbers(self, k=(0, 1e12), alpha=rates, n=(1, 10), alpha_restitution=rates)
        check_choice(self, adhesive=(False, True))

    def force(self, c: Contact) -> SX:
        alpha = self.alpha
        if self.alpha_restitution is not None:
            alpha = where(c.depth_rate > 0, alpha, self.alpha_restitution)
        return self.k * ca.power(c.depth, self.n) * (1 + 1.5 * alpha * c.depth_rate)  # (6), (18)
