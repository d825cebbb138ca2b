"""Some hits of one robot, computed together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from heelstrike.contact.law import NormalLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.impact.after import history_of, neglected_of
from heelstrike.impact.anew import anew
from heelstrike.impact.hit import OWN, Hit
from heelstrike.impact.motion import motion_kernel
from heelstrike.impact.outcome import Estimate
from heelstrike.impact.run import SPARSE, Lot, Ran, kept, quick
from heelstrike.impact.simplified import Plan
from heelstrike.impact.target import Target, law_inputs

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Settings:
    """How a hit is computed."""

    law: NormalLaw
    target: Target
    duration: float
    dt: float
    integrator: str = "rk4"
    method: str = "kept"
    modes: int = 1
    proportional: bool = False
    limits: bool = True
    friction: bool = False
    dtype: str = "float64"
    threads: int = 1

    @property
    def steps(self) -> int:
        return max(1, round(self.duration / self.dt))

    def plan(self, n: int) -> Plan:
        """Of the compiled step."""
        return Plan(n, self.law, self.integrator, self.proportional, self.limits, self.friction)

    @property
    def quick(self) -> bool:
        """Whether the faster form applies: it has no joint friction."""
        return self.method == "krylov" and not self.friction


@dataclass(frozen=True, eq=False)
class Job:
    """Hits, one a row of what is given."""

    hit: Hit
    settings: Settings
    servo: Arrays
    given: Arrays

    def run(self, history: bool, neglected: bool) -> Estimate:
        """Steps 1b to 8b, and what is made of them."""
        own = self.own()
        turning, speed = self.turning(own)
        inputs = self.inputs(own, turning, speed)
        fell = np.zeros(len(speed), bool)
        if self.settings.quick:
            ran, fell = self.quick(inputs, history)
        else:
            ran = self.slow(inputs, history)
        shown = (
            history_of(self.hit, self.settings.dt, self.given, turning, ran) if history else None
        )
        left_out = neglected_of(self.hit, own, self.given, turning, ran) if neglected else None
        mass = own["m_a"][:, 0]
        sums = ran.peak, ran.impulse, ran.duration, ran.touching
        return Estimate(mass, speed, *sums, turning, fell, shown, left_out)

    def own(self) -> Arrays:
        """Steps 1b and 2b: what the robot is at its postures; float64, for a huge mass cancels."""
        s = self.settings
        if not s.quick:
            kernel = self.hit.kernel()
            return self.hit.evaluated(kernel, self.given["q"], s.threads)
        names = tuple(name for name in OWN if name != "inverse")
        names += ("size", "shapes", "damping", "damping_loads", "stiffness", "stiffness_loads")
        kernel = self.hit.kernel(names, s.modes, s.proportional)
        gains = {name: self.servo[name] for name in ("kd", "kp", "limit")}
        return self.hit.evaluated(kernel, self.given["q"], s.threads, **gains)

    def turning(self, own: Arrays) -> tuple[np.ndarray, np.ndarray]:
        """Joint velocities and the hand's speed before the hit."""
        if "v" in self.given:
            turning = self.given["v"]
            speed = np.einsum("hn,hn->h", own["j"], turning)
        else:
            speed = self.given["speed"]
            along = np.einsum("hn,hn->h", own["j"], own["follows"])
            turning = own["follows"] * (speed / along)[:, None]
        approach = speed - self.given["target velocity"]
        if np.any((approach <= 0) & (self.given["target.gap"] <= 0)):
            raise HeelstrikeError(
                f"the hand does not approach the target: it moves at {speed.min():g} m/s along "
                "the direction of the hit; turn the direction round or give a greater speed"
            )
        return turning, speed

    def inputs(self, own: Arrays, turning: np.ndarray, speed: np.ndarray) -> Arrays:
        """Of the compiled steps."""
        known = {**self.servo, **own, **law_inputs(self.settings.law), **self.given}
        known["weight"] = self.weight() if self.settings.limits else np.zeros(self.hit.n)
        return known | {"speed": speed, "reference": turning, "dt": np.array(self.settings.dt)}

    def weight(self) -> np.ndarray:
        """Torques that carry the robot's weight at its postures, (hits, n)."""
        none = np.zeros(self.hit.n)
        kernel = motion_kernel(self.hit, ("weight",))
        return kernel(
            self.settings.threads, q=self.given["q"], turning=none, rate=none, force=[0.0],
            point=self.hit.point, direction=self.hit.direction, gravity=[self.hit.robot.gravity],
        )["weight"]  # fmt: skip

    def slow(self, inputs: Arrays, history: bool) -> Ran:
        """With the inertia kept, or made anew in every step."""
        plan = self.settings.plan(self.hit.n)
        outputs = ("deviation", "acceleration") if history else ()
        lot = self.lot(inputs, 1 if history else self.settings.steps, outputs)
        if self.settings.method == "anew":
            return anew(self.hit, plan, replace(lot, inputs={**inputs, **self.hit.inputs()}))
        return kept(plan, lot)

    def quick(self, inputs: Arrays, history: bool) -> tuple[Ran, np.ndarray]:
        """The faster form; hits whose torques reach their limits are made again in full."""
        s = self.settings
        outputs = ("amounts", "rates") if history else ()
        lot = self.lot(inputs, 1 if history else min(SPARSE, s.steps), outputs)
        ran = quick(s.plan(self.hit.n), s.modes, lot)
        fell = ran.load >= 1 if s.limits else np.zeros(len(ran.load), bool)
        if fell.any():
            part = {name: value[fell] for name, value in self.given.items()}
            again = Job(self.hit, replace(s, method="kept"), self.servo, part)
            own = again.own()
            mine = again.inputs(own, inputs["reference"][fell], inputs["speed"][fell])
            ran = ran.replaced(fell, again.slow(mine, history))
        return ran, fell

    def lot(self, inputs: Arrays, every: int, outputs: tuple[str, ...]) -> Lot:
        s, start = self.settings, {"rate": self.given["target velocity"]}
        return Lot(inputs, start, len(self.given["q"]), s.steps, every, outputs, s.threads, s.dtype)
