"""Box 8 of [Sugihara2006], Fig. 4: a joint in the search of limits.py.

Rows (contact/solver/joint_rows.py) are on the pieces that the last step expects; the joint's line
and slope are those of all its torques on these pieces. Joints all do the same: what the search does
to one is traced once (ir/routine.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import casadi as ca

from heelstrike.contact.law import where
from heelstrike.contact.solver.joint_rows import Bounded, Clamp, Piecewise, RangeStop, Stop
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX
from heelstrike.step.torque import Limbs, Torque, by_joint


@dataclass(frozen=True)
class SearchState:
    """State of the search of a joint, as variables; all but the first two are unset before."""

    line: SX
    """Torque of all at zero acceleration,"""
    slope: SX
    """and its slope."""
    pieces: SX
    """Pieces of the rows,"""
    best: SX
    """a,"""
    lack: SX
    """what the equation of motion lacks there,"""
    acted: SX
    """and the torques of the rows."""


@dataclass(frozen=True)
class LimitedJoint:
    """A joint with rows, and what it has beside them."""

    rows: tuple[Piecewise, ...]
    straight: SX
    """Torque beside the rows at zero acceleration,"""
    fixed: SX
    """and its slope."""
    search: SearchState
    stop: RangeStop | None
    """Stop of the joint's range, if it has one,"""
    beyond: SX | None
    """and how far the joint gets beyond the range without acceleration."""

    @property
    def tested(self) -> list[Clamp | Bounded]:
        """Return the rows other than the range's stop, which is tested with those of its limb."""
        return [row for row in self.rows if not isinstance(row, Stop)]

    def excess(self, a: SX) -> SX:
        """Return a number that is above 0 if a tested row may not be on its guessed piece."""
        return reduce(ca.fmax, (row.excess(a) for row in self.tested))

    def begin(self, p: Program, first: SX) -> Searched:
        """Return the joint in a round of the search; inside a block.

        In the `first` round its rows are on the pieces that are guessed.
        """
        guesses = ca.vertcat(*(row.guess for row in self.rows))
        now = self.search
        pieces = p.let("state", where(first, guesses, now.pieces))
        best, lack = p.let("best", where(first, 0, now.best)), where(first, 0, now.lack)
        rows = tuple(row.searched(p) for row in self.rows)
        beside = p.let("straight", self.straight), p.let("fixed", self.fixed)
        return Searched(rows, *beside, ca.vertsplit(pieces), best, p.let("lack", lack))


@dataclass(frozen=True)
class Searched:
    """A joint in a round of the search, as symbols; for their meaning see above."""

    rows: tuple[Piecewise, ...]
    straight: SX
    fixed: SX
    pieces: list[SX]
    best: SX
    lack: SX

    @property
    def own(self) -> list[tuple[Piecewise, SX]]:
        """Rows with their pieces."""
        return list(zip(self.rows, self.pieces, strict=True))


@dataclass(frozen=True)
class Trial:
    """A joint at a trial, as symbols."""

    a: SX
    lack: SX
    """What its equation of motion lacks there."""
    facts: SX
    """Whether a row misses its piece at x, and the joint's part in the slope of the function along
    the way, at its start and at the trial, (3,)."""


def tried(p: Program, joint: Searched, into: SearchState, x: SX, share: SX) -> Trial:
    """Return a joint at a share of the way from the best a to x; a routine.

    Assign the torques of its rows at x.
    """
    d = x - joint.best
    a = p.let("a", x - (1 - share) * d)
    gap = SX(0)
    for row, piece in joint.own:
        gap = gap + (row.at(a)[0] - row.on(piece, a))
    lack = p.let("lack", (1 - share) * joint.lack + gap)
    p.assign(into.acted, ca.vertcat(*(row.on(piece, x) for row, piece in joint.own)))
    wrong = reduce(ca.logic_or, (row.misses(piece, x) for row, piece in joint.own))
    return Trial(a, lack, p.let("facts", ca.vertcat(wrong, -d * joint.lack, -d * lack)))


def take_pieces(
    p: Program, joint: Searched, into: SearchState, trial: Trial, accepted: SX, free: SX
) -> None:
    """Assign the state of a joint at a trial that is accepted, else as it is now; a routine.

    Where it is `free`, rows go to the next piece only.
    """
    line, slope, pieces = joint.straight, joint.fixed, []
    for row, old in joint.own:
        pieces.append(where(accepted, row.next_state(old, trial.a, free), old))
        torque, fall = row.line(pieces[-1])
        line, slope = line + torque, slope + fall
    p.assign(into.pieces, ca.vertcat(*pieces))
    p.assign(into.best, where(accepted, trial.a, joint.best))
    p.assign(into.lack, where(accepted, trial.lack, joint.lack))
    p.assign(into.line, line)
    p.assign(into.slope, slope)


def limited_joints(
    p: Program, limbs: Limbs, torques: Sequence[Torque]
) -> tuple[list[Torque], dict[int, LimitedJoint]]:
    """Return the torques with what is dear to compute as symbols, and the joints with rows."""
    kept = [replace(torque, now=SX(torque.now), rows=dict(torque.rows)) for torque in torques]
    joints = {}
    for limb, i in by_joint(limbs):
        with p.block("torques", limb=limb, member=i):
            rows: tuple[Piecewise, ...] = ()
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
            sizes = {"state": len(rows), "best": 1, "lack": 1, "acted": len(rows)}
            unset = (p.unset(name, size, limb, i) for name, size in sizes.items())
            search = SearchState(*lines, *unset)
            joints[i] = LimitedJoint(rows, straight, fixed, search, stop, beyond)
    return kept, joints


def _kept(p: Program, row: Piecewise) -> Piecewise:
    """Return a row with what every step computes as symbols; inside a block."""
    return row if isinstance(row, RangeStop) else row.kept(p)


def _guessed(p: Program, rows: Sequence[Piecewise], line: SX, slope: SX) -> tuple[SX, SX]:
    """Return the torque at zero acceleration and its slope, as variables; inside a block.

    Rows are on the pieces that are guessed, and stops of ranges are taken not to push.
    """
    for row in rows:
        if not isinstance(row, RangeStop):
            now, fall = row.line(SX(row.guess))
            line, slope = line + now, slope + fall
    return p.variable("line", line), p.variable("slope", slope)
