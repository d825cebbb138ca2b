"""hoap1 walking on the floor of section IV-C, for figs 9 to 12.

The paper does not give its gait. This one is of motion.walk with its defaults: eight steps of 34 mm
and 0.8 s. The floor is stand.py's with lambda = 1, the membrane pressing on below the floor's face:
without that the literal rule sinks under a single foot, and the robot falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import heelstrike as hs
from heelstrike.motion import Motion, walk
from heelstrike.papers.report import finished
from heelstrike.papers.sugihara2006.stand import DT, floor, parameter

LAMBDA = 1.0
"""[1/kg^2], section IV-D."""
STATIC = (1.0, 0.0)
"""Coefficients of static friction that are compared, section IV-D."""
LOADED = 0.5
"""Normal force from which a point counts as standing [N]."""


@dataclass(frozen=True)
class Walked:
    """A walk with one coefficient of static friction."""

    mu_s: float
    com: np.ndarray
    """(time, 3) [m]"""
    acceleration: np.ndarray
    """Of it, (time - 1, 3) [m/s^2]."""
    dither: float
    """Root mean square speed along the floor of points that stand [m/s]."""

    @property
    def shaking(self) -> np.ndarray:
        """Root mean square change of its acceleration from step to step, x y z [m/s^2]."""
        return np.sqrt((np.diff(self.acceleration, axis=0) ** 2).mean(axis=0))


@cache
def gait() -> Motion:
    """Eight steps."""
    return walk(hs.load("hoap1", collide="feet"))


@cache
def walks(rule: str, reading: str) -> tuple[Walked, ...]:
    """Reproduce the walk with and without static friction."""
    motion = gait()
    scene = hs.Scene(hs.load("hoap1", collide="feet"), floor(rule, reading))
    sim = hs.Simulator(scene, dt=DT, control=hs.Servo(reference=motion))
    run = sim.run(
        motion.duration,
        q0=motion.start,
        worlds=len(STATIC),
        vary={
            parameter(reading, "friction.mu_s"): STATIC,
            parameter(reading, "lam"): [LAMBDA] * len(STATIC),
        },
        progress=False,
        check=False,
    )
    data = finished(run, round(motion.duration / DT))
    found = []
    for k, mu_s in enumerate(STATIC):
        slip = np.linalg.norm(data["slip"].values[k], axis=-1)
        stands = data["normal_force"].values[k] > LOADED
        speed = np.diff(data["com_velocity"].values[k], axis=0) / DT
        dither = float(np.sqrt((slip[stands] ** 2).mean()))
        found.append(Walked(mu_s, data["com"].values[k], speed, dither))
    return tuple(found)
