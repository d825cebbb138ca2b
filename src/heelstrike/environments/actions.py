"""Actions: numbers from -1 to 1 for each joint.

    position:   q_ref = q_start + scale action          the servo's reference [rad or m]
    torque:     tau   = scale action                    added to the servo's torque [N m or N]

Numbers beyond -1 and 1 are clipped.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.environments.arrays import Array, Arrays, columns
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.scene.servo import NO_LIMIT, driven, positions
from heelstrike.simulate.simulator import Simulator
from heelstrike.simulate.target import check_choice

SCALE = 0.25
"""Default scale of positions [rad or m]."""


class Actions:
    """Writes actions into the parameters that the next step reads."""

    def __init__(self, arrays: Arrays, kind: str, scale: ArrayLike | None, q0: np.ndarray) -> None:
        check_choice("action", kind, ("position", "torque"))
        sim, robot = arrays.sim, arrays.sim.robot
        self.arrays = arrays
        path, joints = position_joints(sim) if kind == "position" else torque_joints(sim)
        if not joints:
            raise HeelstrikeError(f"{robot.name} has no joint that an action can move")
        self.size = len(joints)
        names = {j.iv + k: j.name for j in robot.joints for k in range(j.nv)}
        self.names = tuple(names[i] for i in joints)
        self._tiles, self._columns = arrays.tiles(path), columns(arrays, joints)
        self._base = arrays.per_world((positions(robot, q0) * (kind == "position"))[joints])
        default = SCALE if kind == "position" else robot.torque_limit[joints]
        self._scale = arrays.per_world(_scale(default if scale is None else scale, self.names))

    def checked(self, actions: Array) -> Array:
        """Return a user's actions, (worlds, joints), as an array on this device.

        Whether they are finite is looked at on a CPU only: a GPU would have to be waited for.
        """
        try:
            action = self.arrays.real_array(actions)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError("actions", actions, "numbers from -1 to 1") from None
        if tuple(action.shape) != (self.arrays.worlds, self.size):
            expected = f"({self.arrays.worlds}, {self.size})"
            raise HeelstrikeError(
                f"actions have the shape {tuple(action.shape)}; pass {expected}, a row per world"
            )
        if self.arrays.sim.device == "cpu" and not np.isfinite(action).all():
            raise HeelstrikeError("an action is not finite", allowed="numbers from -1 to 1")
        return action

    def apply(self, action: Array) -> Array:
        """Write actions for the next step; return them clipped to -1 and 1."""
        action = action.clip(-1.0, 1.0)
        self.arrays.fill(self._tiles, self._base + self._scale * action, self._columns)
        return action


def position_joints(sim: Simulator) -> tuple[str, list[int]]:
    """Return the path of the servo's reference, and the joints that it drives."""
    if "servo.q_ref" not in sim.parameters:
        raise HeelstrikeError(
            'action="position" needs a servo, but this simulator has no servo, or one that follows '
            'a motion; pass control=hs.Servo() to the simulator, or use action="torque"'
        )
    strength = np.atleast_2d(sim.parameters["servo.kp"])[0]
    return "servo.q_ref", [int(i) for i in np.flatnonzero(strength * driven(sim.robot))]


def torque_joints(sim: Simulator) -> tuple[str, list[int]]:
    """Return the path of the torque, and the joints that it drives."""
    path = "servo.torque" if "servo.torque" in sim.parameters else "torque"
    if path not in sim.parameters:
        raise HeelstrikeError(
            'action="torque" needs a simulator whose torques are free, but this one has a '
            "controller; pass control=None or control=hs.Servo() to the simulator"
        )
    return path, [int(i) for i in np.flatnonzero(driven(sim.robot))]


def _scale(given: ArrayLike, names: tuple[str, ...]) -> np.ndarray:
    """Return a scale for each joint."""
    try:
        scale = np.broadcast_to(np.asarray(given, dtype=float), (len(names),))
    except (TypeError, ValueError, OverflowError):
        scale = np.zeros(1)
    if not np.all(scale > 0):
        allowed = f"one number above 0, or one for each of the {len(names)} joints"
        raise ParameterError("scale", given, allowed)
    if not np.all(scale < NO_LIMIT):
        unlimited = ", ".join(name for name, x in zip(names, scale, strict=True) if x >= NO_LIMIT)
        raise HeelstrikeError(f"no torque limit is defined for {unlimited}; pass scale= [N m]")
    return scale
