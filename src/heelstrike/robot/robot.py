"""A robot: a tree of joints, each carrying one rigid body, and what its file says about motors,
poses and surfaces.

Order and coordinates are Pinocchio's (docs/conventions.md): parents come before children, `q` and
`v` are the joints' coordinates one after another, a free joint is position, quaternion xyzw, and a
twist linear then angular in the moving frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.errors import HeelstrikeError

if TYPE_CHECKING:
    import pinocchio

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
    """Where its coordinates start in q."""
    iv: int
    """Where its velocities start in v."""
    mirrored: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Of rotation, translation and axis, where there are such: entries that are 1 here and -1 in a
    mirror image of this limb, or the other way round (mirror.py)."""

    @property
    def nq(self) -> int:
        return SIZES[self.kind][0]

    @property
    def nv(self) -> int:
        return SIZES[self.kind][1]

    @property
    def q_slice(self) -> slice:
        """Its part of q."""
        return slice(self.iq, self.iq + self.nq)

    @property
    def v_slice(self) -> slice:
        """Its part of v."""
        return slice(self.iv, self.iv + self.nv)


@dataclass(frozen=True, eq=False)
class Body:
    """The rigid body that a joint moves, with all fixed to it, in the joint's moving frame."""

    name: str
    mass: float
    """[kg]"""
    com: np.ndarray
    """Centre of mass [m]."""
    inertia: np.ndarray
    """About the centre of mass, (3, 3) [kg m^2]."""


@dataclass(frozen=True, eq=False)
class Point:
    """A place on a body that may touch something: a point, or a sphere about it."""

    name: str
    body: int
    position: np.ndarray
    """In the body's frame [m]."""
    radius: float = 0.0
    """[m]"""


@dataclass(frozen=True, eq=False)
class Shape:
    """A piece of a body's surface, as its file gives it."""

    name: str
    """Of the shape, or of the link that it belongs to."""
    body: int
    """Index of the body that carries it, or WORLD: of a fixed base, to be seen alone."""
    kind: str
    """box, sphere, capsule, cylinder, ellipsoid or mesh; axes along z."""
    rotation: np.ndarray
    """In the body's frame, (3, 3)."""
    translation: np.ndarray
    size: np.ndarray
    """[m] box, ellipsoid: half sizes; sphere: radius; capsule, cylinder: radius, half length."""
    vertices: np.ndarray | None = None
    """Corners of a mesh's convex hull in the shape's frame, (n, 3) [m]."""
    collides: bool = True
    """False for what is only to be seen."""
    meets_floor: bool = True
    """False for shells that a plain floor passes through: points="feet" leaves them out."""
    visible: bool = True
    """False for what pictures leave out, as long as the body has something else to show."""
    colour: tuple[float, ...] | None = None
    """Red, green, blue and opacity, 0 to 1, if the file says so."""
    file: MeshFile | None = None
    """Where the triangles of a mesh are; read when it is drawn."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A named link or site: where it is on its body."""

    body: int
    """Index of the body that carries it, or WORLD."""
    rotation: np.ndarray
    translation: np.ndarray


@dataclass(frozen=True, eq=False)
class Robot:
    """Everything that tracing needs to know of a robot. Vectors follow q or v."""

    name: str
    joints: tuple[Joint, ...]
    bodies: tuple[Body, ...]
    """bodies[i] is moved by joints[i]."""
    armature: np.ndarray
    """Rotor inertia reflected to the joint [kg m^2 or kg]."""
    damping: np.ndarray
    """Viscous joint friction [N m s/rad or N s/m]."""
    friction: np.ndarray
    """Dry joint friction [N m or N]."""
    lower: np.ndarray
    """Lower ends of q; -inf where free."""
    upper: np.ndarray
    velocity_limit: np.ndarray
    """Of |v|; inf where none is given."""
    torque_limit: np.ndarray
    """Of |tau| [N m or N]; inf where none is given."""
    kp: np.ndarray
    """Default servo stiffness [N m/rad or N/m]; 0 where no motor is."""
    kd: np.ndarray
    """Default servo damping [N m s/rad or N s/m]."""
    points: tuple[Point, ...] = ()
    poses: Mapping[str, np.ndarray] = field(default_factory=dict)
    frames: Mapping[str, Frame] = field(default_factory=dict)
    """Links and sites by name."""
    shapes: tuple[Shape, ...] = ()
    """Surfaces of the moving bodies, those that touch and those that are only to be seen."""
    gravity: float = 9.81
    """Along -z [m/s^2]."""
    model: pinocchio.Model | None = None
    """Pinocchio's view of the same robot."""
    source: Mapping[str, Any] | None = None
    """How `reload` finds it again: file, base and package_dirs, or the parts that were combined."""

    @property
    def nq(self) -> int:
        return sum(joint.nq for joint in self.joints)

    @property
    def nv(self) -> int:
        return sum(joint.nv for joint in self.joints)

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return float(sum(body.mass for body in self.bodies))

    @property
    def neutral(self) -> np.ndarray:
        """q with every joint at zero."""
        q = np.zeros(self.nq)
        for joint in self.joints:
            if joint.kind in ("spherical", "free"):
                q[joint.q_slice.stop - 1] = 1.0
            elif joint.kind in ("continuous", "planar"):
                q[joint.q_slice.stop - 2] = 1.0
        return q

    def pose(self, name: str) -> np.ndarray:
        """A copy of a named pose's q."""
        if name not in self.poses:
            raise HeelstrikeError(
                f"{self.name} has no pose '{name}'; poses: {', '.join(self.poses)}"
            )
        return np.array(self.poses[name])

    def body(self, name: str) -> int:
        """Index of the body that carries the body, link or site, or is moved by the joint."""
        bodies = [body.name for body in self.bodies]
        if name in bodies:
            return bodies.index(name)
        if name in self.frames and self.frames[name].body != WORLD:
            return self.frames[name].body
        for i, joint in enumerate(self.joints):
            if name == joint.name:
                return i
        if name in self.frames:
            raise HeelstrikeError(
                f"'{name}' of {self.name} is fixed to the world, no body carries it; "
                f"bodies: {', '.join(bodies)}"
            )
        raise HeelstrikeError(f"{self.name} has no body '{name}'; bodies: {', '.join(bodies)}")

    def children(self, body: int) -> list[int]:
        return [i for i, joint in enumerate(self.joints) if joint.parent == body]


def first_duplicate(names: Iterable[str]) -> str | None:
    """The first name that occurs a second time."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
