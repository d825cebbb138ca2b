"""Box 8 of [Sugihara2006], Fig. 4: forces on bodies that are no contacts.

Pushes of the user (push.py), actuators of sites (actuators.py), spatial tendons, which pull along
straight lines between points, explicitly, drag of a fluid (fluid.py), and gravity compensation: a
force against the weight of a part of a body,

    f = -m_l g      at the centre of that part; its moment about the body's origin is -(m_l c) x g
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca

from heelstrike.robot.actuators import Path, SpatialTendon
from heelstrike.robot.robot import WORLD
from heelstrike.spatial.motion import ForceVector, MotionVector, force_at
from heelstrike.spatial.vector import SX, add_cross, constant, cross, zeros
from heelstrike.step.actuators import free_force
from heelstrike.step.fluid import drag_force
from heelstrike.step.push import pushes
from heelstrike.step.state import StepState
from heelstrike.step.tendons import cord_stop

SMALL = 1e-9
"""Length of a line below which it has no direction [m]."""


@dataclass(frozen=True)
class BodyForce:
    """A force on a body, about its origin and in its axes."""

    body: int
    force: ForceVector
    work: str
    """The work, of WORKS, that it counts in."""


def add_body_forces(state: StepState, external: list[ForceVector | None]) -> list[BodyForce]:
    """Add all forces on bodies to the external ones, which are in the bodies' frames."""
    p = state.program
    found = [BodyForce(body, force, "work_push") for body, force in pushes(state)]
    found += [BodyForce(body, force, "work_joints") for body, force in _lifts(state)]
    found += [BodyForce(body, force, "work_joints") for body, force in _cords(state)]
    found += [BodyForce(body, force, "work_joints") for body, force in _drags(state)]
    found += [BodyForce(body, force, "work_control") for body, force in _driven(state)]
    for own in found:
        with p.block("push", limb=state.inputs.limb_of[own.body]):
            old = external[own.body]
            total = own.force if old is None else old + own.force
            linear, angular = p.let("push", total.linear), p.let("push", total.angular)
            external[own.body] = ForceVector(linear, angular)
    return found


def _lifts(state: StepState) -> list[tuple[int, ForceVector]]:
    """Return gravity compensation by body."""
    p, found = state.program, []
    for i, body in enumerate(state.robot.bodies):
        if body.lifted or body.lifted_moment.any():
            with p.block("lift", limb=state.inputs.limb_of[i], member=i):
                up = -state.poses[i].unrotate(state.gravity)
                force = p.let("lift", body.lifted * up)
                moment = p.let("lift", cross(constant(body.lifted_moment), up))
                found.append((i, ForceVector(force, moment)))
    return found


def _drags(state: StepState) -> list[tuple[int, ForceVector]]:
    """Return the drag of a fluid by body."""
    p, found = state.program, []
    for k, drag in enumerate(state.robot.drags):
        i = drag.body
        with p.block("drag", limb=state.inputs.limb_of[i], member=k):
            force = drag_force(drag, state.poses[i], state.kinematics.velocities[i])
            linear, angular = p.let("drag", force.linear), p.let("drag", force.angular)
            found.append((i, ForceVector(linear, angular)))
    return found


def _driven(state: StepState) -> list[tuple[int, ForceVector]]:
    """Return the forces of actuators of sites and of spatial tendons, with their bodies."""
    p, found = state.program, []
    inputs = state.inputs.control.actuator_inputs()
    for k, (actuator, w) in enumerate(zip(state.robot.actuators, inputs, strict=False)):
        wrench = actuator.wrench
        if actuator.path:
            with p.block("cord", member=k):
                cord = Cord(state, actuator.path)
                length, rate = actuator.gear * cord.length, actuator.gear * cord.rate
                f = p.let("force", free_force(actuator, w, length, rate))
                found += cord.pulls(actuator.gear * f)
        elif wrench is not None:
            with p.block("site", limb=state.inputs.limb_of[wrench.body], member=k):
                unit = ForceVector(constant(wrench.force), constant(wrench.moment))
                moving = state.kinematics.velocities[wrench.body]
                rate = ca.dot(unit.linear, moving.linear) + ca.dot(unit.angular, moving.angular)
                f = p.let("force", free_force(actuator, w, SX(0), rate))
                found.append((wrench.body, ForceVector(f * unit.linear, f * unit.angular)))
    return found


def _cords(state: StepState) -> list[tuple[int, ForceVector]]:
    """Return the forces of springs, damping and limits of spatial tendons."""
    p, found = state.program, []
    for k, tendon in enumerate(state.robot.spatial_tendons):
        with p.block("cord", limb="tendons", member=k):
            cord = Cord(state, tendon.path)
            f = cord_force(tendon, cord)
            if tendon.limit is not None and state.inputs.stops is not None:
                f = f + cord_stop(tendon, cord.length, cord.rate, state.ahead)
            found += cord.pulls(p.let("force", f))
    return found


def cord_force(tendon: SpatialTendon, cord: Cord) -> SX:
    """Return the force of spring and damping along the length [N]: negative where it pulls."""
    low, high = tendon.rest
    stretch = cord.length - ca.fmax(low, ca.fmin(high, cord.length))
    return -tendon.stiffness * stretch - tendon.damping * cord.rate


class Cord:
    """A tendon that runs straight from point to point, at a state; inside a block."""

    def __init__(self, state: StepState, path: Path) -> None:
        self.state, self.path = state, path
        places, speeds = [], []
        for body, point in path:
            at = constant(point)
            moving = None if body == WORLD else state.kinematics.velocities[body].at(at)
            places.append(at if body == WORLD else state.poses[body].point(at))
            speeds.append(zeros() if moving is None else state.poses[body].rotate(moving))
        self.length, self.rate, self.units = SX(0), SX(0), []
        for (p, v), (q, w) in pairwise(zip(places, speeds, strict=True)):
            gap = ca.sqrt(ca.dot(q - p, q - p))
            unit = (q - p) / ca.fmax(gap, SMALL)
            self.length, self.rate = self.length + gap, self.rate + ca.dot(unit, w - v)
            self.units.append(unit)

    def pulls(self, force: SX) -> list[tuple[int, ForceVector]]:
        """Return what a force along the length does to the bodies, each in its frame."""
        p, found = self.state.program, []
        for k, (body, point) in enumerate(self.path):
            if body == WORLD:
                continue
            ends = [self.units[k - 1]] if k else []
            total = sum(ends, zeros()) - (self.units[k] if k < len(self.units) else zeros())
            own = force_at(constant(point), self.state.poses[body].unrotate(force * total))
            linear, angular = p.let("pull", own.linear), p.let("pull", own.angular)
            found.append((body, ForceVector(linear, angular)))
        return found


def power_of(
    state: StepState,
    forces: Sequence[BodyForce],
    work: str,
    specific: Sequence[MotionVector],
    ahead: SX | float,
) -> SX:
    """Return the power of the forces of a work [W] at velocities `ahead` [s] of the start.

    `specific` are the bodies' accelerations less gravity, in their frames.
    """
    power = SX(0)
    for own in (own for own in forces if own.work == work):
        moving, rise = state.kinematics.velocities[own.body], specific[own.body]
        pull = state.poses[own.body].unrotate(state.gravity)
        linear = rise.linear + add_cross(pull, moving.angular, moving.linear)
        power = power + ca.dot(own.force.linear, moving.linear + ahead * linear)
        power = power + ca.dot(own.force.angular, moving.angular + ahead * rise.angular)
    return power


def about_base(state: StepState, forces: Sequence[BodyForce], root: int) -> ForceVector:
    """Return the sum of forces, about the origin of a base and in its axes."""
    base = state.poses[root]
    total = None
    for own in forces:
        pose = state.poses[own.body]
        force = base.unrotate(pose.rotate(own.force.linear))
        moment = base.unrotate(pose.rotate(own.force.angular))
        lever = base.unrotate(pose.origin - base.origin)
        moved = ForceVector(force, add_cross(moment, lever, force))
        total = moved if total is None else total + moved
    assert total is not None
    return total
