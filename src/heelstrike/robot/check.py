"""Whether a robot can be simulated at all."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from heelstrike.robot.robot import Robot

NEGATIVE = 1e-9
"""A principal moment below -NEGATIVE times the trace is an error, above it is rounding; so is a
break of the triangle inequality up to NEGATIVE times the trace."""
ROUNDING = 1e-15
"""And so is a negative one as small as this [kg m^2]."""
SMALLEST = 1e-18
"""Inertia seen by a joint below which it counts as none [kg m^2 or kg]."""
DEPENDENT = 1e-13
"""Part of a joint's inertia that must be left when the joints it carries are free."""


def inertia_fault(mass: float, inertia: np.ndarray) -> str | None:
    """What is wrong with a rigid body's mass [kg] and inertia [kg m^2], in words."""
    if not np.isfinite(mass) or not np.isfinite(inertia).all():
        return "a mass or inertia that is not finite"
    if mass < 0:
        return f"the negative mass {mass:g} kg"
    smallest = float(np.linalg.eigvalsh(inertia)[0])
    if smallest < -NEGATIVE * abs(np.trace(inertia)) - ROUNDING:
        return f"an inertia with the negative principal moment {smallest:g} kg m^2"
    return None


def triangle_fault(inertia: np.ndarray) -> str | None:
    """Whether no distribution of mass has this inertia, A + B < C, in words."""
    a, b, c = np.linalg.eigvalsh(inertia)
    if a < 0 or a + b >= c - NEGATIVE * (a + b + c) - ROUNDING:
        return None
    return f"an inertia that no mass can have ({a:g} + {b:g} < {c:g} kg m^2); it is kept as given"


def unmoved_joint(robot: Robot) -> str | None:
    """The name of a joint that moves no inertia in any pose, or None.

    Eliminating the inertia matrix from the leaves inward leaves on its diagonal what each joint
    moves while the joints beyond it are free (the D of articulated bodies). At a generic pose it
    vanishes only for a joint whose body, with all it carries, resists nothing; armature counts.
    """
    model = robot.model
    assert model is not None
    H = generic_inertia(model)
    original = H.diagonal().copy()
    for i in range(robot.nv - 1, -1, -1):
        if original[i] <= SMALLEST or H[i, i] <= DEPENDENT * original[i]:
            return next(j.name for j in robot.joints if i < j.v_slice.stop)
        H[:i, :i] -= np.outer(H[:i, i], H[i, :i]) / H[i, i]
    return None


def generic_inertia(model: pin.Model) -> np.ndarray:
    """The inertia matrix, armature included, at a pose without symmetry; the same every time."""
    step = np.random.default_rng(7).uniform(-1.0, 1.0, model.nv)
    q = pin.integrate(model, pin.neutral(model), step)
    return inertia_matrix(model, q)


def inertia_matrix(model: pin.Model, q: np.ndarray) -> np.ndarray:
    """The whole inertia matrix at q, armature included; Pinocchio fills its upper triangle."""
    H = np.array(pin.crba(model, model.createData(), q))
    return np.triu(H) + np.triu(H, 1).T
