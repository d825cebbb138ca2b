"""The parts of a robot: joints, rigid bodies, contact points, shapes and named frames.

Order and coordinates are Pinocchio's (docs/conventions.md): parents come before children, `q` and
`v` are the joints' coordinates one after another, a free joint is position, quaternion xyzw, and a
twist linear then angular in the moving frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from heelstrike.robot.hull import Hull
    from heelstrike.robot.hull_cells import HullCells
    from heelstrike.robot.mesh import MeshFile

WORLD = -1
"""Index of the parent of a root joint."""

SIZES = {  # kind: (nq, nv)
    "revolute": (1, 1),
    "prismatic": (1, 1),
    "continuous": (2, 1),
    "spherical": (4, 3),
    "planar": (4, 3),
    "free": (7, 6),
}


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint and where it sits on its parent.

    q of each kind: revolute [rad], prismatic [m], continuous (cos, sin), spherical (quaternion
    xyzw), planar (x, y, cos, sin), free (x, y, z, quaternion xyzw).
    """

    name: str
    kind: str
    """One of the keys of SIZES."""
    parent: int
    """Index of the parent joint, or WORLD."""
    rotation: np.ndarray
    """Axes of the joint frame in the parent's frame, (3, 3)."""
    translation: np.ndarray
    """Origin of the joint frame in the parent's frame [m]."""
    axis: np.ndarray
    """Unit axis in the joint frame; zero for kinds that have none."""
    iq: int
    """Index of its first coordinate in q."""
    iv: int
    """Index of its first velocity in v."""
    mirrored: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Masks of the entries of rotation, translation and axis that are 1 in this limb and -1 in a
    mirror image of it, or vice versa (mirror.py); fields without such entries are absent."""

    @property
    def nq(self) -> int:
        return SIZES[self.kind][0]

    @property
    def nv(self) -> int:
        return SIZES[self.kind][1]

    @property
    def q_slice(self) -> slice:
        """Slice of q that holds its coordinates."""
        return slice(self.iq, self.iq + self.nq)

    @property
    def v_slice(self) -> slice:
        """Slice of v that holds its velocities."""
        return slice(self.iv, self.iv + self.nv)


@dataclass(frozen=True, eq=False)
class Body:
    """The rigid body that a joint moves, with all fixed links, in the joint's moving frame."""

    name: str
    mass: float
    """[kg]"""
    com: np.ndarray
    """Centre of mass [m]."""
    inertia: np.ndarray
    """About the centre of mass, (3, 3) [kg m^2]."""
    lifted: float = 0.0
    """Mass whose weight is compensated [kg]."""
    lifted_moment: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """Its first moment: that mass times its place [kg m]."""


@dataclass(frozen=True, eq=False)
class Point:
    """A contact point of a body: a point, a sphere or an ellipsoid about it, or a side of a hull.

    A sphere or an ellipsoid touches where it is deepest, so that its contact moves over the body as
    the body turns. With both a radius and half axes it is the ellipsoid, rounded by the radius. The
    sides of a hull are corners of it that are found anew as the body turns (hull.py).
    """

    name: str
    body: int
    position: np.ndarray
    """In the body's frame [m]."""
    radius: float = 0.0
    """[m]"""
    half_axes: np.ndarray | None = None
    """Half axes of the ellipsoid as columns, in the body's frame, (3, 3) [m]; None: it has none."""
    foot: bool = False
    """Whether it belongs to the lowest face of a foot (feet.py)."""
    hull: Hull | None = None
    """Hull that it is a corner of; its position is the centre of the hull then."""
    side: int = 0
    """Which of the hull's contact points it is."""
    along: np.ndarray | None = None
    """Of the first end of a capsule: from it to the other end, in the body's frame, (3,) [m]."""
    half: int | None = None
    """Half of a capsule, 0 or 1, in which it is found anew (scene/ridge.py); its position is the
    first end then. None: it is no such point."""

    @property
    def extent(self) -> float:
        """Largest distance of where it touches from its position [m]; 0 for a mere point."""
        if self.half is not None and self.along is not None:
            return self.radius + float(np.linalg.norm(self.along))
        return self.roundness if self.hull is None else self.hull.radius

    @property
    def roundness(self) -> float:
        """Largest half axis of its sphere or ellipsoid [m]; 0 for points and hulls."""
        if self.half_axes is None:
            return self.radius
        return self.radius + float(np.linalg.norm(self.half_axes, 2))

    @property
    def lever(self) -> float:
        """Radius at which it rolls: of an ellipsoid its middle half axis, about the longest [m]."""
        if self.half_axes is None:
            return self.radius
        return self.radius + float(np.linalg.svd(self.half_axes, compute_uv=False)[1])


@dataclass(frozen=True, eq=False)
class Shape:
    """A piece of a body's surface."""

    name: str
    """Name of the shape, or of its link if it has none."""
    body: int
    """Index of the body that carries it; WORLD for shapes of a fixed base."""
    kind: str
    """box, sphere, capsule, cylinder, ellipsoid or mesh; axes along z."""
    rotation: np.ndarray
    """In the body's frame, (3, 3)."""
    translation: np.ndarray
    size: np.ndarray
    """[m] box, ellipsoid: half sizes; sphere: radius; capsule, cylinder: radius, half length."""
    link: str = ""
    """Name of the link that carries it; several fixed links may make up its body."""
    vertices: np.ndarray | None = None
    """Corners of a mesh's convex hull in the shape's frame, (n, 3) [m]."""
    corners: np.ndarray | None = None
    """Indices of the vertices by which a mesh collides: a reduced hull (collision_hull.py)."""
    cells: HullCells | None = None
    """Corners of the whole hull by directions, where the reduced one misses it by too much."""
    hull_error: float = 0.0
    """Largest distance by which the whole hull exceeds what collides [m]: its cells, if it has
    them, else the reduced hull."""
    corner_error: float = 0.0
    """Largest distance by which the whole hull exceeds the reduced one [m]."""
    collides: bool = True
    """False for shapes that are only drawn."""
    meets_floor: bool = True
    """Whether it touches the ground; a shape that does not may touch other shapes."""
    visible: bool = True
    """False for shapes that are drawn only if their body has no visible one."""
    colour: tuple[float, ...] | None = None
    """Red, green, blue and opacity, 0 to 1, if the file has a colour."""
    file: MeshFile | None = None
    """File with the triangles of a mesh, read when the mesh is drawn."""

    def collision_vertices(self) -> np.ndarray:
        """Return the corners by which a mesh collides with other shapes, in its frame (n, 3) [m]:
        those of its `cells`, if it has them, else of the reduced hull.
        """
        assert self.vertices is not None
        if self.cells is not None:
            return self.cells.corners()
        kept = slice(None) if self.corners is None else self.corners
        return np.asarray(self.vertices, dtype=float)[kept]


@dataclass(frozen=True, eq=False)
class Frame:
    """Placement of a named link or site on its body."""

    body: int
    """Index of the body that carries it, or WORLD."""
    rotation: np.ndarray
    translation: np.ndarray


def first_duplicate(names: Iterable[str]) -> str | None:
    """Return the first name that occurs a second time, or None."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
