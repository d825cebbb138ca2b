"""Stairs: treads and risers, each of which a point touches by its own contact.

With s along `direction` and z up from `point`, the foot of the first riser, step k has its riser at
s = k run and its tread at z = (k + 1) rise, k = 0 ... count - 1.

    k = floor(s / run)                 the step whose tread is below or above the point
    k = k - 1                          where the point is nearer to the riser of that step than to
                                       its tread, s - k run < (k + 1) rise - z: it came from before
    d = (k + 1) rise - z               on the treads, normal up
    d = s - (k + 1) run                on the risers, normal against `direction`

A point near the edge of a tread, its nose, thus leaves by the nearer of the two faces. In the inner
corner, where a tread meets the next riser, both faces hold it and no other face pushes it. A sphere
touches a nose along the line to its centre; it should be smaller than a step.

The flight ends without a face at its sides, behind its last tread, and one rise below its foot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import casadi as ca
import numpy as np

from heelstrike.parameters import check_numbers, static
from heelstrike.scene.surfaces.base import Surface, axes_of, ends_at
from heelstrike.scene.surfaces.solid import Solid
from heelstrike.spatial.vector import SX, constant, cross

TREADS, RISERS = 0, 1


@dataclass(frozen=True)
class Stairs(Surface):
    """Stairs that rise along `direction`; `point` is the middle of the first riser's foot.

    Args:
        law: contact law, such as hs.Elastic(...) or hs.Rigid(...).
        name: name of the surface; paths of its parameters begin with it: "ground.normal.k".
        point: position of the shape's reference point [m].
        velocity: velocity of the material, as of a conveyor belt [m/s]; the shape does not
            move.
        body: body that the surface rides on; None: it is fixed in the world.
        touches: bodies whose contact points may touch it; "world" for points fixed in the
            world. None: all but its own body and those that a joint connects to that body.
        rise: height of a step [m].
        run: length of a tread [m].
        count: number of steps.
        width: width [m].
        direction: horizontal direction in which the stairs rise, (x, y); any length but zero.
        landing: additional length of the last tread [m].
        risers: whether risers can be touched; without them there are half as many contacts.

    Examples:
        >>> stairs = hs.Stairs(hs.Rigid(), name="stairs", point=(0.4, 0.0, 0.0), rise=0.1, run=0.3)
    """

    rise: float = 0.17
    run: float = 0.29
    count: int = static(5)
    width: float = 1.0
    direction: Sequence[float] = static((1.0, 0.0))
    landing: float = 0.0
    risers: bool = static(True)

    parameter_names: ClassVar[tuple[str, ...]] = (
        "point",
        "velocity",
        "rise",
        "run",
        "width",
        "landing",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        lengths = (1e-6, 1e6)
        check_numbers(self, rise=lengths, run=lengths, width=lengths, landing=(0, 1e6))
        self._unit("direction", 2)
        if isinstance(self.count, bool) or not isinstance(self.count, int) or self.count < 1:
            raise self._invalid("count", "a whole number above 0")

    @property
    def parts(self) -> tuple[str, ...]:
        return ("treads", "risers") if self.risers else ("treads",)

    def tangents_vary(self, radius: float, part: int = 0) -> bool:
        return part == RISERS and radius > 0

    def depth_and_axes(self, place: SX, radius: float = 0.0, part: int = 0) -> tuple[SX, SX]:
        s, aside, z = self._along(place)
        k = ca.fmin(ca.fmax(ca.floor(s / self.run), -1), self.count - 1)
        before = ca.logic_and(k >= 0, s - k * self.run < (k + 1) * self.rise - z)
        k = ca.if_else(before, k - 1, k)
        insides = self._insides(s, aside, z)
        if part == RISERS:
            depth, axes = self._riser(s - (k + 1) * self.run, z - (k + 2) * self.rise, radius)
            depth = ca.if_else(k + 1 < self.count, depth, -self.run)
        else:
            depth, axes = (k + 1) * self.rise - z + radius, constant(axes_of(np.eye(3)[2]))
            depth = ca.if_else(k < 0, -ca.fabs(s), depth)
        return ends_at(depth, insides), axes

    def gap(self, place: SX, radius: float = 0.0) -> SX:
        s, aside, z = self._along(place)
        over = (z - self.rise) * self.run - s * self.rise  # above the line of the noses
        noses = over / ca.sqrt(SX(self.rise) ** 2 + SX(self.run) ** 2)
        past = [-inside for inside in self._insides(s, aside, z)]
        return ca.mmax(ca.vertcat(noses, z - self.count * self.rise, -s, *past))

    def ray(self, origin: SX, direction: SX) -> SX:
        return reduce(ca.fmin, (part.ray(origin, direction) for part in self.solids()))

    def solids(self) -> list[Solid]:
        """Return a slab for each step, which reaches below the next one and two rises down."""
        x, y = self._unit("direction", 2)
        axes = np.array([[x, y, 0], [-y, x, 0], [0, 0, 1]])
        ahead, up = SX(axes[0]), SX(axes[2])
        found = []
        for k in range(self.count):
            length = self.run + self.landing if k == self.count - 1 else 2 * self.run
            middle = ahead * (k * self.run + length / 2) + up * (k * self.rise)
            half = ca.vertcat(length / 2, self.width / 2, self.rise)
            closed = np.array([[self.risers, False], [False, False], [False, True]])
            found.append(Solid(f"step {k}", SX(self.point) + middle, axes, half, closed))
        return found

    def _along(self, place: SX) -> tuple[SX, SX, SX]:
        """Return a place ahead of, to the left of and above the foot of the stairs [m]."""
        x, y = self._unit("direction", 2)
        offset = place - SX(self.point)
        ahead, left = constant(np.array([x, y, 0])), constant(np.array([-y, x, 0]))
        return ca.dot(ahead, offset), ca.dot(left, offset), offset[2]

    def _insides(self, s: SX, aside: SX, z: SX) -> list[SX]:
        """Return the distances from the open ends, positive inside [m]."""
        length = self.count * self.run + self.landing
        return [self.width / 2 - ca.fabs(aside), length - s, self.rise + z]

    def _riser(self, behind: SX, above: SX, radius: float) -> tuple[SX, SX]:
        """Return depth and axes of a place `behind` a riser's plane and `above` its nose [m]."""
        x, y = self._unit("direction", 2)
        back, left = constant(np.array([-x, -y, 0])), constant(np.array([-y, x, 0]))
        if not radius:
            return behind, ca.horzcat(left, cross(back, left), back).T
        over = ca.logic_and(above > 0, behind < 0)
        distance = ca.sqrt(ca.if_else(over, behind * behind + above * above, 1))
        away = (-behind * back + above * constant(np.eye(3)[2])) / distance
        nu = ca.if_else(over, away, back)
        depth = radius + ca.if_else(over, -distance, behind)
        return depth, ca.horzcat(left, cross(nu, left), nu).T
