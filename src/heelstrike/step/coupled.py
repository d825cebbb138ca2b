"""Boxes 5 to 7 of [Sugihara2006], Fig. 4: the coupled problem, forces that depend on one another.

The targets of the coupled pairs become rows of the problem, and its impulses become forces of the
pairs and the memory of the next step. swept.py solves it, literal.py where a paper's rule is taken
literally.

The velocity of a point after the step includes the turning of its lever, dt w x (w x r), of a
sphere that to its centre: the term that [Sugihara2006] (19) drops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import casadi as ca
import numpy as np

from heelstrike.contact.solver.rows import Arm, Row, TurningRow
from heelstrike.contact.surface_law import CouplingRule, PaperTerms, SurfaceLaw
from heelstrike.ir.guard import OpenGuard, left, reopened
from heelstrike.ir.routine import call
from heelstrike.robot.robot import WORLD
from heelstrike.scene.scene import bodies_in
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, constant, cross, zeros
from heelstrike.step.elastic import add_load, forces_on, total_forces
from heelstrike.step.evaluation import NO_LOAD, Contacts, Group, Loads
from heelstrike.step.pair import PairState
from heelstrike.step.plan import coupling_rule
from heelstrike.step.slot_contacts import (
    SlotState,
    loads_by_body,
    new_loads,
    spread_loads,
)
from heelstrike.step.state import StepState
from heelstrike.step.surfaces import IMPULSE_MEMORY, TURNS, patch_of, slots_turn
from heelstrike.step.turning import turning_loads, turning_moment, turning_rows

SLIPS = 0.1
"""Slip at the start of a step, in units of |g| dt, from which on a point is taken to slide."""
FALLS = 1.1
"""The same where contact begins: a body that was put onto the surface may have fallen a step."""


class Coupling:
    """The coupled pairs of an evaluation."""

    def __init__(self, state: StepState, contacts: Contacts, memory: SX) -> None:
        self.state, self.contacts, self.memory = state, contacts, memory
        self.pairs = state.plan.coupled_pairs
        self.slots: list[SlotState] = []
        """Slots whose contacts couple."""
        bodies = set(bodies_in([state.scene.pairs[k] for k in self.pairs]))
        if state.plan.slots_couple and contacts.slots is not None:
            self.slots = contacts.slots.slots
            bodies |= contacts.slots.loads.keys()
        self.bodies = sorted(bodies)
        self.rows: list[Row] = []
        self.paper_terms: list[PaperTerms] = []
        self.rule = coupling_rule(state.scene) or CouplingRule()

    def moving_body(self, k: int) -> int:
        """Return the body of a pair's point, or the one that carries its surface."""
        pair = self.state.scene.pairs[k]
        return pair.point.body if pair.carrier is None else pair.carrier

    def row(self, n: int, limb: str) -> Row:
        """Return the row of the n-th coupled pair."""
        pair = self.contacts.pairs[self.pairs[n]]
        own = self.memory[IMPULSE_MEMORY * n : IMPULSE_MEMORY * (n + 1)]
        p, offset = self.state.program, self._offset(n)
        law = self.state.inputs.surfaces.laws[self.state.scene.pairs[self.pairs[n]].law]
        row, terms = call(p, "row", self._row, pair, law, own, offset, limb=limb, member=n)
        if terms is not None:
            self.paper_terms.append(terms)
        sides = sorted(pair.sides, key=lambda side: side.body)
        arms = (Arm(self.bodies.index(x.body), x.lever, x.sign) for x in sides)
        return replace(row, arms=tuple(arms))

    def turning_numbers(self, n: int) -> list[int]:
        """Return the numbers of the rows against turning of the n-th coupled pair."""
        turning, k = self.state.plan.turning_pairs, self.pairs[n]
        if k not in turning:
            return []
        slots = sum(len(slot.pairs) for slot in self.slots)
        first = len(self.pairs) + slots + TURNS * turning.index(k)
        return list(range(first, first + TURNS))

    def turning_rows(self, n: int, row: Row, limb: str) -> dict[int, TurningRow]:
        """Return the rows against turning of the n-th coupled pair, by number."""
        state, numbers, k = self.state, self.turning_numbers(n), self.pairs[n]
        if not numbers:
            return {}
        pair, place = self.contacts.pairs[k], state.scene.pairs[k]
        law = state.inputs.surfaces.laws[place.law]
        patch = patch_of(law, place.point.roundness)
        assert patch is not None
        first = len(self.pairs) + TURNS * state.plan.turning_pairs.index(k)
        memories = ca.vertsplit(self.memory[IMPULSE_MEMORY * first :], IMPULSE_MEMORY)[:TURNS]
        load = self.memory[IMPULSE_MEMORY * n + 2] + pair.normal
        with state.program.block("turning", limb=limb, member=n):
            slips = SLIPS * state.dt * ca.sqrt(ca.dot(state.gravity, state.gravity))
            active = ca.logic_or(row.active, pair.normal > 0)
            own = patch, place.point.lever, active, memories, load, slips, state.dt
            rows = turning_rows(state.program, row, pair, *own)
        return dict(zip(numbers, rows, strict=True))

    def slot_number(self, slot: int, k: int) -> int:
        """Return the number of the row of contact k of a slot."""
        return len(self.pairs) + slot * len(self.slots[0].pairs) + k

    def slot_turning_numbers(self, slot: int) -> list[int]:
        """Return the numbers of the rows against turning of a slot."""
        if not slots_turn(self.state.scene):
            return []
        first = self.slot_number(len(self.slots), 0) if self.slots else 0
        first += TURNS * (len(self.state.plan.turning_pairs) + slot)
        return list(range(first, first + TURNS))

    def slot_turning_rows(self, slot: SlotState, rows: Sequence[Row]) -> dict[int, TurningRow]:
        """Return the rows against turning of a slot with these rows; inside the slot's guard."""
        state, numbers = self.state, self.slot_turning_numbers(slot.slot.number)
        patch = patch_of(slot.law, bool(numbers))
        if patch is None:
            return {}
        memories = ca.vertsplit(slot.impulses, IMPULSE_MEMORY)
        contacts, turns = memories[: len(rows)], memories[len(rows) :]
        with state.program.block("turning", member=numbers[0]):
            acts = reduce(ca.logic_or, (row.active for row in rows), slot.load > 0)
            slips = SLIPS * state.dt * ca.sqrt(ca.dot(state.gravity, state.gravity))
            load = sum((own[2] for own in contacts), slot.load)
            active = ca.logic_and(acts, slot.rolls)
            own = patch, slot.lever, active, turns, load, slips, state.dt
            found = turning_rows(state.program, rows[0], slot.pairs[0], *own)
        return dict(zip(numbers, found, strict=True))

    def slot_row(self, slot: SlotState, k: int) -> Row:
        """Return the row of contact k of a slot; inside the slot's guard."""
        state, pair, number = self.state, slot.pairs[k], slot.slot.number
        own = slot.impulses[IMPULSE_MEMORY * k : IMPULSE_MEMORY * (k + 1)]
        arguments = pair, slot.law, own, None
        member = self.slot_number(number, k)
        row, _ = call(state.program, "row", self._row, *arguments, member=member)
        arms = (Arm(n, side.lever, side.sign) for n, side in enumerate(pair.sides))
        return replace(row, arms=tuple(arms))

    def _row(
        self, pair: PairState, law: SurfaceLaw, own: SX, offset: tuple[SX, Transform] | None
    ) -> tuple[Row, PaperTerms | None]:
        """Return a row without arms, and its terms of the literal rule; inside a block."""
        gravity, dt = self.state.gravity, self.state.dt
        assert pair.point is not None
        goal = law.target(pair.point).completed(pair.point)
        fresh = ca.logic_or(own[3] == 0, goal.impact)
        known = ca.logic_and(goal.active, ca.logic_not(fresh))
        past = ca.if_else(known, own[:3] * dt, 0)
        pull = ca.dot(gravity, gravity)
        rubbing = ca.dot(pair.slip, pair.slip)
        slips = rubbing > (ca.if_else(own[3] == 0, FALLS, SLIPS) * dt) ** 2 * pull
        slid = ca.logic_or(ca.logic_and(known, own[3] > 1.5), ca.logic_and(goal.active, slips))
        rubs = ca.logic_and(slid, past[2] > 0)
        turning = zeros()
        for side in pair.sides if self.rule.bias == "keep" else ():
            spin = side.motion.angular
            turning = turning + side.sign * side.share * cross(spin, side.lever_rate)
        wanted = pair.axes @ (pair.flow - dt * turning)
        slip = zeros(2) if goal.slip is None else goal.slip
        target = wanted + ca.vertcat(slip, goal.velocity)
        p, terms = self.state.program, goal.paper
        if terms is not None:
            kinetic, lam = p.let("kinetic", terms.kinetic), p.let("lam", SX(terms.lam))
            terms = PaperTerms(kinetic, p.let("sigma", terms.sigma), lam)
        row = Row(
            arms=(),
            axes=pair.axes,
            active=p.let("active", goal.active),
            target=p.let("target", target),
            mu_s=p.let("mu", SX(goal.mu_s)),
            mu_k=p.let("mu", SX(goal.mu_k)),
            smoothing=p.let("smoothing", SX(goal.smoothing)),
            past=p.let("past", past),
            slid=p.let("slid", slid),
            misfit=p.let("misfit", self._misfit(pair, offset)),
            fresh=p.let("fresh", fresh),
            moves=p.let("moves", ca.if_else(ca.logic_or(fresh, slips), 2, rubs)),
            compliance=None if goal.compliance is None else p.let("soft", goal.compliance),
            leaving=None if goal.compliance_out is None else p.let("soft", goal.compliance_out),
            rest=p.let("rest", -goal.velocity),
        )
        return row, terms

    def _offset(self, n: int) -> tuple[SX, Transform] | None:
        """Return the place of a point relative to the mean of its body's coupled points [m].

        It is in the frame of the body, whose pose is returned too; None for a point that is fixed.
        """
        state = self.state
        point = state.scene.pairs[self.pairs[n]].point
        if point.body == WORLD or self.rule.bias != "keep":
            return None
        points = [state.scene.pairs[k].point for k in self.pairs]
        mean = np.mean([x.position for x in points if x.body == point.body], axis=0)
        return constant(point.position - mean), state.poses[point.body]

    def _misfit(self, pair: PairState, offset: tuple[SX, Transform] | None) -> SX:
        """Return the part of a target by turning that no rigid motion of the body has [m/s].

        It is at most that of the lever from the mean of the body's coupled points.
        """
        if offset is None:
            return SX(0)
        place, pose = offset
        lever = pose.rotate(place)
        spin = pair.sides[0].motion.angular
        turning = cross(spin, cross(spin, lever))
        return self.state.dt * ca.sqrt(ca.dot(turning, turning))

    def _force(self, row: Row, impulse: SX, slides: SX) -> tuple[SX, SX]:
        """Return the coupled force of a pair, and its memory; inside a block."""
        p = self.state.program
        force = p.let("force", impulse / self.state.dt)
        state = ca.if_else(row.active, ca.if_else(slides, 2, 1), 0)
        kept = ca.vertcat(ca.if_else(row.active, force, 0), state)
        return force, p.let("memory", kept)

    def merged(
        self,
        impulses: Sequence[SX],
        slides: Sequence[SX],
        guards: Mapping[Group, OpenGuard | None] | None = None,
    ) -> tuple[Contacts, SX]:
        """Return the contacts with the coupled forces added, and the memory of the pairs.

        `guards` are those of groups that touch, in which impulses exist.
        """
        p, contacts, number = self.state.program, self.contacts, dict(enumerate(self.pairs))
        pairs, loads = list(contacts.pairs), list(contacts.loads)
        remembered: dict[int, SX] = {}
        for group, numbers in self.state.scene.groups.items():
            own = [n for n, k in number.items() if k in numbers]
            if not own:
                continue
            forces = {}
            with reopened(p, None if guards is None else guards[group]) as guard:
                for n in own:
                    arguments, limb = (self.rows[n], impulses[n], slides[n]), self._limb(n)
                    found = call(p, "force", self._force, *arguments, limb=limb, member=n)
                    with p.block("left", limb=limb, member=n):
                        forces[n] = found[0], left(p, guard, "force", found[0])
                        remembered[n] = left(p, guard, "memory", found[1])
                turned = {n: self._moment(n, impulses, slides, remembered, guard) for n in own}
                inside = {number[n]: force for n, (force, _) in forces.items()}
                moments = {number[n]: x[0] for n, x in turned.items() if x is not None}
                loads.append((guard, self._coupled_loads(group, inside, moments)))
            for n, (_, force) in forces.items():
                moment = turned[n]
                pairs[number[n]] = self._with_force(n, force)
                if moment is not None:
                    pairs[number[n]] = replace(pairs[number[n]], moment=moment[1])
        kept = ca.vertcat(*(remembered[n] for n in sorted(remembered)))
        return replace(contacts, pairs=pairs, loads=loads), kept

    def _moment(
        self,
        n: int,
        impulses: Sequence[SX],
        slides: Sequence[SX],
        remembered: dict[int, SX],
        guard: OpenGuard | None,
    ) -> tuple[SX, SX] | None:
        """Return the moment of the n-th pair's rows against turning, inside and outside its guard.

        What the rows remember is added to that of the pairs.
        """
        p, limb, forces = self.state.program, self._limb(n), []
        for j in self.turning_numbers(n):
            arguments = self.rows[j], impulses[j], slides[j]
            force, memory = call(p, "force", self._force, *arguments, limb=limb, member=j)
            with p.block("left", limb=limb, member=j):
                remembered[j] = left(p, guard, "memory", memory)
            forces.append(force)
        if not forces:
            return None
        place = self.state.scene.pairs[self.pairs[n]].point
        with p.block("moment", limb=limb, member=n):
            moment = p.let("moment", turning_moment(place.lever, forces))
            return moment, left(p, guard, "moment", moment)

    def with_slots(
        self,
        contacts: Contacts,
        impulses: Sequence[SX],
        slides: Sequence[SX],
        guards: Sequence[OpenGuard],
    ) -> Contacts:
        """Return the contacts with the coupled forces of slots added; `guards` are theirs."""
        found, contact = contacts.slots, self.state.scene.shape_contact
        if found is None or contact is None or not self.slots:
            return contacts
        p, state, slots = self.state.program, self.state, []
        with reopened(p, found.guard), p.block("slot loads"):
            spread = new_loads(p, contact.bodies)
        for slot, within in zip(found.slots, guards, strict=True):
            n = slot.slot.number
            with reopened(p, within) as guard:
                loads, kept, acting = [], [], []
                for k, pair in enumerate(slot.pairs):
                    j = self.slot_number(n, k)
                    arguments = self.rows[j], impulses[j], slides[j]
                    force, memory = call(p, "force", self._force, *arguments, member=j)
                    with p.block("slot force", member=j):
                        own = forces_on(pair, force[2], force[:2])
                        loads.append([(one.let(p), other.let(p)) for one, other in own])
                        acting.append(left(p, guard, "force", force))
                    kept.append(memory)
                turns = []
                for j in self.slot_turning_numbers(n):
                    arguments = self.rows[j], impulses[j], slides[j]
                    force, memory = call(p, "force", self._force, *arguments, member=j)
                    turns.append(force)
                    kept.append(memory)
                if turns:
                    with p.block("slot moment", member=n):
                        moment = turning_moment(slot.lever, turns)
                        turned = turning_loads(slot.pairs[0], moment)
                        loads.append([(NO_LOAD, load.let(p)) for load in turned])
                spread_loads(p, slot.slot, loads, spread)
                with p.block("slot memory", member=n):
                    remembered = ca.vertcat(*kept)
                    p.assign(slot.memory[-remembered.numel() :], remembered)
            slots.append(replace(slot, coupled=acting))
        with reopened(p, found.guard) as guard:
            whole_loads, forces = total_forces(state, guard, loads_by_body(spread))
        whole = forces | {body: own + forces[body] for body, own in found.forces.items()}
        new = replace(found, slots=slots, forces=whole)
        return replace(contacts, loads=[*contacts.loads, (found.guard, whole_loads)], slots=new)

    def _coupled_loads(
        self, group: Group, forces: Mapping[int, SX], moments: Mapping[int, SX]
    ) -> Loads:
        """Return the loads of coupled forces and moments, by pair, on the bodies of a group."""
        p, pairs = self.state.program, self.contacts.pairs
        loads: Loads = {}
        for body in group:
            with p.block("coupled loads", limb=self.state.inputs.limb_of[body], member=body):
                for k, force in forces.items():
                    own = tuple(side for side in pairs[k].sides if side.body == body)
                    pair = replace(pairs[k], sides=own)
                    for load in forces_on(pair, force[2], force[:2]):
                        add_load(loads, body, load)
                    for turned in turning_loads(pair, moments[k]) if k in moments else ():
                        normal, tangent = loads[body]
                        loads[body] = normal, tangent + turned
                normal, tangent = loads[body]
                loads[body] = normal.let(p), tangent.let(p)
        return loads

    def _limb(self, n: int) -> str:
        """Return the limb of the n-th coupled pair."""
        return self.state.inputs.limb_of[self.moving_body(self.pairs[n])]

    def _with_force(self, n: int, force: SX) -> PairState:
        """Return the n-th coupled pair with its coupled force added."""
        p, pair = self.state.program, self.contacts.pairs[self.pairs[n]]
        if pair.normal.is_zero() and pair.tangent.is_zero():
            return replace(pair, normal=force[2], tangent=force[:2])
        with p.block("whole force", limb=self._limb(n), member=n):
            normal = p.let("normal", pair.normal + force[2])
            return replace(pair, normal=normal, tangent=p.let("tangent", pair.tangent + force[:2]))
