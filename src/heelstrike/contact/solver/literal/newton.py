"""Newton's method for the literal rule of [Sugihara2006], inside a loop of a compiled program.

Unknowns x, 6 a contacting body. Each round evaluates the gradient x - L^T w(x) at a trial, and
either accepts it, with Newton's direction for the next, or looks nearer along the line. The matrix
1 + L^T K L is symmetric and positive definite whatever the contacts do.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.line import LINE, fits, narrowed, new_line
from heelstrike.ir.loop import Loop
from heelstrike.ir.program import Program
from heelstrike.spatial.ldl import factor
from heelstrike.spatial.vector import zeros


@dataclass(frozen=True)
class Judged:
    """Result of a round."""

    accepted: SX
    """1 where the trial is the new best."""
    ends: SX
    """1 where the gradient is small."""


class Search:
    """Newton's method over the rounds of a loop."""

    def __init__(
        self,
        p: Program,
        loop: Loop,
        begin: SX,
        tolerance: SX,
        apart: SX | None = None,
        thorough: bool = False,
        noise: SX | float = 0.0,
    ) -> None:
        """`apart` is a constant to add to x: where a large one nearly cancels it, f from x alone
        keeps the digits. `thorough` ends only after a step of Newton's, whose derivative is that
        of the solution, however good the beginning was. `noise` adds to the size of x that the
        tolerance is a share of.
        """
        self.stepped = loop.carry("stepped", SX(0)) if thorough else None
        self.p, self.loop, self.tolerance, self.noise = p, loop, tolerance, noise
        self.apart = zeros(begin.numel()) if apart is None else apart
        self.x = loop.carry("x", begin)
        """Best point so far."""
        self.direction = loop.carry("direction", zeros(begin.numel()))
        self.line = loop.carry("line", SX(LINE))

    def trial(self) -> SX:
        """Return the point at which this round evaluates."""
        with self.p.block("newton trial"):
            return self.p.let("x", self.x + self.line[0] * self.direction)

    def advance(self, trial: SX, root: SX, wrench: SX, stiffness: SX) -> Judged:
        """Judge a trial; `wrench` is w there, `stiffness` the upper triangle of K."""
        p, loop = self.p, self.loop
        with p.block("newton gradient"):
            whole = trial + self.apart
            gradient = p.let("gradient", trial + (self.apart - root.T @ wrench))
            size = ca.mmax(ca.fabs(gradient))
            small = size <= self.tolerance * (ca.mmax(ca.fabs(whole)) + self.noise + 1e-12)
            if self.stepped is not None:
                small = ca.logic_and(small, self.stepped)
            ends = p.let("ends", small)
            slope = p.let("slope", ca.dot(gradient, self.direction))
            accepted = p.let("accepted", ca.logic_or(ends, fits(self.line, slope)))
        with p.block("newton matrix"):
            full = root.T @ ca.triu2symm(stiffness) @ root
            matrix = p.let("matrix", ca.triu(full) + ca.DM.eye(trial.numel()))
        with p.block("newton direction"):
            step = factor(ca.triu2symm(matrix)).solve(-gradient)
            fall = ca.dot(gradient, step)
            again = where(ends, SX(LINE), new_line(fall))
            loop.next(self.x, where(accepted, trial, self.x))
            loop.next(self.direction, where(accepted, where(ends, 0, step), self.direction))
            loop.next(self.line, where(accepted, again, narrowed(self.line, slope)))
            if self.stepped is not None:
                done = ca.logic_and(accepted, ca.logic_not(ends))
                loop.next(self.stepped, where(ends, 0, ca.logic_or(self.stepped, done)))
        return Judged(accepted, ends)
