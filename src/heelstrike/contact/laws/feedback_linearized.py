"""Contact whose acceleration is imposed; the force that gives it is found from the dynamics.

    d''   = -kp (d - epsilon) - kv max(d', 0)          normal        [Rengifo2009] (17), section V
    slip' = -kv slip                                   tangential    (7), (17)
    f so that all points move so,  f_n >= 0,  |f_t| <= mu f_n        (18), (19), (20)

kp and kv are of the motion alone: no mass enters, so the same values serve every robot. With
zeta = kv / (2 sqrt(kp)) an impact rebounds at e = exp(-zeta acos(zeta) / sqrt(1 - zeta^2)).

form="discrete" takes the velocity after the step from the equation itself (imposed.py): stable at
any kp, kv, dt. form="acceleration" is the paper's; in steps it wants kv dt < 1; RK4 takes it.

rule="consistent" departs from the paper: forces that push and lie in their cones are sought
together (coupled.py). rule="paper" is literal (least_norm.py), but for (20), which as printed turns
friction round in two quadrants. epsilon is a depth: the paper prints a height, +1e-6 m, above
ground, where there is no force; here that is -1e-6, and +1e-6 is what the text means by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import casadi as ca

from heelstrike.contact.law import SX
from heelstrike.contact.laws.coulomb import Coulomb
from heelstrike.contact.laws.imposed import Imposed, speed_after, speed_at_once
from heelstrike.contact.surface_law import ContactTarget, CouplingRule, PointState, SurfaceLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.parameters import MEANING, check_choice, check_numbers, parameter, static


@dataclass(frozen=True)
class FeedbackLinearized(SurfaceLaw):
    """A surface that imposes how a point in it moves, whatever the robot weighs."""

    kp: float = parameter(500.0, "1/s^2", "acceleration outward per depth")
    kv: float = parameter(250.0, "1/s", "deceleration per speed, going in and along")
    friction: Coulomb = field(default_factory=Coulomb, metadata={MEANING: "hs.Coulomb(...)"})
    epsilon: float = parameter(1e-6, "m", "depth at which it rests")
    rule: str = static("consistent", meaning='"consistent", or "paper": literally, with mu_k alone')
    form: str = static("discrete", meaning='"discrete": any step; "acceleration": also with rk4')

    sources: ClassVar[tuple[str, ...]] = ("Rengifo2009",)

    def __post_init__(self) -> None:
        if not isinstance(self.friction, Coulomb):
            raise HeelstrikeError(
                "FeedbackLinearized takes hs.Coulomb(mu_s, mu_k) as its friction, not "
                f"{self.friction!r}; hs.Kinetic and hs.Bristle belong to hs.Elastic",
                path="friction",
            )
        check_numbers(self, kp=(0, 1e12), kv=(0, 1e9), epsilon=(-1, 1))
        check_choice(self, rule=("consistent", "paper"), form=("discrete", "acceleration"))

    @property
    def coupling(self) -> CouplingRule:
        return CouplingRule("rengifo2009" if self.rule == "paper" else "consistent")

    @property
    def accelerates(self) -> bool:
        return self.form == "acceleration"

    def target(self, state: PointState) -> ContactTarget:
        c = Imposed(self.kp, self.kv, self.epsilon, state.dt)
        rate, share = self._after(c, state)
        return ContactTarget(
            velocity=-rate,
            slip=share * state.slip,
            mu_s=self.friction.mu_s,
            mu_k=self.friction.mu_k,
        )

    def _after(self, c: Imposed, state: PointState) -> tuple[SX, SX]:
        """Return the depth rate after the step and the share of the slip that is left."""
        d, w = state.depth, state.depth_rate
        if self.form == "acceleration":
            return speed_at_once(c, d, w), 1 - c.kv * c.dt
        return speed_after(c, d, w, state.gravity * c.dt), ca.exp(-c.kv * c.dt)
