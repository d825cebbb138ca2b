"""Force over time, as a force plate measures it: a mass m falls on the ground.

    m z'' = f_n(d, d') - m g,    d = -z,    z' = -v_i at the first contact
    r_i   = f_n(t_i; p, v_i, t_0) - f_i

One simulated world a set of parameters, by RK4, so that every explicit elastic law will do. The
impact speed v_i is searched along unless the table has it, and so is the time t_0 of the first
contact, which lies between two samples. Samples after the mass has left the plate are left out:
one table, one impact. Signs: f_n > 0 repels; the plate reads 0 without a load,
and m g under the mass at rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.restitution import Floats
from heelstrike.errors import HeelstrikeError
from heelstrike.identification.space import Space
from heelstrike.identification.tables import columns
from heelstrike.robot.load import load
from heelstrike.scene.scene import Scene
from heelstrike.scene.surfaces import Plane
from heelstrike.simulate.simulator import Simulator

GRAVITY = 9.81
SPEED, DELAY = "speed", "delay"
"""Names of the impact speed [m/s], and of the time from `PlateForces.begin` to contact [s]."""
LOADED, HALF = 0.1, 0.5
"""Shares of the largest force above which a sample is loaded, and by which its rise is judged."""
NEAR = 2.0
"""Range of the impact speed: an estimate divided and multiplied by this."""
MAX_STEPS = 50_000
"""Largest number of simulated steps."""


class PlateForces:
    """Residuals of an elastic law under a table of forces over time."""

    def __init__(
        self, table: Mapping[str, Any], law: object, space: Space, mass: float, dt: float
    ) -> None:
        time, force = columns(table, "time", "force")
        gaps = np.diff(time)
        if len(time) < 4 or gaps.min() <= 0:
            raise HeelstrikeError("times of a force plate rise, four at least")
        if force.max() <= 0:
            raise HeelstrikeError("no force is above 0: f_n > 0 repels, and the plate is tared")
        elastic = Elastic(law, None) if isinstance(law, NormalLaw) else law
        if not isinstance(elastic, Elastic) or elastic.implicit:
            raise HeelstrikeError(
                "forces over time are of an explicit elastic law, such as hs.HuntCrossley(), not "
                f"{type(law).__name__}: rigid laws have impulses; identify those from motions"
            )
        given = float(np.ravel(table[SPEED])[0]) if SPEED in table else None
        if given is not None and not 0 < given < 1e3:
            raise HeelstrikeError("speed is one number, of the first impact, above 0 m/s")
        first, half = (int(np.argmax(force > share * force.max())) for share in (LOADED, HALF))
        rise = float(time[half] - time[first] + 2 * np.median(gaps))  # contact began within it
        self.begin = float(time[first]) - 2 * rise
        left = np.flatnonzero(force[first:] <= LOADED * force.max())
        last = first + int(left[0]) if len(left) else len(time)
        kept = (time >= self.begin) & (np.arange(len(time)) <= last)
        self.time, self.force = time[kept] - self.begin, force[kept]
        self.dt, self.steps = dt, int(np.ceil(self.time[-1] / dt)) + 1
        if self.steps > MAX_STEPS:
            raise HeelstrikeError(
                f"{self.time[-1]:.3g} s after the first contact are {self.steps} steps of {dt:g} s",
                remedy=f"cut the table after the impacts, or pass dt= (at most {MAX_STEPS} steps)",
            )
        self.speed = given
        self.space = space.with_range(DELAY, rise, 2 * rise)
        if given is None:
            guess = _entry_speed(self.time, self.force, mass)
            self.space = self.space.with_range(SPEED, guess / NEAR, guess * NEAR)
        body = load("foot")
        scene = Scene(body, Plane(name="ground", law=elastic), gravity=GRAVITY)
        self.sim = Simulator(scene, dt=dt, integrator="rk4", stops=None)
        self.sim.parameters[f"{body.bodies[0].name}.mass"] = mass

    def __call__(self, x: Floats) -> Floats:
        values = self.space.values(x)
        delay, sets = values.pop(DELAY), len(x)
        speed = values.pop(SPEED, np.full(sets, self.speed or 0.0))
        data = self.sim.run(
            steps=self.steps,
            q0=np.zeros((sets, 1)),
            v0=-speed[:, None],
            worlds=sets,
            vary={f"ground.{path}": value for path, value in values.items()},
            record=("normal_force",),
            progress=False,
        ).data
        made = np.asarray(data["normal_force"].values, dtype=float)[:, :, 0]
        made[data["failed"].values >= 0] = np.inf
        at = np.arange(made.shape[1]) * self.dt
        found = [
            np.interp(self.time - t0, at, f, left=0.0) for t0, f in zip(delay, made, strict=True)
        ]
        return np.asarray(found) - self.force


def _entry_speed(time: Floats, force: Floats, mass: float) -> float:
    """Return about the speed of the impact [m/s]: depths are 0 at both ends of a contact.

    Where the mass stays, its depth at the end is small beside v_i t; the impulse bounds it below.
    """
    gained = np.concatenate([[0.0], np.cumsum(np.diff(time) * (force[1:] + force[:-1]) / 2)])
    gained = gained / mass - GRAVITY * time
    both_ends_zero = float(np.trapezoid(gained, time) / (time[-1] - time[0]))
    return max(both_ends_zero, float(gained.max()) / 4, 1e-3)
