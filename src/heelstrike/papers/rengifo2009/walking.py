"""biped14 walks five steps on the law: the runs of figs 11 to 14, and what is counted in them.

The paper gives kp = 500, kv = 250 and the number of steps; robot, gait, servo, friction, integrator
and step are ours. The gait is motion.walk's, at a thousand poses a second. Two ways: the law as
printed, with RK4 in steps of 0.1 ms (its explicit servo cannot hold the ankles in steps above
0.13 ms), and the defaults, in steps of 1 ms. Between them: the consistent rule with RK4, which
parts what the forces' cut does from what the imposed acceleration does. One world an epsilon: 0,
1e-6 m deep and 1e-6 m high; with the imposed acceleration, deeper ones too.

A false impact: a vertex comes out and is back while the gait keeps its foot down.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import heelstrike as hs
from heelstrike.motion import Motion, walk
from heelstrike.papers.rengifo2009.independence import KP, KV
from heelstrike.papers.rengifo2009.load import EPSILONS
from heelstrike.papers.report import finished

STEPS = 5
DEEPER = (5e-6, 2e-5, 5e-5, 2e-4)
"""Further values of epsilon, ours [m]."""
RATE = 1000.0
"""Poses a second: between poses the servo goes straight, and the corners kick the soles."""


@dataclass(frozen=True)
class Way:
    """Settings of the simulation."""

    name: str
    rule: str
    form: str
    integrator: str
    dt: float
    """[s]"""

    @property
    def epsilons(self) -> np.ndarray:
        """One for each world [m]."""
        return np.array([*EPSILONS, *DEEPER]) if self.form == "acceleration" else EPSILONS


LITERAL = Way("literal, RK4, 0.1 ms", "paper", "acceleration", "rk4", 1e-4)
UNCUT = Way("consistent, RK4, 0.1 ms", "consistent", "acceleration", "rk4", 1e-4)
DEFAULT = Way("default, 1 ms", "consistent", "discrete", "symplectic", 1e-3)
FINER = Way("default, 0.2 ms", "consistent", "discrete", "symplectic", 2e-4)


@dataclass(frozen=True, eq=False)
class Walked:
    """One world."""

    times: np.ndarray
    height: np.ndarray
    """Of the vertices, left foot's then right's, (time, 8) [m]."""
    force: np.ndarray
    """Normal, (time, 8) [N]."""
    com: np.ndarray
    """(time, 3) [m]"""
    down: np.ndarray
    """Whether the gait keeps a vertex's foot down, (time, 8)."""
    alone: np.ndarray
    """Whether its foot is to carry all, (time, 8)."""

    def false_impacts(self) -> list[float]:
        """Return how deep each vertex had been from the first lift to the last landing [m]."""
        found = []
        begin, end = walk_span()
        for vertex in range(self.height.shape[1]):
            inside = self.height[:, vertex] < 0
            out = np.flatnonzero(inside[:-1] & ~inside[1:]) + 1
            back = np.flatnonzero(~inside[:-1] & inside[1:]) + 1
            for i in out:
                later = back[back > i]
                if not len(later) or not self.down[i : later[0] + 1, vertex].all():
                    continue
                if begin <= self.times[i] <= end:
                    entered = back[back < i].max(initial=0)
                    found.append(float(-self.height[entered:i, vertex].min()))
        return found

    def first_stance(self) -> slice:
        """Return the stance of the right foot that figs 12 to 14 show."""
        gait = motion().settings
        landing = gait["rest"] + gait["period"]
        lift = landing + gait["period"] * (1 + gait["double"])
        return slice(*np.searchsorted(self.times, [landing, lift]).tolist())


@cache
def motion() -> Motion:
    """Five steps."""
    return walk(hs.load("biped14", collide="feet"), steps=STEPS).finer(RATE)


def walk_span() -> tuple[float, float]:
    """Return the times at which the first foot is lifted and the last has landed [s]."""
    gait = motion().settings
    return (
        gait["rest"] + gait["double"] * gait["period"],
        gait["rest"] + STEPS * gait["period"],
    )


@cache
def walked(way: Way) -> tuple[Walked, ...]:
    """One world for each of the way's epsilons."""
    gait, epsilons = motion(), way.epsilons
    law = hs.FeedbackLinearized(KP, KV, rule=way.rule, form=way.form)
    sim = hs.Simulator(
        hs.Scene(hs.load("biped14", collide="feet"), hs.Plane(law)),
        dt=way.dt,
        integrator=way.integrator,
        control=hs.Servo(reference=gait),
        worlds=len(epsilons),
    )
    run = sim.run(
        gait.duration,
        q0=np.tile(gait.start, (len(epsilons), 1)),
        vary={"ground.epsilon": epsilons},
        record=("depth", "normal_force", "com"),
        progress=False,
        check=False,
    )
    data = finished(run, round(gait.duration / way.dt))
    times = data.time.values
    assert gait.feet is not None
    planned = np.asarray(gait.times, dtype=float)
    share = np.array([np.interp(times, planned, foot) for foot in gait.feet.T]).T
    share = np.repeat(share, 4, axis=1)
    return tuple(
        Walked(
            times,
            -data.depth.values[k],
            data.normal_force.values[k],
            data.com.values[k],
            share > 0,
            share == 1,
        )
        for k in range(len(epsilons))
    )
