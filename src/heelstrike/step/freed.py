"""Numbers of a robot that become run-time parameters when they are assigned or varied.

    BODY.inertia     mass [kg], centre of mass x y z [m], inertia about it xx yy zz xy xz yz
                     [kg m^2], in the body's frame
    BODY.com         centre of mass x y z [m] alone, in the body's frame
    JOINT.armature   inertia of the rotor at the joint [kg m^2, kg] of a joint of one freedom
    JOINT.damping    viscous damping [N m s/rad, N s/m] of a joint of one freedom that has some
    JOINT.friction   dry friction [N m, N] of a joint of one freedom that has some

A joint without damping or friction is traced without, so that it has no such path. An inertia must
be one of a body: a mass above 0 and principal moments that no mass distribution exceeds, which is
that the pseudo-inertia, [[Sigma, 0], [0, m]] about the centre of mass with Sigma = tr(I) / 2 - I,
is positive definite [Rucker2022].
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from heelstrike.robot.robot import Body, Robot
from heelstrike.spatial.vector import SX

INERTIA, COM, ARMATURE = ".inertia", ".com", ".armature"
DAMPING, FRICTION = ".damping", ".friction"
"""Ends of the paths."""
MOMENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Entries of an inertia in their order."""


def freeable(robot: Robot) -> dict[str, np.ndarray]:
    """Return the values of all numbers of a robot that may become parameters, by path."""
    heavy = [body for body in robot.bodies if body.mass > 0]
    found = {f"{body.name}{INERTIA}": numbers(body) for body in heavy}
    found |= {f"{body.name}{COM}": np.array(body.com, dtype=float) for body in heavy}
    for joint in robot.joints:
        if joint.nv == 1:
            found[f"{joint.name}{ARMATURE}"] = robot.armature[joint.iv : joint.iv + 1]
            for end, values in ((DAMPING, robot.damping), (FRICTION, robot.friction)):
                if values[joint.iv] > 0:
                    found[f"{joint.name}{end}"] = values[joint.iv : joint.iv + 1]
    return found


def numbers(body: Body) -> np.ndarray:
    """Return mass, centre of mass and moments of a body, (10,)."""
    moments = [body.inertia[i, j] for i, j in MOMENTS]
    return np.array([body.mass, *body.com, *moments], dtype=float)


def is_physical(values: np.ndarray) -> np.ndarray:
    """Return whether rows of ten numbers, (..., 10), are inertias that a body can have."""
    inertia = np.empty((*values.shape[:-1], 3, 3))
    for k, (i, j) in enumerate(MOMENTS):
        inertia[..., i, j] = inertia[..., j, i] = values[..., 4 + k]
    half = np.trace(inertia, axis1=-2, axis2=-1)[..., None, None] / 2
    least = np.linalg.eigvalsh(half * np.eye(3) - inertia)[..., 0]
    return np.asarray((values[..., 0] > 0) & (least > 0))


def of_joints(robot: Robot, end: str, constant: np.ndarray, freed: Mapping[str, SX]) -> SX:
    """Return armature, damping or friction by velocity index, freed ones as symbols."""
    found = SX(constant)
    for joint in robot.joints:
        if (path := f"{joint.name}{end}") in freed:
            found[joint.iv] = freed[path]
    return found
