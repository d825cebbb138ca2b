"""The load of a benchmark: a robot that stands at rest on its feet, here and in MuJoCo.

Ours: the file's own gains, torque limits, joint ranges and dry friction. MuJoCo's: the same file
with its own solver settings and actuators, on a plane that is added to it. Both start in the
robot's first pose with its lowest contact point on the ground, make steps of the file's own size,
and are given a second to come to rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
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
from heelstrike.measure.peer.model import module, positions_of
from heelstrike.robot import Robot, load
from heelstrike.robot.load import bundled, find_file
from heelstrike.robot.placement import lowest_height
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo
from heelstrike.scene.surfaces import Plane, Surface
from heelstrike.simulate.simulator import Simulator

ROBOTS = ("hoap1", "g1", "anymal_c")
"""The last two where HEELSTRIKE_DATA leads to them."""
DEFAULT = Elastic(LinearSpring(), Bristle())
"""The law, unless told otherwise."""
SETTLE = 1.0
"""[s]"""


@dataclass(frozen=True)
class Case:
    """A robot by name, with what its file says of it."""

    name: str
    source: Path
    robot: Robot
    dt: float
    """Of its file [s]."""


def case(name: str) -> Case:
    """A bundled robot, one of HEELSTRIKE_DATA/robots, or a file: an MJCF of what stands."""
    data = os.environ.get("HEELSTRIKE_DATA")
    own = Path(data, "robots", f"{name}.xml") if data else None
    source = own if own and name not in bundled() and own.exists() else find_file(name)
    robot = load(name if name in bundled() else source)
    root = ElementTree.parse(source).getroot()
    free = [joint.kind for joint in robot.joints[:1]] == ["free"]
    if root.tag != "mujoco" or not free or not robot.points or not np.any(robot.kp):
        raise HeelstrikeError(
            f"'{name}' cannot be measured: bench takes an MJCF with a free base, feet and position "
            "actuators"
        )
    option = root.find("option")
    dt = 0.002 if option is None else float(option.get("timestep", 0.002))
    return Case(Path(name).stem, source, robot, dt)


def missing(names: tuple[str, ...] = ROBOTS) -> list[str]:
    """Those of the usual robots that are not on this machine."""
    data = os.environ.get("HEELSTRIKE_DATA")
    there = {*bundled(), *(p.stem for p in Path(data, "robots").glob("*.xml"))} if data else None
    return [name for name in names if name not in (there or bundled())]


def first_pose(robot: Robot, height: float = 0.0) -> np.ndarray:
    """Its lowest contact point at a height above the ground [m]."""
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
    """The robot at rest, each joint of each world a little off at the start."""
    floor = floor or Plane(law=law or DEFAULT)
    pose = first_pose(robot)
    sim = Simulator(Scene(robot, floor), dt=dt, control=Servo(reference=pose), **options)
    q0 = np.tile(pose, (sim.worlds, 1))
    q0[:, 7:] += 0.01 * np.random.default_rng(0).normal(size=(sim.worlds, robot.nq - 7))
    sim.run(SETTLE, q0=q0, record="final")
    return sim


def check_stands(name: str, sim: Simulator, least: int | None = None) -> None:
    """Refuses a robot that has fallen, or stands on fewer points than there are (or than `least`)
    in half of its worlds.
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
    """The same without torque limits and dry friction."""
    return replace(robot, friction=np.zeros(robot.nv), torque_limit=np.full(robot.nv, np.inf))


class Peer:
    """MuJoCo with the same file, on a plane, at rest."""

    def __init__(self, source: str | os.PathLike[str], robot: Robot) -> None:
        mj = self._mj = module()
        spec = mj.MjSpec.from_file(str(find_file(source)))
        spec.worldbody.add_geom(
            name="heelstrike floor", type=mj.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05]
        )
        for joint in spec.joints:
            joint.name = joint.name or robot.joints[0].name  # a free joint may have none
        self.model = spec.compile()
        self.data = mj.MjData(self.model)
        self.dt = float(self.model.opt.timestep)
        self.robot, self.contacts = robot, len(robot.points)
        self.step = partial(mj.mj_step, self.model, self.data)
        self.start(first_pose(robot))
        self.step(round(SETTLE / self.dt))
        self.height = float(self.data.qpos[2])

    def start(self, q: np.ndarray) -> None:
        """At rest in a pose; the actuators hold the robot's first one."""
        mj, model = self._mj, self.model
        mj.mj_resetData(model, self.data)
        held = positions_of(model, self.robot, first_pose(self.robot))
        self.data.ctrl[:] = held[model.jnt_qposadr[model.actuator_trnid[:, 0]]]
        self.data.qpos[:] = positions_of(model, self.robot, q)

    def integrators(self) -> dict[str, int]:
        """The file's, and implicitfast, by name."""
        kinds = self._mj.mjtIntegrator
        own = kinds(self.model.opt.integrator)
        return {
            kind.name.removeprefix("mjINT_").lower(): int(kind)
            for kind in (own, kinds.mjINT_IMPLICITFAST)
        }

    def diverged(self) -> bool:
        """Whether MuJoCo has warned of bad numbers, after which it starts anew."""
        kinds = self._mj.mjtWarning
        bad = (kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC)
        return any(self.data.warning[int(kind)].number for kind in bad)

    def rollout(self, worlds: int, steps: int, threads: int) -> partial[Any]:
        """What steps as many worlds from the present state on threads, by mujoco.rollout."""
        from mujoco.rollout import Rollout

        mj, model = self._mj, self.model
        kind = mj.mjtState.mjSTATE_FULLPHYSICS
        state = np.zeros(mj.mj_stateSize(model, kind))
        mj.mj_getState(model, self.data, state, kind)
        pool = Rollout(nthread=threads if threads > 1 else 0)
        return partial(
            pool.rollout,
            model,
            [mj.MjData(model) for _ in range(threads)],
            np.tile(state, (worlds, 1)),
            np.tile(self.data.ctrl, (worlds, steps, 1)),
            initial_warmstart=np.tile(self.data.qacc_warmstart, (worlds, 1)),
            state=np.zeros((worlds, steps, len(state))),
        )

    def check_stands(self, name: str) -> None:
        if self.data.ncon != self.contacts or abs(self.data.qpos[2] - self.height) > 0.01:
            raise HeelstrikeError(f"MuJoCo's {name} does not stand: {self.data.ncon} contacts")


@contextmanager
def empty_cache() -> Iterator[None]:
    """Compiled code is kept in a folder of its own, which is empty at first and goes at the end."""
    before = os.environ.get("HEELSTRIKE_CACHE")
    with TemporaryDirectory() as folder:
        os.environ["HEELSTRIKE_CACHE"] = folder
        try:
            yield
        finally:
            os.environ.pop("HEELSTRIKE_CACHE")
            if before is not None:
                os.environ["HEELSTRIKE_CACHE"] = before
