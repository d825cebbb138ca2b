"""MuJoCo in the scenes of benchmarks.models, by the same yardsticks.

Defaults but for the elliptic cone, the friction and the step. A contact's force is that of the
step, its velocity the one that the step leaves, as in measure/window.py.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from benchmarks.models import (
    AHEAD,
    DT,
    HALF,
    MASS,
    MU,
    SETTLE,
    SPEED,
    G,
    Ramp,
    Slide,
    Stack,
    climbed,
    way,
    won,
)
from heelstrike.measure.residuals import residuals
from heelstrike.measure.window import Window

INERTIA = 8.1e-4 / 0.37
"""Of the bundled cube, per mass [m^2]."""
BODY = """<body name="{name}" pos="{x} {y} {z}"><freejoint/>
  <inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>
  <geom type="box" size="{half} {half} {half}" friction="{mu} 0 0" condim="3"/></body>"""
WORLD = """<mujoco><option timestep="{dt}" cone="elliptic" gravity="0 0 -{g}">
  <flag energy="enable"/></option>
  <worldbody><geom type="plane" size="0 0 0.05" friction="{mu} 0 0" condim="3"/>{bodies}
  </worldbody></mujoco>"""


class Cubes:
    """Cubes above one another, of these masses, from below."""

    def __init__(self, *masses: float) -> None:
        bodies = "".join(
            BODY.format(
                name=f"cube{k}",
                x=0.002 * k,
                y=0.001 * k,
                z=(2 * k + 1) * HALF - 1e-6 * (k + 1),
                mass=mass,
                inertia=mass * INERTIA,
                half=HALF,
                mu=MU,
            )
            for k, mass in enumerate(masses)
        )
        self.model = mujoco.MjModel.from_xml_string(WORLD.format(dt=DT, g=G, mu=MU, bodies=bodies))
        self.data = mujoco.MjData(self.model)
        self.energy: list[float] = []
        self.places: list[np.ndarray] = []
        self.contacts: list[list[tuple[float, ...]]] = []
        self.iterations: list[int] = []

    def step(self, steps: int = 1, record: bool = False) -> None:
        for _ in range(steps):
            place = self.data.qpos[:3].copy()
            mujoco.mj_step(self.model, self.data)
            if record:
                self.places.append(place)
                self.energy.append(float(self.data.energy.sum()))
                self.contacts.append([self._seen(i) for i in range(self.data.ncon)])
                self.iterations.append(int(self.data.solver_niter[0]))

    def _seen(self, i: int) -> tuple[float, ...]:
        """Depth, normal force, friction, velocity out, slip, and power of friction."""
        contact, wrench = self.data.contact[i], np.zeros(6)
        mujoco.mj_contactForce(self.model, self.data, i, wrench)
        axes = contact.frame.reshape(3, 3)  # normal first, from the first geom to the second
        velocity = np.zeros(3)
        for geom, sign in ((contact.geom[1], 1), (contact.geom[0], -1)):
            body = self.model.geom_bodyid[geom]
            if body:
                k = 6 * (body - 1)
                turn = self.data.xmat[body].reshape(3, 3) @ self.data.qvel[k + 3 : k + 6]
                arm = contact.pos - self.data.xpos[body]
                velocity += sign * (self.data.qvel[k : k + 3] + np.cross(turn, arm))
        u = axes @ velocity
        slip = float(np.linalg.norm(u[1:]))
        friction = float(np.linalg.norm(wrench[1:3]))
        return -contact.dist, wrench[0], friction, u[0], slip, float(wrench[1:3] @ u[1:])

    def window(self) -> Window:
        """The recorded steps; where there are fewer contacts, points above the ground."""
        most = max(map(len, self.contacts))
        none = (-1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        rows = np.array([seen + [none] * (most - len(seen)) for seen in self.contacts])
        depth, normal, tangent, outward, slip, power = np.moveaxis(rows, -1, 0)
        same = np.full(normal.shape, MU)
        names: Any = [str(k) for k in range(most)]
        slips = np.stack([slip, 0 * slip, 0 * slip], axis=-1)
        depths = np.vstack([depth, depth[-1:]])
        return Window(DT, names, names, depths, normal, tangent, outward, slips, power, same, same)


def slide() -> Slide:
    cube = Cubes(MASS)
    cube.step(round(SETTLE / DT))
    cube.data.qvel[:3] = SPEED * AHEAD
    cube.step(400, record=True)
    drift, hop, short = (1e6 * x for x in way(np.array(cube.places)))
    seen = cube.window()
    found = residuals(seen)
    names = ("ncp_primal", "ncp_dual", "ncp_complementarity")
    gained, rounds = won(np.array(cube.energy)), float(np.mean(cube.iterations))
    deepest = 1e6 * float(seen.depth.max())
    return Slide(drift, hop, short, deepest, *(found[n] for n in names), 1e6 * gained, rounds)


def ramp() -> Ramp:
    cube = Cubes(MASS)
    cube.step(round(SETTLE / DT))

    def pushed(force: float) -> tuple[float, float]:
        cube.data.xfrc_applied[1, 0] = force
        cube.step(10)
        return float(cube.data.qpos[0]), float(cube.data.qvel[0])

    return climbed(pushed)


def stack(ratio: float) -> Stack:
    cubes = Cubes(0.37, 0.37 * ratio)
    cubes.step(1000, record=True)
    deepest = float(cubes.window().depth.max())
    speed = float(np.abs(cubes.data.qvel).max())
    gained = 1e6 * won(np.array(cubes.energy)) / (0.37 * ratio * G)
    return Stack(ratio, 1e6 * deepest, speed, gained, float(np.mean(cubes.iterations)))
