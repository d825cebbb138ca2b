"""Hits of one robot that are computed together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from heelstrike.contact.law import NormalLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.impact.full_inertia import run_full_inertia
from heelstrike.impact.hit import OWN, Hit
from heelstrike.impact.kernels import SPARSE, HitResult, KernelRun, kept, quick
from heelstrike.impact.motion import motion_kernel
from heelstrike.impact.postprocess import history_of, neglected_of
from heelstrike.impact.results import Estimate
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
        """Return the plan of the compiled step."""
        return Plan(n, self.law, self.integrator, self.proportional, self.limits, self.friction)

    @property
    def quick(self) -> bool:
        """Whether the Krylov form applies; it has no joint friction."""
        return self.method == "krylov" and not self.friction


@dataclass(frozen=True, eq=False)
class HitBatch:
    """Hits of one robot, one per row of `columns`."""

    hit: Hit
    settings: Settings
    servo: Arrays
    columns: Arrays
    """Everything that differs from hit to hit, by name."""

    def run(self, history: bool, neglected: bool) -> Estimate:
        """Run steps 1b to 8b and return the estimate."""
        own = self.own()
        turning, speed = self.turning(own)
        inputs = self.inputs(own, turning, speed)
        fell = np.zeros(len(speed), bool)
        if self.settings.quick:
            ran, fell = self.quick(inputs, history)
        else:
            ran = self.slow(inputs, history)
        shown = (
            history_of(self.hit, self.settings.dt, self.columns, turning, ran) if history else None
        )
        left_out = neglected_of(self.hit, own, self.columns, turning, ran) if neglected else None
        mass = own["m_a"][:, 0]
        sums = ran.peak, ran.impulse, ran.duration, ran.touching
        return Estimate(mass, speed, *sums, turning, fell, shown, left_out)

    def own(self) -> Arrays:
        """Run steps 1b and 2b: return the robot's inertia at its postures.

        They are computed in float64, because the large mass of the base cancels.
        """
        s = self.settings
        if not s.quick:
            kernel = self.hit.kernel()
            return self.hit.evaluated(kernel, self.columns["q"], s.threads)
        names = tuple(name for name in OWN if name != "inverse")
        names += ("size", "shapes", "damping", "damping_loads", "stiffness", "stiffness_loads")
        kernel = self.hit.kernel(names, s.modes, s.proportional)
        gains = {name: self.servo[name] for name in ("kd", "kp", "limit")}
        return self.hit.evaluated(kernel, self.columns["q"], s.threads, **gains)

    def turning(self, own: Arrays) -> tuple[np.ndarray, np.ndarray]:
        """Return joint velocities and the hand's speed before the hit."""
        if "v" in self.columns:
            turning = self.columns["v"]
            speed = np.einsum("hn,hn->h", own["j"], turning)
        else:
            speed = self.columns["speed"]
            along = np.einsum("hn,hn->h", own["j"], own["follows"])
            turning = own["follows"] * (speed / along)[:, None]
        approach = speed - self.columns["target velocity"]
        if np.any((approach <= 0) & (self.columns["target.gap"] <= 0)):
            raise HeelstrikeError(
                f"the hand does not approach the target: it moves at {speed.min():g} m/s along "
                "the direction of the hit",
                path="speed",
                value=float(speed.min()),
                remedy="reverse the direction or pass a larger speed",
            )
        return turning, speed

    def inputs(self, own: Arrays, turning: np.ndarray, speed: np.ndarray) -> Arrays:
        """Return the inputs of the compiled steps."""
        known = {**self.servo, **own, **law_inputs(self.settings.law), **self.columns}
        known["weight"] = self.weight() if self.settings.limits else np.zeros(self.hit.n)
        return known | {"speed": speed, "reference": turning, "dt": np.array(self.settings.dt)}

    def weight(self) -> np.ndarray:
        """Return the torques that carry the robot's weight at its postures, (hits, n) [N m]."""
        none = np.zeros(self.hit.n)
        kernel = motion_kernel(self.hit, ("weight",))
        return kernel(
            self.settings.threads, q=self.columns["q"], turning=none, rate=none, force=[0.0],
            point=self.hit.point, direction=self.hit.direction, gravity=[self.hit.robot.gravity],
        )["weight"]  # fmt: skip

    def slow(self, inputs: Arrays, history: bool) -> HitResult:
        """Run the hits with constant inertia, or with inertia computed in every step."""
        plan = self.settings.plan(self.hit.n)
        outputs = ("deviation", "acceleration") if history else ()
        planned = self.kernel_run(inputs, 1 if history else self.settings.steps, outputs)
        if self.settings.method == "anew":
            return run_full_inertia(
                self.hit, plan, replace(planned, inputs={**inputs, **self.hit.inputs()})
            )
        return kept(plan, planned)

    def quick(self, inputs: Arrays, history: bool) -> tuple[HitResult, np.ndarray]:
        """Run the Krylov form; recompute hits whose torques reach their limits by `slow`."""
        s = self.settings
        outputs = ("amounts", "rates") if history else ()
        planned = self.kernel_run(inputs, 1 if history else min(SPARSE, s.steps), outputs)
        ran = quick(s.plan(self.hit.n), s.modes, planned)
        fell = ran.load >= 1 if s.limits else np.zeros(len(ran.load), bool)
        if fell.any():
            part = {name: value[fell] for name, value in self.columns.items()}
            again = HitBatch(self.hit, replace(s, method="kept"), self.servo, part)
            own = again.own()
            mine = again.inputs(own, inputs["reference"][fell], inputs["speed"][fell])
            ran = ran.replaced(fell, again.slow(mine, history))
        return ran, fell

    def kernel_run(self, inputs: Arrays, every: int, outputs: tuple[str, ...]) -> KernelRun:
        s, start = self.settings, {"rate": self.columns["target velocity"]}
        return KernelRun(
            inputs, start, len(self.columns["q"]), s.steps, every, outputs, s.threads, s.dtype
        )
