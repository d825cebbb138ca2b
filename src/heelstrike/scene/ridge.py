"""Where ground that bulges between the ends of a capsule is nearest to it.

A capsule touches level ground with its ends, but a ridge of triangles or of a height field in
between. Each half of its axis is looked at alone, so that two ridges hold it. With the depth d(s)
of a sphere about the place a + s t on the axis, and its slope

    d'(s) = -nu . t            nu: normal of the ground there

at even places, not farther apart than SPACING, the deepest place of a half lies between two of them
where the slope changes its sign from plus to minus, about where their tangents meet:

    s = s_i + (d_j - d_i - d'_j h) / (d'_i - d'_j),      h = s_j - s_i

which is exact for a ridge between two slopes. Where one of both is too far from ground of triangles
to know a slope, s is where the nearest place of the ground to the other one is nearest to the axis:

    s = s_i + (r - d_i) d'_i / |t|^2

Of several such intervals the one with the deepest end counts, and the place is looked up
REPETITIONS times again. Ridges narrower than an interval may be missed.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.contact.law import where
from heelstrike.robot.robot import Point
from heelstrike.scene.surfaces import Mesh, Surface
from heelstrike.spatial.vector import SX

SPACING = 0.09
"""Largest distance of two places at first [m]: a mesh is known 3 cm farther than the radius, so
that one of two places knows of a ridge between them that the capsule touches."""
REPETITIONS = 3
"""How often the place is looked up again."""
BEND = 1e-3
"""Least change of slope at a ridge [-]; ground that is nearly flat has none."""
AT_END = 1e-6
"""Share of a half within which a place is its end."""
FAR = 1e3
"""Depth below all others [m]."""


@dataclass(frozen=True)
class Place:
    """A place on a half of an axis."""

    share: SX
    """s."""
    depth: SX
    """[m]"""
    slope: SX
    """d'(s) [m]; 0 where it is not known."""

    @property
    def numbers(self) -> tuple[SX, SX, SX]:
        return self.share, self.depth, self.slope


def place_on(surface: Surface, part: int, radius: float, share: SX, place: SX, way: SX) -> Place:
    """Return the place of a share of a `way`, in the frame of a surface; inside a block."""
    depth, axes = surface.depth_and_axes(place, radius, part)
    slope = -ca.dot(axes[2, :].T, way)
    if isinstance(surface, Mesh) and surface.reach is not None:
        slope = where(depth > radius - surface.reach, slope, 0)
    return Place(share, depth, slope)


@dataclass(frozen=True)
class Half:
    """A half of a capsule's axis, between whose ends a contact is sought."""

    number: int
    """0 or 1."""
    start: np.ndarray
    """In the frame of its body, (3,) [m]."""
    way: np.ndarray
    """To its end, (3,) [m]."""
    radius: float
    """[m]"""

    @property
    def length(self) -> float:
        """[m]"""
        return float(np.linalg.norm(self.way))

    @property
    def count(self) -> int:
        """Number of intervals at first."""
        return max(2, int(np.ceil(self.length / SPACING)))

    @property
    def rounds(self) -> int:
        """Places that are looked up."""
        return self.count + 1 + REPETITIONS

    def start_of_search(self) -> SX:
        """Return the state of the search before its first round: see `_Search`."""
        none = Place(SX(0), SX(0), SX(0))
        return _Search(SX(0), none, none, none, SX(-FAR), SX(0)).column

    def share(self, state: SX) -> SX:
        """Return the share that the next round looks up, after all the one that was found."""
        now = _Search.of(state)
        return where(now.round <= self.count, now.round / self.count, self._meeting(now))

    def after(self, state: SX, place: Place) -> SX:
        """Return the state after a round that looked up a place."""
        now = _Search.of(state)
        one = now.last
        rises = ca.logic_and(one.slope >= 0, place.slope <= 0)
        bends = one.slope - place.slope > BEND * self.length
        ridge = ca.logic_and(ca.logic_and(rises, bends), now.round > 0)
        depth = where(ridge, ca.fmax(one.depth, place.depth), -FAR)
        first = now.round <= self.count
        deeper = ca.logic_and(first, depth > now.best)
        left = ca.logic_and(ca.logic_not(first), place.slope > 0)
        right = ca.logic_and(ca.logic_not(first), place.slope <= 0)
        return _Search(
            now.round + 1,
            place,
            _chosen(left, place, _chosen(deeper, one, now.low)),
            _chosen(right, place, _chosen(deeper, place, now.high)),
            where(deeper, depth, now.best),
            where(now.round > 0, now.first_slope, place.slope),
        ).column

    def is_over(self, state: SX) -> SX:
        """Return 1 where no further round is needed."""
        now = _Search.of(state)
        none = ca.logic_and(now.round > self.count, now.best <= -FAR)
        return ca.logic_or(none, now.round >= self.rounds)

    def is_found(self, state: SX) -> SX:
        """Return 1 where there is a place, after all rounds."""
        now, share = _Search.of(state), self.share(state)
        inside = share > AT_END if self.number == 0 else share < 1 - AT_END
        if self.number == 1:  # a ridge between both halves is one of the first
            inside = ca.logic_and(inside, ca.logic_or(share > AT_END, now.first_slope > 0))
        return ca.logic_and(now.best > -FAR, inside)

    def _meeting(self, now: _Search) -> SX:
        """Return where the tangents of two places meet, or the ground nearest to the known one."""
        one, other = now.low, now.high
        drop = ca.fmax(one.slope - other.slope, BEND * self.length)
        tangents = other.depth - one.depth - other.slope * (other.share - one.share)
        share = one.share + tangents / drop
        share = where(other.slope == 0, self._nearest(one), share)
        share = where(one.slope == 0, self._nearest(other), share)
        return ca.fmin(ca.fmax(share, one.share), other.share)

    def _nearest(self, place: Place) -> SX:
        return place.share + (self.radius - place.depth) * place.slope / self.length**2


@dataclass(frozen=True)
class _Search:
    """State of a search for the deepest place, whose numbers a loop carries."""

    round: SX
    last: Place
    """Place of the round before."""
    low: Place
    """Place before the ridge."""
    high: Place
    """Place behind it."""
    best: SX
    """Depth of the deeper one [m]; -FAR: there is no ridge yet."""
    first_slope: SX
    """Slope at the start of the half [m]."""

    @property
    def column(self) -> SX:
        places = (x for own in (self.last, self.low, self.high) for x in own.numbers)
        return ca.vertcat(self.round, *places, self.best, self.first_slope)

    @classmethod
    def of(cls, column: SX) -> _Search:
        number, *places, best, first = ca.vertsplit(column)
        last, low, high = (Place(*places[3 * k : 3 * k + 3]) for k in range(3))
        return cls(number, last, low, high, best, first)


def half_of(point: Point) -> Half:
    """Return the half of a capsule that a contact point is sought in."""
    assert point.along is not None
    assert point.half is not None
    way = point.along / 2
    return Half(point.half, np.asarray(point.position + point.half * way), way, point.radius)


def _chosen(condition: SX, one: Place, other: Place) -> Place:
    pairs = zip(one.numbers, other.numbers, strict=True)
    return Place(*(where(condition, x, y) for x, y in pairs))
