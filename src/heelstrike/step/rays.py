"""Box 10, added to those of [Sugihara2006], Fig. 4: distances along rays to surfaces and shapes.

One routine serves all rays of a sensor: it is traced once, and rays differ in their numbers. On a
height field all rays advance together, each by what the steepest slope of the field allows,

    t <- t + (z - h) / (s . |d_xy| - d_z)       s: largest slopes along x and y

so that none passes the ground; a vertical ray arrives at once.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from heelstrike.contact.geometry import ray
from heelstrike.errors import HeelstrikeError
from heelstrike.ir.number import number
from heelstrike.ir.routine import call
from heelstrike.robot.mesh import half_spaces
from heelstrike.robot.robot import WORLD, Shape
from heelstrike.scene.rays import Rays
from heelstrike.scene.scene import Scene
from heelstrike.scene.surfaces import HeightField, Surface
from heelstrike.spatial.rotation import constant_rotation
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, constant, zeros
from heelstrike.step.elements import sensor_frame

if TYPE_CHECKING:
    from heelstrike.step.state import StepState

LIMB = "rays"
"""Name of the limb of the blocks."""


class RayCaster:
    """What the rays of a sensor start from and may meet, as symbols of a step."""

    def __init__(self, state: StepState, sensor: Rays) -> None:
        self.p, self.state, self.sensor = state.program, state, sensor
        frame = sensor_frame(state.robot, sensor.frame)
        with self.p.block("ray frame", limb=LIMB):
            pose = state.poses[frame.body]
            self.origin = self.p.let("origin", pose.point(constant(frame.translation)))
            axes = _axes(pose.rotate(constant(frame.rotation)), sensor.align)
            self.axes = self.p.let("axes", axes)
        self.shapes = met_shapes(state.scene, sensor) if sensor.shapes else []
        fields = [isinstance(x.surface, HeightField) for x in state.surfaces]
        numbered = list(enumerate(x.surface for x in state.surfaces))
        self.surfaces = [x for x, marches in zip(numbered, fields, strict=True) if not marches]
        self.fields = [x for x, marches in zip(numbered, fields, strict=True) if marches]

    def distances(self) -> SX:
        """Return the distances along all rays, (n,) [m]; outside blocks."""
        p, found, rays = self.p, [], []
        for k, row in enumerate(self.sensor.table.tolist()):
            numbers = ca.vertcat(*(number(x) for x in row))
            own, o, d = call(p, "ray", self.first, numbers, limb=LIMB, member=k)
            found.append(own)
            rays.append((o, d))
        for index, field in self.fields:
            assert isinstance(field, HeightField)
            own = self._frame(index)
            with p.block("rays on a field", limb=LIMB):
                moved = [_into(own, o, d) for o, d in rays]
                starts = p.let("start", ca.horzcat(*(o for o, _ in moved)))
                directions = p.let("direction", ca.horzcat(*(d for _, d in moved)))
            met = field.rays(p, starts, directions, float(self.sensor.reach))
            found = [ca.fmin(a, met[k]) for k, a in enumerate(found)]
        with p.block("rays", limb=LIMB):
            return p.let("distance", ca.vertcat(*found))

    def first(self, row: SX) -> tuple[SX, SX, SX]:
        """Return the distance along a ray, its start and its direction; inside a block."""
        p, axes = self.p, self.axes
        o = p.let("start", self.origin + axes @ row[:3])
        d = p.let("direction", axes @ row[3:])
        met = [SX(float(self.sensor.reach))]
        met += [x.ray(*_into(self._frame(index), o, d)) for index, x in self.surfaces]
        for shape in self.shapes:
            pose = self.state.poses[shape.body]
            placed = Transform(constant_rotation(shape.rotation), constant(shape.translation))
            met.append(ray.distance(_shape(shape, *_into(placed, *_into(pose, o, d)))))
        return p.let("distance", reduce(ca.fmin, met)), o, d

    def _frame(self, surface: int) -> Transform:
        """Return the placement of a surface's frame."""
        body = self.state.scene.surfaces[surface].body
        still = Transform((), zeros())
        return still if body is None else self.state.poses[self.state.robot.body(body)]


def check_rays(scene: Scene, sensor: Rays) -> None:
    """Raise if rays cannot meet a surface of the scene."""
    for surface in scene.surfaces:
        if type(surface).ray is Surface.ray and not isinstance(surface, HeightField):
            kind = type(surface).__name__
            raise HeelstrikeError(
                f"rays do not meet hs.{kind}, the surface '{surface.name}'",
                path="sensors",
                value=sensor.name,
                remedy="use hs.HeightField, or hs.Box and other shapes",
            )


def met_shapes(scene: Scene, sensor: Rays) -> list[Shape]:
    """Return the collision shapes that rays may meet."""
    own = sensor_frame(scene.robot, sensor.frame).body
    return [x for x in scene.robot.shapes if x.collides and x.body not in (own, WORLD)]


def _axes(turned: SX, align: str) -> SX:
    """Return the axes of the rays as columns, for those of their frame."""
    if align == "frame":
        return turned
    if align == "world":
        return SX.eye(3)
    x, y = turned[0, 0], turned[1, 0]
    size = ca.sqrt(x * x + y * y)
    upright = size < ray.PARALLEL
    share = 1 / ca.if_else(upright, 1, size)
    c, s = ca.if_else(upright, 1, share * x), ca.if_else(upright, 0, share * y)
    return ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))


def _into(placement: Transform, o: SX, d: SX) -> tuple[SX, SX]:
    """Return a ray in the frame of a placement."""
    return placement.unrotate(o - placement.origin), placement.unrotate(d)


def _shape(shape: Shape, o: SX, d: SX) -> ray.Interval:
    """Return the part of a ray in a shape, in its frame."""
    size = [SX(float(x)) for x in np.ravel(shape.size)]
    match shape.kind:
        case "sphere":
            return ray.sphere(size[0], o, d)
        case "capsule":
            return ray.capsule(size[0], size[1], o, d)
        case "cylinder":
            return ray.cylinder(size[0], size[1], o, d)
        case "ellipsoid":
            return ray.ellipsoid(ca.vertcat(*size), o, d)
        case "box":
            return ray.box(ca.vertcat(*size), o, d)
    assert shape.vertices is not None
    corners = shape.vertices if shape.corners is None else shape.vertices[shape.corners]
    return ray.polytope(*half_spaces(corners), o, d)
