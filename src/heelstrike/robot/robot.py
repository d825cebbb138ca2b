"""A robot: a tree of joints, each with one rigid body, and its motors, poses and shapes.

Its parts are in parts.py, and can be imported from here as well.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError
from heelstrike.robot.actuators import Actuator, SpatialTendon, Tendon
from heelstrike.robot.fidelity import Difference
from heelstrike.robot.parts import SIZES as SIZES
from heelstrike.robot.parts import WORLD as WORLD
from heelstrike.robot.parts import Body as Body
from heelstrike.robot.parts import Frame as Frame
from heelstrike.robot.parts import Joint as Joint
from heelstrike.robot.parts import Point as Point
from heelstrike.robot.parts import Shape as Shape
from heelstrike.robot.parts import first_duplicate as first_duplicate
from heelstrike.robot.springs import Cone, Spring

if TYPE_CHECKING:
    import pinocchio

    from heelstrike.robot.constraints import Constraint
    from heelstrike.robot.fluid import Drag


class Ground(Protocol):
    """What a robot can be placed on: the surfaces of a scene."""

    def place(self, robot: Robot, q: np.ndarray, drop: float = 0.0) -> np.ndarray:
        """Return q with the free base moved to `drop` above the surface [m]."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Robot:
    """A robot: a tree of joints and bodies with motors, contact points, poses and shapes.

    Vectors follow the order of q (lower, upper) or v (all others).
    """

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
    """Lower limits of q; -inf where there is none."""
    upper: np.ndarray
    """Upper limits of q; inf where there is none."""
    velocity_limit: np.ndarray
    """Limit of |v|; inf where there is none."""
    torque_limit: np.ndarray
    """Limit of |tau| [N m or N]; inf where there is none."""
    kp: np.ndarray
    """Default servo stiffness [N m/rad or N/m]; 0 where there is no motor."""
    kd: np.ndarray
    """Default servo damping [N m s/rad or N s/m]."""
    springs: tuple[Spring, ...] = ()
    """Springs at joints."""
    cones: tuple[Cone, ...] = ()
    """Ranges of spherical joints."""
    tendons: tuple[Tendon, ...] = ()
    """Tendons that are linear in the joints, with springs or damping."""
    spatial_tendons: tuple[SpatialTendon, ...] = ()
    """Tendons that run straight from site to site."""
    drags: tuple[Drag, ...] = ()
    """Parts of bodies that a fluid resists."""
    actuators: tuple[Actuator, ...] = ()
    """Actuators of the file, which hs.Actuators drives."""
    points: tuple[Point, ...] = ()
    poses: Mapping[str, np.ndarray] = field(default_factory=dict)
    controls: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Controls by name of the actuator that the keyframes of the file have, by pose."""
    frames: Mapping[str, Frame] = field(default_factory=dict)
    """Links and sites by name."""
    shapes: tuple[Shape, ...] = ()
    """Shapes of the bodies, both those that collide and those that are only drawn."""
    self_pairs: tuple[tuple[int, int], ...] = ()
    """Pairs of shapes, as indices of `shapes`, that touch one another (docs/self-contact.md)."""
    overlapping: tuple[tuple[int, int], ...] = ()
    """Those of `self_pairs` that overlap in one of the poses: in a run they touch once they have
    been apart."""
    ground_shapes: tuple[int, ...] = ()
    """Shapes, as indices of `shapes`, that touch edges of the ground between their points."""
    constraints: tuple[Constraint, ...] = ()
    """What closes loops and couples joints (docs/closed-loops.md)."""
    gravity: float = 9.81
    """Along -z [m/s^2]."""
    tilted_gravity: tuple[float, float, float] | None = None
    """Gravity in world axes, where it is not along -z [m/s^2]."""
    model: pinocchio.Model | None = None
    """Pinocchio's model of the same robot."""
    fidelity: tuple[Difference, ...] = ()
    """What is simulated otherwise than the file says, and remarks (fidelity.py)."""
    source: Mapping[str, Any] | None = None
    """What `reload` needs: file, base and package_dirs, or the parts that were combined."""

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
    def gravity_vector(self) -> np.ndarray:
        """Gravity in world axes, (3,) [m/s^2]."""
        return np.array(self.tilted_gravity or (0.0, 0.0, -self.gravity))

    @property
    def neutral(self) -> np.ndarray:
        """Configuration q with every joint at zero."""
        q = np.zeros(self.nq)
        for joint in self.joints:
            if joint.kind in ("spherical", "free"):
                q[joint.q_slice.stop - 1] = 1.0
            elif joint.kind in ("continuous", "planar"):
                q[joint.q_slice.stop - 2] = 1.0
        return q

    def __repr__(self) -> str:
        free = sum(joint.kind == "free" for joint in self.joints)
        joints = f"{len(self.joints) - free} joints" + (", free base" if free else "")
        return f"<Robot {self.name}: {joints}, {self.mass:.4g} kg, {len(self.points)} points>"

    def _repr_html_(self) -> str:
        """Return a picture and a table, for notebooks."""
        from heelstrike.view.pages.notebook import robot_html

        return robot_html(self)

    def pose(self, name: str) -> np.ndarray:
        """Return a copy of the configuration q of a named pose."""
        if name not in self.poses:
            raise UnknownNameError("pose", name, self.poses, path="pose", owner=self.name)
        return np.array(self.poses[name])

    def on_ground(
        self, pose: str | ArrayLike | None = None, surface: Ground | None = None, drop: float = 0.0
    ) -> np.ndarray:
        """Return q of a pose whose lowest contact point touches the ground.

        The free base is moved vertically; joints keep their positions.

        Args:
            pose: name of a pose, or q; None: the first pose.
            surface: surface to stand on, such as a sloped `hs.Plane` or `hs.Stairs`; None: z = 0.
            drop: height of fall until the first contact [m].

        Examples:
            >>> robot = hs.load("hoap1")
            >>> q0 = robot.on_ground("stance", hs.Plane(normal=(0.1, 0.0, 1.0)), drop=0.05)
        """
        from heelstrike.robot.placement import on_flat_ground

        if pose is None:
            q = np.array(next(iter(self.poses.values()), self.neutral))
        else:
            q = self.pose(pose) if isinstance(pose, str) else np.array(pose, dtype=float)
        if q.shape != (self.nq,):
            raise ParameterError("pose", pose, f"{self.nq} numbers, or the name of a pose")
        return on_flat_ground(self, q, drop) if surface is None else surface.place(self, q, drop)

    def body(self, name: str) -> int:
        """Return the index of the body with a name, with a link or site, or moved by a joint."""
        bodies, name = [body.name for body in self.bodies], str(name)
        if name in bodies:
            return bodies.index(name)
        if name in self.frames and self.frames[name].body != WORLD:
            return self.frames[name].body
        for i, joint in enumerate(self.joints):
            if name == joint.name:
                return i
        if name in self.frames:
            raise HeelstrikeError(
                f"'{name}' of {self.name} is fixed to the world, no body carries it",
                path="body",
                value=name,
                remedy=f"bodies: {', '.join(bodies)}",
            )
        carried = [frame for frame, own in self.frames.items() if own.body != WORLD]
        known = dict.fromkeys([*bodies, *carried, *(joint.name for joint in self.joints)])
        raise UnknownNameError("body", name, known, "bodies", path="body", owner=self.name)

    def with_constraints(self, *constraints: Constraint) -> Robot:
        """Return the robot with further equality constraints (constraints.py).

        Bodies that a point or a weld joins no longer touch one another.
        """
        from heelstrike.robot.constraints import apart_pairs, check_constraints

        together = (*self.constraints, *constraints)
        check_constraints(self, together)
        return replace(self, constraints=together, self_pairs=apart_pairs(self, together))

    def close(self, q: np.ndarray, hold: tuple[str, ...] = ()) -> np.ndarray:
        """Return a configuration near q in which the constraints hold.

        Joints whose names are in `hold` stay as they are (closing.py).
        """
        from heelstrike.robot.closing import close

        return close(self, q, hold)

    def to_mjcf(self, path: str | os.PathLike[str]) -> Path:
        """Write the robot as an MJCF with the same inertia, joints, shapes, forces, constraints.

        Returns the path. Meshes are written as convex hulls, those that are only drawn not at all.
        """
        from heelstrike.robot.mjcf_export import write_mjcf

        return write_mjcf(self, path)

    def children(self, body: int) -> list[int]:
        """Return the bodies whose joints are on a body."""
        return [i for i, joint in enumerate(self.joints) if joint.parent == body]
