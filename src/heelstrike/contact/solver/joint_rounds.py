"""What a round of the swept problem (swept.py) does to the joints, and to their rows.

Accelerations of the swept joints move along the line; rows (joint_rows.py) have a torque there, and
miss rho of it. In a direction, each row's slope is on the diagonal of H.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.joint_rows import JointRow
from heelstrike.contact.solver.round import Round
from heelstrike.contact.solver.state import Judged, Limbs, TriedJoint
from heelstrike.contact.solver.sums import joined, total
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.vector import zeros

ROUNDING = 4.0
"""Rounding of a torque, in tolerances."""


class JointRounds:
    """Accelerations of the swept joints, and the rows at some of them."""

    def __init__(
        self, p: Program, limbs: Limbs, rows: Mapping[int, JointRow], diagonal: SX, first: SX
    ) -> None:
        """Begin at the accelerations of the first sweep.

        `limbs` have the swept joints, `rows` are by velocity index. `diagonal` is that of H.
        """
        self.p, self.limbs, self.rows, self.diagonal = p, limbs, rows, diagonal
        self.swept = [(limb, i) for limb, own in limbs for i in own]
        """Swept velocity indices with their limbs."""
        self.a, self.da = SX(first), zeros(first.numel())
        for limb, i in self.swept:
            with p.block("begin", limb=limb, member=i):
                self.a[i], self.da[i] = p.variable("a", first[i]), p.variable("da", SX(0))
                if i in rows:
                    p.assign(rows[i].torque, rows[i].torque - rows[i].slope * first[i])

    def evaluate(self, at: Round) -> dict[int, TriedJoint]:
        """Return the joints at the trial."""
        self.round, found = at, {}
        for limb, i in self.swept:
            arguments = self.a[i], self.da[i], self.rows.get(i)
            own = call(self.p, "joint trial", self._evaluate, *arguments, limb=limb, member=i)
            found[i] = own
        return found

    def _evaluate(self, a: SX, da: SX, row: JointRow | None) -> TriedJoint:
        """Return a joint at the trial; inside a block."""
        p, dt, step, tolerance = self.p, self.round.dt, self.round.step, self.round.tolerance
        a = p.let("a", a + step * da)
        if row is None:
            return TriedJoint(a, SX(0), SX(0), SX(0), zeros(2))
        torque, slope = row.at(a)
        rho = (1 - step) * row.rho + (step * row.slope * da + (torque - row.torque))
        torque, slope, rho = p.let("torque", torque), p.let("slope", slope), p.let("rho", rho)
        noise = ROUNDING * tolerance * ca.fabs(torque)
        size = dt * ca.fmax(ca.fabs(rho) - noise, 0)
        facts = ca.vertcat(size, -dt * dt * da * rho)
        return TriedJoint(a, torque, slope, rho, p.let("facts", facts))

    def facts(self, tried: Mapping[int, TriedJoint]) -> list[SX]:
        """Return the facts of the joints with rows, one column for each limb."""
        found = []
        for limb, indices in self.limbs:
            own = [tried[i].facts for i in indices if i in self.rows]
            if own:
                with self.p.block("joint facts", limb=limb):
                    found.append(self.p.let("facts", joined(own, 1)))
        return found

    def accept(self, tried: Mapping[int, TriedJoint], judged: Judged) -> None:
        """Assign the accelerations of an accepted trial."""
        p = self.p
        for limb, i in self.swept:
            with p.block("joint accepted", limb=limb, member=i):
                p.assign(self.a[i], where(judged.accepted, tried[i].a, self.a[i]))

    def advance(self, tried: Mapping[int, TriedJoint]) -> dict[int, SX]:
        """Assign the rows' states at the accepted trial; return whether their slopes changed."""
        found = {}
        for limb, i in self.swept:
            if i in self.rows:
                arguments = self.rows[i], tried[i], self.diagonal[i]
                own = call(self.p, "joint next", self._advance, *arguments, limb=limb, member=i)
                found[i] = own
        return found

    def _advance(self, row: JointRow, tried: TriedJoint, diagonal: SX) -> SX:
        """Assign the state of a row; return whether its slope changed; inside a block."""
        p = self.p
        p.assign(diagonal, row.fixed + tried.slope)
        p.assign(row.slope, tried.slope)
        p.assign(row.torque, tried.torque)
        p.assign(row.rho, tried.rho)
        return p.let("changed", tried.slope != row.slope)

    def missed(self) -> dict[int, SX]:
        """Return rho of the rows."""
        return {i: row.rho for i, row in self.rows.items()}

    def take_direction(self, da: SX) -> None:
        """Assign the direction."""
        for limb, i in self.swept:
            with self.p.block("joint direction", limb=limb, member=i):
                self.p.assign(self.da[i], da[i])

    def slopes(self, dt: SX) -> list[SX]:
        """Return the slopes at the start of the line, one for each limb with rows."""
        p, found = self.p, []
        for limb, indices in self.limbs:
            own = [self.da[i] * self.rows[i].rho for i in indices if i in self.rows]
            if own:
                with p.block("joint slope", limb=limb):
                    found.append(p.let("slope", -dt * dt * total(own)))
        return found
