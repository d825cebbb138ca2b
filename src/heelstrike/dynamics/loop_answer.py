"""Solve with loops that were factored: l inward, y and W y outward (loop_sweep.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.kinematics import Kinematics, let_motion
from heelstrike.dynamics.loop_mobility import Mobility
from heelstrike.dynamics.loop_sweep import ClosedLoop, LoopFactor
from heelstrike.dynamics.loops import Loop
from heelstrike.dynamics.tree import Limb
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.vector import SX, mac

Drift = Mapping[int, MotionVector]
"""g by joint, in the frames of the bodies."""


def loop_drift(p: Program, robot: Robot, kin: Kinematics, v: SX, gravity: SX, loop: Loop) -> Drift:
    """Return g of the joints of a loop, inside a block; the world accelerates at minus gravity."""
    found: dict[int, MotionVector] = {}
    for i in sorted(loop.joints):
        joint, placement = robot.joints[i], kin.placements[i]
        own = kin.velocities[i].cross(joints.velocity(joint, joints.velocities(joint, v)))
        if joint.parent == WORLD:
            own = MotionVector(own.linear + placement.unrotate(-gravity), own.angular)
        elif joint.parent != loop.meets:
            own = placement.motion_in(found[joint.parent]) + own
        found[i] = own
    return {i: let_motion(p, "drift", own) for i, own in found.items()}


class LoopAnswer:
    """One solve: l inward, y and W y outward; methods are called inside blocks but `end`."""

    def __init__(
        self,
        p: Program,
        robot: Robot,
        loops: Sequence[ClosedLoop],
        inside: LoopFactor | None = None,
        drifts: Sequence[Drift] | None = None,
    ) -> None:
        """`inside` is a factor whose blocks this solve shares; `drifts` are those of the loops.

        Without drifts g and d are 0: changes of forces are answered.
        """
        self.p, self.robot, self.loops = p, robot, loops
        self.inside, self.drifts = inside, drifts
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

    def carry(self, i: int, u: SX, limb: Limb, columns: tuple[SX, SX] | None = None) -> None:
        """Add to l what joint i does; `columns` are U, where there are drifts."""
        for n, loop in enumerate(self.loops):
            places = loop.places(i)
            if places:
                sums, rest = self._sums[n], u
                if self.drifts is not None and columns is not None:
                    g = self.drifts[n][i]
                    rest = mac(-columns[1].T, g.angular, mac(-columns[0].T, g.linear, u))
                part = SX(loop.size, 1)
                part[places] = self._weighted(n, i).T @ rest
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
        if self.drifts is not None:
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
