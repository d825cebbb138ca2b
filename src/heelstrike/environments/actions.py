"""What an action does, from -1 to 1 for each joint.

    position:   q_ref = q_start + scale action          the servo's reference [rad or m]
    torque:     tau   = scale action                    added to the servo's, or alone [N m or N]

Beyond -1 and 1 it is cut off.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from heelstrike.environments.arrays import Arrays, columns
from heelstrike.errors import HeelstrikeError
from heelstrike.scene.servo import NO_LIMIT, driven, positions
from heelstrike.simulate.simulator import Simulator
from heelstrike.simulate.target import check_choice

SCALE = 0.25
"""Of positions, unless told otherwise [rad or m]."""


class Actions:
    """Writes actions where the next step reads them."""

    def __init__(self, arrays: Arrays, kind: str, scale: Any, q0: np.ndarray) -> None:
        check_choice("action", kind, ("position", "torque"))
        sim, robot = arrays.sim, arrays.sim.robot
        self.arrays = arrays
        path, joints = _position(sim) if kind == "position" else _torque(sim)
        if not joints:
            raise HeelstrikeError(f"{robot.name} has no joint that an action could move")
        self.size = len(joints)
        names = {j.iv + k: j.name for j in robot.joints for k in range(j.nv)}
        self.names = tuple(names[i] for i in joints)
        self._tiles, self._columns = arrays.tiles(path), columns(arrays, joints)
        self._base = arrays.alike((positions(robot, q0) * (kind == "position"))[joints])
        usual = SCALE if kind == "position" else robot.torque_limit[joints]
        self._scale = arrays.alike(_scale(usual if scale is None else scale, self.names))

    def given(self, actions: Any) -> Any:
        """What a user hands in, (worlds, joints), on this device."""
        action = self.arrays.given(actions)
        if tuple(action.shape) != (self.arrays.worlds, self.size):
            raise HeelstrikeError(
                f"actions have the shape ({self.arrays.worlds}, {self.size}), a row a world, not "
                f"{tuple(action.shape)}"
            )
        return action

    def take(self, action: Any) -> Any:
        """The actions as they are taken, within -1 and 1."""
        action = action.clip(-1.0, 1.0)
        self.arrays.fill(self._tiles, self._base + self._scale * action, self._columns)
        return action


def _position(sim: Simulator) -> tuple[str, list[int]]:
    """The servo's reference, and the joints that it holds."""
    if "servo.q_ref" not in sim.parameters:
        raise HeelstrikeError(
            "actions are positions of a servo's joints, and this simulator has no servo, or one "
            'that follows a motion; give it control=hs.Servo(), or take action="torque"'
        )
    strength = np.atleast_2d(sim.parameters["servo.kp"])[0]
    return "servo.q_ref", [int(i) for i in np.flatnonzero(strength * driven(sim.robot))]


def _torque(sim: Simulator) -> tuple[str, list[int]]:
    path = "servo.torque" if "servo.torque" in sim.parameters else "torque"
    if path not in sim.parameters:
        raise HeelstrikeError(
            "a controller of your own makes the torques; take control=None or control=hs.Servo()"
        )
    return path, [int(i) for i in np.flatnonzero(driven(sim.robot))]


def _scale(given: Any, names: tuple[str, ...]) -> np.ndarray:
    """One number a joint."""
    try:
        scale = np.broadcast_to(np.asarray(given, dtype=float), (len(names),))
    except (TypeError, ValueError):
        scale = np.zeros(1)
    if not np.all(scale > 0):
        raise HeelstrikeError(
            f"scale is one number above 0, or one for each of the {len(names)} joints, not "
            f"{given!r:.60}"
        )
    if not np.all(scale < NO_LIMIT):
        endless = ", ".join(name for name, x in zip(names, scale, strict=True) if x >= NO_LIMIT)
        raise HeelstrikeError(f"no torque limit bounds an action on {endless}; give scale= [N m]")
    return scale
