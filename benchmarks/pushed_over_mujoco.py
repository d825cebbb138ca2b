"""The falls of benchmarks.pushed_over in MuJoCo.

The file's own shapes and actuators, with the integrator implicitfast, Newton's solver, and the
step, the friction and the elliptic cone of ours; springs of joints, tendons and equality
constraints, which hs.load leaves out, are left out. All else is as the file has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import heelstrike as hs
from benchmarks.pushed_over import DT, MU, SAMPLE, SECONDS
from heelstrike.bench.peer import add_floor, mujoco_model
from heelstrike.measure.peer.model import module, positions_of
from heelstrike.measure.peer.motion import CoordinateMap

ALL = 2**31 - 1
"""Contact bits of a floor that every collision shape touches, as ours where a file has none."""


def fallen_in_mujoco(
    source: str, robot: hs.Robot, q0: np.ndarray, v0: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return q, v and the centre of mass of falls, (worlds, times, n)."""

    def likened(mj: Any, spec: Any) -> None:
        if not any(geom.type == mj.mjtGeom.mjGEOM_PLANE for geom in spec.geoms):
            add_floor(mj, spec)
            floor = spec.geom("heelstrike floor")
            floor.contype = floor.conaffinity = ALL
        for joint in spec.joints:
            joint.name = joint.name or robot.joints[0].name
        for left_out in (*spec.equalities, *spec.tendons):
            spec.delete(left_out)

    mj = module()
    model, data = mujoco_model(source, likened)
    model.opt.timestep, model.opt.cone = DT, mj.mjtCone.mjCONE_ELLIPTIC
    model.opt.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.solver, model.opt.iterations = mj.mjtSolver.mjSOL_NEWTON, 100
    model.geom_friction[:, 0], model.jnt_stiffness[:] = MU, 0.0
    layout, every = CoordinateMap(model, robot), round(SAMPLE / DT)
    held = positions_of(model, robot, q0)
    falls = []
    for v in v0:
        mj.mj_resetData(model, data)
        layout.write(data, held, v)
        if np.any(robot.kp):
            data.ctrl[:] = held[model.jnt_qposadr[model.actuator_trnid[:, 0]]]
        path = [(*layout.read(data), _com(mj, model, data))]
        for _ in range(round(SECONDS / SAMPLE)):
            mj.mj_step(model, data, every)
            path.append((*layout.read(data), _com(mj, model, data)))
        falls.append([np.array(part) for part in zip(*path, strict=True)])
    q, v, com = (np.array(part) for part in zip(*falls, strict=True))
    return q, v, com


def _com(mj: Any, model: Any, data: Any) -> np.ndarray:
    """Return the centre of mass of all bodies at the present coordinates [m]."""
    mj.mj_kinematics(model, data)
    mj.mj_comPos(model, data)
    found: np.ndarray = data.subtree_com[0].copy()
    return found
