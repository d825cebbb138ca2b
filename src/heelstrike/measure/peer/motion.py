"""Coordinates and servo between our q, v and MuJoCo's qpos, qvel.

A free joint's linear velocity is in the world there, in the body's frame here; quaternions are wxyz
there. The servo is the implicit one of scene/servo.py, literally: MuJoCo's armature grows by
dt kd + dt^2 kp, and the torque applied is

    tau0 = kp (q_ref - q - dt v) + kd (v_ref - v) + torque,         references at t + dt

Where tau0 - (dt kd + dt^2 kp) a exceeds its limit the joint gets the limit and no such term, and
the step is made again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import Robot
from heelstrike.scene.servo import ServoPlan, positions


class CoordinateMap:
    """Indices of our coordinates in MuJoCo's arrays."""

    def __init__(self, model: Any, robot: Robot) -> None:
        self.robot = robot
        self.dofs = np.zeros(robot.nv, dtype=int)
        """MuJoCo's index of each entry of v."""
        for joint in robot.joints:
            first = int(model.joint(joint.name).dofadr[0])
            self.dofs[joint.v_slice] = first + np.arange(joint.nv)
        self._places = [int(model.joint(joint.name).qposadr[0]) for joint in robot.joints]

    def read(self, data: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return our q and v."""
        robot, v = self.robot, data.qvel[self.dofs].copy()
        q = np.zeros(robot.nq)
        for joint, at in zip(robot.joints, self._places, strict=True):
            own = data.qpos[at : at + 7]
            if joint.kind == "free":
                q[joint.q_slice] = [*own[:3], *own[4:7], own[3]]
                turned = pin.Quaternion(own[3], own[4], own[5], own[6]).matrix()
                first = joint.iv
                v[first : first + 3] = turned.T @ v[first : first + 3]
            elif joint.kind == "spherical":
                q[joint.q_slice] = [*own[1:4], own[0]]
            elif joint.kind == "continuous":
                q[joint.q_slice] = [np.cos(own[0]), np.sin(own[0])]
            else:
                q[joint.iq] = own[0]
        return q, v

    def write(self, data: Any, qpos: np.ndarray, v: np.ndarray) -> None:
        """Write a state: MuJoCo's qpos and our v."""
        data.qpos[:] = qpos
        speeds = v.copy()
        for joint, at in zip(self.robot.joints, self._places, strict=True):
            if joint.kind == "free":
                own, first = qpos[at : at + 7], joint.iv
                turned = pin.Quaternion(own[3], own[4], own[5], own[6]).matrix()
                speeds[first : first + 3] = turned @ v[first : first + 3]
        data.qvel[self.dofs] = speeds


class Drive:
    """The servo of a scene, at MuJoCo's joints."""

    def __init__(
        self, model: Any, layout: CoordinateMap, plan: ServoPlan | None, dt: float
    ) -> None:
        if plan is not None and (plan.control_every != 1 or plan.delay or not plan.implicit):
            raise HeelstrikeError(
                "a servo with control_every, delay or implicit = false cannot be handed over to "
                "MuJoCo"
            )
        self._layout, self._plan, self._dt, self._model = layout, plan, dt, model
        robot = layout.robot
        self.q_ref = np.zeros(robot.nv) if plan is None else plan.q_ref
        """Reference of joints without a motion."""
        self.slope = np.zeros(robot.nv) if plan is None else dt * (plan.kd + dt * plan.kp)
        self._own = model.dof_armature[layout.dofs].copy()
        self.limit = np.full(robot.nv, np.inf) if plan is None else plan.limit

    def free(self, held: np.ndarray) -> None:
        """Add the servo's implicit terms to MuJoCo's armature, except at saturated joints."""
        slope = np.where(held, 0.0, self.slope)
        self._model.dof_armature[self._layout.dofs] = self._own + slope

    def torque(self, q: np.ndarray, v: np.ndarray, time: float) -> np.ndarray:
        """Return tau0 by our velocity index."""
        plan, dt, robot = self._plan, self._dt, self._layout.robot
        if plan is None:
            return np.zeros(robot.nv)
        goal, speed, extra = self._reference(plan, time + dt)
        now = positions(robot, q)
        return np.asarray(plan.kp * (goal - now - dt * v) + plan.kd * (speed - v) + extra)

    def _reference(self, plan: ServoPlan, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if plan.table is None:
            return self.q_ref, plan.v_ref, plan.torque
        nv, rows = self._layout.robot.nv, plan.table
        place = float(np.clip((time - plan.start) * plan.rate, 0, len(rows) - 1))
        low = min(int(place), len(rows) - 2)
        row = rows[low] + (place - low) * (rows[low + 1] - rows[low])
        inside = 0 < place < len(rows) - 1
        speed = (rows[low + 1] - rows[low])[:nv] * plan.rate if inside else np.zeros(nv)
        return row[:nv], speed, plan.torque + row[nv:]
