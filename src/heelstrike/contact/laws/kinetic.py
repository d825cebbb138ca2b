"""Kinetic friction: a force against the slip, and none at rest.

f_t acts on the point, slip is the point's velocity relative to the surface. The direction is that
of the slip: no pyramid. It holds nothing: up to epsilon there is no force at all, so that a body on
a slope creeps at about epsilon, and the force chatters by mu f_n there. `Bristle` sticks.

Limits: mu = 0 is no friction; epsilon = 0 acts at any slip that has a direction (above 1e-12 m/s).
In one step friction takes mu g dt off a sliding body; with epsilon < mu g dt / 2 it can pass
through rest back and forth and never stop. The defaults stop it up to a step of 0.3 ms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heelstrike.contact.law import SX, Contact, FrictionLaw, where
from heelstrike.parameters import check_numbers, parameter


@dataclass(frozen=True)
class Kinetic(FrictionLaw):
    """Friction that opposes slip and vanishes at rest.

        f_t = -mu f_n sigma                                         [Sugihara2006] (11), (12)
        sigma = slip / |slip| where |slip| > epsilon, else 0        (7)

    Args:
        mu: coefficient of friction [-].
        epsilon: slip speed up to which there is no friction [m/s].

    Examples:
        >>> floor = hs.Plane(hs.Elastic(hs.LinearSpring(), hs.Kinetic(mu=0.4)))
        >>> sim = hs.Simulator(hs.Scene(hs.load("box"), floor), dt=1e-3)
    """

    mu: float = parameter(0.6, "1", "coefficient of friction")
    epsilon: float = parameter(1e-3, "m/s", "slip speed up to which there is no friction")

    sources: ClassVar[tuple[str, ...]] = ("Sugihara2006",)

    def __post_init__(self) -> None:
        check_numbers(self, mu=(0, 1e3), epsilon=(0, 1e3))

    def force(self, c: Contact) -> SX:
        size = where(c.slip_speed > self.epsilon, self.mu * c.normal_force, 0)
        return -size / c.slip_speed * c.slip  # (7), (11)
