"""Placements and inertia matrix of a Pinocchio model at one pose.

Pinocchio's own `Data` has four tensors of nv^3 numbers, 900 MB for 300 joints; here memory grows as
the inertia matrix itself. In world axes about the world's origin, with the composite inertia I_i of
body i and all it carries [Featherstone2008], 6.2,

    H_ij = S_i^T I_i S_j,      j = i or an ancestor of i
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin


def placements_of(model: pin.Model, q: np.ndarray) -> list[pin.SE3]:
    """Return the placement of every joint's moving frame in the world; the first is the world's."""
    return _moved(model, q)[0]


def inertia_matrix(model: pin.Model, q: np.ndarray) -> np.ndarray:
    """Return the inertia matrix at q with armature, (nv, nv)."""
    placed, S = _moved(model, q)
    whole = [placed[i].act(model.inertias[i]).matrix() for i in range(model.njoints)]
    supports = np.zeros((model.njoints, model.nv), dtype=bool)
    for i in range(1, model.njoints):
        supports[i] = supports[model.parents[i]]
        supports[i, model.idx_vs[i] : model.idx_vs[i] + model.nvs[i]] = True
    H = np.zeros((model.nv, model.nv))
    for i in range(model.njoints - 1, 0, -1):
        own = slice(model.idx_vs[i], model.idx_vs[i] + model.nvs[i])
        H[own, supports[i]] = S[:, own].T @ whole[i] @ S[:, supports[i]]
        H[supports[i], own] = H[own, supports[i]].T
        whole[model.parents[i]] = whole[model.parents[i]] + whole[i]
    return H + np.diag(model.armature)


def _moved(model: pin.Model, q: np.ndarray) -> tuple[list[pin.SE3], np.ndarray]:
    """Return the placements, and the joints' axes S in the world about its origin, (6, nv)."""
    placed, S = [pin.SE3.Identity()], np.zeros((6, model.nv))
    for i in range(1, model.njoints):
        joint = model.joints[i]
        data = joint.createData()
        joint.calc(data, q)
        placed.append(placed[model.parents[i]] * model.jointPlacements[i] * data.M)
        own = slice(model.idx_vs[i], model.idx_vs[i] + model.nvs[i])
        S[:, own] = placed[i].action @ np.asarray(data.S).reshape(6, -1)
    return placed, S
