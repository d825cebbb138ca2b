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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import casadi as ca

from heelstrike.contact.law import where
from heelstrike.contact.solver.joint_rows import DryFriction, Piecewise
from heelstrike.ir.guard import guarded
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
    states: list[SX]
    """Pieces of the rows."""
    line: SX
    """Torque of all at zero acceleration,"""
    slope: SX
    """and its slope."""
    best: SX
    """a."""
    lack: SX

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
    line, slope = _straight(torques)
    for i, joint in joints.items():
        line[i], slope[i] = joint.line, joint.slope
    if held is not None:
        return _solve_held(p, limbs, torques, joints, solve, held)
    with p.block("search"):
        ends = p.variable("share", SX(1)), p.variable("low", SX(0)), p.variable("high", SX(1))
        search = LineSearch(*ends)
    with repeated(p, "joint limits", limit=ROUNDS) as loop:
        assert loop.rounds is not None
        total = loop.carry("counted", zeros(counts))
        a, counted = solve(line, slope)
        wrong = _sums(p, limbs, joints, "wrong", lambda i, joint: joint.misses(a[i]))
        with p.block("joint limits"):
            wrong = p.let("wrong", wrong > 0)
            again = p.let("again", ca.logic_and(wrong, loop.rounds < ROUNDS - 1))
            loop.next(total, total + counted)
            loop.until(ca.logic_not(wrong))
        with guarded(p, "search", again):
            _search(p, limbs, joints, search, a, loop.rounds)
    states = {i: list(joint.states) for i, joint in joints.items()}
    acted = [_applied(torque, a, states) for torque in torques]
    sliding = ca.vertcat(*(own for _, own in acted))
    return LimitedSolution(a, [torque for torque, _ in acted], sliding, total)


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
    acted = [_applied(torque, a, states) for torque in torques]
    sliding = ca.vertcat(*(own for _, own in acted))
    return LimitedSolution(a, [torque for torque, _ in acted], sliding, counted)


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
                    torque.rows[i] = tuple(row.kept(p) for row in torque.rows[i])
                    rows += torque.rows[i]
                straight, fixed = straight + torque.now[i], fixed + torque.slope[i]
            if rows:
                joints[i] = _limited(p, rows, straight, fixed)
    return kept, joints


def _limited(p: Program, rows: list[Piecewise], straight: SX, fixed: SX) -> LimitedJoint:
    """Return a joint whose rows are on the pieces that are guessed; inside a block."""
    line, slope = straight, fixed
    for row in rows:
        now, fall = row.line(SX(row.guess))
        line, slope = line + now, slope + fall
    states = [p.variable("state", SX(row.guess)) for row in rows]
    line, slope = p.variable("line", line), p.variable("slope", slope)
    none = p.variable("best", SX(0)), p.variable("lack", SX(0))
    return LimitedJoint(rows, straight, fixed, states, line, slope, *none)


def _search(
    p: Program,
    limbs: Limbs,
    joints: Mapping[int, LimitedJoint],
    line: LineSearch,
    x: SX,
    rounds: SX,
) -> None:
    """Try a place between the best a and x; accept it with its pieces, or try another one next."""
    trials: dict[int, Trial] = {}

    def slopes(i: int, joint: LimitedJoint) -> SX:
        trials[i], found = joint.tried(p, x[i], line.share)
        return found

    start, slope = ca.vertsplit(_sums(p, limbs, joints, "trial", slopes))
    with p.block("search"):
        slope, flat = p.let("slope", slope), FLAT * ca.fabs(start)
        short = ca.logic_and(slope < -flat, line.share < 1)
        fits = ca.logic_not(ca.logic_or(short, slope > flat))
        narrow = line.high - line.low < NARROW
        accepted = p.let("accepted", ca.logic_or(ca.logic_or(fits, narrow), rounds < FREE))
    for limb, i in ((limb, i) for limb, i in by_joint(limbs) if i in joints):
        with p.block("pieces", limb=limb, member=i):
            _accept(p, joints[i], trials[i], accepted, rounds < FREE - 1)
    with p.block("line"):
        low = where(slope < 0, line.share, line.low)
        high = where(slope < 0, line.high, line.share)
        p.assign(line.low, where(accepted, 0, low))
        p.assign(line.high, where(accepted, 1, high))
        p.assign(line.share, where(accepted, 1, (low + high) / 2))


def _accept(p: Program, joint: LimitedJoint, trial: Trial, accepted: SX, free: SX) -> None:
    """Assign the state of a joint at a trial that is accepted; inside a block.

    Where it is `free`, rows go to the next piece only.
    """
    line, slope = joint.straight, joint.fixed
    p.assign(joint.lack, where(accepted, trial.lack, joint.lack))
    p.assign(joint.best, where(accepted, trial.a, joint.best))
    for row, old in zip(joint.rows, joint.states, strict=True):
        new = where(accepted, row.next_state(old, trial.a, free), old)
        now, fall = row.line(new)
        line, slope = line + now, slope + fall
        p.assign(old, new)
    p.assign(joint.line, line)
    p.assign(joint.slope, slope)


def _sums(
    p: Program,
    limbs: Limbs,
    joints: Mapping[int, LimitedJoint],
    name: str,
    each: Callable[[int, LimitedJoint], SX],
) -> SX:
    """Return the sum of numbers of each joint, limb by limb."""
    sums = []
    for limb, indices in limbs:
        own = []
        for i in (i for i in indices if i in joints):
            with p.block(name, limb=limb, member=i):
                own.append(p.let(name, each(i, joints[i])))
        if own:
            with p.block(name, limb=limb):
                sums.append(p.let(name, sum(own, SX(0))))
    return sum(sums, SX(0))


def _applied(torque: Torque, a: SX, states: Mapping[int, list[SX]]) -> tuple[SX, SX]:
    """Return a torque as it acted, and the states of its dry friction; take its states."""
    applied, sliding = torque.now - torque.slope * a, []
    for i, rows in torque.rows.items():
        for row in rows:
            state = states[i].pop(0)
            applied[i] += row.on(state, a[i])
            if isinstance(row, DryFriction):
                sliding.append(state)
    return applied, ca.vertcat(SX(0, 1), *sliding)
