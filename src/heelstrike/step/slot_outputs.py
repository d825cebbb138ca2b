"""Box 10, added to those of [Sugihara2006], Fig. 4: contacts between shapes, slot by slot.

The force of a slot is the sum over its contacts, on its first body; its position is their centre of
pressure, without a normal force that of its first contact.
"""

from __future__ import annotations

import casadi as ca

from heelstrike.ir.guard import left, reopened
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.slot_contacts import ShapeContacts, SlotState

SLOT_OUTPUTS = ("self_pair", "self_depth", "self_force", "self_position")


def slot_outputs(p: Program, contacts: ShapeContacts) -> dict[str, SX]:
    """Return pair, depth, force and position of each slot; of free slots -1 and 0."""
    found = [_observed(p, slot) for slot in contacts.slots]
    return {
        "self_pair": ca.vertcat(*(slot.slot.key - 1 for slot in contacts.slots)),
        "self_depth": ca.vertcat(*(x[0] for x in found)),
        "self_force": ca.horzcat(*(x[1] for x in found)).T,
        "self_position": ca.horzcat(*(x[2] for x in found)).T,
    }


def _observed(p: Program, slot: SlotState) -> list[SX]:
    """Return depth [m], force [N] and position [m] of a slot, in world axes."""
    with reopened(p, slot.touch) as guard, p.block("slot", member=slot.slot.number):
        force, weighted, load = zeros(), zeros(), SX(0)
        for k, pair in enumerate(slot.pairs):
            own = ca.vertcat(pair.tangent, pair.normal)
            if slot.coupled:
                own = own + slot.coupled[k]
            force = force + pair.axes.T @ own
            load, weighted = load + own[2], weighted + own[2] * pair.position
        depth = ca.mmax(ca.vertcat(*(pair.depth for pair in slot.pairs)))
        pressed = load > 0
        centre = weighted / ca.if_else(pressed, load, 1)
        position = ca.if_else(pressed, centre, slot.pairs[0].position)
        return [left(p, guard, "slot", x) for x in (depth, force, position)]
