"""Box 2 of [Sugihara2006], Fig. 4: pairs of shapes that overlap where a run starts.

Covers, and neighbours of neighbours, may overlap in the poses of a robot's file
(`Robot.overlapping`). Contact would throw them apart in the first step, so that such a pair touches
only after it has parted. Each has a memory:

    UNKNOWN    at the start; it is compared, and then one of
    OVERLAPS   it overlapped: it is left alone until the boxes around its shapes are apart
    TOUCHES    it was apart: it touches like all others
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import casadi as ca

from heelstrike.contact.law import where
from heelstrike.ir.program import Program
from heelstrike.scene.shape_contact import ShapeContact
from heelstrike.spatial.vector import SX
from heelstrike.step.inputs import PARTED_MEMORY, StepInputs

UNKNOWN, OVERLAPS, TOUCHES = 0, 1, 2
MIN_OVERLAP = 1e-6
"""Depth from which on two shapes overlap at the start [m]."""


@dataclass(frozen=True)
class PartedPair:
    """A pair of shapes that may overlap where a run starts, as variables."""

    before: SX
    """Its memory at the start of the step."""
    now: SX
    """Its memory for the next step."""

    def leave_alone(self, p: Program, near: SX) -> SX:
        """Return 1 where the pair does not touch because it has not parted; inside a block.

        `near` is 1 where the bounds of its shapes are near.
        """
        p.assign(self.now, where(near, self.before, TOUCHES))
        return self.before == OVERLAPS


@dataclass(frozen=True)
class PartedPairs:
    """Pairs of shapes that may overlap where a run starts, by number."""

    pairs: Mapping[int, PartedPair]

    def compared(self, p: Program, pair: SX, depth: SX) -> SX | None:
        """Return 1 where a pair that is compared overlaps since the start; inside a block.

        `pair` is its number, `depth` the largest of its shapes [m]. None: no pair does.
        """
        if not self.pairs:
            return None
        starts_inside = SX(0)
        for k, own in self.pairs.items():
            first = ca.logic_and(pair == k, own.before == UNKNOWN)
            inside = ca.logic_and(first, depth > MIN_OVERLAP)
            p.assign(own.now, where(first, where(inside, OVERLAPS, TOUCHES), own.now))
            starts_inside = ca.logic_or(starts_inside, inside)
        return starts_inside

    @property
    def unknown(self) -> SX:
        """1 where pairs are yet to be compared for the first time."""
        return reduce(ca.logic_or, (x.before == UNKNOWN for x in self.pairs.values()), SX(0))

    def remember(self, inputs: StepInputs) -> None:
        """Update the memory; inside a block."""
        if self.pairs:
            now = ca.vertcat(*(own.now for own in self.pairs.values()))
            inputs.program.update(PARTED_MEMORY, now)


NO_PAIRS = PartedPairs({})


def parted_pairs(inputs: StepInputs, contact: ShapeContact, need: SX) -> PartedPairs:
    """Return the pairs that may overlap at the start; inside a block.

    `need` is 1 where shapes are compared: pairs that are not seen to be near have parted there.
    """
    p, found = inputs.program, {}
    for k, before in zip(contact.overlapping, ca.vertsplit(inputs.parted), strict=True):
        found[k] = PartedPair(before, p.variable("parted", where(need, TOUCHES, before)))
    return PartedPairs(found)
