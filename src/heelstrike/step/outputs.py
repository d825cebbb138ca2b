"""Box 10, added to those of [Sugihara2006], Fig. 4: outputs of a step, traced only where needed.

Values are those at the start of a step: the state, and the forces that the step applies. An
accelerometer measures R^T (a - g) at its frame's origin, a gyro the angular velocity of its frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from heelstrike.contact.solver.criteria import Ended
from heelstrike.dynamics.centroidal import centroidal, kinetic_energy, potential_energy
from heelstrike.robot.robot import Frame, Robot
from heelstrike.spatial.motion import ForceVector
from heelstrike.spatial.vector import SX, add_cross, constant, cross
from heelstrike.step.closed_loops import constraint_errors, constraint_forces
from heelstrike.step.contact_sums import contact_sums, observe
from heelstrike.step.contact_velocity import contact_velocity
from heelstrike.step.detect import detect
from heelstrike.step.slot_outputs import slot_outputs
from heelstrike.step.state import Contacts, Evaluation, PairState, StepState, pair_inputs

SUMMED = {"slip", "force", "body_force", "body_moment", "cop", "zmp"}
"""Outputs for which pairs are observed in world axes."""

ENDED = {code.value: code.name.lower().replace("_", " ") for code in Ended}
"""Criteria that end a solve of the coupled problem, by the number that is an output."""
LIMIT = int(Ended.LIMIT)
"""Number of the limit of rounds."""


def add_outputs(found: Evaluation, names: Sequence[str]) -> None:
    """Add the named quantities at the start of the step to the program's outputs."""
    state, pairs = found.state, found.contacts.pairs
    p, kin = state.program, state.kinematics
    values = {"q": state.q, "v": state.v, "work": state.inputs.work, "torque": found.torque}
    values["passive_torque"] = found.passive_torque
    if {"position", "depth", "depth_rate", *SUMMED} & set(names):
        pairs = [_observed(state, found.contacts, k) for k in range(len(pairs))]
    if pairs:
        values |= {
            "position": ca.horzcat(*(pair.position for pair in pairs)).T,
            "depth": ca.vertcat(*(pair.depth for pair in pairs)),
            "depth_rate": ca.vertcat(*(pair.depth_rate for pair in pairs)),
            "normal": ca.vertcat(*(pair.normal for pair in pairs)),
        }
    if state.scene.bodies and SUMMED & set(names):
        observed = observe(p, pairs)
        values |= {
            "slip": ca.horzcat(*(point.slip for point in observed)).T,
            "force": ca.horzcat(*(point.force for point in observed)).T,
            **contact_sums(state.scene, observed, _between_bodies(state, found.contacts)),
        }
    if found.contacts.slots is not None:
        values |= slot_outputs(p, found.contacts.slots, names)
    if found.coupled is not None:
        values |= {"rounds": found.coupled.rounds, "ended": found.coupled.ended}
        values["residual"] = found.coupled.residual
    if found.loops and {"constraint_force", "constraint_error"} & set(names):
        with p.block("constraints"):
            forces = constraint_forces(state, found.loops, found.multipliers)
            values["constraint_force"] = p.let("force", forces)
            values["constraint_error"] = p.let("error", constraint_errors(state, found.loops))
    if {"com", "com_velocity", "potential"} & set(names):
        whole = centroidal(p, state.robot, kin)
        values |= {"com": whole.com, "com_velocity": whole.velocity}
        values["potential"] = potential_energy(p, kin, whole.com, state.gravity)
    if "kinetic" in names:
        values["kinetic"] = kinetic_energy(p, state.robot, kin, state.v)
    if {"accelerometer", "gyro"} & set(names):
        values |= _sensors(found)
    with p.block("record"):
        for name in names:
            if name in values:
                p.output(name, values[name])


def _observed(state: StepState, contacts: Contacts, k: int) -> PairState:
    """Return a pair as it can be read outside guards.

    Where it is under a guard, which leaves its forces alone, its geometry and velocity are
    computed once more.
    """
    p, pair = state.program, contacts.pairs[k]
    if contacts.guards[state.scene.group_of(k)] is None:
        return pair
    with p.block("observed", member=k):
        inputs = pair_inputs(state, k)
        found = detect(p, inputs)
        velocity = contact_velocity(p, inputs, found)
        return replace(
            pair,
            position=p.let("position", found.position),
            depth=found.depth,
            depth_rate=velocity.depth_rate,
            slip=velocity.slip,
            axes=p.let("axes", found.axes),
            sides=found.sides,
            flow=p.let("flow", velocity.flow),
        )


def _between_bodies(state: StepState, contacts: Contacts) -> dict[int, ForceVector]:
    """Return the forces between shapes of bodies, by body, about the world's origin."""
    forces = {}
    for body, own in ({} if contacts.slots is None else contacts.slots.forces).items():
        pose = state.poses[body]
        force = pose.rotate(own.linear)
        forces[body] = ForceVector(force, pose.rotate(own.angular) + cross(pose.origin, force))
    return forces


def _sensors(found: Evaluation) -> dict[str, SX]:
    """Return the readings of all sensors, (sensors, 3)."""
    state, readings, spins = found.state, [], []
    p = state.program
    with p.block("sensors"):
        for name in state.plan.sensors:
            frame = sensor_frame(state.robot, name)
            velocity = state.kinematics.velocities[frame.body]
            place, turn = constant(frame.translation), constant(frame.rotation).T
            specific = found.specific[frame.body].at(place)
            reading = add_cross(specific, velocity.angular, velocity.at(place))
            readings.append(p.let("specific", turn @ reading))
            spins.append(p.let("spin", turn @ velocity.angular))
    return {"accelerometer": ca.horzcat(*readings).T, "gyro": ca.horzcat(*spins).T}


def sensor_frame(robot: Robot, name: str) -> Frame:
    """Return the frame of a body, link or site that carries a sensor."""
    if name in robot.frames and robot.frames[name].body >= 0:
        return robot.frames[name]
    return Frame(robot.body(name), np.eye(3), np.zeros(3))
