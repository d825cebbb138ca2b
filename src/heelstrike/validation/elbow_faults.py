"""Faults of the cube's data, looked for in the elbow's, without a simulator.

The cube's centre of mass lies off its middle, and its frame is turned from toss to toss
(cube_frames.py). If the elbow had such faults, its flights and first impacts would show them:

- Centres. In flight p + R1 a + R2 b falls on a parabola, with the files' position p, the rotations
  of both blocks, and a, b that say where the centre of mass is. With equal blocks whose centres of
  mass are in their middles, a is half of HINGE and b half of CENTRE; `centres` fits what they are
  off. Along y both blocks share the hinge's axis, so that only a sum is seen.
- Frames. A hinge on the other side, another sign or a quarter turn of its angle would give another
  path of the centre of mass: `readings` counts flights that such a reading explains better. (The
  blocks are alike: with the blocks swapped, frame and angle are the same.)
- Corners. A corner that is round touches later than a sharp one, so that the sharp corner of the
  nominal shape is below the board in an impact: `touching` measures its height.
- Inertias. What the blocks turn after an impact of a known impulse gives their moments: `moments`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from heelstrike.validation.elbow_physics import (
    FLIGHT,
    INERTIA,
    MASS,
    State,
    first_impacts,
    flights,
    hinge_impulses,
    least_squares,
)
from heelstrike.validation.elbow_recording import CENTRE, GRAVITY, HINGE, RATE, SHORT, SIGNS
from heelstrike.validation.measured_set import Cases, Floats

FREE = 0.2e-3
"""Largest scatter of a flight about the path that fits it best [m]; more tells of a touch."""
TELLS = 0.15e-3
"""Difference of two scatters that tells readings apart [m]."""
REDRAWN = 200
"""Samples of the bootstrap, over flights or impacts."""
READINGS = {
    "hinge on the other side": (-1, 1, 0),
    "sign of the hinge": (1, -1, 0),
    "hinge + 90 deg": (1, 1, 90),
    "hinge - 90 deg": (1, 1, -90),
    "hinge + 180 deg": (1, 1, 180),
}
"""Sign of y, sign of the hinge's angle, and what is added to it [deg]."""


@dataclass(frozen=True)
class Flight:
    """Poses q (frame, 8) of a flight after an impact."""

    q: Floats

    def left(self, rows: Floats) -> Floats:
        """Return what is left of rows (frame, ...) after the best straight line through them."""
        line = np.vander(np.arange(len(self.q)) - len(self.q) / 2, 2)
        return np.asarray(rows - np.tensordot(line @ np.linalg.pinv(line), rows, 1))

    def scatter(self, y: int = 1, hinge: int = 1, added: float = 0.0) -> float:
        """Return the scatter of the centre of mass about a parabola under a reading [m]."""
        left = self.left(self._path(y, hinge, added))
        return float(np.sqrt((left**2).sum() / (3 * (len(left) - 2))))

    def _path(self, y: int = 1, hinge: int = 1, added: float = 0.0) -> Floats:
        """Return the centre of mass of equal blocks, the fall taken out, (frame, 3)."""
        first, second = self._rotations(hinge, added)
        fallen = GRAVITY / 2 * (np.arange(len(self.q)) / RATE) ** 2
        com = self.q[:, :3] + SHORT / 2 * (first.apply(HINGE * [1, y, 1]) + second.apply(CENTRE))
        return np.asarray(com + np.outer(fallen, [0, 0, 1]))

    def _rotations(self, hinge: int = 1, added: float = 0.0) -> tuple[Rotation, Rotation]:
        first = Rotation.from_quat(self.q[:, 3:7])
        angle = hinge * self.q[:, 7:8] + np.radians(added)
        return first, first * Rotation.from_euler("y", angle)

    def equations(self) -> tuple[Floats, Floats]:
        """Return M, r of M x = r: x is what a is off along x, y, z, and b along x, z [m]."""
        first, second = (one.as_matrix() for one in self._rotations())
        axes = np.concatenate([first, second[:, :, [0, 2]]], axis=2)
        return self.left(axes).reshape(-1, 5), -self.left(self._path()).ravel()


def clear_flights(cases: Cases) -> list[Flight]:
    """Return the flights after an impact in which nothing touches, whatever the centres are."""
    found = []
    for flight in (Flight(q) for q in flights(cases) if len(q) >= FLIGHT):
        matrix, right = flight.equations()
        off = np.linalg.lstsq(matrix, right, rcond=0.05)[0]
        if np.sqrt(np.mean((right - matrix @ off) ** 2)) < FREE:
            found.append(flight)
    return found


def centres(found: Sequence[Flight]) -> tuple[Floats, Floats]:
    """Return what a is off along x, y, z, and b along x, z [m]; their standard errors."""
    return _fitted([flight.equations() for flight in found])


def readings(found: Sequence[Flight]) -> dict[str, tuple[int, int]]:
    """Return in how many flights a reading differs, and in how many of them it is the better."""
    own = np.array([flight.scatter() for flight in found])
    counts = {}
    for name, reading in READINGS.items():
        apart = np.array([flight.scatter(*reading) for flight in found]) - own
        counts[name] = int((np.abs(apart) > TELLS).sum()), int((apart < -TELLS).sum())
    return counts


def touching(impacts: Sequence[tuple[State, State]]) -> tuple[float, float]:
    """Return the mean height of the lowest corner at its impact and its standard error [m]."""
    heights = np.array([one.corners()[:, 2].min() for one, _ in impacts])
    return float(heights.mean()), float(heights.std(ddof=1) / np.sqrt(len(heights)))


def moments(impacts: Sequence[tuple[State, State]]) -> tuple[Floats, Floats]:
    """Return a block's principal moments over those of a solid one, and their standard errors.

    Of each impact: dL = r x p of the whole, and a hinge without friction, which passes no moment
    about its axis on to the block that was not hit.
    """
    return _fitted([_balance(*pair) for pair in impacts])


def _balance(one: State, two: State) -> tuple[Floats, Floats]:
    """Return M, r of M x = r with the factors x of the moments, over the size of r x p."""
    corners = one.corners()
    low = int(corners[:, 2].argmin())
    other = 1 if low < len(SIGNS) else 0
    p = 2 * MASS * (two.speed - one.speed)
    arm = np.cross(corners[low] - one.com, p)
    turned = _spins(two) - _spins(one)
    whole = arm - (_apart(two) - _apart(one))
    c1, c2, middle = one.centres()
    passed = two.momenta()[other] - one.momenta()[other]
    about = one.axis @ np.cross(middle - (c1, c2)[other], passed)
    matrix = np.vstack([turned.sum(axis=0), one.axis @ turned[other]])
    size = np.linalg.norm(arm)
    return matrix / size, np.append(whole, about) / size


def _spins(state: State) -> Floats:
    """Return the angular momentum of either block about its centre by moment, (2, 3, 3)."""
    both = (state.first, state.spin), (state.second, state.spin + state.rate * state.axis)
    return np.array([r.as_matrix() * (r.inv().apply(spin) * INERTIA) for r, spin in both])


def _apart(state: State) -> Floats:
    """Return the angular momentum of the two centres about the common one [N m s]."""
    one, two, _ = state.centres()
    p1, p2, *_ = state.momenta()
    return np.asarray(np.cross(two - one, p2 - p1) / 2)


def _fitted(equations: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return x of M x = r over all of them, and its standard error; outliers weigh less."""

    def solved(chosen: Sequence[tuple[Floats, Floats]]) -> Floats:
        matrices, rights = zip(*chosen, strict=True)
        return least_squares(np.concatenate(matrices), np.concatenate(rights))

    random = np.random.default_rng(0)
    drawn = random.integers(0, len(equations), (REDRAWN, len(equations)))
    spread = np.std([solved([equations[k] for k in row]) for row in drawn], axis=0)
    return solved(equations), np.asarray(spread)


def summary(cases: Cases) -> dict[str, Any]:
    """Return the numbers of these checks by name with unit."""
    free, impacts = clear_flights(cases), first_impacts(cases)
    (off, off_error), (over, over_error) = centres(free), moments(impacts)
    height, height_error = touching(impacts)
    left = np.median(hinge_impulses(impacts, over)[:, 0])
    told = [f"{name} {better} of {differ}" for name, (differ, better) in readings(free).items()]
    return {
        "flights that nothing touches, after an impact": len(free),
        "centre of mass off its place, block 1 along x, y, z, block 2 along x, z [mm]": _rounded(
            1e3 * off, 1
        ),
        "their standard errors [mm]": _rounded(1e3 * off_error, 1),
        "flights that another reading explains better, of those that tell": told,
        "height of the lowest corner at its first impact, and standard error [mm]": _rounded(
            1e3 * np.array([height, height_error]), 1
        ),
        "moments of inertia over solid ones, by first impacts": _rounded(over, 2),
        "standard errors of these": _rounded(over_error, 2),
        "moment of the hinge with these [N mm s], median": round(1e3 * float(left), 1),
    }


def _rounded(values: Floats, digits: int) -> list[float]:
    return [round(float(x), digits) + 0.0 for x in values]
