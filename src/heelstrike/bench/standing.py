"""The load of a benchmark: a robot that stands at rest on its feet.

Ours has the file's own gains, torque limits, joint ranges and dry friction; MuJoCo (peer.py) has
the same file with its own solver settings and actuators, on a plane. Both start in the first pose
of the robot with its lowest contact point on the ground, take steps of the file's own size,
and have one second to come to rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np

from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.robot import Robot, load
from heelstrike.robot.load import bundled, find_file
from heelstrike.robot.placement import lowest_height
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo
from heelstrike.scene.surfaces import Plane, Surface
from heelstrike.simulate.simulator import Simulator

ROBOTS = ("hoap1", "g1", "anymal_c")
"""Robots that are measured by default; the last two need HEELSTRIKE_DATA."""
DEFAULT = Elastic(LinearSpring(), Bristle())
"""Default law of the ground."""
SETTLE = 1.0
"""Time that a robot has to come to rest [s]."""


@dataclass(frozen=True)
class Case:
    """A robot that can be measured, with its file and step."""

    name: str
    source: Path
    robot: Robot
    dt: float
    """Time step of its file [s]."""


def case(name: str) -> Case:
    """Return the case of a bundled robot, one of HEELSTRIKE_DATA/robots, or an MJCF file."""
    data = os.environ.get("HEELSTRIKE_DATA")
    own = Path(data, "robots", f"{name}.xml") if data else None
    source = own if own and name not in bundled() and own.exists() else find_file(name)
    robot = load(name if name in bundled() else source, collide="feet")
    root = ElementTree.parse(source).getroot()
    free = [joint.kind for joint in robot.joints[:1]] == ["free"]
    if root.tag != "mujoco" or not free or not robot.points or not np.any(robot.kp):
        raise HeelstrikeError(
            f"'{name}' cannot be measured",
            value=name,
            allowed="an MJCF with a free base, feet and position actuators",
        )
    option = root.find("option")
    dt = 0.002 if option is None else float(option.get("timestep", 0.002))
    return Case(Path(name).stem, source, robot, dt)


def missing(names: tuple[str, ...] = ROBOTS) -> list[str]:
    """Return those of some robots that are not on this machine."""
    data = os.environ.get("HEELSTRIKE_DATA")
    there = {*bundled(), *(p.stem for p in Path(data, "robots").glob("*.xml"))} if data else None
    return [name for name in names if name not in (there or bundled())]


def first_pose(robot: Robot, height: float = 0.0) -> np.ndarray:
    """Return the first pose, with its lowest contact point at a height above the ground [m]."""
    pose = np.array(next(iter(robot.poses.values())), dtype=float)
    pose[2] += height - lowest_height(robot, pose)
    return pose


def simulator(
    robot: Robot,
    dt: float,
    law: SurfaceLaw | None = None,
    floor: Surface | None = None,
    **options: Any,
) -> Simulator:
    """Return a simulator of the robot at rest; joints differ a little from world to world."""
    floor = floor or Plane(law=law or DEFAULT)
    pose = first_pose(robot)
    sim = Simulator(Scene(robot, floor), dt=dt, control=Servo(reference=pose), **options)
    q0 = np.tile(pose, (sim.worlds, 1))
    q0[:, 7:] += 0.01 * np.random.default_rng(0).normal(size=(sim.worlds, robot.nq - 7))
    sim.run(SETTLE, q0=q0, record="final")
    return sim


def check_stands(name: str, sim: Simulator, least: int | None = None) -> None:
    """Raise an error if the robot has fallen in any world, or has too few contacts in half of them.

    `least` is the number of contacts that it needs, by default all of its points.
    """
    least = len(sim.robot.points) if least is None else least
    height = first_pose(sim.robot)[2]
    touching = sim.observe("touching")["touching"].sum(axis=1)
    off = np.abs(np.atleast_2d(sim.state["q"])[:, 2] / height - 1).max()
    if (sim.failed >= 0).any() or not off < 0.05 or np.median(touching) < least:
        raise HeelstrikeError(
            f"{name} does not stand: {touching.min()} contacts, {100 * off:.0f} % off its height"
        )


def unlimited(robot: Robot) -> Robot:
    """Return the robot without torque limits and dry friction."""
    return replace(robot, friction=np.zeros(robot.nv), torque_limit=np.full(robot.nv, np.inf))


@contextmanager
def empty_cache() -> Iterator[None]:
    """Keep compiled code in a temporary folder, which is empty at first."""
    before = os.environ.get("HEELSTRIKE_CACHE")
    with TemporaryDirectory() as folder:
        os.environ["HEELSTRIKE_CACHE"] = folder
        try:
            yield
        finally:
            os.environ.pop("HEELSTRIKE_CACHE")
            if before is not None:
                os.environ["HEELSTRIKE_CACHE"] = before
