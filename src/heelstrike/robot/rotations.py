"""Rotation matrices from the notations of robot files."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation


def euler(sequence: str, angles: np.ndarray) -> np.ndarray:
    """Return the matrix of Euler angles [rad]; lower case: moving axes, upper case: fixed axes."""
    matrix = np.eye(3)
    for letter, angle in zip(sequence, angles, strict=True):
        turn = Rotation.from_euler(letter.lower(), angle).as_matrix()
        matrix = matrix @ turn if letter.islower() else turn @ matrix
    return matrix


def turn_z_to(direction: np.ndarray) -> np.ndarray:
    """Return the smallest rotation that takes z to a direction, (3, 3)."""
    z = direction / np.linalg.norm(direction)
    axis = np.array([-z[1], z[0], 0.0])
    sine = np.linalg.norm(axis)
    axis = axis / sine if sine > 1e-10 else np.array([1.0, 0.0, 0.0])
    return Rotation.from_rotvec(np.arctan2(sine, z[2]) * axis).as_matrix()
