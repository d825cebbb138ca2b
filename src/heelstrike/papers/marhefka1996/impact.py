"""The paper's impacts as a scene: one mass on a vertical slide meets the ground, without gravity.

The robot is the bundled `foot`, a mass on a slide with one contact point. Gravity is off: with it
the impacts of fig 5 and 7 do not rebound, so the paper's curves exclude it, which it leaves unsaid.
The point starts on the surface (depth 0, or `early` steps above it) at speed v_in. Every impact of
a batch is a world of its own, with its own mass, law parameters and time step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

import heelstrike as hs
from heelstrike.contact.law import NormalLaw
from heelstrike.papers.marhefka1996.closed_form import Floats
from heelstrike.papers.report import finished

RECORDED = ("depth", "depth_rate", "normal_force", "work_contact")


@dataclass(frozen=True)
class Impacts:
    """Impacts side by side: what was given, and what came of it, one entry a world."""

    v_in: Floats
    v_out: Floats
    """Depth rate at the end, negative after a rebound [m/s]."""
    depth_max: Floats
    force_max: Floats
    curves: Curves | None = None

    @property
    def e(self) -> Floats:
        """Coefficient of restitution (1) [-]."""
        return -self.v_out / self.v_in


@dataclass(frozen=True)
class Curves:
    """Recorded impacts, (world, time)."""

    t: Floats
    depth: Floats
    rate: Floats
    force: Floats
    """Of the ground on the mass; > 0 repels [N]."""
    lost: Floats
    """Energy that contact has taken since the start [J]."""


def scene(law: NormalLaw) -> hs.Scene:
    """Return a mass on a vertical slide above the ground, weightless."""
    ground = hs.Plane(name="ground", law=hs.Elastic(law, friction=None))
    return hs.Scene(hs.load("foot"), ground, gravity=(0, 0, 0))


def time_scale(v_in: ArrayLike, m: ArrayLike, k: ArrayLike, n: float = 1.0) -> Floats:
    """Greatest depth without damping over the impact speed [s]: contact lasts about pi of these."""
    v, m, k = (np.asarray(x, dtype=float) for x in (v_in, m, k))
    return np.asarray(((n + 1) * m * v**2 / (2 * k)) ** (1 / (n + 1)) / v)


def impacts(
    law: NormalLaw,
    v_in: ArrayLike,
    *,
    m: ArrayLike,
    dt: ArrayLike,
    steps: int,
    vary: Mapping[str, ArrayLike] | None = None,
    early: ArrayLike = 0.0,
    depth: ArrayLike = 0.0,
    integrator: str = "symplectic",
    every: int | None = None,
) -> Impacts:
    """Runs a batch of impacts; `every` records each so-many steps, else only the end is kept.

    `vary` holds parameters of the law by name, a value a world. `depth` is where the mass starts
    [m]; `early` puts it so many steps above that, which moves the first touch within a step.
    """
    given = {"v": v_in, "m": m, "dt": dt, "early": early, "depth": depth, **(vary or {})}
    values = dict(zip(given, np.broadcast_arrays(*map(np.atleast_1d, given.values())), strict=True))
    v, dt, start = (np.array(values[name], dtype=float) for name in ("v", "dt", "depth"))
    start = start - values["early"] * v * dt
    varied = {"foot.mass": values["m"], "dt": dt}
    varied |= {f"ground.normal.{name}": values[name] for name in vary or {}}
    sim = hs.Simulator(scene(law), integrator=integrator)
    run = sim.run(
        steps=steps,
        q0=-start[:, None],
        v0=-v[:, None],
        worlds=len(v),
        vary=varied,
        every=every or 1,
        record="final" if every is None else RECORDED,
        progress=False,
        check=False,
    )
    data = finished(run, steps)
    curves = None
    if every is not None:
        curves = Curves(
            t=dt[:, None] * every * np.arange(data.sizes["time"]),
            depth=data.depth.values[..., 0],
            rate=data.depth_rate.values[..., 0],
            force=data.normal_force.values[..., 0],
            lost=-data.work_contact.values,
        )
    v_out = -sim.state["v"].reshape(-1)
    return Impacts(v, v_out, data.peak_depth.values[:, 0], data.peak_force.values[:, 0], curves)
