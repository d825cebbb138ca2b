"""The task that is there when no other is given: to stay upright, and to move little for it.

    reward = -g_z - |action|^2 / (10 n) - |v_level|^2 / 10           g_z = -1 upright, v of the base
    fell   = height < 0.7 height at the start, or a tilt of more than 60 degrees

A robot whose base stands still in the world is rewarded for joints near the start's, and never
falls.
"""

from __future__ import annotations

from typing import Any

from heelstrike.environments.seen import Seen

LOW, TILT = 0.7, 0.5


def observation(s: Seen) -> Any:
    """Height [m], gravity's direction, all velocities, joint positions, forces over the weight."""
    parts = ["height", "gravity"] if s.floating else []
    return s.joined(*parts, "v", "joints", *(["load"] if s.bodies else []))


def reward(s: Seen) -> Any:
    """About 1 for every step upright."""
    effort = s.xp.einsum("ij,ij->i", s.action, s.action) / (10 * s.action.shape[1])
    if not s.floating:
        return 1 - (s.joints**2).sum(1) - effort
    along, across = s.twist[:, 0], s.twist[:, 1]
    return -s.gravity[:, 2] - effort - 0.1 * (along * along + across * across)


def fell(s: Seen) -> Any:
    """Whether the base is low, or tilted."""
    if not s.floating:
        return s.failed
    return (s.height < LOW * s.start_height) | (s.gravity[:, 2] > -TILT)
