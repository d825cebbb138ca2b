"""A robot that stands at rest on its soles, here and in MuJoCo: the load of benchmarks.step."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import heelstrike as hs
from heelstrike.robot.load import _find

CONTACTS = 8
"""Of two soles."""


class Peer:
    """MuJoCo with the same file, on a plane, at rest."""

    def __init__(self, source: str) -> None:
        import mujoco

        spec = mujoco.MjSpec.from_file(str(_find(source)))
        spec.worldbody.add_geom(
            name="heelstrike floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05]
        )
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        self.dt = float(self.model.opt.timestep)
        self.step = partial(mujoco.mj_step, self.model, self.data)
        self.step(round(1.0 / self.dt))
        self.height = self.data.qpos[2]

    def check_stands(self, name: str) -> None:
        if self.data.ncon != CONTACTS or abs(self.data.qpos[2] - self.height) > 0.01:
            raise SystemExit(f"MuJoCo's {name} does not stand: {self.data.ncon} contacts")


def simulator(
    robot: hs.Robot, dt: float, law: Any = None, floor: Any = None, **options: Any
) -> hs.Simulator:
    """The robot in its first pose, each joint of each world a little off, after a second."""
    floor = floor or hs.Plane(law=law or hs.Elastic(hs.LinearSpring(), hs.Bristle()))
    pose = next(iter(robot.poses.values()))
    sim = hs.Simulator(hs.Scene(robot, floor), dt=dt, control=hs.Servo(reference=pose), **options)
    q0 = np.tile(pose, (sim.worlds, 1))
    q0[:, 7:] += 0.01 * np.random.default_rng(0).normal(size=(sim.worlds, robot.nq - 7))
    sim.run(1.0, q0=q0, record="final")
    return sim


def check_stands(name: str, sim: hs.Simulator, least: int = CONTACTS) -> None:
    """Refuses a robot that has fallen, or stands on fewer points in half of its worlds."""
    height = next(iter(sim.robot.poses.values()))[2]
    touching = sim.observe("touching")["touching"].sum(axis=1)
    off = np.abs(np.atleast_2d(sim.state["q"])[:, 2] - height).max()
    if (sim.failed >= 0).any() or off > 0.01 or np.median(touching) < least:
        raise SystemExit(f"{name} does not stand: {touching.min()} contacts, {off:.3f} m off")


def unlimited(robot: hs.Robot) -> hs.Robot:
    """The same without torque limits and dry friction."""
    return replace(robot, friction=np.zeros(robot.nv), torque_limit=np.full(robot.nv, np.inf))
