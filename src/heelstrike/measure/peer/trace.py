"""A scene stepped by MuJoCo: states, contact forces and joint forces of every step."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.measure.peer.model import body_ids, handed_over, module, pair_geoms, positions_of
from heelstrike.measure.peer.motion import CoordinateMap, Drive
from heelstrike.step.account import MAX_SPEED

if TYPE_CHECKING:
    from heelstrike.simulate.scene_file import SceneFile

ROUNDS = 10
"""Largest number of solves by which joints at their torque limits are found."""
SETTLED = 5
"""Number of solves after which a joint at its limit stays there, so that the rounds end."""


@dataclass(frozen=True)
class Trace:
    """A run of MuJoCo with one row per step; joint arrays are by our velocity index."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    """MuJoCo's velocities: of a free joint in the world."""
    torque: np.ndarray
    """Torques of the servo."""
    force: np.ndarray
    """Forces on the points, (steps, points, 3), in world axes [N]."""
    normal: np.ndarray
    constraint: np.ndarray
    """Generalised forces of all constraints."""
    push: np.ndarray
    seconds: float
    """CPU time within MuJoCo's own code."""
    failed: int = -1
    """Step at which it diverged; what follows repeats the last row."""


Reference = Callable[[np.ndarray, np.ndarray, int], np.ndarray | None]
"""Function of q, v and the step that returns the servo's reference by velocity index, or None."""


def traced(
    made: SceneFile,
    steps: int,
    dt: float,
    q: np.ndarray | None = None,
    reference: Reference | None = None,
) -> Trace:
    """Step the scene from its start, or at rest from a pose; one row more than steps.

    `reference` is asked before each step for the reference of the servo; None keeps the last one.
    """
    mj, (q0, v0) = module(), made.start
    if q is not None:
        q0, v0 = q, np.zeros_like(v0)
    model = handed_over(made.scene, dt, q0)
    data, layout = mj.MjData(model), CoordinateMap(model, made.robot)
    servo = made.control
    plan = None if servo is None else servo.resolved(made.robot, q0, True, dt)
    drive, pushes = Drive(model, layout, plan, dt), _Pushes(mj, model, made, dt)
    geoms = pair_geoms(model, made.scene)
    pairs = {both: geoms.index(both) for both in geoms}  # the first of those of a hull
    layout.write(data, positions_of(model, made.robot, q0), v0)
    rows, seconds, failed = [], 0.0, -1
    for step in range(steps + 1):
        q, v = layout.read(data)
        if not np.isfinite(v).all() or np.abs(v).max(initial=0.0) > MAX_SPEED:
            failed = step
            break
        if reference is not None and (goal := reference(q, v, step)) is not None:
            drive.q_ref = goal
        u, wanted = data.qvel[layout.dofs].copy(), drive.torque(q, v, step * dt)
        torque, pushed, took = _step(mj, model, data, layout, drive, pushes, wanted, step)
        seconds += took
        held = data.qfrc_constraint[layout.dofs].copy()
        rows.append((q, v, u, torque, *_forces(mj, model, data, pairs, len(geoms)), held, pushed))
    seconds *= (steps + 1) / len(rows)
    rows += [rows[-1]] * (steps + 1 - len(rows))
    q, v, u, torque, force, normal, held, pushed = map(np.array, zip(*rows, strict=True))
    return Trace(q, v, u, torque, force, normal, held, pushed, seconds, failed)


def _step(
    mj: Any,
    model: Any,
    data: Any,
    layout: CoordinateMap,
    drive: Drive,
    pushes: _Pushes,
    wanted: np.ndarray,
    step: int,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Make one step; return the servo's torque, the pushes' force, and MuJoCo's time [s].

    Joints at their torque limits are found in rounds.
    """
    start = data.qpos.copy(), data.qvel.copy(), data.qacc_warmstart.copy(), data.time
    side, took = np.zeros(len(wanted)), 0.0
    for turn in range(ROUNDS):
        held = side != 0
        drive.free(held)
        torque = np.where(held, side * np.where(held, drive.limit, 0.0), wanted)
        began = time.thread_time()
        mj.mj_step1(model, data)
        took += time.thread_time() - began if turn == 0 else 0.0
        data.qfrc_applied[:] = pushed = pushes.at(data, step)
        data.qfrc_applied[layout.dofs] += torque
        began = time.thread_time()
        mj.mj_step2(model, data)
        took += time.thread_time() - began if turn == 0 else 0.0
        gained = data.qvel[layout.dofs] - start[1][layout.dofs]
        asked = wanted - drive.slope * gained / model.opt.timestep
        torque = np.where(held, torque, asked)
        beyond = np.abs(asked) > drive.limit * (1 + 1e-12)
        stays = np.where((side * asked < drive.limit) & (turn < SETTLED), 0.0, side)
        following = np.where(held, stays, np.where(beyond, np.sign(asked), 0.0))
        if (following == side).all() or turn == ROUNDS - 1:
            break
        side = following
        data.qpos[:], data.qvel[:], data.qacc_warmstart[:], data.time = start
    return torque, pushed[layout.dofs], took


def _forces(
    mj: Any, model: Any, data: Any, pairs: dict[tuple[int, int], int], count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the forces on `count` points and their normal parts.

    MuJoCo gives the force on a contact's second geom.
    """
    force, normal, wrench = np.zeros((count, 3)), np.zeros(count), np.zeros(6)
    for i in range(data.ncon):
        contact = data.contact[i]
        mj.mj_contactForce(model, data, i, wrench)
        both = int(contact.geom[0]), int(contact.geom[1])
        sign = 1 if both in pairs else -1
        k = pairs[both if sign == 1 else both[::-1]]
        force[k] += sign * (contact.frame.reshape(3, 3).T @ wrench[:3])
        normal[k] += wrench[0]
    return force, normal


class _Pushes:
    """Pushes of the scene, on MuJoCo's bodies."""

    def __init__(self, mj: Any, model: Any, made: SceneFile, dt: float) -> None:
        self._mj, self._model = mj, model
        robot, ids = made.robot, body_ids(model, made.robot)
        self._rows = []
        for push in made.content.push:
            body = robot.body(push.body)
            place = robot.bodies[body].com if push.point is None else np.asarray(push.point)
            first = round(push.start / dt)
            last = first + max(1, round(push.duration / dt))
            self._rows.append((ids[body], np.asarray(push.force, dtype=float), place, first, last))

    def at(self, data: Any, step: int) -> np.ndarray:
        """Return the generalised force in a step, by MuJoCo's index."""
        found = np.zeros(self._model.nv)
        for body, force, place, first, last in self._rows:
            if first <= step < last:
                at = data.xpos[body] + data.xmat[body].reshape(3, 3) @ place
                self._mj.mj_applyFT(self._model, data, force, np.zeros(3), at, body, found)
        return found
