"""Penetration, creep, chatter and spread of contacts under load.

    creep    = slope of a point's way over time, by least squares                  [um/s]
    chatter  = sum of |change of force from step to step| / (time  weight)         [1/s]
    spread   = standard deviation / mean of the normal forces of a body's points   [1]

The weight is the mean of the total normal force. The way along the surface is the sum of dt slip+,
so a belt's own way does not count; the way into it is the depth, > 0 sinks. A slope, not the ends:
a point that only swings creeps little.
"""

from __future__ import annotations

import numpy as np

from heelstrike.measure.residuals import largest
from heelstrike.measure.window import Window

MICRO = 1e6
HYPERSTATIC = 4
"""Number of points above which statics does not determine the forces of a plane contact."""


def penetration(w: Window) -> tuple[float, float]:
    """Return the largest depth, and the mean depth of the points that carry [m]."""
    inside = w.depth[:-1]
    carried = inside[w.loaded]
    mean = float(carried.mean()) if carried.size else float("nan")
    return largest(inside[w.touching]), mean


def creep(w: Window) -> tuple[np.ndarray, np.ndarray]:
    """Return the sinking and the creep along the surface of each point [um/s].

    They are NaN for points that do not carry all the time.
    """
    stays = w.loaded.all(axis=0)
    start = np.zeros((1, *w.slip.shape[1:]))
    way = np.concatenate([start, np.cumsum(w.slip, axis=0) * w.dt])
    sinking, along = slope(w.depth, w.dt), np.linalg.norm(slope(way, w.dt), axis=-1)
    return np.where(stays, MICRO * sinking, np.nan), np.where(stays, MICRO * along, np.nan)


def slope(values: np.ndarray, dt: float) -> np.ndarray:
    """Return the slope of the least-squares line through values in time, along the first axis."""
    t = dt * (np.arange(len(values)) - (len(values) - 1) / 2)
    return np.tensordot(t, values - values[0], axes=1) / (t @ t)


def chatter(w: Window) -> tuple[float, np.ndarray]:
    """Return the chatter of the total normal force and of each point's, over the same weight
    [1/s].
    """
    total = w.normal.sum(axis=1)
    weight = total.mean()
    if len(total) < 2 or weight <= 0:
        return float("nan"), np.full(len(w.points), np.nan)
    scale = weight * w.dt * (len(total) - 1)
    of_points = np.abs(np.diff(w.normal, axis=0)).sum(axis=0)
    return float(np.abs(np.diff(total)).sum() / scale), of_points / scale


def spread(w: Window) -> dict[str, float]:
    """Return the mean spread of each body over steps in which it stands on enough points, or
    NaN.
    """
    found = {}
    for body in dict.fromkeys(w.bodies):
        own = np.array([name == body for name in w.bodies])
        inside = w.touching[:, own]
        count = np.maximum(inside.sum(axis=1), 1)
        force = np.where(inside, w.normal[:, own], 0)
        mean = force.sum(axis=1) / count
        apart = np.where(inside, force - mean[:, None], 0)
        deviation = np.sqrt((apart**2).sum(axis=1) / count)
        stands = (count >= HYPERSTATIC) & (mean > 0)
        ratios = deviation[stands] / mean[stands]
        found[body] = float(ratios.mean()) if ratios.size else float("nan")
    return found
