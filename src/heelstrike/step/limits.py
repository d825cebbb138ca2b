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
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeVar

import casadi as ca

from heelstrike.contact.law import where
from heelstrike.contact.solver.joint_rows import DryFriction, Piecewise, RangeStop
from heelstrike.ir.guard import OpenGuard, guarded
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, zeros
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

J = TypeVar("J")
Solve = Callable[[SX, SX], tuple[SX, SX]]
"""(torque, addition to the diagonal of H) -> joint accelerations, and numbers to be summed."""


@dataclass(frozen=True)
class Trial:
    """A joint at a trial, as symbols."""

    a: SX
    lack: SX
    """What its equation of motion lacks there."""


@dataclass(frozen=True)
class LimitedJoint:
    """A joint with rows: what it has beside them, and the state of the iteration as variables."""

    rows: list[Piecewise]
    straight: SX
    """Torque beside the rows at zero acceleration,"""
    fixed: SX
    """and its slope."""
    line: SX
    """Torque of all at zero acceleration,"""
    slope: SX
    """and its slope."""
    state: SX
    """Unset: pieces of the rows,"""
    best: SX
    """a,"""
    lack: SX
    """what the equation of motion lacks there,"""
    acted: SX
    """and the torques of the rows."""
    stop: RangeStop | None
    """Stop of the joint's range, if it has one,"""
    beyond: SX | None
    """and how far the joint gets beyond the range without acceleration."""

    @property
    def states(self) -> list[SX]:
        """Pieces of the rows."""
        return list(ca.vertsplit(self.state))

    def excess(self, a: SX) -> SX:
        """Return a number that is above 0 if a row is not on its guessed piece."""
        return reduce(ca.fmax, (row.excess(a) for row in self.rows))

    def begin(self, p: Program, first: SX) -> LimitedJoint:
        """Return the joint with what rows are dear to compute as symbols; inside a block.

        In the `first` round its rows are on the pieces that are guessed.
        """
        guesses = ca.vertcat(*(row.guess for row in self.rows))
        state, best, lack = (
            p.let(name, where(first, start, now))
            for name, start, now in (
                ("state", guesses, self.state),
                ("best", 0, self.best),
                ("lack", 0, self.lack),
            )
        )
        rows = [row.kept(p) for row in self.rows]
        return replace(self, rows=rows, state=state, best=best, lack=lack)

    def torques(self, a: SX) -> SX:
        """Return the torques of the pieces."""
        own = zip(self.rows, self.states, strict=True)
        return ca.vertcat(*(row.on(state, a) for row, state in own))

    def misses(self, a: SX) -> SX:
        """Return whether a row is not on its piece."""
        own = zip(self.rows, self.states, strict=True)
        return reduce(ca.logic_or, (row.misses(state, a) for row, state in own))

    def gap(self, a: SX) -> SX:
        """Return by how much the torque of the rows is above that of the pieces."""
        total = SX(0)
        for row, state in zip(self.rows, self.states, strict=True):
            total = total + (row.at(a)[0] - row.on(state, a))
        return total

    def tried(self, p: Program, x: SX, share: SX) -> tuple[Trial, SX]:
        """Return the joint at a share of the way from the best a to x; inside a block.

        And its part in the slope of the function along the way, at the start and at the trial.
        """
        d = x - self.best
        a = x - (1 - share) * d
        lack = (1 - share) * self.lack + self.gap(a)
        return Trial(p.let("a", a), p.let("lack", lack)), -d * ca.vertcat(self.lack, lack)


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
    torques, joints = _joints(p, limbs, torques)
    if held is not None:
        return _solve_held(p, limbs, torques, joints, solve, held)
    line, slope = _straight(torques)
    for i, joint in joints.items():
        line[i], slope[i] = joint.line, joint.slope
    beyond = _push(p, limbs, joints)
    with p.block("search"):
        ends = p.variable("share", SX(1)), p.variable("low", SX(0)), p.variable("high", SX(1))
        search = LineSearch(*ends)
    with repeated(p, "joint limits", limit=ROUNDS) as loop:
        assert loop.rounds is not None
        total = loop.carry("counted", zeros(counts))
        searched = loop.carry("searched", SX(0))
        a, counted = solve(line, slope)
        excess = _joined(
            p, limbs, joints, "excess", lambda i, joint: joint.excess(a[i]), ca.fmax, beyond
        )
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


def _joints(
    p: Program, limbs: Limbs, torques: Sequence[Torque]
) -> tuple[list[Torque], dict[int, LimitedJoint]]:
    """Return the torques with what is dear to compute as symbols, and the joints with rows."""
    kept = [replace(torque, now=SX(torque.now), rows=dict(torque.rows)) for torque in torques]
    joints = {}
    for limb, i in by_joint(limbs):
        with p.block("torques", limb=limb, member=i):
            rows: list[Piecewise] = []
            straight, fixed = SX(0), SX(0)
            for torque in kept:
                if not torque.cheap:
                    torque.now[i] = p.let("now", torque.now[i])
                if i in torque.rows:
                    torque.rows[i] = tuple(_kept(p, row) for row in torque.rows[i])
                    rows += torque.rows[i]
                straight, fixed = straight + torque.now[i], fixed + torque.slope[i]
            if rows:
                lines = _guessed(p, rows, straight, fixed)
            stop = next((row for row in rows if isinstance(row, RangeStop)), None)
            beyond = None if stop is None else p.let("beyond", stop.beyond())
        if rows:
            state = p.unset("state", len(rows), limb, i)
            best, lack = p.unset("best", 1, limb, i), p.unset("lack", 1, limb, i)
            search = state, best, lack, p.unset("acted", len(rows), limb, i)
            joints[i] = LimitedJoint(rows, straight, fixed, *lines, *search, stop, beyond)
    return kept, joints


def _kept(p: Program, row: Piecewise) -> Piecewise:
    """Return a row with what every step computes as symbols; inside a block."""
    return row if isinstance(row, RangeStop) else row.kept(p)


def _guessed(p: Program, rows: list[Piecewise], line: SX, slope: SX) -> tuple[SX, SX]:
    """Return the torque at zero acceleration and its slope, as variables; inside a block.

    Rows are on the pieces that are guessed, and stops of ranges are taken not to push.
    """
    for row in rows:
        if not isinstance(row, RangeStop):
            now, fall = row.line(SX(row.guess))
            line, slope = line + now, slope + fall
    return p.variable("line", line), p.variable("slope", slope)


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
                p.assign(joint.line, joint.line + now)
                p.assign(joint.slope, joint.slope + fall)
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
    trials: dict[int, Trial] = {}
    full: dict[int, LimitedJoint] = {}

    def tried(i: int, joint: LimitedJoint) -> SX:
        full[i] = joint.begin(p, rounds == 0)
        trials[i], slopes = full[i].tried(p, x[i], line.share)
        p.assign(joint.acted, full[i].torques(x[i]))
        return ca.vertcat(full[i].misses(x[i]), slopes)

    found = _joined(p, limbs, joints, "trial", tried, operator.add)
    with p.block("search"):
        count, start, slope = ca.vertsplit(found)
        wrong = guard.leave("wrong", count > 0)
        slope, flat = p.let("slope", slope), FLAT * ca.fabs(start)
        short = ca.logic_and(slope < -flat, line.share < 1)
        fits = ca.logic_not(ca.logic_or(short, slope > flat))
        narrow = line.high - line.low < NARROW
        accepted = p.let("accepted", ca.logic_or(ca.logic_or(fits, narrow), rounds < FREE))
    with guarded(p, "search", ca.logic_and(wrong, rounds < ROUNDS - 1)):
        for limb, i in ((limb, i) for limb, i in by_joint(limbs) if i in joints):
            with p.block("pieces", limb=limb, member=i):
                _accept(p, joints[i], full[i], trials[i], accepted, rounds < FREE - 1)
        with p.block("line"):
            low = where(slope < 0, line.share, line.low)
            high = where(slope < 0, line.high, line.share)
            p.assign(line.low, where(accepted, 0, low))
            p.assign(line.high, where(accepted, 1, high))
            p.assign(line.share, where(accepted, 1, (low + high) / 2))
    return wrong


def _accept(
    p: Program, joint: LimitedJoint, now: LimitedJoint, trial: Trial, accepted: SX, free: SX
) -> None:
    """Assign the state of a joint at a trial that is accepted, else as it is now; inside a block.

    Where it is `free`, rows go to the next piece only.
    """
    line, slope, states = joint.straight, joint.fixed, []
    for row, old in zip(now.rows, now.states, strict=True):
        states.append(where(accepted, row.next_state(old, trial.a, free), old))
        torque, fall = row.line(states[-1])
        line, slope = line + torque, slope + fall
    p.assign(joint.state, ca.vertcat(*states))
    p.assign(joint.best, where(accepted, trial.a, now.best))
    p.assign(joint.lack, where(accepted, trial.lack, now.lack))
    p.assign(joint.line, line)
    p.assign(joint.slope, slope)


def _joined(
    p: Program,
    limbs: Limbs,
    joints: Mapping[int, J],
    name: str,
    each: Callable[[int, J], SX],
    join: Callable[[SX, SX], SX],
    more: Mapping[str, SX] | None = None,
) -> SX:
    """Return numbers of all joints, and `more` of limbs, joined to one, limb by limb."""
    found = []
    for limb, indices in limbs:
        own = []
        for i in (i for i in indices if i in joints):
            with p.block(name, limb=limb, member=i):
                own.append(p.let(name, each(i, joints[i])))
        if own:
            with p.block(name, limb=limb):
                own += [more[limb]] if more and limb in more else []
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
                found = ca.vertsplit(joints[i].acted)
                for torque, own in zip(torques, applied, strict=True):
                    if i in torque.rows:
                        rows = sum((found.pop(0) for _ in torque.rows[i]), SX(0))
                        p.assign(own[i], torque.now[i] - torque.slope[i] * a[i] + rows)
    return applied


def _sliding(torques: Sequence[Torque], applied: Sequence[SX]) -> SX:
    """Return the states of dry friction: -1 or 1 where it is at its limit, else 0."""
    found = []
    for torque, own in zip(torques, applied, strict=True):
        for i, rows in torque.rows.items():
            for row in (row for row in rows if isinstance(row, DryFriction)):
                at_limit = ca.fabs(own[i]) >= row.limit
                found.append(where(at_limit, ca.copysign(1, own[i]), 0))
    return ca.vertcat(SX(0, 1), *found)
