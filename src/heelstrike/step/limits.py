"""Box 8 of [Sugihara2006], Fig. 4: torque limits, stops and dry friction of the joints.

With torques that are straight in pieces the accelerations are the lowest point of a convex function
(docs/servo.md), which Newton's method finds:

    (H + diag(slope)) x = line - b        lines and slopes of the pieces at the best a so far
    d = x - a,  a <- a + s d              s: 1, or where the function is lowest along d

`solve` finds x. What the equation of motion lacks at a + s d lives at the joints with rows,

    lack(s) = (1 - s) lack + tau(a + s d) - (line - slope (a + s d))

so that no product with H is needed. Rounds end where x is on the pieces that it was found with: x
is exact then. The first pieces are guessed from the last step. If they are right, one solve is all,
and nothing else is executed unless a world needs it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import casadi as ca

from heelstrike.contact.law import where
from heelstrike.contact.solver.joint_rows import DryFriction
from heelstrike.ir.guard import OpenGuard, guarded
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.limited_joint import (
    LimitedJoint,
    Searched,
    SearchState,
    Trial,
    limited_joints,
    take_pieces,
    tried,
)
from heelstrike.step.torque import Limbs, LimitedSolution, Torque, by_joint

ROUNDS = 100
"""Largest number of solves in a step. In the last one torques are on the pieces that it was made
with, and may be beyond their limits."""
FREE = 8
"""Number of solves from which on d is searched. Until then s is 1, and rows go to the next piece
only: where few rows change, as they do from step to step, that is the shortest way."""
FLAT = 0.25
"""Slope along d, over that at its start, that ends the search for the lowest point."""
NARROW = 1e-12
"""A stretch of d that is not halved further."""

Solve = Callable[[SX, SX], tuple[SX, SX]]
"""(torque, addition to the diagonal of H) -> joint accelerations, and numbers to be summed."""


@dataclass(frozen=True)
class LineSearch:
    """Search along d, as variables."""

    share: SX
    """s that is tried next,"""
    low: SX
    """and the ends of the stretch in which the lowest point is."""
    high: SX


def solve_limited(
    p: Program,
    limbs: Limbs,
    torques: Sequence[Torque],
    solve: Solve,
    counts: int = 0,
    held: SX | None = None,
) -> LimitedSolution:
    """Return accelerations and applied torques.

    Each joint has blocks of its own, all alike, which may be packed. `counts` is the number of
    numbers that `solve` counts. `held` are accelerations that decide the pieces of the rows: one
    solve without a loop, for a reverse sweep.
    """
    if not any(torque.rows for torque in torques):
        a, counted = solve(*_straight(torques))
        applied = [torque.now - torque.slope * a for torque in torques]
        return LimitedSolution(a, applied, SX(0, 1), counted)
    torques, joints = limited_joints(p, limbs, torques)
    if held is not None:
        return _solve_held(p, limbs, torques, joints, solve, held)
    line, slope = _straight(torques)
    for i, joint in joints.items():
        line[i], slope[i] = joint.search.line, joint.search.slope
    beyond = _push(p, limbs, joints)
    with p.block("search"):
        ends = p.variable("share", SX(1)), p.variable("low", SX(0)), p.variable("high", SX(1))
        search = LineSearch(*ends)
    with repeated(p, "joint limits", limit=ROUNDS) as loop:
        assert loop.rounds is not None
        total = loop.carry("counted", zeros(counts))
        searched = loop.carry("searched", SX(0))
        a, counted = solve(line, slope)
        further, own = _further(limbs, joints, a, beyond), _excess(p, limbs, joints, a)
        excess = _joined(p, limbs, "excess", own, ca.fmax, further)
        with p.block("joint limits"):
            unsure = p.let("unsure", ca.logic_or(excess > 0, loop.rounds > 0))
        with guarded(p, "pieces", unsure) as guard:
            wrong = _search(p, limbs, joints, search, a, loop.rounds, guard)
        with p.block("joint limits"):
            loop.next(total, total + counted)
            loop.next(searched, ca.logic_or(searched, unsure))
            loop.until(ca.logic_not(wrong))
    applied = _applied(p, limbs, torques, joints, a, searched)
    return LimitedSolution(a, applied, _sliding(torques, applied), total)


def _solve_held(
    p: Program,
    limbs: Limbs,
    torques: Sequence[Torque],
    joints: Mapping[int, LimitedJoint],
    solve: Solve,
    held: SX,
) -> LimitedSolution:
    """Return the solution on the pieces that rows have at given accelerations."""
    line, slope = _straight(torques)
    states: dict[int, list[SX]] = {}
    for limb, i in ((limb, i) for limb, i in by_joint(limbs) if i in joints):
        with p.block("held pieces", limb=limb, member=i):
            states[i] = [p.let("state", row.state(held[i])) for row in joints[i].rows]
            for row, state in zip(joints[i].rows, states[i], strict=True):
                now, fall = row.line(state)
                line[i], slope[i] = line[i] + now, slope[i] + fall
            line[i], slope[i] = p.let("line", line[i]), p.let("slope", slope[i])
    a, counted = solve(line, slope)
    applied = [torque.now - torque.slope * a for torque in torques]
    for torque, own in zip(torques, applied, strict=True):
        for i, rows in torque.rows.items():
            for row in rows:
                own[i] += row.on(states[i].pop(0), a[i])
    return LimitedSolution(a, applied, _sliding(torques, applied), counted)


def _straight(torques: Sequence[Torque]) -> tuple[SX, SX]:
    """Return torque and slope of all torques without their rows."""
    now = sum((torque.now for torque in torques), SX(0))
    return now, sum((torque.slope for torque in torques), SX(0))


def _push(p: Program, limbs: Limbs, joints: Mapping[int, LimitedJoint]) -> dict[str, SX]:
    """Let stops push that do so without acceleration.

    Returns for each limb with stops a number that is above 0 if one of them pushes.
    """
    found = {}
    for limb, indices in limbs:
        own = [joints[i] for i in indices if i in joints and joints[i].stop is not None]
        if not own:
            continue
        with p.block("beyond", limb=limb):
            furthest = reduce(ca.fmax, (joint.beyond for joint in own))
            found[limb] = p.let("beyond", furthest)
        with guarded(p, f"stops of {limb}", found[limb] > 0), p.block("stops", limb=limb):
            for joint in own:
                assert joint.stop is not None
                now, fall = joint.stop.line(joint.stop.guess)
                p.assign(joint.search.line, joint.search.line + now)
                p.assign(joint.search.slope, joint.search.slope + fall)
    return found


def _further(
    limbs: Limbs, joints: Mapping[int, LimitedJoint], a: SX, beyond: Mapping[str, SX]
) -> dict[str, SX]:
    """Return for each limb with stops a number that is above 0 if one of them may push.

    No joint of the limb gets further by its acceleration than the fastest one.
    """
    found = {}
    for limb, indices in limbs:
        if limb in beyond:
            own = {i: stop for i in indices if i in joints and (stop := joints[i].stop) is not None}
            fastest = reduce(ca.fmax, (ca.fabs(a[i]) for i in own))
            ahead = next(iter(own.values())).ahead
            found[limb] = beyond[limb] + ahead * ahead * fastest
    return found


def _excess(p: Program, limbs: Limbs, joints: Mapping[int, LimitedJoint], a: SX) -> dict[int, SX]:
    """Return for each joint a number that is above 0 if a row may not be on its guessed piece.

    Stops of ranges are left out.
    """
    found = {}
    acting = ((limb, i) for limb, i in by_joint(limbs) if i in joints and joints[i].tested)
    for limb, i in acting:
        with p.block("excess", limb=limb, member=i):
            found[i] = p.let("excess", joints[i].excess(a[i]))
    return found


def _search(
    p: Program,
    limbs: Limbs,
    joints: Mapping[int, LimitedJoint],
    line: LineSearch,
    x: SX,
    rounds: SX,
    guard: OpenGuard,
) -> SX:
    """Test the pieces that x was found with, and return whether one is wrong.

    If so, try a place between the best a and x; accept it with its pieces, or try another one next.
    """
    acting = [(limb, i) for limb, i in by_joint(limbs) if i in joints]
    own: dict[int, tuple[Program, Searched, SearchState]] = {}
    trials: dict[int, Trial] = {}
    for limb, i in acting:
        with p.block("searched", limb=limb, member=i):
            own[i] = p, joints[i].begin(p, rounds == 0), joints[i].search
        trials[i] = call(p, "trial", tried, *own[i], x[i], line.share, limb=limb, member=i)
    facts = {i: trial.facts for i, trial in trials.items()}
    found = _joined(p, limbs, "trial", facts, operator.add)
    with p.block("search"):
        count, start, slope = ca.vertsplit(found)
        wrong = guard.leave("wrong", count > 0)
        slope, flat = p.let("slope", slope), FLAT * ca.fabs(start)
        short = ca.logic_and(slope < -flat, line.share < 1)
        fits = ca.logic_not(ca.logic_or(short, slope > flat))
        narrow = line.high - line.low < NARROW
        accepted = p.let("accepted", ca.logic_or(ca.logic_or(fits, narrow), rounds < FREE))
        free = p.let("free", rounds < FREE - 1)
    with guarded(p, "search", ca.logic_and(wrong, rounds < ROUNDS - 1)):
        for limb, i in acting:
            at = *own[i], trials[i], accepted, free
            call(p, "pieces", take_pieces, *at, limb=limb, member=i)
        with p.block("line"):
            low = where(slope < 0, line.share, line.low)
            high = where(slope < 0, line.high, line.share)
            p.assign(line.low, where(accepted, 0, low))
            p.assign(line.high, where(accepted, 1, high))
            p.assign(line.share, where(accepted, 1, (low + high) / 2))
    return wrong


def _joined(
    p: Program,
    limbs: Limbs,
    name: str,
    numbers: Mapping[int, SX],
    join: Callable[[SX, SX], SX],
    more: Mapping[str, SX] | None = None,
) -> SX:
    """Return numbers of joints, and `more` of limbs, joined to one, limb by limb."""
    found = []
    for limb, indices in limbs:
        own = [numbers[i] for i in indices if i in numbers]
        own += [more[limb]] if more and limb in more else []
        if own:
            with p.block(name, limb=limb):
                found.append(p.let(name, reduce(join, own)))
    return reduce(join, found)


def _applied(
    p: Program,
    limbs: Limbs,
    torques: Sequence[Torque],
    joints: Mapping[int, LimitedJoint],
    a: SX,
    searched: SX,
) -> list[SX]:
    """Return the torques as they acted: of guessed pieces, or of those that were found."""
    applied = [torque.now - torque.slope * a for torque in torques]
    acting = [(limb, i) for limb, i in by_joint(limbs) if i in joints]
    for limb, i in acting:
        with p.block("applied", limb=limb, member=i):
            for torque, own in zip(torques, applied, strict=True):
                for row in (row for row in torque.rows.get(i, ()) if row is not joints[i].stop):
                    own[i] += row.on(SX(row.guess), a[i])
                if i in torque.rows:
                    own[i] = p.variable("applied", own[i])
    with guarded(p, "applied", searched):
        for limb, i in acting:
            with p.block("applied", limb=limb, member=i):
                found = ca.vertsplit(joints[i].search.acted)
                for torque, own in zip(torques, applied, strict=True):
                    if i in torque.rows:
                        rows = sum((found.pop(0) for _ in torque.rows[i]), SX(0))
                        p.assign(own[i], torque.now[i] - torque.slope[i] * a[i] + rows)
    return applied


def _sliding(torques: Sequence[Torque], applied: Sequence[SX]) -> SX:
    """Return for each joint with dry friction whether that is at its limit."""
    found = []
    for torque, own in zip(torques, applied, strict=True):
        for i, rows in torque.rows.items():
            for row in (row for row in rows if isinstance(row, DryFriction)):
                found.append(ca.fabs(own[i]) >= row.limit)
    return ca.vertcat(SX(0, 1), *found)
