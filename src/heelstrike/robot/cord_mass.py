"""The mass that a tendon from point to point moves along its line, and the steps that it allows.

    1 / m = J H^-1 J^T        J: rates of the length

m is the smallest at a pose and at random ones around it; constraints, which only add to it, are
left out.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf, sqrt

import numpy as np
import pinocchio as pin

from heelstrike.robot.actuators import Path, SpatialTendon
from heelstrike.robot.robot import WORLD, Robot

POSES = 9
"""Poses at which the mass is computed."""
SPREAD = 0.3
"""Largest change of a velocity coordinate between them [rad, m]."""


def cord_mass(robot: Robot, path: Path, q: np.ndarray) -> float:
    """Return the smallest mass that a tendon moves at q and around it [kg]."""
    model, random = _model(robot), np.random.default_rng(0)
    mobility = 1 / robot.mass
    for k in range(POSES):
        change = SPREAD * (k > 0) * random.uniform(-1, 1, robot.nv)
        place = pin.integrate(model, np.asarray(q, dtype=float), change)
        J, H = _rate(robot, path, place), _inertia(robot, place)
        mobility = max(mobility, float(J @ np.linalg.solve(H, J)))
    return 1 / mobility


def largest_step(tendon: SpatialTendon, mass: float) -> float:
    """Return the time step below which its spring and damper are stable [s].

    It is where dt^2 k + 2 dt c = 4 m, the limit of the symplectic step.
    """
    k, c = tendon.stiffness, tendon.damping
    if not k:
        return 2 * mass / c if c else inf
    return (sqrt(c * c + 4 * k * mass) - c) / k


def _model(robot: Robot) -> pin.Model:
    assert robot.model is not None
    return robot.model


def _inertia(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return the inertia matrix with armature, (nv, nv)."""
    model = _model(robot)
    upper = np.triu(pin.crba(model, model.createData(), q))
    H = upper + np.triu(upper, 1).T
    return np.asarray(H + np.diag(robot.armature - np.asarray(model.armature)))


def _rate(robot: Robot, path: Path, q: np.ndarray) -> np.ndarray:
    """Return J, (nv,): the rate of the length of a path."""
    model = _model(robot)
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    ends = []
    for body, point in path:
        if body == WORLD:
            ends.append((point, np.zeros((3, robot.nv))))
            continue
        J = pin.getJointJacobian(model, data, body + 1, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        arm = data.oMi[body + 1].rotation @ point
        ends.append((data.oMi[body + 1].translation + arm, J[:3] - pin.skew(arm) @ J[3:]))
    total = np.zeros(robot.nv)
    for (p, one), (r, other) in pairwise(ends):
        gap = float(np.linalg.norm(r - p))
        if gap > 0:
            total += (r - p) / gap @ (other - one)
    return total
