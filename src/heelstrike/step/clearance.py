"""Box 2 of [Sugihara2006], Fig. 4: for how long no shapes of moving bodies can touch one another.

When shapes were last compared, the least distance of any two of them was c. In a step joint i takes
the bodies that it carries, none of which reaches further than r_i, by at most

    s_i = dt (|v_i| + |w_i| r_i)        v_i, w_i: velocities of the joint

so that nothing touches while c, less the sums of s along the two limbs that move most, in all steps
since, is above MIN_GAP, and shapes need not be compared. The joint of a lone robot with the world
moves all its shapes alike, and counts only where they may meet something that is fixed. Where the
next step may take a shape halfway through another one, what it moves beyond that is left in
reserve. Skipping changes no force; a pair that is compared again after it was skipped has lost the
normal from which its comparison starts (slots.py). Coordinates that were set from outside since the
last step, and parts of the ground, are recognised by a sum over all of them; shapes are compared
then.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.dynamics import joint as joints
from heelstrike.robot.robot import WORLD, Joint
from heelstrike.scene.shape_contact import ShapeContact
from heelstrike.spatial.vector import SX
from heelstrike.step.inputs import CLEARANCE_MEMORY, StepInputs
from heelstrike.step.near import MARGIN
from heelstrike.step.state import StepState

MIN_GAP = 1e-4
"""Gap below which shapes are compared in every step [m]: far above rounding, also in float32."""
LOOK_AHEAD = 0.02
"""Distance beyond which that of two bodies is not measured [m]."""


@dataclass(frozen=True)
class Clearance:
    """Whether shapes are compared in this step, and the least distance otherwise, as symbols."""

    need: SX
    """1 where shapes are compared."""
    left: SX
    """Lower bound of the least distance [m]."""
    far: SX
    """Bound of the distance by which shapes approach one another in a step [m]: a coupled law may
    keep them from passing, under others it is counted."""

    def margin(self, halfway: SX | float) -> SX:
        """Return the distance below which two shapes are compared [m]; see Slot.halfway."""
        return ca.fmax(self.far - halfway, MARGIN)


def clearance(state: StepState, contact: ShapeContact) -> Clearance:
    """Return whether shapes may have come near one another since they were last compared."""
    p, inputs = state.program, state.inputs
    timed = any(law.timed for law in state.scene.laws.values())
    with p.block("clearance"):
        last, known = ca.vertsplit(inputs.clearance)
        far = p.let("far", state.dt * largest_approach(state, contact))
        if not state.plan.implicit or timed:  # whose steps are not the present velocity times dt
            return Clearance(SX(1), SX(0), far)
        left = p.let("left", last - far)
        apart = left > MIN_GAP + ca.fmax(far - contact.halfway, 0)
        apart = ca.logic_and(apart, known == _sum_of(state.q, inputs))
        return Clearance(p.let("need", ca.logic_not(apart)), left, far)


def remember_clearance(inputs: StepInputs, found: Clearance, gap: SX, next_q: SX) -> None:
    """Update the memory of the least distance; inside a block."""
    least = ca.if_else(found.need, gap, found.left)
    inputs.program.update(CLEARANCE_MEMORY, ca.vertcat(least, _sum_of(next_q, inputs)))


def _sum_of(q: SX, inputs: StepInputs) -> SX:
    """Return a sum over coordinates and parts of the ground, to recognise a change of any."""
    contact, total = inputs.plan.scene.shape_contact, SX(0)
    places = [q]
    for part in () if contact is None else contact.solids:
        solid = inputs.surfaces.surfaces[part.surface].solids()[part.number]
        places += [solid.centre, solid.half]
        places += [x for x in (solid.disc, solid.ball) if x is not None]
    for field in () if contact is None else contact.fields:
        surface = inputs.surfaces.surfaces[field.surface]
        names = set(surface.parameter_names) - set(surface.velocity_names)
        places += [SX(getattr(surface, name)) for name in sorted(names)]
    for k, entry in enumerate(ca.vertsplit(ca.vertcat(*places))):
        total = total + float(2 + np.cos(k)) * entry
    return total


def largest_approach(state: StepState, contact: ShapeContact) -> SX:
    """Return a bound of the speed at which two shapes approach one another [m/s]."""
    robot, reaches = state.robot, _reaches(state, contact)
    roots = {i for i in reaches if robot.joints[i].parent == WORLD}
    alone = len(roots) == 1 and not contact.meets_ground
    moved: dict[int, SX] = {}
    for i in sorted(reaches):
        joint = robot.joints[i]
        own = SX(0) if alone and i in roots else _speed(joint, state.v, reaches[i])
        moved[i] = own if joint.parent == WORLD else moved[joint.parent] + own
    first = second = SX(0)
    for i in sorted(set(reaches) - {robot.joints[i].parent for i in reaches}):  # ends of limbs
        first, second = ca.fmax(first, moved[i]), ca.fmax(second, ca.fmin(first, moved[i]))
    return first + second


def _reaches(state: StepState, contact: ShapeContact) -> dict[int, SX]:
    """Return how far shapes beyond a joint reach from its origin, by joint [m]."""
    found: dict[int, SX] = {body: SX(reach) for body, reach in contact.reaches.items()}
    for i in reversed(range(len(state.robot.joints))):
        joint = state.robot.joints[i]
        if i in found and joint.parent != WORLD:
            reach = found[i] + float(np.linalg.norm(joint.translation)) + _slid(joint, state.q)
            found[joint.parent] = ca.fmax(found.get(joint.parent, SX(0)), reach)
    return found


def _slid(joint: Joint, q: SX) -> SX:
    """Return how far a joint has moved the origin of its body [m]."""
    own = joints.coordinates(joint, q)
    match joint.kind:
        case "prismatic":
            return ca.fabs(own)
        case "planar":
            return ca.sqrt(ca.sumsqr(own[:2]))
        case "free":
            return ca.sqrt(ca.sumsqr(own[:3]))
    return SX(0)


def _speed(joint: Joint, v: SX, reach: SX) -> SX:
    """Return a bound of the speed of what is within `reach` [m] of a joint that moves [m/s]."""
    own = joints.velocities(joint, v)
    if joint.nv == 1:
        return ca.fabs(own) * (1 if joint.kind == "prismatic" else reach)
    motion = joints.velocity(joint, own)
    return ca.sqrt(ca.sumsqr(motion.linear)) + reach * ca.sqrt(ca.sumsqr(motion.angular))
