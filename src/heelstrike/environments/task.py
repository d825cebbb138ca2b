"""The default task: stay upright with small actions.

    reward = -g_z - |action|^2 / (10 n) - |v_level|^2 / 10           g_z = -1 upright, v of the base
    fell   = height < 0.7 height at the start, or a tilt of more than 60 degrees

A robot with a fixed base is rewarded for joints near their start, and never falls.
"""

from __future__ import annotations

from heelstrike.environments.arrays import Array
from heelstrike.environments.observation import Observation

MIN_HEIGHT = 0.7
"""Smallest height of the base over its height at the start."""
MIN_UPRIGHT = 0.5
"""Cosine of the largest tilt, 60 degrees."""


def observation(s: Observation) -> Array:
    """Return height, gravity's direction, velocities, joint positions and scaled foot forces."""
    parts = ["height", "gravity"] if s.floating else []
    return s.joined(*parts, "v", "joints", *(["foot_load"] if s.bodies else []))


def reward(s: Observation) -> Array:
    """Return about 1 for every action upright."""
    effort = s.xp.einsum("ij,ij->i", s.action, s.action) / (10 * s.action.shape[1])
    if not s.floating:
        return 1 - (s.joints**2).sum(1) - effort
    x, y = s.twist[:, 0], s.twist[:, 1]
    return -s.gravity[:, 2] - effort - 0.1 * (x * x + y * y)


def fell(s: Observation) -> Array:
    """Return the mask of worlds whose base is low or tilted."""
    if not s.floating:
        return s.failed
    return (s.height < MIN_HEIGHT * s.start_height) | (s.gravity[:, 2] > -MIN_UPRIGHT)
