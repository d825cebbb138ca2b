"""Rows at joints: torques that are straight lines in the acceleration, in pieces.

    servo       clamp(now - slope a, -limit, limit)
    motor       the same between bounds that fall with the speed, and so with the acceleration
    friction    the same, steep enough to stop the joint
    stop        now - slope a where that pushes the joint back into its range, else 0

All fall as the acceleration grows, so that each is the gradient of a convex function. A state tells
on which piece a row is: 0 on its slope, else the sign of the torque that does not change; a stop
has 1 where it pushes, -1 where it does not.

`excess` tests the piece that is guessed, without slack and in as few operations as there can be: it
is done for every joint in every step, all else only for joints whose guess may be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from heelstrike.contact.law import SX, where
from heelstrike.ir.number import number
from heelstrike.ir.program import Program

SLACK = 1e-6
"""Share of its limit by which a torque may be beyond its piece."""
BARELY = 1e-3
"""Acceleration [rad/s^2, m/s^2] by which a joint may miss its stop, or be pulled by it."""


@dataclass(frozen=True)
class Clamp:
    """A torque clamp(anchor + now - slope a, -limit, limit) of a joint, as symbols."""

    now: SX
    """Torque at zero acceleration [N m or N]."""
    slope: SX
    """Decrease with the acceleration, >= 0 [kg m^2 or kg]."""
    limit: SX
    guess: SX | float = 0.0
    """State to begin with, 0 but for dry friction; a wrong one is undone."""
    anchor: SX | float = 0.0
    """Addition to `now`: of dry friction, the torque that holds the joint without moving it."""

    def kept(self, p: Program) -> Clamp:
        """Return the row with what is dear to compute as symbols; inside a block."""
        return replace(self, now=p.let("now", self.now), slope=p.let("slope", self.slope))

    def searched(self, p: Program) -> Clamp:
        """Return the row as symbols; inside a block."""
        kept = self.kept(p)
        slope, limit = p.let("slope", kept.slope), p.let("limit", self.limit)
        return replace(kept, slope=slope, limit=limit, guess=0.0)

    def free(self, a: SX) -> SX:
        """Return the torque without its limit."""
        return self.anchor + (self.now - self.slope * a)

    def at(self, a: SX) -> tuple[SX, SX]:
        """Return the torque at an acceleration, and its slope."""
        z = self.free(a)
        inside = ca.fabs(z) <= self.limit
        return self._clamped(z), where(inside, self.slope, 0)

    def state(self, a: SX) -> SX:
        """Return the state at an acceleration."""
        z = self.free(a)
        return where(z > self.limit, 1, where(z < -self.limit, -1, 0))

    def next_state(self, state: SX, a: SX, free: SX) -> SX:
        """Return the state at an acceleration; where `free`, 0 if that is not the next one."""
        new = self.state(a)
        return where(ca.logic_and(free, state * new < 0), 0, new)

    def line(self, state: SX) -> tuple[SX, SX]:
        """Return the torque at zero acceleration, and the slope, of a piece."""
        inside = state == 0
        now = where(inside, self.anchor + self.now, state * self.limit)
        return now, where(inside, self.slope, 0)

    def on(self, state: SX, a: SX) -> SX:
        """Return the torque of a piece at an acceleration."""
        return where(state == 0, self.free(a), state * self.limit)

    def excess(self, a: SX) -> SX:
        """Return a number above 0 where the torque may be beyond its limit."""
        return ca.fabs(self.free(a)) - self.limit

    def _clamped(self, z: SX) -> SX:
        return ca.fmax(-self.limit, ca.fmin(self.limit, z))

    def misses(self, state: SX, a: SX) -> SX:
        """Return whether the free torque is beyond its piece by more than its slack."""
        return self._beyond(state, a) > 0

    def _beyond(self, state: SX, a: SX) -> SX:
        inside, z = state == 0, self.free(a)
        most = where(inside, 1 + SLACK, SLACK - 1) * self.limit
        return where(inside, ca.fabs(z), -state * z) - most


@dataclass(frozen=True)
class DryFriction(Clamp):
    """Dry friction of a joint: a clamp that is steep in its speed."""

    still: float = 0.0
    """Acceleration by which a joint that slides may move back [rad/s^2, m/s^2]."""

    def kept(self, p: Program) -> DryFriction:
        return replace(self, now=p.let("now", self.anchor + self.now), anchor=0.0)

    def excess(self, a: SX) -> SX:
        """Return a number above 0 where the guessed piece may be wrong."""
        z, moves = self.free(a), self.limit - self.still * self.slope
        return where(SX(self.guess) == 0, ca.fabs(z) - self.limit, moves - self.guess * z)

    def _beyond(self, state: SX, a: SX) -> SX:
        inside, z = state == 0, self.free(a)
        most = where(inside, (1 + SLACK) * self.limit, self.still * self.slope - self.limit)
        return where(inside, ca.fabs(z), -state * z) - most


@dataclass(frozen=True)
class Bounded:
    """A torque now - slope a between two bounds, low - low_slope a and high - high_slope a."""

    now: SX
    """Torque at zero acceleration [N m or N]."""
    slope: SX
    """Decrease with the acceleration, >= 0 [kg m^2 or kg]."""
    low: SX
    high: SX
    """Bounds at zero acceleration [N m or N],"""
    low_slope: SX
    high_slope: SX
    """and their decrease with it."""
    scale: SX
    """Torque to whose share SLACK the bounds hold [N m or N]."""
    guess: SX | float = 0.0

    def kept(self, p: Program) -> Bounded:
        """Return the row with what is dear to compute as symbols; inside a block."""
        names = ("now", "low", "high", "low_slope", "high_slope")
        return replace(self, **{name: p.let(name, getattr(self, name)) for name in names})

    def searched(self, p: Program) -> Bounded:
        """Return the row as symbols; inside a block."""
        slope, scale = p.let("slope", self.slope), p.let("scale", self.scale)
        return replace(self.kept(p), slope=slope, scale=scale, guess=0.0)

    def at(self, a: SX) -> tuple[SX, SX]:
        """Return the torque at an acceleration, and its slope."""
        state = self.state(a)
        return self.on(state, a), self.line(state)[1]

    def state(self, a: SX) -> SX:
        """Return the state at an acceleration."""
        z = self.now - self.slope * a
        above, below = z > self.high - self.high_slope * a, z < self.low - self.low_slope * a
        return where(above, 1, where(below, -1, 0))

    def next_state(self, state: SX, a: SX, free: SX) -> SX:
        """Return the state at an acceleration; where `free`, 0 if that is not the next one."""
        new = self.state(a)
        return where(ca.logic_and(free, state * new < 0), 0, new)

    def line(self, state: SX) -> tuple[SX, SX]:
        """Return the torque at zero acceleration, and the slope, of a piece."""
        now = where(state == 0, self.now, where(state > 0, self.high, self.low))
        bound = where(state > 0, self.high_slope, self.low_slope)
        return now, where(state == 0, self.slope, bound)

    def on(self, state: SX, a: SX) -> SX:
        """Return the torque of a piece at an acceleration."""
        now, slope = self.line(state)
        return now - slope * a

    def misses(self, state: SX, a: SX) -> SX:
        """Return whether the free torque is beyond its piece by more than its slack."""
        z, slack = self.now - self.slope * a, SLACK * self.scale
        over = z - (self.high - self.high_slope * a)
        under = (self.low - self.low_slope * a) - z
        beyond = where(state == 0, ca.fmax(over, under), where(state > 0, -over, -under))
        return beyond > slack

    def excess(self, a: SX) -> SX:
        """Return a number above 0 where the torque may be beyond its bounds."""
        z = self.now - self.slope * a
        return ca.fmax(z - (self.high - self.high_slope * a), self.low - self.low_slope * a - z)


@dataclass(frozen=True)
class Stop:
    """A torque now - slope a of a stop where it pushes the joint back, else 0, as symbols."""

    now: SX
    slope: SX
    side: SX | float
    """1 for the upper end of the range, at which torques are negative, -1 for the lower."""
    guess: SX

    def kept(self, p: Program) -> Stop:
        """Return the row as symbols; inside a block."""
        kept = p.let("now", self.now), p.let("slope", self.slope), p.let("side", SX(self.side))
        return Stop(*kept, self.guess)

    def searched(self, p: Program) -> Stop:
        """Return the row as symbols; inside a block."""
        return replace(self.kept(p), guess=SX(0))

    def at(self, a: SX) -> tuple[SX, SX]:
        """Return the torque at an acceleration, and its slope."""
        z, pushes = self.now - self.slope * a, self.state(a) > 0
        return where(pushes, z, 0), where(pushes, self.slope, 0)

    def state(self, a: SX) -> SX:
        """Return the state at an acceleration."""
        return where(self.side * (self.now - self.slope * a) < 0, 1, -1)

    def next_state(self, state: SX, a: SX, free: SX) -> SX:
        """Return the state at an acceleration."""
        return self.state(a)

    def line(self, state: SX) -> tuple[SX, SX]:
        """Return the torque at zero acceleration, and the slope, of a piece."""
        return where(state > 0, self.now, 0), where(state > 0, self.slope, 0)

    def on(self, state: SX, a: SX) -> SX:
        """Return the torque of a piece at an acceleration."""
        return where(state > 0, self.now - self.slope * a, 0)

    def misses(self, state: SX, a: SX) -> SX:
        """Return whether the torque pulls, or is missing, by more than its slack."""
        pull = self.side * (self.now - self.slope * a)
        return state * pull > BARELY * self.slope


@dataclass(frozen=True)
class RangeStop(Stop):
    """The stop at the nearest end of a joint's range, which few joints come near.

    Whether it pushes without acceleration follows from where the joint gets; limits.py adds what
    the acceleration may change.
    """

    low: float
    """Lower end of the range, or -infinity [rad or m],"""
    high: float
    """and the upper one, or infinity."""
    reached: SX
    """Where the joint is after the step without acceleration [rad or m]."""
    ahead: SX
    """Duration of the step [s]."""

    def beyond(self) -> SX:
        """Return how far the joint gets beyond the range [rad or m]; below 0: it stays inside."""
        if self.low == -np.inf:
            return self.reached - number(self.high)
        if self.high == np.inf:
            return number(self.low) - self.reached
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        return ca.fabs(self.reached - number(middle)) - number(half)


Piecewise = Clamp | Bounded | Stop


@dataclass(frozen=True)
class JointRow:
    """Rows of one velocity index, and the state of their iteration (swept.py), as variables."""

    rows: tuple[Piecewise, ...]
    """Of servos, stops and dry friction."""
    fixed: SX
    """What else the diagonal of H has: armature and the slopes of straight torques."""
    slope: SX
    torque: SX
    """Torque of all of them at the best acceleration so far."""
    rho: SX
    """What the linearised torque misses of it."""

    def at(self, a: SX) -> tuple[SX, SX]:
        """Return torque and slope at an acceleration."""
        torque, slope = SX(0), SX(0)
        for row in self.rows:
            own, fall = row.at(a)
            torque, slope = torque + own, slope + fall
        return torque, slope


def joint_row(
    p: Program, rows: tuple[Piecewise, ...], fixed: SX, slope: SX, torque: SX
) -> JointRow:
    """Return a row with its variables; inside a block."""
    variables = p.variable("slope", slope), p.variable("torque", torque), p.variable("rho", SX(0))
    return JointRow(rows, fixed, *variables)
