"""Many points that say the same: a grid under the bundled box."""

from __future__ import annotations

import numpy as np


def grid(n):
    """n x n points under the box, as hs.load takes them."""
    xs, ys = np.linspace(-0.1, 0.1, n), np.linspace(-0.05, 0.05, n)
    return [("box", (x, y, -0.05), 0.0) for x in xs for y in ys]
