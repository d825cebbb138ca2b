"""Checks that a robot's masses and inertias can be simulated."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from heelstrike.robot.pose_kinematics import inertia_matrix
from heelstrike.robot.robot import Robot

RELATIVE_ROUNDING = 1e-9
"""Negative principal moment, or violation of the triangle inequality, that is attributed to
rounding, as a share of the trace [-]."""
ABSOLUTE_ROUNDING = 1e-15
"""The same in absolute terms [kg m^2]."""
MIN_INERTIA = 1e-18
"""Inertia moved by a joint below which it counts as none [kg m^2 or kg]."""
MIN_ARTICULATED_SHARE = 1e-13
"""Share of a joint's inertia that must remain when the joints beyond it are free [-]."""
SINGULAR_SHARE = 1e-9
"""The same share, below which a pose is singular [-]."""

POINT_SHARE = 1e-9
"""Squared radius of gyration below which a body is a point mass [m^2]."""


def is_point_mass(mass: float, inertia: np.ndarray) -> bool:
    """Return whether a body has a mass [kg] but no moments of inertia [kg m^2]."""
    return mass > 0 and bool(np.abs(inertia).max() <= POINT_SHARE * mass)


def inertia_fault(mass: float, inertia: np.ndarray) -> str | None:
    """Return what is wrong with a rigid body's mass [kg] and inertia [kg m^2], or None."""
    if not np.isfinite(mass) or not np.isfinite(inertia).all():
        return "a mass or inertia that is not finite"
    if mass < 0:
        return f"the negative mass {mass:g} kg"
    smallest = float(np.linalg.eigvalsh(inertia)[0])
    if smallest < -RELATIVE_ROUNDING * abs(np.trace(inertia)) - ABSOLUTE_ROUNDING:
        return f"an inertia with the negative principal moment {smallest:g} kg m^2"
    return None


def triangle_fault(inertia: np.ndarray) -> str | None:
    """Return a description of an inertia that violates A + B >= C, or None."""
    a, b, c = np.linalg.eigvalsh(inertia)
    if a < 0 or a + b >= c - RELATIVE_ROUNDING * (a + b + c) - ABSOLUTE_ROUNDING:
        return None
    return f"an inertia that no mass can have ({a:g} + {b:g} < {c:g} kg m^2); it is kept as it is"


def massless_joint(robot: Robot) -> str | None:
    """Return the name of a joint that moves no inertia in any pose, or None.

    Eliminating the inertia matrix from the leaves inward leaves on its diagonal what each joint
    moves while the joints beyond it are free (the D of articulated bodies). At a generic pose it
    vanishes only for a joint whose body, with all it carries, has no inertia; armature counts.
    """
    model = robot.model
    assert model is not None
    return _joint_without_inertia(robot, generic_inertia(model), MIN_ARTICULATED_SHARE)


def singular_joint(robot: Robot) -> tuple[str, str] | None:
    """Return a joint that moves almost no inertia in one of the robot's poses, and the pose.

    Point masses alone do this: three joints whose axes meet move a point mass in two directions.
    """
    model = robot.model
    assert model is not None
    for name, q in robot.poses.items():
        joint = _joint_without_inertia(robot, inertia_matrix(model, q), SINGULAR_SHARE)
        if joint is not None:
            return joint, name
    return None


def _joint_without_inertia(robot: Robot, inertia: np.ndarray, share: float) -> str | None:
    """Return a joint of whose inertia less than a share is left with the joints beyond it free."""
    H = inertia.copy()
    original = H.diagonal().copy()
    for i in range(robot.nv - 1, -1, -1):
        if original[i] <= MIN_INERTIA or H[i, i] <= share * original[i]:
            return next(j.name for j in robot.joints if i < j.v_slice.stop)
        H[:i, :i] -= np.outer(H[:i, i], H[i, :i]) / H[i, i]
    return None


def generic_inertia(model: pin.Model) -> np.ndarray:
    """Return the inertia matrix, with armature, at a fixed pose without symmetry."""
    step = np.random.default_rng(7).uniform(-1.0, 1.0, model.nv)
    q = pin.integrate(model, pin.neutral(model), step)
    return inertia_matrix(model, q)
