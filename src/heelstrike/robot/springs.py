"""Springs at joints and ranges of ball joints: data, traced by step/springs.py and cones.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Spring:
    """A spring at a joint, which pulls it to its rest with tau = -stiffness (q - rest).

    At a spherical joint q - rest is the rotation vector from rest to q, in the moving frame. A free
    joint has the same about its rotation, and a force towards the position of its rest.
    """

    joint: int
    """Index of the joint."""
    stiffness: float
    """[N m/rad or N/m]"""
    rest: np.ndarray
    """Coordinates of the joint at which the spring is relaxed, (nq of the joint,)."""


@dataclass(frozen=True, eq=False)
class Cone:
    """The range of a spherical joint: the largest angle by which it turns from its reference."""

    joint: int
    """Index of the joint."""
    angle: float
    """[rad]"""
