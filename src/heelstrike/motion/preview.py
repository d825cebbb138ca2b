"""Preview control: a path of the centre of mass for a wanted path of the ZMP.

A cart on a table at height z:  zmp = x - (z / g) x'',  steered by its jerk u. Preview control
minimises sum of Q (zmp - wanted)^2 + R u^2 over all future,

    u = -G_i sum(zmp - wanted) - G_x (x, x', x'') + sum_j G_p(j) wanted(k + j)

[Kajita2003] S. Kajita et al., Biped walking pattern generation by using preview control of
zero-moment point, ICRA 2003, 1620-1626.
"""

from __future__ import annotations

import numpy as np

PREVIEW_TIME = 1.6
"""Preview time [s], for a centre of mass as high as an adult-size humanoid's."""


def follow(wanted: np.ndarray, height: float, gravity: float, dt: float) -> np.ndarray:
    """Return the positions of the centre of mass along one axis for ZMPs wanted at every dt.

    It begins and ends at rest over the first and last ZMP.
    """
    ahead = round(PREVIEW_TIME / dt)
    a = np.array([[1, dt, dt * dt / 2], [0, 1, dt], [0, 0, 1]])
    b = np.array([dt**3 / 6, dt * dt / 2, dt])
    c = np.array([1, 0, -height / gravity])
    integral, state, preview = _gains(a, b, c, ahead)
    x, total = np.array([wanted[0], 0, 0]), 0.0
    future = np.concatenate([wanted, np.full(ahead + 1, wanted[-1])])
    places = np.empty(len(wanted))
    for k in range(len(wanted)):
        places[k] = x[0]
        total += c @ x - future[k]
        x = a @ x + b * (-integral * total - state @ x + preview @ future[k + 1 : k + 1 + ahead])
    return places


def _gains(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, ahead: int, weight: float = 1e-6
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the gains of the integral, the state and the preview; `weight` is R / Q."""
    from scipy.linalg import solve_discrete_are

    entry = np.concatenate([[c @ b], b])
    free = np.zeros((4, 4))
    free[0, 0], free[0, 1:], free[1:, 1:] = 1, c @ a, a
    error = np.zeros((4, 4))
    error[0, 0] = 1
    cost = solve_discrete_are(free, entry[:, None], error, np.array([[weight]]))
    scale = 1 / (weight + entry @ cost @ entry)
    gain = scale * entry @ cost @ free
    closed = free - np.outer(entry, gain)
    seen = closed.T @ cost @ np.array([1.0, 0, 0, 0])
    preview = np.empty(ahead)
    preview[0] = gain[0]
    for j in range(1, ahead):
        preview[j] = scale * entry @ seen
        seen = closed.T @ seen
    return float(gain[0]), gain[1:], preview
