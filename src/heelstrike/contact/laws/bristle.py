"""A bristle that bends, and slides when the cone is reached: friction that sticks.

A spring with a slider, [Cundall1979], with a damper and two coefficients. x is the position of the
point on the surface, f_t acts on the point; its direction is that of h, so that there is no
pyramid. The anchor x_0 is kept in memory with a state (0: just touched, 1: sticks, 2: slides) and
is lost with the contact.

True rest: a load below the cone is held by a bent spring, at a constant position, without creep.
What is regularised is the deflection, mu_s f_n / k_t at most: 0.4 mm under 10 N with the defaults.

Hysteresis: while it slides the limit stays mu_k f_n until the trial force falls below. With
mu_s f_n the next trial, mu_k f_n + k_t |slip| dt, would stick again, and the force would alternate
between the two from step to step.

Limits: mu_s = mu_k is Coulomb's law with one coefficient, mu_s = 0 no friction. It is explicit, so
that k_t and c_t have the step limits of a linear spring, with the effective mass along the surface.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from heelstrike.contact.law import SX, Contact, FrictionLaw, where
from heelstrike.contact.laws.coulomb import check_sliding
from heelstrike.parameters import check_numbers, parameter

MIN_FORCE = 1e-15
"""Smallest trial force with a direction [N]; its square is representable in float32."""

NEW, STICKS, SLIDES = 0, 1, 2


@dataclass(frozen=True)
class Bristle(FrictionLaw):
    """Friction that sticks: a spring and a damper hold the point to an anchor.

        h   = -k_t (x - x_0) - c_t slip    trial force, x_0 the anchor
        f_t = h                            where |h| <= limit: sticks, x_0 stays
        f_t = mu_k f_n h / |h|             else: slides, and x_0 = x + (f_t + c_t slip) / k_t
                                           follows, so that h would have been f_t there
        limit = mu_s f_n, or mu_k f_n if it slid in the last step       after [Cundall1979]

    Args:
        mu_s: coefficient of friction at rest [-].
        mu_k: coefficient of friction while sliding, at most mu_s [-].
        k_t: stiffness of the bristle [N/m].
        c_t: damping of the bristle [N s/m].

    Examples:
        >>> floor = hs.Plane(hs.Elastic(hs.HuntCrossley(), hs.Bristle(mu_s=0.8, mu_k=0.6)))
        >>> sim = hs.Simulator(hs.Scene(hs.load("box"), floor), dt=1e-3)
    """

    mu_s: float = parameter(0.8, "1", "coefficient of friction at rest")
    mu_k: float = parameter(0.6, "1", "coefficient of friction while sliding, at most mu_s")
    k_t: float = parameter(2e4, "N/m", "stiffness of the bristle")
    c_t: float = parameter(100.0, "N s/m", "damping of the bristle")

    sources: ClassVar[tuple[str, ...]] = ("Cundall1979",)
    memory_size: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_numbers(self, mu_s=(0, 1e3), mu_k=(0, 1e3), k_t=(1e-9, 1e12), c_t=(0, 1e12))
        check_sliding(self, self.mu_s, self.mu_k)

    def force(self, c: Contact) -> tuple[SX, SX]:
        state = c.memory[2]
        anchor = where(state > NEW, c.memory[:2], c.position)
        held = -self.k_t * (c.position - anchor) - self.c_t * c.slip
        size = ca.sqrt(ca.fmax(ca.dot(held, held), MIN_FORCE**2))
        limit = where(state > STICKS, self.mu_k, self.mu_s) * c.normal_force
        slides = size > limit
        f = where(slides, self.mu_k * c.normal_force / size * held, held)
        moved = c.position + (f + self.c_t * c.slip) / self.k_t
        return f, ca.vertcat(where(slides, moved, anchor), where(slides, SLIDES, STICKS))
