"""Inertias as ten numbers of a search, each set of which is one that a body can have.

Log-Cholesky parameters [Rucker2022]: with the pseudo-inertia about the centre of mass c

    Sigma = tr(I) / 2 - I = m U U^T,      U = [[r_x, s_xy, s_xz], [0, r_y, s_yz], [0, 0, r_z]]

any m > 0, r > 0, s and c give an inertia of some body, and every inertia has such numbers. A search
is over numbers above 0, so each stands for a factor x about the robot's own value (x = 1):

    mass     m = own x                       shear_*  s = own + r ln x
    size_*   r_i = own x                     com_*    c = own + r ln x         r: mean of own r_i

"BODY.inertia": (least, most) searches all ten; "BODY.inertia.com_x": (least, most) one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from heelstrike.contact.restitution import Floats
from heelstrike.errors import UnknownNameError
from heelstrike.identification.space import Search
from heelstrike.robot.robot import Body, Robot

END = ".inertia"
AXES = ("x", "y", "z")
SHEARS = {"shear_xy": (0, 1), "shear_yz": (1, 2), "shear_xz": (0, 2)}
NAMES = ("mass", *(f"size_{a}" for a in AXES), *SHEARS, *(f"com_{a}" for a in AXES))


def expanded(search: Search) -> dict[Any, tuple[float, float]]:
    """Return a search in which every "BODY.inertia" is replaced by its ten numbers."""
    found: dict[Any, tuple[float, float]] = {}
    for key, ends in search.items():
        if isinstance(key, str) and key.endswith(END):
            found |= {f"{key}.{name}": ends for name in NAMES}
        else:
            found[key] = ends
    return found


def assembled(robot: Robot, values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return parameters by path, in which factors of inertias have become "BODY.inertia".

    Args:
        robot: robot whose own inertias the factors are of.
        values: parameters by path, one value per set.

    Returns:
        Parameters by path: (sets,), and (sets, 10) of inertias.
    """
    found: dict[str, Floats] = {}
    factors: dict[str, dict[str, Floats]] = {}
    for path, value in values.items():
        body, inside, name = path.partition(f"{END}.")
        if not inside:
            found[path] = value
            continue
        if name not in NAMES:
            raise UnknownNameError("number of an inertia", name, NAMES, path=path)
        factors.setdefault(body, {})[name] = value
    for body, own in factors.items():
        found[f"{body}{END}"] = _numbers(robot.bodies[robot.body(body)], own)
    return found


def _numbers(body: Body, factors: Mapping[str, Floats]) -> Floats:
    """Return mass, centre of mass and moments xx yy zz xy xz yz of each set, (sets, 10)."""
    sets = len(next(iter(factors.values())))
    one = np.ones(sets)
    upper = upper_factor(body)
    size = float(np.diag(upper).mean())
    mass = body.mass * factors.get("mass", one)
    com = np.stack(
        [
            c + size * np.log(factors.get(f"com_{a}", one))
            for a, c in zip(AXES, body.com, strict=True)
        ],
        axis=-1,
    )
    found = np.zeros((sets, 3, 3))
    for i, axis in enumerate(AXES):
        found[:, i, i] = upper[i, i] * factors.get(f"size_{axis}", one)
    for name, (i, j) in SHEARS.items():
        found[:, i, j] = upper[i, j] + size * np.log(factors.get(name, one))
    sigma = mass[:, None, None] * found @ np.swapaxes(found, 1, 2)
    inertia = np.trace(sigma, axis1=1, axis2=2)[:, None, None] * np.eye(3) - sigma
    moments = [inertia[:, i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    return np.concatenate([mass[:, None], com, np.stack(moments, axis=-1)], axis=1)


def upper_factor(body: Body) -> Floats:
    """Return U of a body's inertia [m], upper triangular."""
    sigma = np.trace(body.inertia) / 2 * np.eye(3) - body.inertia
    lower = np.linalg.cholesky((sigma / body.mass)[::-1, ::-1])
    return np.asarray(lower[::-1, ::-1])
