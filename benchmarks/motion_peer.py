"""SR1's public patterns in MuJoCo, at the same step and with the same gains.

The servo's damping is the joints' own there, so that it is implicit as ours is. The floor is that
of the file, with friction 1.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

STANDS = 0.9
"""Height of the centre of mass at the end, over that at the start."""


def ways(dt: float) -> dict[str, tuple[float, bool]]:
    """Return the way of the centre of mass [m] and whether it stood, by pattern.

    The result is empty if HEELSTRIKE_DATA is not set.
    """
    import mujoco

    folder = os.environ.get("HEELSTRIKE_DATA")
    if not folder:
        return {}
    model = mujoco.MjModel.from_xml_path(str(Path(folder) / "robots" / "sr1.xml"))
    model.opt.timestep = dt
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    with np.load(Path(folder) / "sr1_walk.npz") as file:
        table = {name: file[name] for name in file.files}
    joints = [model.joint(str(name)) for name in table["names"]]
    model.dof_damping[[joint.dofadr[0] for joint in joints]] = table["dgain"]
    return {f"SR1 {name}": _walked(model, joints, table, name) for name in ("q1", "q2", "q3")}


def _walked(model: object, joints: list, table: dict, name: str) -> tuple[float, bool]:
    import mujoco

    places = [joint.qposadr[0] for joint in joints]
    motors = [joint.dofadr[0] for joint in joints]
    rows, rate, dt = table[name], float(table["rate"]), model.opt.timestep
    data = mujoco.MjData(model)
    data.qpos[places] = rows[0]
    mujoco.mj_forward(model, data)
    boxes = np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_BOX)
    data.qpos[2] -= (data.geom_xpos[boxes, 2] - model.geom_size[boxes, 2]).min()
    mujoco.mj_forward(model, data)
    start = data.subtree_com[1].copy()
    for step in range(round((len(rows) - 1) / rate / dt)):
        at = (step + 1) * dt * rate
        k = min(int(at), len(rows) - 2)
        wanted = rows[k] + (at - k) * (rows[k + 1] - rows[k])
        speed = (rows[k + 1] - rows[k]) * rate
        pull = table["pgain"] * (wanted - data.qpos[places]) + table["dgain"] * speed
        data.qfrc_applied[motors] = pull
        mujoco.mj_step(model, data)
    end = data.subtree_com[1]
    return float(np.linalg.norm(end[:2] - start[:2])), bool(end[2] > STANDS * start[2])
