"""Box 2 of [Sugihara2006], Fig. 4: for how long no shapes of moving bodies can touch one another.

When shapes were last compared, the least distance of any two of them was c. In a step no point of a
body moves further than dt (|v| + |w| r), so that nothing touches while

    c - 2 SAFETY sum over steps of dt (max |v| + max |w| r) > MIN_GAP

and shapes need not be compared. Where the next step may take a shape halfway through another one,
what it moves beyond that is left in reserve. Skipping changes no force; a pair that is compared
again after it was skipped has lost the normal from which its comparison starts (slots.py).
Coordinates that were set from outside since the last step, and solids of the ground, are recognised
by a sum over all of them; shapes are compared then.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.scene.shape_contact import ShapeContact
from heelstrike.spatial.vector import SX
from heelstrike.step.near import MARGIN
from heelstrike.step.state import CLEARANCE_MEMORY, StepInputs, StepState

MIN_GAP = 1e-4
"""Gap below which shapes are compared in every step [m]: far above rounding, also in float32."""
SAFETY = 1.1
"""Factor on the speed of bodies, whose paths within a step are curved."""
LOOK_AHEAD = 0.05
"""Distance beyond which that of two bodies is not measured [m]."""


@dataclass(frozen=True)
class Clearance:
    """Whether shapes are compared in this step, and the least distance otherwise, as symbols."""

    need: SX
    """1 where shapes are compared."""
    left: SX
    """Lower bound of the least distance [m]."""
    far: SX
    """Bound of the distance by which shapes approach one another in a step, where a coupled law may
    keep them from passing; else 0 [m]."""

    def margin(self, halfway: SX | float) -> SX:
        """Return the distance below which two shapes are compared [m]; see Slot.halfway."""
        return ca.fmax(self.far - halfway, MARGIN)


def clearance(state: StepState, contact: ShapeContact) -> Clearance:
    """Return whether shapes may have come near one another since they were last compared."""
    p, inputs = state.program, state.inputs
    timed = any(law.timed for law in state.scene.laws.values())
    reaches = contact.reaches
    with p.block("clearance"):
        last, known = ca.vertsplit(inputs.clearance)
        motions = {body: state.kinematics.velocities[body] for body in contact.bodies}
        speeds = [ca.sumsqr(motion.linear) for motion in motions.values()]
        spins = [reaches[b] ** 2 * ca.sumsqr(motion.angular) for b, motion in motions.items()]
        speed = ca.sqrt(_largest(speeds)) + ca.sqrt(_largest(spins))
        far = p.let("far", 2 * SAFETY * state.dt * speed)
        ahead = far if state.plan.slots_couple else SX(0)
        if not state.plan.implicit or timed:  # whose steps are not the present velocity times dt
            return Clearance(SX(1), SX(0), ahead)
        left = p.let("left", last - far)
        apart = left > MIN_GAP + ca.fmax(ahead - contact.halfway, 0)
        apart = ca.logic_and(apart, known == _sum_of(state.q, inputs))
        return Clearance(p.let("need", ca.logic_not(apart)), left, ahead)


def remember_clearance(inputs: StepInputs, found: Clearance, gap: SX, next_q: SX) -> None:
    """Update the memory of the least distance; inside a block."""
    least = ca.if_else(found.need, gap, found.left)
    inputs.program.update(CLEARANCE_MEMORY, ca.vertcat(least, _sum_of(next_q, inputs)))


def _sum_of(q: SX, inputs: StepInputs) -> SX:
    """Return a sum over coordinates and solids, by which a change of any is recognised."""
    contact, total = inputs.plan.scene.shape_contact, SX(0)
    places = [q]
    for part in () if contact is None else contact.solids:
        solid = inputs.surfaces.surfaces[part.surface].solids()[part.number]
        places += [solid.centre, ca.vec(ca.densify(solid.half_axes))]
    for k, entry in enumerate(ca.vertsplit(ca.vertcat(*places))):
        total = total + float(2 + np.cos(k)) * entry
    return total


def _largest(entries: list[SX]) -> SX:
    return ca.mmax(ca.vertcat(*entries))
