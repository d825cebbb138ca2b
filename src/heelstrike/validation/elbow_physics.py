"""What the elbow's poses say of its mechanics, without a simulator.

- In flight the angular momentum about the centre of mass is kept, whatever the hinge does: with
  solid blocks of equal mass it is, so poses, hinge and inertias are read as they were meant.
- In an impact of one corner, the change of angular momentum is r x p with the impulse p = m dv. So
  the impulse's line of action shows where the elbow was hit: with solid blocks not at its lowest
  corner, but some millimetres nearer to the middle of the block.
- What the hinge passes on to the block that was not hit has a moment about the hinge's axis,
  against the hinge's rotation: friction, or moments of inertia larger than those of solid blocks.
  elbow_faults.py measures the moments with which none is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from heelstrike.validation.elbow_recording import (
    CENTRE,
    GRAVITY,
    HINGE,
    LENGTH,
    RATE,
    SHORT,
    SIGNS,
    lowest,
)
from heelstrike.validation.measured_set import Cases, Floats

MASS = 0.37
"""Of a block [kg]; it scales all momenta alike."""
SIDES = SHORT * LENGTH * np.array([1.0, 0.5, 0.5])
CLEAR, FLIGHT, AROUND = 7e-3, 9, 2
"""Height of the lowest corner that counts as flight [m]; least number of its frames; frames on
either side through which a parabola is laid."""
SPINNING = 4.0
"""Least spin of a flight that is judged [rad/s]."""
AFTER, APART, ALONE = 7, 4e-3, 6e-3
"""Frames after an impact that give its velocities; largest distance of the paths before and after
at the time of the impact [m]; least height of the second lowest corner above the lowest [m]."""


def hollow(walls: float) -> Floats:
    """Return the principal moments of a block with walls of a thickness [kg m^2].

    Args:
        walls: thickness in true lengths [m]; SOLID fills the block.
    """
    hole = SIDES - 2 * SHORT * walls
    inside = hole.prod() / SIDES.prod()
    square = (SIDES**2 - inside * hole**2) / (12 * (1 - inside))  # mean of x^2, y^2, z^2
    return np.asarray(MASS * (square.sum() - square))


SOLID = LENGTH / 4
"""Half of the least side [m]."""
INERTIA = hollow(SOLID)


@dataclass(frozen=True)
class State:
    """Pose and velocities of the two blocks in the world."""

    com: Floats
    speed: Floats
    """Of the centre of mass [m/s]."""
    first: Rotation
    spin: Floats
    """Angular velocity of block 1 [rad/s]."""
    hinge: float
    rate: float

    @property
    def second(self) -> Rotation:
        """Rotation of block 2."""
        return self.first * Rotation.from_rotvec([0.0, self.hinge, 0.0])

    @property
    def axis(self) -> Floats:
        """Axis of the hinge."""
        return np.asarray(self.first.apply([0.0, 1.0, 0.0]))

    def centres(self) -> tuple[Floats, Floats, Floats]:
        """Return the centres of both blocks and the middle of the hinge [m]."""
        arm, far = self.first.apply(SHORT * HINGE), self.second.apply(SHORT * CENTRE)
        one = self.com - (arm + far) / 2
        return one, one + arm + far, one + self.first.apply(SHORT * HINGE * [1, 0.5, 1])

    def momenta(self, over: Floats | float = 1.0) -> tuple[Floats, Floats, Floats, Floats]:
        """Return momentum and angular momentum about its own centre, of either block.

        Args:
            over: principal moments over those of a solid block.
        """
        arm, far = self.first.apply(SHORT * HINGE), self.second.apply(SHORT * CENTRE)
        other = self.spin + self.rate * self.axis
        apart = np.cross(self.spin, arm) + np.cross(other, far)
        return (
            MASS * (self.speed - apart / 2),
            MASS * (self.speed + apart / 2),
            _turning(self.first, self.spin, over),
            _turning(self.second, other, over),
        )

    def angular_momentum(self) -> Floats:
        """Return the angular momentum about the centre of mass [N m s]."""
        one, two, *_ = self.centres()
        p1, p2, own1, own2 = self.momenta()
        relative = np.cross(two - one, p2 - p1) / 2
        return np.asarray(own1 + own2 + relative)

    def corners(self) -> Floats:
        """Return the corners of block 1 and of block 2, (16, 3) [m]."""
        one, two, _ = self.centres()
        own = SIGNS * SIDES / 2
        return np.concatenate([one + self.first.apply(own), two + self.second.apply(own)])


def _turning(rotation: Rotation, spin: Floats, over: Floats | float) -> Floats:
    """Return the angular momentum of a block about its centre [N m s]."""
    return np.asarray(rotation.apply(over * INERTIA * rotation.inv().apply(spin)))


def state(q: Floats, at: float, degree: int = 2) -> State:
    """Return the state at a time [frames] by polynomials through poses q (frame, 8) of a flight."""
    t = (np.arange(len(q)) - at) / RATE
    first = Rotation.from_quat(q[:, 3:7])
    middle = first[len(q) // 2]
    second = first * Rotation.from_rotvec(np.outer(q[:, 7], [0, 1, 0]))
    com = q[:, :3] + SHORT * (first.apply(HINGE) + second.apply(CENTRE)) / 2
    com[:, 2] += GRAVITY * t**2 / 2
    turned = (first * middle.inv()).as_rotvec()
    fitted = np.polynomial.polynomial.polyfit(t, np.column_stack([turned, q[:, 7]]), degree)
    line = np.polynomial.polynomial.polyfit(t, com, 1)
    now = Rotation.from_rotvec(fitted[0, :3])
    soon = Rotation.from_rotvec(fitted[0, :3] + 1e-5 * fitted[1, :3])
    spin = (soon * now.inv()).as_rotvec() / 1e-5
    return State(line[0], line[1], now * middle, spin, fitted[0, 3], fitted[1, 3])


def spans(q: Floats) -> list[tuple[int, int]]:
    """Return first frame and end of every stretch in the air, a frame off either touch."""
    free = np.concatenate([[False], lowest(q) > CLEAR, [False]])
    ends = np.flatnonzero(np.diff(free.astype(int)))
    return [(int(a) + 1, int(b) - 1) for a, b in zip(ends[::2], ends[1::2], strict=True)]


def flights(cases: Cases) -> list[Floats]:
    """Return the frames of flights after an impact."""
    tosses = [toss[np.isfinite(toss[:, 0])] for toss in cases.measured]
    return [q[a:b] for q in tosses for a, b in spans(q) if a > 1 and b - a >= FLIGHT - 2]


def kept_in_flight(cases: Cases) -> Floats:
    """Return the change of the angular momentum in each flight after an impact, over its size."""
    found = []
    for q in flights(cases):
        inside = range(AROUND, len(q) - AROUND)
        states = [state(q[k - AROUND : k + AROUND + 1], AROUND) for k in inside]
        if max(np.linalg.norm(one.spin) for one in states) < SPINNING:
            continue
        momenta = np.array([one.angular_momentum() for one in states])
        middle = np.median(momenta, axis=0)
        apart = np.linalg.norm(momenta - middle, axis=1)
        found.append(np.median(apart) / np.linalg.norm(middle))
    return np.array(found)


def first_impacts(cases: Cases) -> list[tuple[State, State]]:
    """Return the states before and after those first impacts that a single corner makes."""
    found = []
    for toss, v0 in zip(cases.measured, cases.given["v0"], strict=True):
        q = toss[np.isfinite(toss[:, 0])]
        near = int(np.argmax(lowest(q) < CLEAR))
        best, least = None, APART
        for last in range(max(1, near - 1), near + 2):
            after = q[last + 1 : last + 1 + AFTER]
            if len(after) < AFTER or lowest(after[1:]).min() < CLEAR / 2:
                continue
            for at in np.linspace(last, last + 1, 6):
                pair = flown(q[0], v0, at), state(after, at - last - 1)
                if (miss := _apart(*pair)) < least:
                    best, least = pair, miss
        if best is not None and np.diff(np.sort(best[0].corners()[:, 2]))[0] > ALONE:
            found.append(best)
    return found


def flown(q: Floats, v0: Floats, frames: float) -> State:
    """Return the state some frames after a start, block and hinge turning at constant rates."""
    t, start = frames / RATE, Rotation.from_quat(q[3:7])
    spin, hinge, rate = start.apply(v0[3:6]), q[7] + v0[6] * t, v0[6]
    speed = start.apply(v0[:3]) - [0, 0, GRAVITY * t]
    first = Rotation.from_rotvec(spin * t) * start
    base = q[:3] + start.apply(v0[:3]) * t - [0, 0, GRAVITY * t**2 / 2]
    arm = first.apply(SHORT * HINGE)
    far = (first * Rotation.from_rotvec([0, hinge, 0])).apply(SHORT * CENTRE)
    apart = np.cross(spin, arm) + np.cross(spin + rate * first.apply([0, 1, 0]), far)
    return State(base + (arm + far) / 2, speed + apart / 2, first, spin, hinge, rate)


def _apart(one: State, other: State) -> float:
    """Return how far two states are from one pose [m]."""
    turned = float(np.linalg.norm((one.first * other.first.inv()).as_rotvec()))
    bent = abs(float(np.angle(np.exp(1j * (one.hinge - other.hinge)))))
    return float(np.linalg.norm(one.com - other.com)) + LENGTH / 3 * (turned + bent)


def inward(impacts: list[tuple[State, State]]) -> Floats:
    """Return how far inside the lowest corner impulses act, along the axes of a block [m].

    Least squares of r x p + sum d_i (n_i x p) = dL over all impacts, with axes n_i from the corner
    into the block; outliers weigh less.
    """
    rows, values = [], []
    for one, two in impacts:
        p = 2 * MASS * (two.speed - one.speed)
        corners = one.corners()
        low = int(corners[:, 2].argmin())
        axes = (one.first if low < len(SIGNS) else one.second).as_matrix()
        inside = -SIGNS[low % len(SIGNS)] * axes
        rows.append(np.cross(inside, p, axisa=0).T)
        changed = two.angular_momentum() - one.angular_momentum()
        values.append(changed - np.cross(corners[low] - one.com, p))
    return least_squares(np.concatenate(rows), np.concatenate(values))


def least_squares(matrix: Floats, right: Floats) -> Floats:
    """Return x of M x = r, where what is left beyond three times its median weighs less."""
    weight = np.ones(len(right))
    for _ in range(20):
        x = np.linalg.lstsq(matrix * weight[:, None], right * weight, rcond=None)[0]
        left = np.abs(right - matrix @ x)
        weight = 1 / np.sqrt(1 + (left / (3 * np.median(left))) ** 2)
    return np.asarray(x)


def hinge_impulses(impacts: list[tuple[State, State]], over: Floats | float = 1.0) -> Floats:
    """Return moments about the hinge's axis that a block gets through it, (impact, 2) [N m s].

    Of the block that was not hit: along the rotation of the hinge after the impact, which friction
    makes negative, and its change of angular momentum about the axis with which it compares; `over`
    as in `State.momenta`.
    """
    found = []
    for one, two in impacts:
        hit_first = one.corners()[:, 2].argmin() < len(SIGNS)
        c1, c2, middle = one.centres()
        before, after = one.momenta(over), two.momenta(over)
        k, sign, centre = (1, 1.0, c2) if hit_first else (0, -1.0, c1)
        force, turned = after[k] - before[k], after[2 + k] - before[2 + k]
        moment = one.axis @ (turned - np.cross(middle - centre, force))
        found.append((sign * np.sign(two.rate) * moment, abs(one.axis @ turned)))
    return np.array(found)


def summary(cases: Cases) -> dict[str, Any]:
    """Return the numbers of these checks by name with unit."""
    impacts = first_impacts(cases)
    moments = hinge_impulses(impacts)
    flights = kept_in_flight(cases)
    return {
        "flights after an impact": len(flights),
        "angular momentum, change in a flight [%], median": round(
            100 * float(np.median(flights)), 1
        ),
        "first impacts of one corner": len(impacts),
        "impulses act inside the corner, along x, y, z [mm]": [
            round(1e3 * float(d), 1) for d in inward(impacts)
        ],
        "moment of the hinge along its rotation, in an impact [N mm s], median": round(
            1e3 * float(np.median(moments[:, 0])), 1
        ),
        "beside a change of angular momentum of [N mm s], median": round(
            1e3 * float(np.median(moments[:, 1])), 1
        ),
    }
