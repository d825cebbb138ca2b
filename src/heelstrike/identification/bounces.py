"""Bounces: restitution at several speeds, or the heights or times of a ball that bounces on.

    e_i at v_i                                            table: speed [m/s], e
    h_{i+1} = e(v_i)^2 h_i,   v_i = sqrt(2 g h_i)         table: height [m] of each apex, from rest
    t_{i+1} = t_i + 2 v_i / g,   v_{i+1} = e(v_i) v_i     table: time [s] of each impact

e(v) comes of simulated impacts of one mass without gravity, one world a set of parameters and
speed; so every law will do, and no closed form is needed. The first height, or the speed after the
first impact, is searched along: an error of it would else be one of all that follow. An apex is
that of the ball's lowest point. Time of contact, drag and spin are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import helmert

from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.restitution import Floats
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.identification.space import Space
from heelstrike.identification.tables import columns
from heelstrike.robot.load import load
from heelstrike.scene.scene import Scene
from heelstrike.scene.surfaces import Plane
from heelstrike.simulate.simulator import Simulator

GRAVITY = 9.81
FIRST = "first"
"""Name of the first height [m], or of the speed after the first impact [m/s]."""
NEAR = 1.5
"""Range of it: the measured value divided and multiplied by this."""
CHUNK, CHUNKS = 100, 40
"""Steps between two checks whether all have left the ground, and number of checks."""


class Bounces:
    """Residuals of a law under a table of bounces."""

    def __init__(
        self, table: Mapping[str, Any], law: object, space: Space, mass: float, dt: float
    ) -> None:
        self.impacts = ImpactBatch(law, mass, dt)
        if "e" in table:
            self.space, self.residuals = space, partial(self._restitution, *_restitution(table))
        elif "height" in table:
            height = _falling("height", table["height"])
            self.space = space.with_range(FIRST, height[0] / NEAR, height[0] * NEAR)
            self.residuals = partial(self._heights, height)
        else:
            (time,) = columns(table, "time")
            _falling("time between impacts", np.diff(time))
            first = GRAVITY * (time[1] - time[0]) / 2
            self.space = space.with_range(FIRST, first / NEAR, first * NEAR)
            self.residuals = partial(self._times, time)

    def __call__(self, x: Floats) -> Floats:
        values = self.space.values(x)
        return self.residuals(values)

    def _restitution(self, speed: Floats, e: Floats, values: dict[str, Floats]) -> Floats:
        sets = len(next(iter(values.values())))
        repeated = {path: np.repeat(value, len(speed)) for path, value in values.items()}
        made = self.impacts.restitution(np.tile(speed, sets), repeated)
        return made.reshape(sets, len(speed)) - e

    def _heights(self, measured: Floats, values: dict[str, Floats]) -> Floats:
        height = values.pop(FIRST)
        found = [height]
        for _ in measured[1:]:
            height = height * self.impacts.restitution(np.sqrt(2 * GRAVITY * height), values) ** 2
            found.append(height)
        return np.stack(found, axis=1) - measured

    def _times(self, measured: Floats, values: dict[str, Floats]) -> Floats:
        speed = values.pop(FIRST)
        found = [np.zeros_like(speed)]
        for k in range(1, len(measured)):
            found.append(found[-1] + 2 * speed / GRAVITY)
            if k + 1 < len(measured):
                speed = speed * self.impacts.restitution(speed, values)
        off = np.stack(found, axis=1) - measured
        return np.asarray(off @ helmert(len(measured)).T)  # the first time is free


class ImpactBatch:
    """Impacts of one mass with the ground, many at a time."""

    def __init__(self, law: object, mass: float, dt: float) -> None:
        if isinstance(law, NormalLaw):
            law = Elastic(law, None)
        if not isinstance(law, SurfaceLaw):
            raise HeelstrikeError(
                f"bounces are of a law, such as hs.HuntCrossley() or hs.Rigid(), not {law!r:.60}"
            )
        self.body = load("foot")
        self.mass, self.dt = mass, dt
        scene = Scene(self.body, Plane(name="ground", law=law), gravity=(0, 0, 0))
        order = "symplectic" if law.couples else "rk4"
        self.sim = Simulator(scene, dt=dt, integrator=order, stops=None)

    def restitution(self, speed: Floats, values: Mapping[str, Floats]) -> Floats:
        """Return e of each impact; 0 for one that sticks."""
        fast = np.maximum(speed, 1e-9)
        sim, worlds = self.sim, len(fast)
        vary: dict[str, Floats] = {f"ground.{path}": value for path, value in values.items()}
        vary[f"{self.body.bodies[0].name}.mass"] = np.full(worlds, self.mass)
        start: dict[str, Any] = {"q0": np.zeros((worlds, 1)), "v0": -fast[:, None]}
        for _ in range(CHUNKS):
            sim.run(steps=CHUNK, worlds=worlds, vary=vary, record="final", progress=False, **start)
            q, v = (np.asarray(sim.state[name]).reshape(worlds, -1)[:, 0] for name in ("q", "v"))
            if np.all((q >= 0) & (v >= 0) | (sim.failed >= 0)):
                break
            start, vary = {}, {}
        e = np.where(sim.failed >= 0, np.inf, np.maximum(v, 0) / fast)
        return np.asarray(e)


def _restitution(table: Mapping[str, Any]) -> tuple[Floats, Floats]:
    speed, e = columns(table, "speed", "e")
    if np.any(speed <= 0):
        raise HeelstrikeError("impact speeds are above 0 m/s; leave the others out")
    if np.any(e < 0):
        raise HeelstrikeError("e is the speed after over the speed before, both positive: not < 0")
    if not e.any():
        raise HeelstrikeError("no impact rebounds, so any damping above some value explains them")
    if np.mean(e) >= 1:
        raise HeelstrikeError(
            f"these impacts lose no energy (mean e = {np.mean(e):.4g}), so no damping explains them"
        )
    return speed, e


def _falling(name: str, values: Any) -> Floats:
    (array,) = columns({name: values}, name)
    if len(array) < 3 or np.any(array <= 0):
        raise HeelstrikeError(f"a {name} is above 0, and at least three are needed")
    if np.any(np.diff(array) >= 0) and array[-1] >= array[0]:
        raise HeelstrikeError(f"each {name} is less than the one before, and these do not fall")
    return array
