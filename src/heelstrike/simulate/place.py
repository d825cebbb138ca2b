"""Where a scene's points are, in numbers, by Pinocchio."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin

from heelstrike.robot.convert import to_pinocchio
from heelstrike.simulate.scene import Scene
from heelstrike.spatial.vector import SX


def meetings(scene: Scene, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Signed depths [m] of the pairs in a pose, and the outward normals there, (pairs, 3)."""
    model = to_pinocchio(scene.robot)
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    depths, normals = [], []
    for pair in scene.pairs:
        place = data.oMi[pair.point.body + 1].act(np.asarray(pair.point.position, dtype=float))
        frame = pin.SE3.Identity() if pair.carrier is None else data.oMi[pair.carrier + 1]
        surface, radius = scene.surfaces[pair.surface], pair.point.radius
        depth, axes = surface.meet(SX(frame.actInv(place)), radius)
        depths.append(float(ca.evalf(depth)))
        normals.append(frame.rotation @ np.array(ca.evalf(axes))[2])
    return np.array(depths), np.array(normals).reshape(-1, 3)
