"""Box 8 of [Sugihara2006], Fig. 4: forces on bodies that are no contacts.

Pushes of the user (push.py), actuators of sites (actuators.py), and gravity compensation: a force
against the weight of a part of a body,

    f = -m_l g      at the centre of that part; its moment about the body's origin is -(m_l c) x g
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.vector import SX, add_cross, constant, cross
from heelstrike.step.actuators import site_force
from heelstrike.step.push import pushes
from heelstrike.step.state import StepState


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
    found += [BodyForce(body, force, "work_control") for body, force in _site_forces(state)]
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


def _site_forces(state: StepState) -> list[tuple[int, ForceVector]]:
    """Return the forces of actuators of sites, with their bodies."""
    p, found = state.program, []
    inputs = state.inputs.control.actuator_inputs()
    for k, (actuator, w) in enumerate(zip(state.robot.actuators, inputs, strict=False)):
        wrench = actuator.wrench
        if wrench is None:
            continue
        with p.block("site", limb=state.inputs.limb_of[wrench.body], member=k):
            unit = ForceVector(constant(wrench.force), constant(wrench.moment))
            moving = state.kinematics.velocities[wrench.body]
            rate = ca.dot(unit.linear, moving.linear) + ca.dot(unit.angular, moving.angular)
            f = p.let("force", site_force(actuator, w, rate))
            found.append((wrench.body, ForceVector(f * unit.linear, f * unit.angular)))
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
