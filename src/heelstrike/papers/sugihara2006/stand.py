"""The robot standing up on the floor of section IV-C, for figs 7 and 8, and that floor.

A rigid floor (e = 0, mu_S = 1.0, mu_K = 0.4) under a membrane of 0.5 mm (k = 5512, c = 158, mu_K =
0.4), dt = 1 ms. The text does not say whether the membrane still presses on a point that the floor
carries: both readings, and the bare floor, are stood on. The "standing motion" of the text is taken
as hs.motion.stand_up: from a crouch, 0.5 s at rest, 1 s up, 0.5 s at rest. It starts at rest with
its soles at the top of the membrane, so that its weight comes onto them in the first tenths of a
second.

Nor does it say how large epsilon is. The literal rule sinks, at w* = g dt lam (m/n)^2; where w* is
near epsilon, points change between S and K from step to step. EPSILON is above all of them here;
what a smaller one does is measured too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

import heelstrike as hs
from heelstrike.measure.stance import chatter, slope, spread
from heelstrike.measure.window import Window, window
from heelstrike.motion import stand_up
from heelstrike.papers.report import finished
from heelstrike.papers.sugihara2006.closed_form import MASS, G

LAMBDAS = (0.01, 0.1, 1.0, 4.0)
"""[1/kg^2], section IV-C."""
EXCESS = 7.0
"""At about which the robot penetrated, section IV-C [1/kg^2]."""
SMOOTHINGS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""Of the consistent rule, ours."""
DT, THICKNESS, K, C = 1e-3, 5e-4, 5512.0, 158.0
"""[s], [m], [N/m], [N s/m], section IV-C."""
EPSILON, SMALL = 0.1, 5e-3
"""Ours [m/s]; SMALL is the law's default."""
POINTS = 8
PARTS = {"crouching": (0.0, 0.5), "rising": (0.5, 1.5), "standing": (1.5, 2.0)}
"""Of the motion, from and to [s], ours."""
DURATION = PARTS["standing"][1]
LEFT = "l_sole"
LEFT_FOOT = "L_AAA"
UPRIGHT = 0.9
"""Height at the end, over that of a robot that stands, from which it stands too."""
READINGS = {
    "both": "membrane presses on",
    "rigid": "floor alone below",
    "bare": "no membrane",
}
"""S11: of a point that the floor carries."""


@dataclass(frozen=True)
class Stance:
    """One robot standing up, and what is measured of it."""

    value: float
    """lambda, or smoothing."""
    whole: Window
    height: float
    """Of the centre of mass at the end [m]."""

    @property
    def left(self) -> np.ndarray:
        """Normal forces of the left sole's vertices, (time, vertex) [N]."""
        return self.whole.normal[:, self._of_left]

    @property
    def _of_left(self) -> list[int]:
        return [i for i, name in enumerate(self.whole.bodies) if name == LEFT_FOOT]

    def part(self, name: str) -> Window:
        """Return the steps of one of PARTS."""
        begin, end = (round(time / DT) for time in PARTS[name])
        names = ("normal", "tangent", "outward", "slip", "power", "mu_s", "mu_k")
        shorter = {name: getattr(self.whole, name)[begin:end] for name in names}
        return replace(self.whole, depth=self.whole.depth[begin : end + 1], **shorter)

    def _chatter(self, part: str) -> float:
        """Chatter of the left sole's vertex that chatters most [1/s]."""
        return float(chatter(self.part(part))[1][self._of_left].max())

    def _spread(self, part: str) -> float:
        """Standard deviation over mean of the left sole's vertices, mean of the part [1]."""
        return float(spread(self.part(part))[self.whole.bodies[self._of_left[0]]])

    @property
    def first_chatter(self) -> float:
        """While the weight comes on, crouching [1/s]."""
        return self._chatter("crouching")

    @property
    def chatter(self) -> float:
        """Rising [1/s]."""
        return self._chatter("rising")

    @property
    def late_chatter(self) -> float:
        """Standing [1/s]."""
        return self._chatter("standing")

    @property
    def spread(self) -> float:
        """Rising [1]."""
        return self._spread("rising")

    @property
    def late_spread(self) -> float:
        """Standing [1]."""
        return self._spread("standing")

    @property
    def peak(self) -> float:
        """Largest normal force of a vertex as the weight comes on, over its share [1]."""
        share = MASS * G / len(self.whole.points)
        return float(self.part("crouching").normal.max() / share)

    @property
    def sinking(self) -> float:
        """Mean slip of the soles' points while standing [m/s]."""
        return float(slope(self.part("standing").depth, DT).mean())

    @property
    def depth(self) -> float:
        """Mean depth at the end [m]."""
        return float(self.whole.depth[-1].mean())


def floor(rule: str, reading: str) -> hs.Plane:
    """Return the floor of IV-C."""
    rigid = hs.Rigid(
        restitution=0.0, friction=hs.Coulomb(mu_s=1.0, mu_k=0.4), rule=rule, epsilon=EPSILON
    )
    if reading == "bare":
        return hs.Plane(name="floor", law=rigid)
    membrane = hs.Elastic(hs.TimestepDamper(hs.LinearSpring(k=K, c=C)), hs.Kinetic(mu=0.4))
    law = hs.MicroMacro(membrane=membrane, thickness=THICKNESS, rigid=rigid, below=reading)
    return hs.Plane(name="floor", law=law)


@cache
def simulator(rule: str, reading: str) -> hs.Simulator:
    """hoap1 on that floor; its servo holds the stance."""
    scene = hs.Scene(hs.load("hoap1", collide="feet"), floor(rule, reading))
    return hs.Simulator(scene, dt=DT, control=hs.Servo())


@cache
def motion() -> hs.Trajectory:
    """Return the motion from a crouch to the stance, with a pose per step."""
    (_, rest), (_, up), _ = PARTS.values()
    made = stand_up(hs.load("hoap1", collide="feet"), seconds=up - rest, rest=rest)
    times = DT * np.arange(round(DURATION / DT) + 1)
    q, torque = (CubicSpline(made.times, table)(times) for table in (made.q, made.torque))
    return hs.Trajectory(times, q, torque)


def parameter(reading: str, name: str) -> str:
    """Path of a parameter of the rigid floor."""
    return f"floor.{name}" if reading == "bare" else f"floor.rigid.{name}"


@cache
def stances(rule: str, reading: str, epsilon: float = EPSILON) -> tuple[Stance, ...]:
    """Return the robot standing up, for every lambda and EXCESS, or for every smoothing."""
    values = (*LAMBDAS, EXCESS) if rule == "paper" else SMOOTHINGS
    return stood_up(hs.load("hoap1", collide="feet"), rule, reading, values, epsilon)


def stood_up(
    robot: hs.Robot, rule: str, reading: str, values: tuple[float, ...], epsilon: float = EPSILON
) -> tuple[Stance, ...]:
    """Return a robot standing up, one world for each lambda, or smoothing."""
    scene = hs.Scene(robot, floor(rule, reading))
    sim = hs.Simulator(scene, dt=DT, control=hs.Servo(reference=motion()))
    vary: dict[str, Any] = {
        parameter(reading, "lam" if rule == "paper" else "smoothing"): values,
        parameter(reading, "epsilon"): np.full(len(values), epsilon),
    }
    steps = round(DURATION / DT)
    run = sim.run(
        steps=steps,
        q0=np.asarray(motion().q)[0],
        v0=np.zeros(robot.nv),
        worlds=len(values),
        vary=vary,
        progress=False,
        check=False,
    )
    height = finished(run, steps)["com"].values[:, -1, 2]
    return tuple(Stance(value, window(run, i), float(height[i])) for i, value in enumerate(values))


def sinking(lam: float) -> float:
    """w* of the literal rule, for a body on POINTS symmetric points [m/s]."""
    return G * DT * lam * (MASS / POINTS) ** 2
