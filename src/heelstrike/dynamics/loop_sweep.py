"""Elimination of loops in the articulated-body algorithm [Sathya2025].

The unit forces of a loop's rows, K on a body and e at a joint, are carried inward like forces, with
the pivots of the sweep. At a joint on their way, in the letters of aba.py,

    w = S^T K + e,   W = D^-1 w,   k = K - U W,   K <- X^T k to the parent
    Lambda += w^T W,   l += W^T (u - U^T g)

g is the acceleration of the joint's body while neither joints nor the body where all branches meet
accelerate: the sum of c on the way. At that body the rows demand, of its acceleration a and
multipliers y,

    K^T a + l + Lambda y = d           d: J a that is wanted
    y = P (d - l - K^T a),             so that K P K^T joins I^A, and K P (l - d) joins p^A

Outward, W y joins the acceleration of each joint on the way. What K costs is linear in the joints
on the way; nothing of the size of the robot appears.

P is the inverse of Lambda but for redundant rows (loop_mobility.py). Of d only what motions of the
loop can reach is wanted, (Lambda P)^3 d: a mechanism whose parts miss one another across its plane
is not torn by forces that change nothing. Solves are in loop_answer.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.loop_mobility import Keep, Mobility
from heelstrike.dynamics.loop_rows import ConstraintRows
from heelstrike.dynamics.loops import Loop
from heelstrike.dynamics.tree import Limb
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.spatial.inertia import Inertia
from heelstrike.spatial.ldl import LdlFactor
from heelstrike.spatial.motion import ForceVector
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, symmetric

SMALLEST = 1e-30
"""Diagonal entry of Lambda below which rows count as fixed [1/kg, 1/(kg m^2)]."""
FILTERS = 3
"""Exponent of Lambda P in what is wanted: each takes off what x << mu cannot reach, by 4 x / mu."""


@dataclass
class ClosedLoop:
    """A loop in a step: its rows, what is wanted of them, and its terms in the sweep."""

    loop: Loop
    rows: Sequence[ConstraintRows]
    target: SX
    """d, (m,)."""
    softness: SX
    """Share mu of the largest diagonal entry."""
    limb: str
    """Limb of the body at which it meets."""
    weighted: dict[int, SX] = field(default_factory=dict)
    """W by joint, with columns of the constraints through the joint."""
    meeting: ForceVector | None = None
    """K at the body where it meets, (3, m) each; None: at the world."""
    mobility: Mobility | None = None
    wanted: SX | None = None
    """What motions of the loop can reach of d."""
    passed: dict[int, ForceVector] = field(default_factory=dict)
    """K that limbs pass on, by the limb's first joint."""
    of_limbs: dict[str, tuple[SX, list[tuple[int, int]]]] = field(default_factory=dict)
    """Lambda of the joints of each limb: entries, and their rows and columns."""

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.loop.rows

    def places(self, joint: int) -> list[int]:
        """Return the rows of the constraints through a joint."""
        spans = self.loop.spans()
        return [r for k in self.loop.through(joint) for r in range(spans[k].start, spans[k].stop)]


class LoopFactor:
    """One inward pass that computes W, K and P; methods are called inside blocks but `end`."""

    def __init__(
        self, p: Program, robot: Robot, loops: Sequence[ClosedLoop], keep: Keep | None = None
    ) -> None:
        """`keep` makes new symbols of the terms; None: those of the last pass are assigned."""
        self.p, self.robot, self.loops, self.keep = p, robot, loops, keep
        self.weighted: dict[tuple[int, int], SX] = {}
        """W by number of the loop and joint, as expressions of the open block."""
        self.meeting: dict[int, tuple[ForceVector, Mobility]] = {}
        """K and P by number of the loop, likewise."""
        self._inner: dict[tuple[int, int], ForceVector] = {}
        self._sums: dict[int, SX] = {}

    def meet(self, i: int, inertia: Inertia) -> Inertia:
        """Return the inertia of a body with the loops that meet there."""
        for n, loop in enumerate(self.loops):
            if loop.loop.meets == i:
                columns = self._columns(n, i, range(len(loop.rows)))
                mobility = self._mobility(n)
                self.meeting[n] = columns, mobility
                inertia = inertia + _stiffness(columns, mobility)
                self._keep_meeting(loop, columns, mobility)
        return inertia

    def carry(
        self, i: int, u: tuple[SX, SX], d: LdlFactor, placement: Transform, limb: Limb
    ) -> None:
        """Carry columns over joint i, whose terms are U and D, to its parent."""
        joint = self.robot.joints[i]
        linear, angular = joints.subspace(joint)
        for n, loop in enumerate(self.loops):
            through = loop.loop.through(i)
            if not through:
                continue
            own = self._columns(n, i, through)
            w = linear.T @ own.linear + angular.T @ own.angular
            w = ca.densify(w + _entries(loop, i, through, joint.nv))
            weighted = d.solve(w)
            self.weighted[n, i] = weighted
            self._add(n, i, w.T @ weighted)
            left = ForceVector(own.linear - u[0] @ weighted, own.angular - u[1] @ weighted)
            out = placement.force_columns_out(left)
            if self.keep is None:
                self.p.assign(loop.weighted[i], weighted)
            else:
                loop.weighted[i] = self.keep("W", weighted)
            if i != limb.joints[0]:
                self._inner[n, i] = out
            elif joint.parent != WORLD:
                self._keep_passed(loop, i, out)

    def end_limb(self, limb: Limb) -> None:
        """Keep what other limbs read of this one; the last call of its block."""
        for n, part in self._sums.items():
            loop = self.loops[n]
            if loop.limb == limb.name:
                continue  # it meets in this limb
            rows = sorted({r for i in limb.joints for r in loop.places(i)})
            lower = [(r, c) for r in rows for c in rows if c <= r]
            entries = ca.densify(ca.vertcat(*(part[r, c] for r, c in lower)))
            if self.keep is None:
                self.p.assign(loop.of_limbs[limb.name][0], entries)
            else:
                loop.of_limbs[limb.name] = self.keep("mobility", entries), lower
        self._sums.clear()
        self._inner.clear()
        self.weighted.clear()
        self.meeting.clear()

    def end(self, n: int) -> None:
        """Compute P of a loop that meets at the world."""
        self._keep_meeting(self.loops[n], None, self._mobility(n))

    # parts

    def _columns(self, n: int, body: int, which: Sequence[int]) -> ForceVector:
        """Return the columns of some constraints of a loop at a body, zero where there are none."""
        loop = self.loops[n]
        found = {k: loop.rows[k].columns[body] for k in which if body in loop.rows[k].columns}
        for child in self.robot.children(body):
            outer = self._inner.get((n, child)) or loop.passed.get(child)
            first = 0
            for k in loop.loop.through(child) if outer is not None else ():
                assert outer is not None
                span = slice(first, first + loop.rows[k].error.numel())
                own = ForceVector(outer.linear[:, span], outer.angular[:, span])
                found[k] = found[k] + own if k in found else own
                first = span.stop
        none = {k: ForceVector(SX(3, s), SX(3, s)) for k, s in enumerate(_sizes(loop))}
        parts = [found.get(k, none[k]) for k in which]
        return ForceVector(
            ca.densify(ca.horzcat(*(x.linear for x in parts))),
            ca.densify(ca.horzcat(*(x.angular for x in parts))),
        )

    def _add(self, n: int, i: int, part: SX) -> None:
        places, whole = self.loops[n].places(i), SX(self.loops[n].size, self.loops[n].size)
        for r, row in enumerate(places):
            for c, column in enumerate(places):
                whole[row, column] = part[r, c]
        self._sums[n] = self._sums[n] + whole if n in self._sums else whole

    def _keep_passed(self, loop: ClosedLoop, i: int, columns: ForceVector) -> None:
        if self.keep is None:
            self.p.assign(loop.passed[i].linear, columns.linear)
            self.p.assign(loop.passed[i].angular, columns.angular)
        else:
            own = self.keep("K", columns.linear), self.keep("K", columns.angular)
            loop.passed[i] = ForceVector(*own)

    def _mobility(self, n: int) -> Mobility:
        loop = self.loops[n]
        whole = self._sums.get(n, SX(loop.size, loop.size))
        for entries, places in loop.of_limbs.values():
            part = SX(loop.size, loop.size)
            for entry, (r, c) in zip(ca.vertsplit(entries), places, strict=True):
                part[r, c] = part[c, r] = entry
            whole = whole + part
        whole = ca.densify(whole)
        scales, first = [], 0
        for rows in loop.rows:
            for span in rows.scales:
                entries = [whole[first + r, first + r] for r in range(span.start, span.stop)]
                largest = ca.mmax(ca.vertcat(*entries))
                # sign(0) = 0; an if_else would move behind every product that it is a factor of
                scales += [ca.sign(largest) / ca.sqrt(ca.fmax(largest, SMALLEST))] * len(entries)
            first += rows.error.numel()
        found = Mobility.of(whole, ca.vertcat(*scales), loop.softness)
        if self.keep is not None:
            wanted = loop.target
            for _ in range(FILTERS):
                wanted = whole @ found.solve(wanted)
            loop.wanted = self.p.let("wanted", wanted)
        return found

    def _keep_meeting(
        self, loop: ClosedLoop, columns: ForceVector | None, mobility: Mobility
    ) -> None:
        p, old, keep = self.p, loop.mobility, self.keep
        if keep is None:
            assert old is not None
            old.assign(p, mobility)
            if columns is not None:
                assert loop.meeting is not None
                p.assign(loop.meeting.linear, columns.linear)
                p.assign(loop.meeting.angular, columns.angular)
            return
        loop.mobility = mobility.kept(keep)
        if columns is not None:
            loop.meeting = ForceVector(keep("K", columns.linear), keep("K", columns.angular))


def _sizes(loop: ClosedLoop) -> list[int]:
    return [rows.error.numel() for rows in loop.rows]


def _entries(loop: ClosedLoop, i: int, which: Sequence[int], nv: int) -> SX:
    """Return the unit torques at joint i of some constraints of a loop, (nv, m)."""
    sizes = _sizes(loop)
    return ca.horzcat(*(loop.rows[k].entries.get(i, SX(nv, sizes[k])) for k in which))


def _stiffness(columns: ForceVector, mobility: Mobility) -> Inertia:
    """Return K P K^T."""
    linear, angular = mobility.solve(columns.linear.T), mobility.solve(columns.angular.T)
    return Inertia(
        symmetric(columns.linear @ linear),
        columns.linear @ angular,
        symmetric(columns.angular @ angular),
    )
