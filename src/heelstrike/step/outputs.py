"""Box 10, added to those of [Sugihara2006], Fig. 4: outputs of a step, traced only where needed.

Values are those at the start of a step: the state, and the forces that the step applies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import casadi as ca

from heelstrike.contact.solver.criteria import Ended
from heelstrike.dynamics.centroidal import (
    Centroidal,
    centroidal,
    kinetic_energy,
    potential_energy,
)
from heelstrike.spatial.motion import ForceVector
from heelstrike.spatial.vector import SX, cross
from heelstrike.step.body_forces import Cord, cord_force
from heelstrike.step.closed_loops import constraint_errors, constraint_forces
from heelstrike.step.contact_sums import PointObservation, contact_sums, observe
from heelstrike.step.contact_velocity import contact_velocity
from heelstrike.step.detect import detect, searched
from heelstrike.step.elements import element_of, owner_of
from heelstrike.step.evaluation import Contacts, Evaluation
from heelstrike.step.hull_table import Sides
from heelstrike.step.hulls import on_corner
from heelstrike.step.pair import PairState, pair_inputs
from heelstrike.step.ridges import on_ridge
from heelstrike.step.slot_outputs import SLOT_OUTPUTS, slot_outputs
from heelstrike.step.state import StepState

SUMS = ("body_force", "body_moment", "cop", "zmp")
"""Outputs that sum over the pairs."""

ENDED = {code.value: code.name.lower().replace("_", " ") for code in Ended}
"""Criteria that end a solve of the coupled problem, by the number that is an output."""
LIMIT = int(Ended.LIMIT)
"""Number of the limit of rounds."""


class StepValues:
    """Quantities of a step by name, each traced when it is first asked for; outside blocks."""

    def __init__(self, found: Evaluation) -> None:
        self.found, self.state = found, found.state
        self.pairs = found.contacts.pairs
        """Pairs as the step left them: depth and forces can be read outside guards."""
        self._made: dict[str, SX | None] = {}

    def __getitem__(self, name: str) -> SX:
        value = self.get(name)
        assert value is not None, name
        return value

    def get(self, name: str) -> SX | None:
        """Return a quantity; None if the scene has none of this name."""
        if name not in self._made:
            if element_of(name) is None:
                self._made[name] = self._whole(name)
            else:
                element, owner = element_of(name), owner_of(self.state.scene, name)
                assert element is not None
                self._made[name] = element.trace(self, owner)
        return self._made[name]

    def touches(self, k: int) -> SX:
        """Return whether pair k is in the ground or carries a force."""
        return ca.logic_or(self.pairs[k].depth > 0, self.pairs[k].normal != 0)

    @cached_property
    def observed_pairs(self) -> list[PairState]:
        """Pairs with all that can be read outside guards."""
        corners: dict[tuple[int, int, int], Sides] = {}
        own = self.state, self.found.contacts, corners
        return [_observed(*own, k) for k in range(len(self.pairs))]

    @cached_property
    def observed(self) -> list[PointObservation]:
        """Pairs in world axes."""
        return observe(self.state.program, self.observed_pairs)

    @cached_property
    def _sums(self) -> dict[str, SX]:
        between = _between_bodies(self.state, self.found.contacts)
        return contact_sums(self.state.scene, self.observed, between)

    @cached_property
    def _centroidal(self) -> Centroidal:
        return centroidal(self.state.program, self.state.robot, self.state.kinematics)

    @cached_property
    def _slots(self) -> dict[str, SX]:
        slots = self.found.contacts.slots
        return {} if slots is None else slot_outputs(self.state.program, slots)

    def _whole(self, name: str) -> SX | None:
        """Return a quantity of the whole scene."""
        found, state = self.found, self.state
        p, kin = state.program, state.kinematics
        match name:
            case "q" | "v":
                return getattr(state, name)
            case "acceleration":
                return found.a
            case "work":
                return state.inputs.work
            case "torque" | "passive_torque":
                return getattr(found, name)
            case "com":
                return self._centroidal.com
            case "com_velocity":
                return self._centroidal.velocity
            case "momentum":
                return self._centroidal.momentum.linear
            case "angular_momentum":
                return self._centroidal.momentum.angular
            case "potential":
                return potential_energy(p, kin, self._centroidal.com, state.gravity)
            case "kinetic":
                return kinetic_energy(p, state.robot, kin, state.v, state.inputs.armature)
            case "constraint_force" | "constraint_error" if found.loops:
                return self._constraint(name)
            case "spring_force" if state.robot.spatial_tendons:
                return self._spring_force()
            case "rounds" | "ended" | "residual" if found.coupled is not None:
                return getattr(found.coupled, name)
        if name in SLOT_OUTPUTS:
            return self._slots.get(name)
        return self._of_contacts(name) if self.pairs or state.scene.bodies else None

    def _of_contacts(self, name: str) -> SX | None:
        """Return a quantity of all pairs, or of the bodies that may touch."""
        if name in SUMS:
            return self._sums[name] if self.state.scene.bodies else None
        if not self.pairs:
            return None
        match name:
            case "normal":
                return ca.vertcat(*(pair.normal for pair in self.pairs))
            case "touching":
                return ca.vertcat(*(self.touches(k) for k in range(len(self.pairs))))
            case "position":
                return ca.horzcat(*(pair.position for pair in self.observed_pairs)).T
            case "depth" | "depth_rate":
                return ca.vertcat(*(getattr(pair, name) for pair in self.observed_pairs))
            case "slip" | "force":
                return ca.horzcat(*(getattr(point, name) for point in self.observed)).T
        return None

    def _spring_force(self) -> SX:
        with self.state.program.block("springs"):
            tendons = self.state.robot.spatial_tendons
            return ca.vertcat(*(-cord_force(x, Cord(self.state, x.path)) for x in tendons))

    def _constraint(self, name: str) -> SX:
        p, found = self.state.program, self.found
        with p.block("constraints"):
            if name == "constraint_error":
                return p.let("error", constraint_errors(self.state, found.loops))
            forces = constraint_forces(self.state, found.loops, found.multipliers)
            return p.let("force", forces)


def add_outputs(values: StepValues, readings: Mapping[str, SX], names: Sequence[str]) -> None:
    """Add named readings of sensors, or else values, to the program's outputs."""
    found = {name: readings[name] if name in readings else values.get(name) for name in names}
    with values.state.program.block("record"):
        for name, value in found.items():
            if value is not None:
                values.state.program.output(name, value)


def _observed(
    state: StepState, contacts: Contacts, corners: dict[tuple[int, int, int], Sides], k: int
) -> PairState:
    """Return a pair as it can be read outside guards.

    Where it is under a guard, which leaves its forces alone, its geometry and velocity are
    computed once more. `corners` are those of hulls that were found so.
    """
    p, pair = state.program, contacts.pairs[k]
    if contacts.guards[state.scene.group_of(k)] is None:
        return pair
    inputs = on_corner(state, k, pair_inputs(state, k), corners)
    inputs = searched(p, on_ridge(state, k, inputs))
    with p.block("observed", member=k):
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
