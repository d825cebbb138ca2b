"""Closed forms of [Rengifo2009]: a ball that meets the ground, a brick on a ramp.

In contact the ball's depth obeys d'' = -kp d - kv max(d', 0), whatever its mass: a damped
oscillator in, an undamped one out. With zeta = kv / (2 sqrt(kp)), root = sqrt(|1 - zeta^2|) and
B = acos(zeta) / root (acosh above 1, 1 at 1):

    e = exp(-zeta B)      depth = e v_i / sqrt(kp)      contact = (B + pi/2) / sqrt(kp)

The brick obeys (5) with (7), (8): constant deceleration until v_s, then exp(-kv t).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
G = 9.81
"""[m/s^2]"""


def damping(kp: ArrayLike, kv: ArrayLike) -> Floats:
    """zeta; infinite at kp = 0."""
    kp, kv = np.asarray(kp, float), np.asarray(kv, float)
    return np.divide(
        kv, 2 * np.sqrt(kp), out=np.full(np.broadcast(kp, kv).shape, np.inf), where=kp > 0
    )


def _b(zeta: Floats) -> Floats:
    """B, with its limit at 1."""
    over = np.maximum(zeta, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        low = np.arccos(np.minimum(zeta, 1)) / np.sqrt(1 - np.minimum(zeta, 1) ** 2)
        high = np.arccosh(over) / np.sqrt(over**2 - 1)
    return np.where(np.abs(zeta - 1) < 1e-9, 1.0, np.where(zeta < 1, low, high))


def restitution(kp: ArrayLike, kv: ArrayLike) -> Floats:
    """e; 0 at kp = 0."""
    zeta = np.minimum(damping(kp, kv), 1e12)
    return np.where(np.asarray(kp, float) > 0, np.exp(-zeta * _b(zeta)), 0.0)


def depth(kp: ArrayLike, kv: ArrayLike, v: ArrayLike) -> Floats:
    """Greatest depth [m]; for good at kp = 0."""
    kp, kv, v = (np.asarray(x, float) for x in (kp, kv, v))
    held = v / np.where(kv > 0, kv, 1)
    return np.where(kp > 0, restitution(kp, kv) * v / np.sqrt(np.where(kp > 0, kp, 1)), held)


def contact_time(kp: ArrayLike, kv: ArrayLike) -> Floats:
    """[s]; infinite at kp = 0."""
    kp = np.asarray(kp, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (_b(np.minimum(damping(kp, kv), 1e12)) + np.pi / 2) / np.sqrt(kp)
    return np.where(kp > 0, found, np.inf)


def peak_acceleration(kp: ArrayLike, kv: ArrayLike, v: ArrayLike) -> Floats:
    """Return the largest acceleration of the ball [m/s^2]; its force is m (g + this)."""
    kp, kv, v = (np.asarray(x, float) for x in (kp, kv, v))
    zeta = np.minimum(damping(kp, kv), 0.5)
    later = np.sqrt(kp) * v * np.exp(-zeta * (3 * np.arccos(zeta) - np.pi) / np.sqrt(1 - zeta**2))
    return np.where(kv**2 >= kp, kv * v, later)


@dataclass(frozen=True)
class Brick:
    """A brick of 1 kg that slides down a ramp and is caught."""

    angle: float
    """[rad]"""
    mu: float
    kv: float
    v0: float

    @property
    def deceleration(self) -> float:
        """While it slides down [m/s^2]."""
        return G * (self.mu * np.cos(self.angle) - np.sin(self.angle))

    @property
    def v_s(self) -> float:
        """Speed below which friction is not saturated, downhill [m/s]."""
        return self.deceleration / self.kv

    @property
    def v_s_uphill(self) -> float:
        """Return the speed uphill, where (9) is wrong [m/s]."""
        return G / self.kv * (self.mu * np.cos(self.angle) + np.sin(self.angle))

    @property
    def caught(self) -> float:
        """Return the time at which v_s is reached [s]."""
        return (self.v0 - self.v_s) / self.deceleration

    @property
    def distance(self) -> float:
        """In all [m]."""
        return (self.v0**2 - self.v_s**2) / (2 * self.deceleration) + self.v_s / self.kv

    def velocity(self, t: ArrayLike) -> Floats:
        t = np.asarray(t, float)
        late = self.v_s * np.exp(-self.kv * np.maximum(t - self.caught, 0))
        return np.where(t < self.caught, self.v0 - self.deceleration * t, late)
