"""Contact between the bodies of a robot: shapes, the pairs that may touch, and slots for contacts.

Of the pairs of shapes that may touch only a few do at a time. Those that are near are listed in
each step, and those that touch take a slot, so that cost follows what is near. The numbers of
places in the list and of slots follow from the number of trees; what finds no place is counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from heelstrike.robot.convex import Capsule, ConvexShape, bounding_capsule, convex_shape
from heelstrike.robot.robot import WORLD, Robot

MIN_SLOTS = 6
"""Slots of a robot with many pairs of shapes."""
SLOTS_OF_TREE = 2
"""Slots for each tree of bodies, such as an object; a row of dominoes that lean takes as many."""
NEAR_OF_SLOT = 2
"""Pairs of shapes for each slot, at most, that are compared closely in a step."""


@dataclass(frozen=True, eq=False)
class SelfContact:
    """Shapes of a robot that may touch one another, and the law by which they do."""

    law: str
    """Surface, or "self", whose law applies."""
    names: tuple[str, ...]
    """Names of the shapes."""
    shapes: tuple[ConvexShape, ...]
    pairs: tuple[tuple[int, int], ...]
    """Shapes that may touch, as indices of `shapes`, ordered by their bodies."""
    trees: int
    """Trees of bodies in the world: robots and objects."""

    @property
    def near(self) -> int:
        """Pairs that may be near at a time."""
        return min(NEAR_OF_SLOT * self.slots, len(self.pairs))

    @property
    def slots(self) -> int:
        """Pairs that may touch at a time."""
        return min(max(MIN_SLOTS, SLOTS_OF_TREE * self.trees), len(self.pairs))

    @property
    def points(self) -> int:
        """Contact points of a pair: flat shapes have up to four, segments two, balls one."""
        if self.is_curved or self.vertices > 2:
            return 4
        return self.vertices

    @property
    def vertices(self) -> int:
        """Vertices of the shape that has most."""
        return max(len(shape.vertices) for shape in self.shapes)

    @property
    def is_curved(self) -> bool:
        """True if one of the shapes has an ellipsoid."""
        return any(shape.is_curved for shape in self.shapes)

    @cached_property
    def bodies(self) -> tuple[int, ...]:
        """Bodies that carry the shapes."""
        return tuple(sorted({shape.body for shape in self.shapes}))

    @cached_property
    def capsules(self) -> list[Capsule]:
        """Capsules around the shapes."""
        return [bounding_capsule(shape) for shape in self.shapes]

    @cached_property
    def reaches(self) -> dict[int, float]:
        """Largest distance of a body's shapes from its origin, by body [m]."""
        found = dict.fromkeys(self.bodies, 0.0)
        for shape, capsule in zip(self.shapes, self.capsules, strict=True):
            far = float(np.linalg.norm(capsule.ends, axis=1).max()) + capsule.radius
            found[shape.body] = max(found[shape.body], far)
        return found

    @cached_property
    def meetings(self) -> dict[tuple[int, int], list[int]]:
        """Numbers of the pairs by the two bodies that they join."""
        found: dict[tuple[int, int], list[int]] = {}
        for k, (one, other) in enumerate(self.pairs):
            bodies = self.shapes[one].body, self.shapes[other].body
            found.setdefault(bodies, []).append(k)
        return found

    def pair_name(self, k: int) -> str:
        """Return the names of the shapes of pair k."""
        one, other = self.pairs[k]
        return f"{self.names[one]} on {self.names[other]}"

    def pair_table(self) -> np.ndarray:
        """Return the two shapes of each pair, and a last row for none."""
        return np.array([*self.pairs, (0, 0)], dtype=float)

    def shape_table(self) -> np.ndarray:
        """Return a row for each shape: body, radius, half axes by columns, vertices.

        The last vertex is repeated where a shape has fewer than others; a last row is repeated.
        """
        rows = []
        for shape in self.shapes:
            missing = self.vertices - len(shape.vertices)
            vertices = np.vstack([shape.vertices, *[shape.vertices[-1:]] * missing])
            axes = shape.half_axes.ravel(order="F")
            rows.append(np.concatenate([[shape.body, shape.radius], axes, vertices.ravel()]))
        return np.array([*rows, rows[-1]])

    def structure(self) -> object:
        """Return what decides the compiled code, as plain values."""
        room = [self.slots, self.near]
        return [self.law, room, self.pair_table().tolist(), self.shape_table().tolist()]


def self_contact_of(
    robot: Robot, law: str, served: Collection[tuple[int, ...]] = ()
) -> SelfContact | None:
    """Return the shapes of a robot that may touch one another; None: there are none.

    `served` are pairs of bodies, the lower number first, whose shapes are left out.
    """
    chosen = [
        (i, j)
        for i, j in robot.self_pairs
        if tuple(sorted((robot.shapes[i].body, robot.shapes[j].body))) not in served
    ]
    if not chosen:
        return None
    used = sorted({i for pair in chosen for i in pair})
    number = {i: k for k, i in enumerate(used)}
    shapes = tuple(convex_shape(robot.shapes[i]) for i in used)
    pairs = _ordered([(number[i], number[j]) for i, j in chosen], shapes)
    trees = sum(joint.parent == WORLD for joint in robot.joints)
    return SelfContact(law, tuple(robot.shapes[i].name for i in used), shapes, pairs, trees)


def _ordered(
    pairs: Iterable[tuple[int, int]], shapes: tuple[ConvexShape, ...]
) -> tuple[tuple[int, int], ...]:
    """Return the pairs with the shape of the lower body first, ordered by bodies and shapes."""

    def key(k: int) -> tuple[int, int]:
        return shapes[k].body, k

    ends = [(min(pair, key=key), max(pair, key=key)) for pair in pairs]
    return tuple(sorted(ends, key=lambda pair: (*map(key, pair),)))
