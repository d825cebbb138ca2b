"""Coefficients of friction of the laws of a recording.

mu_s bounds friction, mu_k applies to a sliding point; a law with one coefficient, mu, has both
alike. No friction law: zero. A law that names none of these: NaN, and so are the results that
depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def coefficients(
    info: Mapping[str, Any], owner: str, world: int, depth: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mu_s and mu_k under the law of a surface or body at some depths, of the same shape."""
    law = info["laws"][owner]
    if "membrane" in law and "rigid" in law:  # which of the two rubs is told by the depth
        below = depth > _value(info, f"{owner}.thickness", world)
        soft = _pair(info, law["membrane"], f"{owner}.membrane", world)
        hard = _pair(info, law["rigid"], f"{owner}.rigid", world)
        return np.where(below, hard[0], soft[0]), np.where(below, hard[1], soft[1])
    mu_s, mu_k = _pair(info, law, owner, world)
    return np.full(depth.shape, mu_s), np.full(depth.shape, mu_k)


def _pair(
    info: Mapping[str, Any], law: Mapping[str, Any], path: str, world: int
) -> tuple[float, float]:
    if "friction" in law and law["friction"] is None:
        return 0.0, 0.0
    inside = f"{path}.friction" if "friction" in law else path
    one = _value(info, f"{inside}.mu", world)
    mu_s, mu_k = (_value(info, f"{inside}.{name}", world, one) for name in ("mu_s", "mu_k"))
    return mu_s, mu_k


def _value(info: Mapping[str, Any], path: str, world: int, default: float = np.nan) -> float:
    """Return a parameter of one number, in one world."""
    if path in info["varied"]:
        return float(np.ravel(info["varied"][path])[world])
    values = np.atleast_1d(info["parameters"].get(path, default))
    return float(values[world, 0] if values.ndim == 2 else values[0])
