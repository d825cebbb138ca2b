"""MuJoCo with the same file as our robot, on a plane, at rest: the peer of every benchmark.

A whole scene, with our surfaces and points, is handed over to MuJoCo by measure/peer instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from heelstrike.bench.standing import SETTLE, first_pose
from heelstrike.errors import HeelstrikeError
from heelstrike.measure.peer.model import module, positions_of
from heelstrike.robot import Robot
from heelstrike.robot.load import find_file


def mujoco_model(
    source: str | os.PathLike[str], *edits: Callable[[Any, Any], None]
) -> tuple[Any, Any]:
    """Return MuJoCo's model of a robot's file, and its data, after some edits.

    An edit is a function of MuJoCo's module and the `MjSpec`.
    """
    mj = module()
    spec = mj.MjSpec.from_file(str(find_file(source)))
    for edit in edits:
        edit(mj, spec)
    model = spec.compile()
    return model, mj.MjData(model)


def add_floor(mj: Any, spec: Any) -> None:
    """Add a plane at z = 0."""
    spec.worldbody.add_geom(
        name="heelstrike floor", type=mj.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05]
    )


class Peer:
    """MuJoCo with the same file, on a plane, at rest; `edits` are those of `mujoco_model`."""

    def __init__(
        self,
        source: str | os.PathLike[str],
        robot: Robot,
        *edits: Callable[[Any, Any], None],
    ) -> None:
        def name_joints(mj: Any, spec: Any) -> None:
            for joint in spec.joints:
                joint.name = joint.name or robot.joints[0].name  # a free joint may have none

        mj = self._mj = module()
        self.model, self.data = mujoco_model(source, add_floor, name_joints, *edits)
        self.dt = float(self.model.opt.timestep)
        self.robot, self.contacts = robot, len(robot.points)
        self.step = partial(mj.mj_step, self.model, self.data)
        self.start(first_pose(robot))
        self.step(round(SETTLE / self.dt))
        self.height = float(self.data.qpos[2])

    def start(self, q: np.ndarray) -> None:
        """Start at rest in a pose; the actuators hold the robot's first one."""
        mj, model = self._mj, self.model
        mj.mj_resetData(model, self.data)
        held = positions_of(model, self.robot, first_pose(self.robot))
        self.data.ctrl[:] = held[model.jnt_qposadr[model.actuator_trnid[:, 0]]]
        self.data.qpos[:] = positions_of(model, self.robot, q)

    def integrators(self) -> dict[str, int]:
        """Return the file's integrator and implicitfast, by name."""
        kinds = self._mj.mjtIntegrator
        own = kinds(self.model.opt.integrator)
        return {
            kind.name.removeprefix("mjINT_").lower(): int(kind)
            for kind in (own, kinds.mjINT_IMPLICITFAST)
        }

    def diverged(self) -> bool:
        """Return whether MuJoCo warned of bad numbers, after which it resets itself."""
        kinds = self._mj.mjtWarning
        bad = (kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC)
        return any(self.data.warning[int(kind)].number for kind in bad)

    def rollout(self, worlds: int, steps: int, threads: int) -> partial[Any]:
        """Return a call that steps many worlds from the present state by mujoco.rollout."""
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
        """Raise an error if the robot has fallen or lost a contact."""
        if self.data.ncon != self.contacts or abs(self.data.qpos[2] - self.height) > 0.01:
            raise HeelstrikeError(
                f"MuJoCo's {name} does not stand: {self.data.ncon} contacts of {self.contacts}"
            )
