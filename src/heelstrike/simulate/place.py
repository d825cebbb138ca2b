"""Where a scene's points are, in numbers, by Pinocchio."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin

from heelstrike.dynamics.effective_mass import Touching
from heelstrike.robot.convert import to_pinocchio
from heelstrike.robot.robot import WORLD
from heelstrike.scene.scene import Scene
from heelstrike.spatial.vector import SX


def meetings(scene: Scene, q: np.ndarray) -> tuple[np.ndarray, list[Touching]]:
    """Signed depths [m] of the pairs in a pose, and what they join."""
    model = to_pinocchio(scene.robot)
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    depths, joined = [], []
    for pair in scene.pairs:
        holder = data.oMi[pair.point.body + 1]  # the first is the world
        place = holder.act(np.asarray(pair.point.position, dtype=float))
        frame = pin.SE3.Identity() if pair.carrier is None else data.oMi[pair.carrier + 1]
        surface, radius = scene.surfaces[pair.surface], pair.point.radius
        depth, axes = surface.depth_and_axes(SX(frame.actInv(place)), radius, pair.part)
        depths.append(float(ca.evalf(depth)))
        places = [] if pair.point.body == WORLD else [(pair.point.body, holder.actInv(place))]
        if pair.carrier is not None:
            places.append((pair.carrier, frame.actInv(place)))
        joined.append(Touching(frame.rotation @ np.array(ca.evalf(axes))[2], places))
    return np.array(depths), joined
