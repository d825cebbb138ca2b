"""Demands of a motion on a robot: joint torques, ZMP and friction, by inverse dynamics.

    H(q) a + b(q, v) = tau + J^T f        f: of the ground on each sole

The six rows of the free base give the whole wrench of the ground; the feet share it as the motion
says, each about its own sole.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin

from heelstrike.errors import HeelstrikeError
from heelstrike.motion.humanoid import Humanoid
from heelstrike.motion.motion import Motion
from heelstrike.robot.robot import Robot


@dataclass(frozen=True)
class Demand:
    """Torques, forces and ZMP over the motion's times."""

    torque: np.ndarray
    """Joint torques, (times, nv) [N m or N]; zero for the base."""
    force: np.ndarray
    """Force of the ground, (times, 3) [N]."""
    zmp: np.ndarray
    """ZMP on the ground, (times, 2) [m]; NaN in flight."""
    velocity: np.ndarray
    """Velocities, (times, nv)."""
    stands: np.ndarray
    """Whether a foot is on the ground, (times)."""

    @property
    def friction(self) -> float:
        """Coefficient of friction that the motion needs."""
        x, y, z = self.force[self.stands].T
        return float((np.hypot(x, y) / z).max())

    def check(self, robot: Robot, what: str) -> None:
        """Raise an error if the motors cannot produce the torques."""
        for values, limits, unit in (
            (self.torque, robot.torque_limit, "N m"),
            (self.velocity, robot.velocity_limit, "rad/s"),
        ):
            worst = np.abs(values).max(axis=0)
            for joint in robot.joints[1:]:
                if worst[joint.iv] > limits[joint.iv]:
                    raise HeelstrikeError(
                        f"this {what} needs {worst[joint.iv]:.3g} {unit} at joint '{joint.name}' "
                        f"of {robot.name}, which has {limits[joint.iv]:.3g}: make it slower or "
                        "smaller"
                    )
        if not (self.force[self.stands, 2] > 0).all():
            raise HeelstrikeError(f"this {what} pulls at the ground: make it slower or smaller")


def demand(human: Humanoid, times: np.ndarray, q: np.ndarray, shares: np.ndarray) -> Demand:
    """Return the demands of poses at equal time steps."""
    model = human.model
    data, dt = model.createData(), times[1] - times[0]
    steps = [pin.difference(model, a, b) / dt for a, b in pairwise(q)]
    v = np.array([steps[0], *steps])
    a = np.gradient(v, dt, axis=0)
    floor = min(sole.translation[2] for sole in human.placed(human.pose))
    torques, forces, places = [], [], []
    for pose, speed, change, share in zip(q, v, a, shares, strict=True):
        tau = pin.rnea(model, data, pose, speed, change)
        pin.forwardKinematics(model, data, pose)
        base = data.oMi[1].act(pin.Force(tau[:6]))  # about the world's origin
        pull, turn = base.linear, base.angular
        for foot, part in zip(human.feet, share, strict=True):
            jacobian = pin.computeJointJacobian(model, data, pose, foot + 1)
            wrench = data.oMi[foot + 1].actInv(pin.Force(part * base.vector))
            tau = tau - jacobian.T @ wrench.vector
        torques.append(np.concatenate([np.zeros(6), tau[6:]]))
        forces.append(pull)
        places.append([floor * pull[0] - turn[1], floor * pull[1] + turn[0]])
    stands = shares.sum(axis=1) > 0
    force = np.array(forces)
    carried = np.where(stands, force[:, 2], np.nan)
    return Demand(np.array(torques), force, np.array(places) / carried[:, None], v, stands)


def feasible(
    human: Humanoid,
    name: str,
    settings: dict[str, Any],
    times: np.ndarray,
    q: np.ndarray,
    shares: np.ndarray,
) -> Motion:
    """Return the motion with its torques; raise an error if the motors cannot produce them."""
    found = demand(human, times, q, shares)
    found.check(human.robot, name)
    return Motion(times, q, found.torque, human.robot.name, name, settings=settings, feet=shares)
