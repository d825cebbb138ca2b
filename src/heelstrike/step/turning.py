"""Boxes 5 to 7 of [Sugihara2006], Fig. 4: rolling and spinning friction of coupled contacts.

A round contact of a coupled law with a patch, or two round shapes, have two more rows in the swept
problem: one about the tangents, against rolling, and one about the normal, against spinning
(TurningRow). Up to a moment
of radius times normal force the body does not turn; at that limit it does, and most is dissipated.
The normal force is that of the step before, so that a contact has no moment in its first step.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.laws.patch import Patch
from heelstrike.contact.solver.rows import SLACK, Row, TurningRow
from heelstrike.ir.program import Program
from heelstrike.spatial.motion import ForceVector
from heelstrike.spatial.vector import zeros
from heelstrike.step.evaluation import Load
from heelstrike.step.pair import PairState


def turning_rows(
    p: Program,
    row: Row,
    pair: PairState,
    patch: Patch,
    lever: SX | float,
    active: SX,
    memories: Sequence[SX],
    load: SX,
    slips: SX,
    dt: SX,
) -> list[TurningRow]:
    """Return the rows of a contact against rolling and spinning; inside a block.

    Args:
        row: row of the contact, whose arms they have.
        pair: the contact.
        patch: radii of the friction, as symbols.
        lever: lever of the shape [m].
        active: 1 where it touches.
        memories: what each row remembers of the last step, see IMPULSE_MEMORY.
        load: normal force of the contact, of its coupled part in the last step [N].
        slips: speed from which on a contact is taken to slide [m/s].
        dt: time step [s].
    """
    spin = lever * sum((side.sign * side.motion.angular for side in pair.sides), zeros())
    rows, active = [], p.let("active", active)
    radii = patch.rolling, patch.spinning
    for axes, radius, own in zip(turning_axes(pair), radii, memories, strict=True):
        fresh = p.let("fresh", ca.logic_or(own[3] == 0, ca.logic_not(active)))
        turned = axes @ spin
        fast = ca.dot(turned, turned) > slips * slips
        slid = p.let("slid", ca.logic_or(fast, ca.logic_and(ca.logic_not(fresh), own[3] > 1.5)))
        mu = p.let("mu", SX(radius) / lever)
        target = ca.vertcat(0, 0, SLACK * dt * ca.fmax(load, 0))
        rows.append(
            TurningRow(
                arms=row.arms,
                axes=p.let("axes", axes),
                active=active,
                target=p.let("target", target),
                mu_s=mu,
                mu_k=mu,
                smoothing=row.smoothing,
                past=p.let("past", where(fresh, 0, own[:3] * dt)),
                slid=slid,
                compliance=SX(SLACK),
                fresh=fresh,
                moves=p.let("moves", where(ca.logic_or(fresh, fast), 2, slid)),
                lever=lever,
            )
        )
    return rows


def turning_axes(pair: PairState) -> list[SX]:
    """Return the axes about which a contact rolls and spins, as rows of two matrices (3, 3)."""
    still = SX(1, 3)
    rolling = ca.vertcat(pair.axes[:2, :], still)
    return [ca.densify(x) for x in (rolling, ca.vertcat(pair.axes[2, :], still, still))]


def turning_moment(lever: SX | float, forces: Sequence[SX]) -> SX:
    """Return the moment of the rows of a contact about its axes, (3,) [N m]."""
    rolling, spinning = forces
    return lever * ca.vertcat(rolling[:2], spinning[0])


def turning_loads(pair: PairState, moment: SX) -> list[Load]:
    """Return the load of a moment about a contact's axes [N m] on each of its sides."""
    about, loads = pair.axes.T @ moment, []
    for side in pair.sides:
        own = side.sign * about
        loads.append(Load(ForceVector(zeros(), own), ca.dot(own, side.motion.angular)))
    return loads
