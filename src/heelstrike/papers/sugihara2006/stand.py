"""The robot standing on the floor of section IV-C, for figs 3, 7 and 8.

A rigid floor (e = 0, mu_S = 1.0, mu_K = 0.4) under a membrane of 0.5 mm (k = 5512, c = 158, mu_K =
0.4), dt = 1 ms. The text does not say whether the membrane still presses on a point that the floor
carries: both readings, and the bare floor, are stood on. The servo holds the stance; it starts at
rest with its soles at the top of the membrane, so that its weight comes onto them in the first
tenths of a second.

Nor does it say how large epsilon is. The literal rule sinks, at w* = g dt lam (m/n)^2; where w* is
near epsilon, points change between S and K from step to step. EPSILON is above all of them here;
what a smaller one does is measured too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import heelstrike as hs
from heelstrike.measure.stance import chatter, slope, spread
from heelstrike.measure.window import Window, window
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
DURATION, TOUCHDOWN, LATE = 2.0, 0.5, 1.0
"""Whole, first part and start of the last part of a stance [s], ours."""
LEFT = "l_sole"
READINGS = {
    "both": "membrane presses on",
    "rigid": "floor alone below",
    "bare": "no membrane",
}
"""S11: of a point that the floor carries."""


@dataclass(frozen=True)
class Stance:
    """One robot standing: (time, point) arrays and what is measured of them."""

    value: float
    """lambda, or smoothing."""
    touchdown: Window
    late: Window

    @property
    def left(self) -> np.ndarray:
        """Normal forces of the left sole's vertices in the first part (time, vertex) [N]."""
        return self.touchdown.normal[:, self._of_left]

    @property
    def _of_left(self) -> list[int]:
        return [i for i, name in enumerate(self.touchdown.points) if name.startswith(LEFT)]

    @property
    def chatter(self) -> float:
        """Of the left sole's vertex that chatters most, while the weight comes on [1/s]."""
        return float(chatter(self.touchdown)[1][self._of_left].max())

    @property
    def late_chatter(self) -> float:
        """The same of the last part [1/s]."""
        return float(chatter(self.late)[1][self._of_left].max())

    @property
    def peak(self) -> float:
        """Largest normal force of a vertex, over the weight [1]."""
        return float(self.touchdown.normal.max() / (MASS * G))

    @property
    def spread(self) -> float:
        """Standard deviation over mean of the left sole's vertices, mean of the first part [1]."""
        return spread(self.touchdown)[self._body]

    @property
    def late_spread(self) -> float:
        """The same of the last part [1]."""
        return spread(self.late)[self._body]

    @property
    def _body(self) -> str:
        return self.touchdown.bodies[self._of_left[0]]

    @property
    def sinking(self) -> float:
        """Of the soles' points in the last part, mean [m/s]."""
        return float(slope(self.late.depth, DT).mean())

    @property
    def depth(self) -> float:
        """At the end, mean [m]."""
        return float(self.late.depth[-1].mean())


def floor(rule: str, reading: str) -> hs.Plane:
    """The floor of IV-C."""
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
    """hoap1 on that floor, held by its servo."""
    scene = hs.Scene(hs.load("hoap1"), floor(rule, reading))
    return hs.Simulator(scene, dt=DT, control=hs.Servo())


def parameter(reading: str, name: str) -> str:
    """Path of a parameter of the rigid floor."""
    return f"floor.{name}" if reading == "bare" else f"floor.rigid.{name}"


@cache
def stances(rule: str, reading: str, epsilon: float = EPSILON) -> tuple[Stance, ...]:
    """The robot standing, for every lambda and EXCESS, or for every smoothing."""
    literal = rule == "paper"
    values = (*LAMBDAS, EXCESS) if literal else SMOOTHINGS
    sim = simulator(rule, reading)
    vary: dict[str, Any] = {
        parameter(reading, "lam" if literal else "smoothing"): values,
        parameter(reading, "epsilon"): np.full(len(values), epsilon),
    }
    steps = round(DURATION / DT)
    run = sim.run(
        steps=steps,
        q0=sim.robot.pose("stance"),
        v0=np.zeros(sim.robot.nv),
        worlds=len(values),
        vary=vary,
        progress=False,
    )
    finished(run, steps)
    return tuple(
        Stance(value, _first(window(run, i)), window(run, i, settle=LATE))
        for i, value in enumerate(values)
    )


def _first(w: Window) -> Window:
    """The steps from the first force to TOUCHDOWN after it."""
    begin = int((w.normal.sum(axis=1) > 0).argmax())
    end = begin + round(TOUCHDOWN / DT)
    names = ("normal", "tangent", "outward", "slip", "power", "mu_s", "mu_k")
    shorter = {name: getattr(w, name)[begin:end] for name in names}
    return replace(w, depth=w.depth[begin : end + 1], **shorter)


def sinking(lam: float) -> float:
    """w* of the literal rule, for a body on POINTS symmetric points [m/s]."""
    return G * DT * lam * (MASS / POINTS) ** 2
