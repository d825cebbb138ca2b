"""Contact whose acceleration is imposed; the force that produces it is found from the dynamics.

kp and kv describe the motion alone: no mass enters, so that the same values serve every robot. With
zeta = kv / (2 sqrt(kp)) an impact rebounds at e = exp(-zeta acos(zeta) / sqrt(1 - zeta^2)).

form="discrete" takes the velocity after the step from the equation itself (imposed.py): stable at
any kp, kv, dt. form="acceleration" is the paper's; it needs kv dt < 1, and rk4 accepts it.

rule="consistent" departs from the paper: forces that push and lie in their cones are sought
together (contact/solver/swept.py). rule="paper" is literal (contact/solver/literal/least_norm.py),
except for (20), which as printed reverses friction in two quadrants. epsilon is a depth: the paper
prints a height, +1e-6 m, above ground, where there is no force; here that is -1e-6, and +1e-6 is
what the text means by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import casadi as ca

from heelstrike.contact.law import SX
from heelstrike.contact.laws.coulomb import Coulomb, check_coulomb
from heelstrike.contact.laws.imposed import Imposed, rate_by_acceleration, rate_by_motion
from heelstrike.contact.surface_law import ContactTarget, CouplingRule, PointState, SurfaceLaw
from heelstrike.parameters import MEANING, check_choice, check_numbers, parameter, static


@dataclass(frozen=True)
class FeedbackLinearized(SurfaceLaw):
    """Surface that imposes the acceleration of a point, whatever the mass.

        d''   = -kp (d - epsilon) - kv max(d', 0)        normal        [Rengifo2009] (17), section V
        slip' = -kv slip                                 tangential    (7), (17)
        f so that all points move so,  f_n >= 0,  |f_t| <= mu f_n      (18), (19), (20)

    for every point at depth d > 0; d' > 0 going in, f_n > 0 repels.

    Args:
        kp: outward acceleration per depth [1/s^2].
        kv: deceleration per speed, going in and along the surface [1/s].
        friction: dry friction, hs.Coulomb(...).
        epsilon: depth at which a point rests [m].
        rule: "consistent", or "paper": literally as in [Rengifo2009], with mu_k alone.
        form: "discrete": for any time step; "acceleration": the paper's, also for rk4.

    Examples:
        >>> floor = hs.FeedbackLinearized(kp=500, kv=250, friction=hs.Coulomb(0.8, 0.6))
        >>> sim = hs.Simulator(hs.Scene(hs.load("box"), hs.Plane(floor)), dt=1e-3)
    """

    kp: float = parameter(500.0, "1/s^2", "acceleration outward per depth")
    kv: float = parameter(250.0, "1/s", "deceleration per speed, going in and along the surface")
    friction: Coulomb = field(default_factory=Coulomb, metadata={MEANING: "hs.Coulomb(...)"})
    epsilon: float = parameter(1e-6, "m", "depth at which a point rests")
    rule: str = static(
        "consistent", meaning='"consistent", or "paper": as published, with mu_k alone'
    )
    form: str = static("discrete", meaning='"discrete": for any step; "acceleration": also for rk4')

    sources: ClassVar[tuple[str, ...]] = ("Rengifo2009",)

    def __post_init__(self) -> None:
        check_coulomb("FeedbackLinearized", self.friction)
        check_numbers(self, kp=(0, 1e12), kv=(0, 1e9), epsilon=(-1, 1))
        check_choice(self, rule=("consistent", "paper"), form=("discrete", "acceleration"))

    @property
    def coupling(self) -> CouplingRule:
        return CouplingRule("rengifo2009" if self.rule == "paper" else "consistent")

    @property
    def accelerates(self) -> bool:
        return self.form == "acceleration"

    @property
    def acts_apart(self) -> bool:
        return False

    def target(self, state: PointState) -> ContactTarget:
        c = Imposed(self.kp, self.kv, self.epsilon, state.dt)
        rate, share = self._after(c, state)
        return ContactTarget(
            active=state.depth > 0,
            velocity=-rate,
            slip=share * state.slip,
            mu_s=self.friction.mu_s,
            mu_k=self.friction.mu_k,
        )

    def _after(self, c: Imposed, state: PointState) -> tuple[SX, SX]:
        """Return the depth rate after the step and the share of the slip that is left."""
        d, w = state.depth, state.depth_rate
        if self.form == "acceleration":
            return rate_by_acceleration(c, d, w), 1 - c.kv * c.dt
        return rate_by_motion(c, d, w, state.gravity * c.dt), ca.exp(-c.kv * c.dt)
