"""Velocity of a contact point after one step of the acceleration that [Rengifo2009] imposes.

    y'' = -kp y - kv max(y', 0),    y = d - epsilon          (17), section V; d > 0 is depth

`rate_by_acceleration` uses the acceleration at the start of the step. `rate_by_motion` integrates
the equation:

    in     w = exp(-s t) (w0 C - (s w0 + kp y0) S),  s = kv / 2     until w = 0
    out    w = w0 cos(omega t) - omega y0 sin(omega t)              until y = 0, or w = 0 if y < 0

C and S are cosh(r t), sinh(r t) / r where r^2 = s^2 - kp > 0, else cos and sin with r^2 = kp - s^2.
In may be followed by out within a step, and out, where epsilon pulls, by in. For a point that came
in within the last step the motion starts at the instant of entry: a mass that comes and goes in one
step rebounds as the closed form says, at any dt.

The step moves a point by dt w, not along the path of the equation, so that its depth is off by up
to the path of one step. Where sqrt(kp) dt is not small that depth must not drive it out: no point
gets faster than it was, or than takes it a share 1 / (1 + kp dt^2) of the way to epsilon. So no
rebound exceeds 1, whatever kp, kv and dt.

A point that is slow, and would come out slowly, is led to epsilon at the rate of the equation,
sqrt(kp), by Euler's backward step:

    w+ = -sqrt(kp) y / (1 + sqrt(kp) dt)        where |w| < g dt  and  |w+| < g dt

Accelerations of 2 g at most do that, and rebounds faster than g dt are not touched by it. It is
linear in depth, so that the corners of a flat sole get the velocities of a rigid motion, whose
pressure is unique (docs/solver.md). The equation has one rate for points that go in and another for
those that come out: no rigid motion has these velocities where a sole rolls across its corners.
Three of four corners then carried it, by turns, with jumps of half of the weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.contact.law import SX, where

NEVER = 1e30
"""Time later than any step [s]."""
TINY = 1e-30
"""Offset that keeps divisors and roots away from zero."""
NEAR_CRITICAL = 1e-5
"""Smallest r / s: below it S loses its digits, and C and S are those of this r to 1e-10."""


@dataclass(frozen=True)
class Imposed:
    """Parameters of the equation, and constants that follow from them."""

    kp: SX
    kv: SX
    epsilon: SX
    dt: SX

    @property
    def omega(self) -> SX:
        return ca.fmax(ca.sqrt(self.kp), TINY)

    @property
    def s(self) -> SX:
        return 0.5 * self.kv

    @property
    def creeps(self) -> SX:
        """1 where the motion is overdamped."""
        s = self.s
        return s * s - self.kp > (NEAR_CRITICAL * s) ** 2

    @property
    def r(self) -> SX:
        s = self.s
        return ca.fmax(ca.sqrt(ca.fabs(s * s - self.kp)), NEAR_CRITICAL * s + TINY)


def rate_by_acceleration(c: Imposed, d: SX, w: SX) -> SX:
    """Return the depth rate after the step, by the acceleration at its start [m/s]."""
    return w - c.dt * (c.kp * (d - c.epsilon) + c.kv * ca.fmax(w, 0))


def rate_by_motion(c: Imposed, d: SX, w: SX, slow: SX | float = 0.0) -> SX:
    """Return the depth rate after the step, by the motion of the equation; d < 0 counts as 0 [m/s].

    A point slower than `slow` [m/s], before and after the step, is led to epsilon; one that leaves
    more slowly than that goes to epsilon and no further.
    """
    d = ca.fmax(d, 0)
    after, there = _followed(c, d, w), (c.epsilon - d) / c.dt
    drift = there / (1 + c.kp * c.dt * c.dt)
    bounded = ca.fmin(ca.fmax(after, ca.fmin(-ca.fabs(w), drift)), ca.fmax(w, drift))
    after = where(d < w * c.dt, after, bounded)
    led = _led(c, d)
    after = where(ca.fmax(ca.fabs(w), ca.fabs(led)) < slow, led, after)
    return where(after > -slow, ca.fmax(after, ca.fmin(there, 0)), after)


def _led(c: Imposed, d: SX) -> SX:
    """Return the velocity of a slow point after the step: linear in d [m/s]."""
    rate = ca.sqrt(c.kp)
    return rate * (c.epsilon - d) / (1 + rate * c.dt)


def _followed(c: Imposed, d: SX, w: SX) -> SX:
    """Return the velocity of the equation after the step [m/s]."""
    entered = d < w * c.dt
    y = where(entered, 0, d) - c.epsilon
    left = c.dt + where(entered, d / where(entered, w, 1), 0)

    out, inside = w < 0, y > 0
    # out until y = 0, or until w = 0 if that is behind; in until w = 0
    num = where(out, where(inside, c.omega * y, -w), c.r * w)
    den = where(out, where(inside, -w, -c.omega * y), c.s * w + c.kp * y)
    angle = ca.atan2(num, den)
    turn = angle / c.omega
    pulled = ca.logic_and(ca.logic_and(out, ca.logic_not(inside)), turn < left)
    skips = ca.logic_and(out, ca.logic_not(pulled))  # never goes in

    turned = -ca.sqrt(ca.fmax(y * y + (w / c.omega) ** 2, TINY))
    y_in, w_in = where(pulled, turned, y), where(out, 0, w)
    time = where(skips, 0, where(pulled, left - turn, left))
    stop = where(c.creeps, _stops(c, y_in, w_in), where(out, np.pi, angle) / c.r)
    spent = ca.fmin(time, stop)
    y_in, w_in = _damped(c, y_in, w_in, spent)

    y, w_out = where(skips, y, y_in), where(skips, w, w_in)
    time = where(skips, ca.fmin(left, turn), ca.fmin(time - spent, 0.5 * np.pi / c.omega))
    swing = c.omega * time
    return w_out * ca.cos(swing) - c.omega * y * ca.sin(swing)


def _stops(c: Imposed, y: SX, w: SX) -> SX:
    """Return the time at which an overdamped point going in comes to rest [s]."""
    rate = c.s + c.r
    fast, slow = rate * w + c.kp * y, c.kp / ca.fmax(rate, TINY) * w + c.kp * y
    ratio = ca.fmax(fast, TINY) / ca.fmax(slow, TINY)
    # kp = 0: w only tends to 0
    return where(slow < 0, NEVER, ca.log(ratio) / (2 * c.r))


def _damped(c: Imposed, y: SX, w: SX, t: SX) -> tuple[SX, SX]:
    """Return y and w after a time t of going in."""
    s, r = c.s, c.r
    rate = s + r
    slow = ca.exp(-where(c.creeps, c.kp / ca.fmax(rate, TINY), s) * t)
    fast = ca.exp(-rate * t)
    even = where(c.creeps, 0.5 * (slow + fast), slow * ca.cos(r * t))
    odd = where(c.creeps, 0.5 * (slow - fast), slow * ca.sin(r * t)) / r
    return y * even + (w + s * y) * odd, w * even - (s * w + c.kp * y) * odd
