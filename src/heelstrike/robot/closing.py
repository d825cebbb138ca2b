"""Closing a pose: the nearest configuration in which all constraints of a robot hold.

    dq = -J^T (J J^T)^+ phi(q),      q <- q + dq        Newton's method, of least change of q

phi are the rows of the constraints (constraints.py) in world axes, J their Jacobian. Free bases do
not move unless a constraint with the world asks for it: only joints on the way to one matter. From
poses where the method stops, as from a mechanism that is stretched out, it starts again near by.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.constraints import Connect, Constraint, Distance, JointCoupling
from heelstrike.robot.robot import WORLD, Robot

ROUNDS = 50
"""Newton iterations, at most."""
CLOSED = 1e-10
"""Largest row of a closed pose [m, rad]."""
RANK = 1e-9
"""Singular values of J below this share of the largest count as none: rows that are redundant."""
NEARLY, LEFT = 1e-3, 1e-4
"""The same of rows that are nearly redundant, and what they may miss then [m, rad]: parts of a
planar mechanism that its file's digits do not place in one plane."""
SPREADS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.2, 1.6, 2.0)
"""Largest changes of velocity coordinates [rad, m] with which it starts again."""
LARGEST_STEP = 0.5
"""Largest change of a velocity coordinate in an iteration [rad, m]."""


def close(robot: Robot, q: np.ndarray, hold: tuple[str, ...] = ()) -> np.ndarray:
    """Return the closed configuration near q; joints whose names are in `hold` stay as they are.

    Raises HeelstrikeError if Newton's method does not find one.
    """
    moves = np.ones(robot.nv, dtype=bool)
    names = [joint.name for joint in robot.joints]
    for name in hold:
        if name not in names:
            raise HeelstrikeError(f"{robot.name} has no joint '{name}'", path="hold", value=name)
        moves[robot.joints[names.index(name)].v_slice] = False
    first = found = _newton(robot, np.array(q, dtype=float), moves)
    if not _is_closed(robot, found):
        near = _newton(robot, np.array(q, dtype=float), moves, NEARLY)
        if _miss(robot, near) < LEFT:
            return near
    random = np.random.default_rng(0)
    for spread in SPREADS:
        if _is_closed(robot, found):
            return found
        shift = np.where(moves & _reaching(robot), spread * random.uniform(-1, 1, robot.nv), 0.0)
        found = _newton(robot, pin.integrate(robot.model, np.asarray(q, dtype=float), shift), moves)
    if _is_closed(robot, found):
        return found
    raise HeelstrikeError(
        f"no pose near the given one closes the constraints of {robot.name}: "
        f"{worst(robot, first)} is left",
        path="constraints",
        value=float(np.abs(residual(robot, first)).max()),
        remedy="start from another pose, or hold fewer joints",
    )


def _newton(robot: Robot, q: np.ndarray, moves: np.ndarray, rank: float = RANK) -> np.ndarray:
    """Return where Newton's method comes to from q."""
    for _ in range(ROUNDS):
        if _is_closed(robot, q):
            break
        step = np.zeros(robot.nv)
        J = jacobian(robot, q)[:, moves]
        step[moves] = -np.linalg.pinv(J, rcond=rank) @ residual(robot, q)
        step *= min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), 1e-300))
        q = pin.integrate(robot.model, q, step)
    return q


def _is_closed(robot: Robot, q: np.ndarray) -> bool:
    return _miss(robot, q) < CLOSED


def _miss(robot: Robot, q: np.ndarray) -> float:
    return float(np.abs(residual(robot, q)).max(initial=0.0))


def _reaching(robot: Robot) -> np.ndarray:
    """Return which velocities move a row of a constraint in some pose, (nv,)."""
    random = np.random.default_rng(1)
    q = pin.integrate(robot.model, robot.neutral, random.uniform(-1, 1, robot.nv))
    return np.asarray(np.abs(jacobian(robot, q)).max(axis=0) > RANK)


def worst(robot: Robot, q: np.ndarray) -> str:
    """Return the constraint that misses most at q, and by how much, in words."""
    sizes = {
        c.name: float(np.abs(_rows(c, placed, q, robot)).max())
        for placed in [_placed(robot, q)]
        for c in robot.constraints
    }
    name = max(sizes, key=lambda key: sizes[key])
    return f"'{name}' by {sizes[name]:.3g}"


def residual(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return the rows of all constraints at q, one constraint after another [m, rad]."""
    placed = _placed(robot, q)
    rows = [_rows(constraint, placed, q, robot) for constraint in robot.constraints]
    return np.concatenate([np.zeros(0), *rows])


def jacobian(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return J, (rows, nv), with d residual / dt = J v where the constraints hold."""
    model = _model(robot)
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    found = [np.zeros((0, robot.nv))]
    for constraint in robot.constraints:
        if isinstance(constraint, JointCoupling):
            found.append(_coupling_row(robot, constraint, q))
            continue
        ends = (constraint.body, constraint.point), (constraint.other, constraint.other_point)
        both = [_motion(model, data, body, np.asarray(point)) for body, point in ends]
        J, places = both[0][0] - both[1][0], [both[0][1], both[1][1]]
        if isinstance(constraint, Distance):
            along = places[0] - places[1]
            J = along[None, :] @ J[:3] / np.linalg.norm(along)
        found.append(J[: constraint.size])
    return np.concatenate(found)


def _model(robot: Robot) -> pin.Model:
    assert robot.model is not None
    return robot.model


def _placed(robot: Robot, q: np.ndarray) -> dict[int, pin.SE3]:
    """Return the placements of all bodies, and of the world."""
    model = _model(robot)
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    return {WORLD: pin.SE3.Identity(), **{i: data.oMi[i + 1] for i in range(len(robot.bodies))}}


def _rows(
    constraint: Constraint, placed: dict[int, pin.SE3], q: np.ndarray, robot: Robot
) -> np.ndarray:
    if isinstance(constraint, JointCoupling):
        other = constraint.other
        x = 0.0 if other is None else q[robot.joints[other].iq] - constraint.other_reference
        wanted = np.polynomial.polynomial.polyval(x, constraint.coefficients or (0.0,))
        wanted += sum(factor * q[robot.joints[i].iq] for i, factor in constraint.more)
        return np.array([q[robot.joints[constraint.joint].iq] - constraint.reference - wanted])
    one, other_placement = placed[constraint.body], placed[constraint.other]
    apart = one.act(np.asarray(constraint.point)) - other_placement.act(
        np.asarray(constraint.other_point)
    )
    if isinstance(constraint, Connect):
        return np.asarray(apart)
    if isinstance(constraint, Distance):
        return np.array([np.linalg.norm(apart) - constraint.length])
    its = other_placement.rotation @ constraint.other_rotation
    turn = its @ pin.log3(its.T @ one.rotation @ constraint.rotation)
    return np.concatenate([apart, turn])


def _coupling_row(robot: Robot, coupling: JointCoupling, q: np.ndarray) -> np.ndarray:
    row = np.zeros((1, robot.nv))
    row[0, robot.joints[coupling.joint].iv] = 1.0
    if coupling.other is not None:
        other = robot.joints[coupling.other]
        slopes = np.polynomial.polynomial.polyder(coupling.coefficients or (0.0,))
        x = q[other.iq] - coupling.other_reference
        row[0, other.iv] = -np.polynomial.polynomial.polyval(x, slopes)
    for i, factor in coupling.more:
        row[0, robot.joints[i].iv] = -factor
    return row


def _motion(
    model: pin.Model, data: pin.Data, body: int, point: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the Jacobian (6, nv) of a point of a body, in world axes, and its place."""
    if body == WORLD:
        return np.zeros((6, model.nv)), point
    J = pin.getJointJacobian(model, data, body + 1, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    arm = data.oMi[body + 1].rotation @ point
    J[:3] -= pin.skew(arm) @ J[3:]
    return J, data.oMi[body + 1].translation + arm
