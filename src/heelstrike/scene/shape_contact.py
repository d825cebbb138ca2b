"""Contacts of shapes: those of bodies that may touch one another, fixed shapes, edges or ridges.

Of the pairs of shapes that may touch only a few do at a time. Those that are near are compared, and
those that touch take a slot, so that cost follows what is near. The number of slots follows from
the number of trees; what finds no slot is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from heelstrike.robot.bounding_box import BoundingBox, bounding_box
from heelstrike.robot.convex import (
    Capsule,
    ConvexShape,
    bounding_capsule,
    convex_shape,
    smallest_width,
)
from heelstrike.robot.hull_cells import ACROSS, HullCells, hull_cells
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.scene.ground_parts import EdgePair, Ground, RidgePair, RidgePart, SolidPart

MIN_SLOTS = 6
"""Slots of a robot with many pairs of shapes."""
SLOTS_OF_TREE = 2
"""Slots for each tree of bodies, such as an object; a row of dominoes that lean takes as many."""

PLACED_CORNERS = 14
"""Numbers of a shape whose vertices are in `ShapeContact.cells`."""


@dataclass(frozen=True, eq=False)
class ShapeContact:
    """Shapes of a robot that may touch one another or the ground's edges, and their laws."""

    law: str
    """Surface, or "self", whose law applies to shapes of bodies."""
    names: tuple[str, ...]
    """Names of the shapes."""
    shapes: tuple[ConvexShape, ...]
    pairs: tuple[tuple[int, int], ...]
    """Shapes that may touch, as indices of `shapes`, ordered by their bodies; fixed ones last."""
    trees: int
    """Trees of bodies in the world: robots and objects."""
    solids: tuple[SolidPart, ...] = ()
    """Parts of the ground that shapes may touch."""
    edges: tuple[EdgePair, ...] = ()
    """Shapes and solids that may touch; their numbers go on from those of `pairs`."""
    fields: tuple[RidgePart, ...] = ()
    """Surfaces whose ridges shapes may touch."""
    ridges: tuple[RidgePair, ...] = ()
    """Shapes and fields that may touch; their numbers go on from those of `edges`."""
    overlapping: tuple[int, ...] = ()
    """Numbers of the pairs that may overlap where a run starts; they touch after they parted."""

    @property
    def slots(self) -> int:
        """Pairs that may touch at a time."""
        most = max(MIN_SLOTS, SLOTS_OF_TREE * self.trees)
        return min(most, len(self.pairs) + len(self.edges) + len(self.ridges))

    @property
    def points(self) -> int:
        """Contact points of a pair: flat shapes have up to four, segments two, balls one."""
        if self.is_curved or self.vertices > 2:
            return 4
        return 2 if self.edges else self.vertices

    @property
    def laws(self) -> tuple[str, ...]:
        """Surfaces and keys of materials whose laws apply; all have the same structure."""
        edges, ridges = ([x.law for x in own] for own in (self.edges, self.ridges))
        return tuple(dict.fromkeys((self.law, *edges, *ridges)))

    @property
    def vertices(self) -> int:
        """Vertices of the shape that has most."""
        return max(len(shape.vertices) for shape in self.shapes)

    @cached_property
    def cells(self) -> list[HullCells]:
        """Vertices of each shape by directions, if one of the shapes has many; else none."""
        if all(shape.cells is None for shape in self.shapes):
            return []
        return [shape.cells or hull_cells(shape.vertices) for shape in self.shapes]

    @cached_property
    def hulls(self) -> list[HullCells]:
        """What `cells` has, without repetitions."""
        return list({id(x): x for x in self.cells}.values())

    @property
    def is_curved(self) -> bool:
        """True if one of the shapes has an ellipsoid."""
        return any(shape.is_curved for shape in self.shapes)

    @cached_property
    def bodies(self) -> tuple[int, ...]:
        """Moving bodies that carry the shapes."""
        return tuple(sorted({shape.body for shape in self.shapes} - {WORLD}))

    @property
    def has_fixed(self) -> bool:
        """True if one of the shapes is fixed to the world."""
        return any(shape.body == WORLD for shape in self.shapes)

    @property
    def meets_round(self) -> bool:
        """True if one of the solids is more than a box."""
        return any(solid.is_round for solid in self.solids)

    @property
    def meets_cylinders(self) -> bool:
        """True if one of the solids is a cylinder."""
        return any(solid.has_disc for solid in self.solids)

    @property
    def meets_ground(self) -> bool:
        """True if shapes may touch what does not move: parts of the ground or fixed shapes."""
        return bool(self.edges) or bool(self.ridges) or self.has_fixed

    @cached_property
    def capsules(self) -> list[Capsule]:
        """Capsules around the shapes."""
        return [bounding_capsule(shape) for shape in self.shapes]

    @cached_property
    def boxes(self) -> list[BoundingBox]:
        """Boxes around the shapes."""
        return [bounding_box(shape) for shape in self.shapes]

    @cached_property
    def widths(self) -> list[float]:
        """Smallest width of each shape [m]."""
        return [smallest_width(shape) for shape in self.shapes]

    @property
    def rolls(self) -> bool:
        """True if some of the shapes or solids are round."""
        return self.meets_round or any(shape.lever for shape in self.shapes)

    def pair_lever(self, k: int) -> float:
        """Return the radius at which the shapes of pair k roll [m]: the smaller one; 0: neither."""
        levers = [self.shapes[i].lever for i in self.pairs[k]]
        return min((x for x in levers if x), default=0.0)

    @cached_property
    def reaches(self) -> dict[int, float]:
        """Largest distance of a body's shapes from its origin, by body [m]."""
        found = dict.fromkeys(self.bodies, 0.0)
        for shape, capsule in zip(self.shapes, self.capsules, strict=True):
            if shape.body == WORLD:
                continue
            far = float(np.linalg.norm(capsule.ends, axis=1).max()) + capsule.radius
            found[shape.body] = max(found[shape.body], far)
        return found

    @cached_property
    def meetings(self) -> dict[tuple[int, int], list[int]]:
        """Numbers of the pairs by the two groups of shapes that they join."""
        found: dict[tuple[int, int], list[int]] = {}
        for k, (one, other) in enumerate(self.pairs):
            found.setdefault((self._group_of(one), self._group_of(other)), []).append(k)
        return found

    @cached_property
    def groups(self) -> dict[int, list[int]]:
        """Shapes that are near others together: those of a body, by its number; a fixed shape is
        alone, with a number below WORLD.
        """
        found: dict[int, list[int]] = {}
        for i in range(len(self.shapes)):
            found.setdefault(self._group_of(i), []).append(i)
        return found

    def _group_of(self, shape: int) -> int:
        body = self.shapes[shape].body
        return WORLD - 1 - shape if body == WORLD else body

    @cached_property
    def edge_meetings(self) -> dict[tuple[int, int], list[int]]:
        """Indices of `edges` by body and solid."""
        found: dict[tuple[int, int], list[int]] = {}
        for k, edge in enumerate(self.edges):
            found.setdefault((self.shapes[edge.shape].body, edge.solid), []).append(k)
        return found

    @property
    def pair_names(self) -> list[str]:
        """Names of what touches in each pair, those with solids last."""
        own = [f"{self.names[one]} on {self.names[other]}" for one, other in self.pairs]
        ground = [(x.shape, self.solids[x.solid].name) for x in self.edges]
        ground += [(x.shape, self.fields[x.part].name) for x in self.ridges]
        return own + [f"{self.names[i]} on {other}" for i, other in ground]

    def pair_halfway(self, k: int) -> float:
        """Return half the depth of pair k centre in centre, where its shapes are thinnest [m]."""
        return sum(self.widths[i] for i in self.pairs[k]) / 4

    @cached_property
    def halfway(self) -> float:
        """Least depth from which on two shapes may leave one another by the other side [m]."""
        shapes = [x.shape for x in self.edges] + [x.shape for x in self.ridges]
        edges = (self.widths[i] / 4 for i in shapes)
        return min(*map(self.pair_halfway, range(len(self.pairs))), *edges, np.inf)

    def pair_table(self) -> np.ndarray:
        """Return two shapes, `pair_halfway` and `pair_lever` of each pair; a last row for none."""
        sizes = [(self.pair_halfway(k), self.pair_lever(k)) for k in range(len(self.pairs))]
        rows = [(*pair, *own) for pair, own in zip(self.pairs, sizes, strict=True)]
        return np.array([*rows, (0, 0, 0, 0)], dtype=float)

    def edge_table(self) -> np.ndarray:
        """Return shape, solid and law of each pair with a solid, a quarter of the shape's width and
        its lever [m]; a last row stands for none.
        """
        laws, shapes = self.laws, [x.shape for x in self.edges]
        sizes = [(self.widths[i] / 4, self.shapes[i].lever) for i in shapes]
        own = [(x.shape, x.solid, laws.index(x.law)) for x in self.edges]
        rows = [(*x, *size) for x, size in zip(own, sizes, strict=True)]
        return np.array([*rows, (0, 0, 0, 0, 0)], dtype=float)

    def ridge_table(self) -> np.ndarray:
        """Return shape and law of each pair with a field, a quarter of the shape's width and its
        lever [m], and centre, axes by columns and half lengths of its box; a last row for none.
        """
        laws, rows = self.laws, []
        for x in self.ridges:
            shape = self.shapes[x.shape]
            box, width = self.boxes[x.shape], self.widths[x.shape] / 4
            own = x.shape, laws.index(x.law), width, shape.lever
            rows.append(np.array([*own, *box.centre, *box.axes.ravel(order="F"), *box.half]))
        return np.array([*rows, np.zeros_like(rows[0])])

    def shape_table(self) -> np.ndarray:
        """Return a row for each shape: body or WORLD, radius, half axes by columns, vertices.

        The last vertex is repeated where a shape has fewer than others; a last row is repeated.
        Where vertices are in `cells`, there are two of them, and PLACED_CORNERS numbers: the first
        row of the shape's cells, its size, and rotation (by columns) and origin of their frame.
        """
        rows, first = [], {id(x): ACROSS**2 * k for k, x in enumerate(self.hulls)}
        for shape, cells in zip(self.shapes, self.cells, strict=False):
            ends, axes = shape.vertices[[0, -1]], shape.half_axes.ravel(order="F")
            size = np.linalg.norm(shape.vertices - ends[0], axis=1).max()
            frame = *shape.rotation.ravel(order="F"), *shape.translation
            corners = first[id(cells)], size, *frame
            rows.append(np.array([shape.body, shape.radius, *axes, *ends.ravel(), *corners]))
        for shape in () if rows else self.shapes:
            missing = self.vertices - len(shape.vertices)
            vertices = np.vstack([shape.vertices, *[shape.vertices[-1:]] * missing])
            axes = shape.half_axes.ravel(order="F")
            rows.append(np.concatenate([[shape.body, shape.radius], axes, vertices.ravel()]))
        return np.array([*rows, rows[-1]])

    def structure(self) -> object:
        """Return what decides the compiled code, as plain values."""
        solids = [
            [x.surface, x.number, x.closed.tolist(), x.is_round, x.has_disc] for x in self.solids
        ]
        tables = [self.pair_table(), self.shape_table(), self.edge_table()]
        if self.ridges:
            tables.append(self.ridge_table())
            solids += [[x.surface, x.ridges.structure] for x in self.fields]
            solids.append([x.part for x in self.ridges])
        own = [list(self.laws), self.slots, solids, list(self.overlapping)]
        return own + [table.tolist() for table in tables]


def shape_contact_of(
    robot: Robot,
    law: str,
    pairs: Iterable[tuple[int, int]],
    ground: Ground,
) -> ShapeContact | None:
    """Return the contacts of a robot's shapes; None: there are none.

    Shapes of `pairs` and `ground` are indices of the robot's shapes.
    """
    pairs = list(pairs)
    touching = {i for pair in pairs for i in pair} | {x.shape for x in ground.edges}
    used = sorted(touching | {x.shape for x in ground.ridges})
    if not used:
        return None
    number = {i: k for k, i in enumerate(used)}
    shapes = tuple(convex_shape(robot.shapes[i]) for i in used)
    own = _ordered([(number[i], number[j]) for i, j in pairs], shapes)
    trees = sum(joint.parent == WORLD for joint in robot.joints)
    names = tuple(robot.shapes[i].name for i in used)
    edges = tuple(replace(x, shape=number[x.shape]) for x in ground.edges)
    ridges = tuple(replace(x, shape=number[x.shape]) for x in ground.ridges)
    starting = {frozenset(pair) for pair in robot.overlapping}
    overlapping = (k for k, pair in enumerate(own) if {used[i] for i in pair} in starting)
    rest = tuple(ground.solids), edges, tuple(ground.fields), ridges, tuple(overlapping)
    return ShapeContact(law, names, shapes, own, trees, *rest)


def _ordered(
    pairs: Iterable[tuple[int, int]], shapes: tuple[ConvexShape, ...]
) -> tuple[tuple[int, int], ...]:
    """Return the pairs with the shape of the lower body first, ordered by bodies and shapes.

    Fixed shapes come last.
    """

    def key(k: int) -> tuple[bool, int, int]:
        return shapes[k].body == WORLD, shapes[k].body, k

    ends = [(min(pair, key=key), max(pair, key=key)) for pair in pairs]
    return tuple(sorted(ends, key=lambda pair: (*map(key, pair),)))
