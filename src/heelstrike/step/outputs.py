"""What a step can record: the program's plain outputs, traced only where they are asked for.

Values are those at the start of a step: the state, and the forces that the step applies. An
accelerometer feels R^T (a - g) at its frame's origin, a gyro the frame's own spin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.dynamics.centroidal import centroidal, kinetic_energy, potential_energy
from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Frame, Robot
from heelstrike.spatial.motion import Motion
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, add_cross, constant
from heelstrike.step.coupled import Coupled
from heelstrike.step.detect import Contacts
from heelstrike.step.net import net, points
from heelstrike.step.plan import StepPlan


@dataclass(frozen=True)
class Evaluated:
    """One evaluation of the equations of motion."""

    kin: Kinematics
    poses: list[Transform]
    contacts: Contacts
    a: SX
    torque: SX
    """Applied by the control."""
    friction: tuple[SX, SX]
    """Of joints that rub: -1 or 1 where one slides, else 0; and of all joints its torque."""
    felt: list[Motion]
    """Accelerations of the bodies less gravity, in their frames."""
    coupled: Coupled | None
    power: SX
    """In the order of WORKS [W]."""


def record(
    p: Program,
    plan: StepPlan,
    gravity: SX,
    state: tuple[SX, SX, SX],
    found: Evaluated,
    names: Sequence[str],
) -> None:
    """Outputs of the named quantities at the start of the step; the state is q, v, work."""
    q, v, work = state
    pairs = found.contacts.pairs
    values = {"q": q, "v": v, "work": work, "torque": found.torque}
    if pairs:
        seen = points(p, pairs)
        values |= {
            "position": ca.horzcat(*(pair.position for pair in pairs)).T,
            "depth": ca.vertcat(*(pair.depth for pair in pairs)),
            "depth_rate": ca.vertcat(*(pair.depth_rate for pair in pairs)),
            "slip": ca.horzcat(*(point.slip for point in seen)).T,
            "normal": ca.vertcat(*(pair.normal for pair in pairs)),
            "force": ca.horzcat(*(point.force for point in seen)).T,
            **net(plan.scene, seen),
        }
    if found.coupled is not None:
        values |= {"rounds": found.coupled.rounds, "unfinished": found.coupled.unfinished}
        values["residual"] = found.coupled.residual
    if {"com", "com_velocity", "potential"} & set(names):
        whole = centroidal(p, plan.robot, found.kin)
        values |= {"com": whole.com, "com_velocity": whole.velocity}
        values["potential"] = potential_energy(p, found.kin, whole.com, gravity)
    if "kinetic" in names:
        values["kinetic"] = kinetic_energy(p, plan.robot, found.kin, v)
    if {"accelerometer", "gyro"} & set(names):
        values |= _sensors(p, plan, found)
    with p.block("record"):
        for name in names:
            if name in values:
                p.output(name, values[name])


def _sensors(p: Program, plan: StepPlan, found: Evaluated) -> dict[str, SX]:
    felt, spins = [], []
    with p.block("sensors"):
        for name in plan.sensors:
            frame = sensor_frame(plan.robot, name)
            velocity, acceleration = found.kin.velocities[frame.body], found.felt[frame.body]
            place, turn = constant(frame.translation), constant(frame.rotation).T
            seen = add_cross(acceleration.at(place), velocity.angular, velocity.at(place))
            felt.append(p.let("felt", turn @ seen))
            spins.append(p.let("spin", turn @ velocity.angular))
    return {"accelerometer": ca.horzcat(*felt).T, "gyro": ca.horzcat(*spins).T}


def sensor_frame(robot: Robot, name: str) -> Frame:
    """The frame of a body, link or site."""
    if name in robot.frames and robot.frames[name].body >= 0:
        return robot.frames[name]
    return Frame(robot.body(name), np.eye(3), np.zeros(3))
