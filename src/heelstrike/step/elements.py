"""Box 10, added to those of [Sugihara2006], Fig. 4: quantities of one body, link or site.

Names are "WAIST.gyro", "L_FOOT.force", or "L_FOOT.ground.force" for one surface. An accelerometer
measures R^T (a - g) at its frame's origin, a gyro the angular velocity in its frame. Contact forces
are those on the body, in world axes; the normal force is the size of the sum of the normal forces,
and a moment is about the body's origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import casadi as ca
import numpy as np

from heelstrike.dynamics.jacobian import body_jacobian
from heelstrike.errors import UnknownNameError
from heelstrike.ir.guard import left, reopened
from heelstrike.robot.robot import Frame, Robot
from heelstrike.scene.scene import Pair, Scene
from heelstrike.spatial.motion import MotionVector
from heelstrike.spatial.rotation import constant_rotation
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, add_cross, constant, zeros

if TYPE_CHECKING:
    from heelstrike.step.outputs import StepValues

RAY = "ray"
"""Dimension of the rays of a sensor; each sensor has one of its own, "NAME.rays.ray"."""


@dataclass(frozen=True)
class Owner:
    """What an element is measured at: a frame, or contacts of a body with one or all surfaces."""

    name: str
    frame: Frame
    surface: int | None = None

    def pairs(self, scene: Scene) -> list[int]:
        """Return the numbers of the pairs of the body, with this surface if there is one."""
        return [k for k, pair in enumerate(scene.pairs) if self._has(pair)]

    def _has(self, pair: Pair) -> bool:
        own = self.frame.body in (pair.point.body, pair.carrier)
        return own and self.surface in (None, pair.surface)


@dataclass(frozen=True)
class Element:
    """A quantity that every frame has, or every body that may touch."""

    dims: tuple[str, ...]
    units: str
    long_name: str
    of: Literal["frame", "body", "contact"]
    """frame: bodies, links and sites; body: bodies that may touch; contact: those, or one surface
    under them as well."""
    trace: Callable[[StepValues, Owner], SX]
    kind: Literal["f", "b"] = "f"
    counts: str | None = None
    """"contact" or "air": a time that is counted over the steps."""
    alone: bool = True
    """Whether it can be recorded without a sensor."""


def _position(values: StepValues, at: Owner) -> SX:
    return values.state.poses[at.frame.body].point(constant(at.frame.translation))


def _rotation(values: StepValues, at: Owner) -> SX:
    return values.state.poses[at.frame.body].rotate(constant(at.frame.rotation))


def _velocity(values: StepValues, at: Owner) -> SX:
    moving = values.state.kinematics.velocities[at.frame.body]
    return values.state.poses[at.frame.body].rotate(moving.at(constant(at.frame.translation)))


def _angular_velocity(values: StepValues, at: Owner) -> SX:
    moving = values.state.kinematics.velocities[at.frame.body]
    return values.state.poses[at.frame.body].rotate(moving.angular)


def _local_velocity(values: StepValues, at: Owner) -> SX:
    moving = values.state.kinematics.velocities[at.frame.body]
    return constant(at.frame.rotation).T @ moving.at(constant(at.frame.translation))


def _gyro(values: StepValues, at: Owner) -> SX:
    return constant(at.frame.rotation).T @ values.state.kinematics.velocities[at.frame.body].angular


def _accelerometer(values: StepValues, at: Owner) -> SX:
    place, moving = constant(at.frame.translation), values.state.kinematics.velocities
    specific = values.found.specific[at.frame.body].at(place)
    own = moving[at.frame.body]
    return constant(at.frame.rotation).T @ add_cross(specific, own.angular, own.at(place))


def _gravity(values: StepValues, at: Owner) -> SX:
    down = values.state.poses[at.frame.body].unrotate(SX([0, 0, -1]))
    return constant(at.frame.rotation).T @ down


def _jacobian(values: StepValues, at: Owner) -> SX:
    state, frame = values.state, at.frame
    columns = body_jacobian(state.program, state.robot, state.kinematics, frame.body)
    placement = Transform(constant_rotation(frame.rotation), constant(frame.translation))
    with state.program.block("sensed jacobian", limb=at.name):
        moved = placement.motion_columns_in(MotionVector(columns[:3, :], columns[3:, :]))
        return state.program.let("J", ca.densify(moved.column))


def _rays(values: StepValues, at: Owner) -> SX:
    raise AssertionError(f"{at.name}: rays are traced by their sensor")


def _force(values: StepValues, at: Owner) -> SX:
    if at.surface is None:
        normal, friction, _ = loads(values, at)
        return normal + friction
    scene = values.state.scene
    signs = {k: _sign(scene.pairs[k], at) for k in at.pairs(scene)}
    return sum((s * values.observed[k].force for k, s in signs.items()), zeros())


def _normal_force(values: StepValues, at: Owner) -> SX:
    if at.surface is None:
        total = loads(values, at)[0]
        return ca.sqrt(ca.dot(total, total))
    return sum((values.pairs[k].normal for k in at.pairs(values.state.scene)), SX(0))


def _friction_force(values: StepValues, at: Owner) -> SX:
    if at.surface is None:
        return loads(values, at)[1]
    scene, total = values.state.scene, zeros()
    for k in at.pairs(scene):
        axes = values.observed_pairs[k].axes
        total = total + _sign(scene.pairs[k], at) * (axes[:2, :].T @ values.pairs[k].tangent)
    return total


def _moment(values: StepValues, at: Owner) -> SX:
    return loads(values, at)[2]


def _cop(values: StepValues, at: Owner) -> SX:
    return values["cop"][values.state.scene.bodies.index(at.frame.body), :].T


def _touching(values: StepValues, at: Owner) -> SX:
    found = SX(0)
    for k in at.pairs(values.state.scene):
        found = ca.logic_or(found, values.touches(k))
    return found


ELEMENTS: dict[str, Element] = {
    "position": Element(("axis",), "m", "position in the world", "frame", _position),
    "rotation": Element(
        ("axis", "frame_axis"), "1", "rotation matrix, columns are the axes", "frame", _rotation
    ),
    "velocity": Element(("axis",), "m s-1", "velocity, world axes", "frame", _velocity),
    "angular_velocity": Element(
        ("axis",), "rad s-1", "angular velocity, world axes", "frame", _angular_velocity
    ),
    "local_velocity": Element(
        ("axis",), "m s-1", "velocity, axes of the frame", "frame", _local_velocity
    ),
    "gravity": Element(
        ("axis",), "1", "direction of gravity, axes of the frame", "frame", _gravity
    ),
    "accelerometer": Element(
        ("axis",), "m s-2", "specific force, axes of the frame", "frame", _accelerometer
    ),
    "gyro": Element(("axis",), "rad s-1", "angular velocity, axes of the frame", "frame", _gyro),
    "jacobian": Element(
        ("twist", "joint"),
        "",
        "Jacobian, linear over angular, axes of the frame",
        "frame",
        _jacobian,
    ),
    "rays": Element((RAY,), "m", "distance along rays", "frame", _rays, alone=False),
    "force": Element(("axis",), "N", "contact force, world axes", "contact", _force),
    "normal_force": Element((), "N", "size of the normal contact force", "contact", _normal_force),
    "friction_force": Element(
        ("axis",), "N", "friction of the contacts, world axes", "contact", _friction_force
    ),
    "moment": Element(
        ("axis",), "N m", "contact moment about the body's origin, world axes", "body", _moment
    ),
    "cop": Element(("axis",), "m", "centre of pressure of the body", "body", _cop),
    "touching": Element(
        (), "1", "whether a point is in the ground or carries a force", "contact", _touching, "b"
    ),
    "contact_time": Element(
        (),
        "s",
        "time since contact began, 0 without",
        "contact",
        _touching,
        counts="contact",
        alone=False,
    ),
    "air_time": Element(
        (),
        "s",
        "time since contact ended, 0 in contact",
        "contact",
        _touching,
        counts="air",
        alone=False,
    ),
}
"""Quantities of one body, link or site by the last part of their names."""


def loads(values: StepValues, at: Owner) -> tuple[SX, SX, SX]:
    """Return the normal forces and the friction on a body, and their moment, in world axes."""
    p, total = values.state.program, SX(9, 1)
    for within, own in values.found.contacts.loads:
        if at.frame.body in own:
            normal, friction = own[at.frame.body]
            with reopened(p, within) as guard, p.block("sensed load", limb=at.name):
                moment = normal.force.angular + friction.force.angular
                column = ca.vertcat(normal.force.linear, friction.force.linear, moment)
                total = total + left(p, guard, "load", column)
    return total[:3], total[3:6], total[6:]


def _sign(pair: Pair, at: Owner) -> float:
    return float(pair.point.body == at.frame.body) - float(pair.carrier == at.frame.body)


def element_of(name: str) -> Element | None:
    """Return the element that a name ends with; None: the name is that of no element."""
    target, _, quantity = name.rpartition(".")
    return ELEMENTS.get(quantity) if target else None


def owner_of(scene: Scene, name: str, path: str = "sensors") -> Owner:
    """Return what an element is measured at; raise UnknownNameError if there is none."""
    place, _, quantity = name.rpartition(".")
    for target in owners(scene, ELEMENTS[quantity]):
        if target.name == place:
            return target
    choices = [f"{x.name}.{quantity}" for x in owners(scene, ELEMENTS[quantity])]
    raise UnknownNameError("quantity", name, choices, plural="quantities", path=path)


def element_names(scene: Scene) -> list[str]:
    """Return the names of all quantities of elements of a scene."""
    return [f"{x.name}.{name}" for name, own in ELEMENTS.items() for x in owners(scene, own)]


def owners(scene: Scene, element: Element) -> Iterator[Owner]:
    """Yield all that has a quantity in a scene."""
    robot = scene.robot
    if element.of == "frame":
        names = dict.fromkeys([*(body.name for body in robot.bodies), *robot.frames])
        joints = [joint.name for joint in robot.joints if joint.name not in names]
        for name in (*names, *joints):
            if name not in robot.frames or robot.frames[name].body >= 0:
                yield Owner(name, sensor_frame(robot, name))
        return
    for body in scene.bodies:
        name, frame = robot.bodies[body].name, Frame(body, np.eye(3), np.zeros(3))
        yield Owner(name, frame)
        if element.of == "contact":
            for k, surface in enumerate(scene.surfaces):
                target = Owner(f"{name}.{surface.name}", frame, k)
                if target.pairs(scene):
                    yield target


def sensor_frame(robot: Robot, name: str) -> Frame:
    """Return the frame of a body, link or site that carries a sensor."""
    if name in robot.frames and robot.frames[name].body >= 0:
        return robot.frames[name]
    return Frame(robot.body(name), np.eye(3), np.zeros(3))
