"""Effective inertia at a joint or at contacts, in numbers, by Pinocchio.

    joint i     1 / (H^-1)_ii
    contacts    1 / lambda_max(A), A = J H^-1 J^T, J the normal rows of points that touch together

H includes the armature and what a servo adds to the diagonal. With closed loops, H^-1 at contacts
is the response that keeps J_c v of the constraints: H^-1 - H^-1 J_c^T (J_c H^-1 J_c^T)^+ J_c H^-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from heelstrike.robot.closing import jacobian
from heelstrike.robot.convert import to_pinocchio
from heelstrike.robot.robot import Robot

REDUNDANT = 1e-9
"""Eigenvalues of J_c H^-1 J_c^T below this share of the largest count as none."""


def joint_inertias(robot: Robot, q: np.ndarray, diagonal: np.ndarray | float = 0.0) -> np.ndarray:
    """Return the effective inertia of each joint by velocity index [kg m^2 or kg]."""
    return 1 / np.diag(np.linalg.inv(inertia_matrix(robot, q, diagonal)))


def carried_inertias(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return the inertia of the heavier side of each joint about its axis, by velocity index.

    It is what the joint moves where its other side is held, as by a foot that sticks [kg m^2, kg].
    """
    model = to_pinocchio(robot)
    data = model.createData()
    # columns in world axes, about its origin; of one velocity Pinocchio returns a vector
    axes = pin.computeJointJacobians(model, data, q).reshape(6, robot.nv)
    beyond = [data.oMi[k].act(model.inertias[k]).matrix() for k in range(model.njoints)]
    for k in range(model.njoints - 1, 0, -1):
        beyond[model.parents[k]] += beyond[k]
    found = np.zeros(robot.nv)
    for k in range(1, model.njoints):
        for i in range(model.idx_vs[k], model.idx_vs[k] + model.nvs[k]):
            sides = beyond[k], beyond[0] - beyond[k]
            found[i] = max(axes[:, i] @ side @ axes[:, i] for side in sides)
    return found + robot.armature


def inertia_matrix(robot: Robot, q: np.ndarray, diagonal: np.ndarray | float = 0.0) -> np.ndarray:
    """Return H with the armature and a further diagonal, (nv, nv)."""
    model = to_pinocchio(robot)
    model.armature = np.zeros(robot.nv)
    upper = np.triu(pin.crba(model, model.createData(), q))
    return upper + np.triu(upper, 1).T + np.diag(robot.armature + diagonal)


def kinetic_energy(robot: Robot, q: np.ndarray, v: np.ndarray) -> float:
    """Return the kinetic energy [J], that of the rotors included."""
    return float(v @ inertia_matrix(robot, q) @ v / 2)


def _response(
    robot: Robot, q: np.ndarray, diagonal: np.ndarray | float, forces: np.ndarray
) -> np.ndarray:
    """Return the velocities of the joints under impulses, one per column."""
    H = inertia_matrix(robot, q, diagonal)
    found = np.linalg.solve(H, forces)
    if robot.constraints:
        rows = jacobian(robot, q)
        moved = np.linalg.solve(H, rows.T)
        held = np.linalg.pinv(rows @ moved, rcond=REDUNDANT, hermitian=True)
        found = found - moved @ (held @ (rows @ found))
    return found


@dataclass(frozen=True)
class ActiveContact:
    """A contact: its normal and the places where it acts."""

    normal: np.ndarray
    """Unit vector in world axes, (3,)."""
    places: Sequence[tuple[int, np.ndarray]]
    """(body, place in its frame [m]) of the point and, on a body's surface, of that surface."""


def contact_mass(
    robot: Robot,
    q: np.ndarray,
    contacts: Sequence[ActiveContact],
    diagonal: np.ndarray | float = 0.0,
) -> float:
    """Return 1 / lambda_max(A) of contacts that act together [kg]."""
    return float(1 / np.linalg.eigvalsh(contact_block(robot, q, contacts, diagonal))[-1])


def struck_mass(
    robot: Robot,
    q: np.ndarray,
    contacts: Sequence[ActiveContact],
    diagonal: np.ndarray | float = 0.0,
) -> float:
    """Return the mass 1^T A^-1 1 that contacts stop if all of them strike at one speed [kg]."""
    block = contact_block(robot, q, contacts, diagonal)
    return float(np.linalg.pinv(block, rcond=1e-9, hermitian=True).sum())


def contact_compliances(
    robot: Robot,
    q: np.ndarray,
    places: Sequence[tuple[int, Sequence[np.ndarray]]],
    diagonal: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Return the velocity per impulse at places of bodies, each by itself [1/kg].

    There is a number for each body given with places: the mean over them and the axes.
    """
    model = to_pinocchio(robot)
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    inverse = _response(robot, q, diagonal, np.eye(robot.nv))
    found = []
    for body, positions in places:
        jacobian = pin.getJointJacobian(model, data, body + 1, pin.LOCAL_WORLD_ALIGNED)
        jacobian = jacobian.reshape(6, robot.nv)  # of one joint it comes as a vector
        traces = []
        for position in positions:
            lever = data.oMi[body + 1].rotation @ position
            rows = jacobian[:3] - pin.skew(lever) @ jacobian[3:]
            traces.append(np.trace(rows @ inverse @ rows.T) / 3)
        found.append(np.mean(traces))
    return np.array(found)


def contact_block(
    robot: Robot,
    q: np.ndarray,
    contacts: Sequence[ActiveContact],
    diagonal: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Return A = J H^-1 J^T of the contacts' normals [1/kg]."""
    model = to_pinocchio(robot)
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    rows = []
    for contact in contacts:
        row, sign = np.zeros(robot.nv), 1.0
        for body, place in contact.places:
            jacobian = pin.getJointJacobian(model, data, body + 1, pin.LOCAL_WORLD_ALIGNED)
            jacobian = jacobian.reshape(6, robot.nv)  # of one joint it comes as a vector
            lever = data.oMi[body + 1].rotation @ place
            row += sign * contact.normal @ (jacobian[:3] - pin.skew(lever) @ jacobian[3:])
            sign = -1.0
        rows.append(row)
    normals = np.array(rows)
    block = normals @ _response(robot, q, diagonal, normals.T)
    return np.asarray((block + block.T) / 2)
