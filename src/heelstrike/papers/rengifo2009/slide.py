"""A mass on a vertical slide that meets the ground: the bundled `foot`, one world an impact."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

import heelstrike as hs
from heelstrike.papers.rengifo2009.closed_form import Floats

TOUCH = 1e-15
"""Depth at the start [m]: the first step must touch."""


@dataclass(frozen=True)
class Impacts:
    """Results of each run."""

    rate: Floats
    """Of the depth at the end, < 0 after a rebound [m/s]."""
    deepest: Floats
    peak: Floats


@cache
def simulator(form: str, integrator: str, rule: str = "paper") -> hs.Simulator:
    """Weightless, epsilon 0."""
    law = hs.FeedbackLinearized(epsilon=0.0, rule=rule, form=form)
    scene = hs.Scene(hs.load("foot"), hs.Plane(law=law), gravity=(0, 0, 0))
    return hs.Simulator(scene, integrator=integrator)


def impacts(
    sim: hs.Simulator,
    kp: ArrayLike,
    kv: ArrayLike,
    dt: ArrayLike,
    steps: int,
    depth: ArrayLike = TOUCH,
    mass: ArrayLike = 1.0,
) -> Impacts:
    """Slide at 1 m/s; worlds that diverge are expected to, and end where they did."""
    given = np.broadcast_arrays(*map(np.atleast_1d, (kp, kv, dt, depth, mass)))
    kp, kv, dt, depth, mass = (np.array(x, dtype=float) for x in given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)
        data = sim.run(
            steps=steps,
            q0=-depth[:, None],
            v0=-np.ones((len(depth), 1)),
            worlds=len(depth),
            vary={"ground.kp": kp, "ground.kv": kv, "dt": dt, "foot.mass": mass},
            record="final",
            progress=False,
            check=False,
        ).data
    rate = -sim.state["v"].reshape(-1)
    return Impacts(rate, data.peak_depth.values[:, 0], data.peak_force.values[:, 0])
