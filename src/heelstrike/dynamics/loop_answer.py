"""Solve with loops that were factored: l inward, y and W y outward (loop_sweep.py)."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.dynamics.loop_mobility import Mobility
from heelstrike.dynamics.loop_sweep import ClosedLoop, LoopFactor
from heelstrike.dynamics.tree import Limb
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.vector import SX, mac


class LoopAnswer:
    """One solve: l inward, y and W y outward; methods are called inside blocks but `end`."""

    def __init__(
        self,
        p: Program,
        robot: Robot,
        loops: Sequence[ClosedLoop],
        inside: LoopFactor | None = None,
        targets: bool = False,
    ) -> None:
        """`inside` is a factor whose blocks this solve shares; `targets`: d is wanted, not 0."""
        self.p, self.robot, self.loops = p, robot, loops
        self.inside, self.targets = inside, targets
        self.multipliers: dict[int, SX] = {}
        """y by number of the loop."""
        self._sums: dict[int, dict[str, SX]] = {n: {} for n in range(len(loops))}

    def meet(self, i: int, bias: ForceVector) -> ForceVector:
        """Return the bias force of a body with those of the loops that meet there."""
        for n, loop in enumerate(self.loops):
            if loop.loop.meets == i:
                columns, mobility = self._meeting(n)
                push = mobility.solve(self._lack(n))
                bias = ForceVector(
                    mac(columns.linear, push, bias.linear),
                    mac(columns.angular, push, bias.angular),
                )
        return bias

    def carry(self, i: int, u: SX, limb: Limb, c: MotionVector | None = None) -> None:
        """Add to l what joint i does."""
        for n, loop in enumerate(self.loops):
            places = loop.places(i)
            if places:
                sums = self._sums[n]
                own = self._weighted(n, i).T @ u
                if c is not None:
                    assert self.inside is not None
                    left = self.inside.left[n, i]
                    own = mac(left.angular.T, c.angular, mac(left.linear.T, c.linear, own))
                part = SX(loop.size, 1)
                part[places] = own
                sums[limb.name] = sums[limb.name] + part if limb.name in sums else part

    def end_limb(self, limb: Limb) -> None:
        """Keep what other limbs read of this one; in its block."""
        for n, loop in enumerate(self.loops):
            if limb.name in self._sums[n] and loop.limb != limb.name:
                part = self._sums[n][limb.name]
                self._sums[n][limb.name] = self.p.let("l", part)

    def end(self) -> None:
        """Find y of loops that meet at the world; outside blocks."""
        for n, loop in enumerate(self.loops):
            if loop.loop.meets == WORLD:
                assert loop.mobility is not None
                with self.p.block("multipliers", limb=loop.limb, member=loop.loop.numbers[0]):
                    self._find(n, -loop.mobility.solve(self._lack(n)))

    def found(self, i: int, motion: MotionVector) -> None:
        """Find y of the loops that meet at a body with an acceleration."""
        for n, loop in enumerate(self.loops):
            if loop.loop.meets == i:
                assert loop.meeting is not None
                assert loop.mobility is not None
                lack = mac(loop.meeting.linear.T, motion.linear, ca.densify(self._lack(n)))
                lack = mac(loop.meeting.angular.T, motion.angular, lack)
                self._find(n, -loop.mobility.solve(lack))

    def added(self, i: int) -> SX | None:
        """Return W y of joint i, the acceleration that its loops add; None if it has none."""
        found: SX | None = None
        for n, loop in enumerate(self.loops):
            places = loop.places(i)
            if places:
                own = loop.weighted[i] @ self.multipliers[n][places]
                found = own if found is None else found + own
        return found

    def _weighted(self, n: int, i: int) -> SX:
        return self.loops[n].weighted[i] if self.inside is None else self.inside.weighted[n, i]

    def _meeting(self, n: int) -> tuple[ForceVector, Mobility]:
        if self.inside is not None:
            return self.inside.meeting[n]
        loop = self.loops[n]
        assert loop.meeting is not None
        assert loop.mobility is not None
        return loop.meeting, loop.mobility

    def _find(self, n: int, multipliers: SX) -> None:
        self.multipliers[n] = self.p.let("multiplier", multipliers)

    def _lack(self, n: int) -> SX:
        """Return l - d."""
        total = sum(self._sums[n].values(), SX(self.loops[n].size, 1))
        if self.targets:
            wanted = self.loops[n].wanted
            assert wanted is not None
            total = total - wanted
        return ca.densify(total)


def loop_multipliers(loops: Sequence[ClosedLoop], answer: LoopAnswer) -> list[SX]:
    """Return the multipliers of each constraint in the order of `Robot.constraints`."""
    found: dict[int, SX] = {}
    for n, loop in enumerate(loops):
        for number, span in zip(loop.loop.numbers, loop.loop.spans(), strict=True):
            found[number] = answer.multipliers[n][span]
    return [found[number] for number in sorted(found)]
