"""A bristle that bends, and slides when the cone is reached: friction that sticks.

    h   = -k_t (x - x_0) - c_t slip                     trial force, x_0 the anchor
    f_t = h                        where |h| <= limit: sticks, x_0 stays
    f_t = mu_k f_n h / |h|         else: slides, and x_0 = x + (f_t + c_t slip) / k_t follows, so
                                   that the trial force at this place would have been f_t
    limit = mu_s f_n, or mu_k f_n if it slid in the last step

A spring with a slider, [Cundall1979], with a damper and two coefficients. x is the point's place on
the surface, f_t acts on the point; its direction is that of h, so there is no pyramid. The anchor
lives in memory with a state (0: just touched, 1: sticks, 2: slides) and is lost with the contact.

True rest: a load below the cone is held by a bent spring, at a constant place, with no creep. What
is regularised is the deflection, mu_s f_n / k_t at most: 0.4 mm under 10 N with the defaults.

Hysteresis: while it slides the limit stays mu_k f_n until the trial force falls below. With
mu_s f_n the next trial, mu_k f_n + k_t |slip| dt, would stick again, and the force would saw
between the two at the rate of the steps.

Limits: mu_s = mu_k is Coulomb's law with one coefficient, mu_s = 0 no friction. It is explicit, so
k_t and c_t have the step limits of a linear spring, with the mass that the point feels sideways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np

from heelstrike.contact.law import SX, Contact, FrictionLaw, where
from heelstrike.errors import HeelstrikeError
from heelstrike.parameters import check_numbers, is_number, parameter

WEAKEST = 1e-15
"""Force below which a direction has no meaning [N]; its square is a number in float32 as well."""

NEW, STICKS, SLIDES = 0, 1, 2


@dataclass(frozen=True)
class Bristle(FrictionLaw):
    """Friction with true rest: a spring and a damper hold the point to an anchor."""

    mu_s: float = parameter(0.8, "1", "coefficient at rest")
    mu_k: float = parameter(0.6, "1", "coefficient while sliding, at most mu_s")
    k_t: float = parameter(2e4, "N/m", "stiffness of the bristle")
    c_t: float = parameter(100.0, "N s/m", "damping of the bristle")

    sources: ClassVar[tuple[str, ...]] = ("Cundall1979",)
    memory_size: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_numbers(self, mu_s=(0, 1e3), mu_k=(0, 1e3), k_t=(1e-9, 1e12), c_t=(0, 1e12))
        rest, sliding = self.mu_s, self.mu_k
        if is_number(rest) and is_number(sliding) and np.any(np.greater(sliding, rest)):
            raise HeelstrikeError(
                f"Bristle: mu_k = {sliding} exceeds mu_s = {rest}, so friction would rise when it "
                "begins to slide; give mu_s >= mu_k",
                path="mu_k",
            )

    def force(self, c: Contact) -> tuple[SX, SX]:
        state = c.memory[2]
        anchor = where(state > NEW, c.memory[:2], c.position)
        held = -self.k_t * (c.position - anchor) - self.c_t * c.slip
        size = ca.sqrt(ca.fmax(ca.dot(held, held), WEAKEST**2))
        limit = where(state > STICKS, self.mu_k, self.mu_s) * c.normal_force
        slides = size > limit
        f = where(slides, self.mu_k * c.normal_force / size * held, held)
        moved = c.position + (f + self.c_t * c.slip) / self.k_t
        return f, ca.vertcat(where(slides, moved, anchor), where(slides, SLIDES, STICKS))
