"""Links of the swept problem (swept.py): two moving bodies that touch one another.

The twist of a link is that of its first body beside its second, at the first one's origin,

    V = V_a - X V_b             X shifts a twist from the origin of b to that of a

and its contacts have a wrench w, a stiffness K and a lack r in V as those of a body with the ground
have. w acts on a, -X^T w on b. K joins two bodies, so that no inertia of the tree can hold it. With
T the tree with everything else, J the Jacobians of the links' twists and y what acts,

    (T + J^T K J) x = y        K = N R R^T N^T
    x = T^-1 (y - J^T l)       l = N R (1 + R^T N^T J T^-1 J^T N R)^-1 R^T N^T J T^-1 y

(Woodbury's formula). N is 1, or three columns where one contact is all that a link has. The same
r - l acts on both bodies, so that momentum is conserved to rounding. Rounding of x lets l and K V
differ where K is large beside the inertia; r goes on from l, which acted, and later rounds mend it.
Links of bodies that share no joint, as those of free bodies, are eliminated along the graph of
contacts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from typing import Protocol, TypeAlias

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.criteria import SINGLE
from heelstrike.contact.solver.semidefinite import root_of
from heelstrike.ir.arguments import LABEL
from heelstrike.ir.guard import guarded
from heelstrike.ir.program import Program
from heelstrike.ir.routine import call
from heelstrike.spatial.block_ldl import BlockFactor
from heelstrike.spatial.vector import cross, skew, zeros

ROUNDED, ROUNDED_SINGLE = 1e-13, 1e-6
"""Share of a diagonal of K that is no more than rounding, in float64 and in float32."""


@dataclass(frozen=True)
class Link:
    """Two moving bodies that may touch one another."""

    first: int = field(metadata=LABEL)
    second: int = field(metadata=LABEL)
    offset: SX
    """From the second one's origin to the first one's, in world axes [m]."""
    lever: SX | None = None
    """From the first one's origin to its contact, if it has one only [m]."""

    @property
    def bodies(self) -> tuple[int, ...]:
        """Bodies that it may act on."""
        return self.first, self.second

    @property
    def basis(self) -> SX:
        """N, (6, 6) or (6, 3)."""
        if self.lever is None:
            return SX(ca.DM.eye(6))
        return ca.vertcat(SX(ca.DM.eye(3)), skew(self.lever))

    def relative(self, twists: Mapping[int, SX]) -> SX:
        """Return V_a - X V_b of the twists of bodies, or of their accelerations."""
        return twists[self.first] - self._carried(twists[self.second])

    def size(self, twists: Mapping[int, SX]) -> SX:
        """Return |V_a| + |X V_b|, entry by entry: rounding of V is a share of it."""
        return ca.fabs(twists[self.first]) + ca.fabs(self._carried(twists[self.second]))

    def _carried(self, b: SX) -> SX:
        """Return X V_b."""
        return ca.vertcat(b[:3] + cross(b[3:], self.offset), b[3:])

    def pulls(self, wrenches: SX) -> dict[int, SX]:
        """Return how wrenches of the link, one per column, act on its bodies: w and -X^T w."""
        shifted = wrenches[3:, :] + skew(self.offset) @ wrenches[:3, :]
        return {self.first: wrenches, self.second: -ca.vertcat(wrenches[:3, :], shifted)}


@dataclass(frozen=True)
class SlotLink:
    """Two moving bodies that are known at run time only, among some that may touch.

    The second may be the ground: any number that is not a body's.
    """

    first: SX
    """Number of the first body."""
    second: SX
    offset: SX
    """From the second one's origin to the first one's, in world axes [m]."""
    bodies: tuple[int, ...]
    """Bodies that it may act on."""
    grounded: bool = False
    """Whether the second may be the ground."""

    def relative(self, twists: Mapping[int, SX]) -> SX:
        """Return V_a - X V_b of the twists of bodies, or of their accelerations."""
        return Link(0, 1, self.offset).relative(self._pair(twists))

    def size(self, twists: Mapping[int, SX]) -> SX:
        """Return |V_a| + |X V_b|, entry by entry."""
        return Link(0, 1, self.offset).size(self._pair(twists))

    def _pair(self, twists: Mapping[int, SX]) -> dict[int, SX]:
        known = {body: twists[body] for body in self.bodies}
        other = zeros(6) if self.grounded else None
        return {0: selected(self.first, known), 1: selected(self.second, known, other)}


def selected(number: SX, values: Mapping[int, SX], other: SX | None = None) -> SX:
    """Return the value whose key is a number that is known at run time; `other` if none is."""
    keys, found = list(values), list(values.values())
    result = found[0] if other is None else other
    for key, value in list(zip(keys, found, strict=True))[other is None :]:
        result = where(number == key, value, result)
    return result


AnyLink: TypeAlias = Link | SlotLink


@dataclass(frozen=True)
class SlotPull:
    """How the wrench of a slot acts on its two bodies, as symbols."""

    first: SX
    """Number of the first body."""
    second: SX
    on_first: SX
    on_second: SX

    def on(self, body: SX) -> SX:
        """Return what acts on a body."""
        other = where(self.second == body, self.on_second, 0)
        return where(self.first == body, self.on_first, other)


Pull: TypeAlias = SX | SlotPull
"""What a link does to a body: a wrench (6), or one that is known at run time."""


Moving: TypeAlias = "SX | tuple[SlotLink, dict[int, SX]]"
"""Motion of a body or of a link; of a slot the motions of all bodies that it may join."""


def moving(link: AnyLink | None, moved: Mapping[int, SX], number: int = -1) -> Moving:
    """Return the motion of a link, or of the body of a number, as routines take it."""
    if link is None:
        return moved[number]
    if isinstance(link, Link):
        return link.relative(moved)
    return link, {body: moved[body] for body in link.bodies}


def motion_of(moving: Moving) -> SX:
    """Return the motion itself (6)."""
    if isinstance(moving, ca.SX):
        return moving
    link, moved = moving
    return link.relative(moved)


def pulls_by_body(
    p: Program, links: Iterable[AnyLink], wrenches: Iterable[SX]
) -> dict[int, list[Pull]]:
    """Return how the wrenches of links act on each body that they may act on; outside blocks."""
    found: dict[int, list[Pull]] = {}
    for n, (link, wrench) in enumerate(zip(links, wrenches, strict=True)):
        one, other = call(p, "pull of link", _pulls, p, link.offset, wrench, member=n)
        if isinstance(link, Link):
            own: dict[int, Pull] = {link.first: one, link.second: other}
        else:
            own = dict.fromkeys(link.bodies, SlotPull(link.first, link.second, one, other))
        for body, part in own.items():
            found.setdefault(body, []).append(part)
    return found


def _pulls(p: Program, offset: SX, wrench: SX) -> tuple[SX, SX]:
    found = Link(0, 1, offset).pulls(wrench)
    return p.let("pull", found[0]), p.let("pull", found[1])


def pull_sum(body: SX, parts: Sequence[Pull], other: SX | None) -> SX:
    """Return what links and something else, if anything, do to a body of a number (6)."""
    whole = zeros(6) if other is None else other
    for part in parts:
        whole = whole + (part.on(body) if isinstance(part, SlotPull) else part)
    return whole


class LinkTree(Protocol):
    """Methods of the robot's tree that links call: dynamics/sweep.py."""

    def share(self, one: Iterable[int], other: Iterable[int]) -> bool:
        """Return whether some of the bodies have supporting joints in common."""

    def inverse(self, pulls: Sequence[Mapping[int, SX]]) -> dict[tuple[int, int], SX]:
        """Return blocks of J T^-1 J^T between sets of forces, by (row, column)."""


class Elimination:
    """Links' part of the solution, with its factor as variables."""

    def __init__(self, p: Program, tree: LinkTree, links: Sequence[Link], tolerance: SX) -> None:
        self.p, self.tree, self.links, self.tolerance = p, tree, links, tolerance
        sizes = [link.basis.shape[1] for link in links]
        joined = [
            (n, m)
            for m, n in combinations(range(len(links)), 2)
            if tree.share(links[n].bodies, links[m].bodies)
        ]
        with p.block("link roots"):
            self.roots = [p.variable("root", zeros(size, size)) for size in sizes]
        self.matrix = BlockFactor(p, sizes, joined)

    def factor(self, changed: SX, stiffnesses: Sequence[SX]) -> None:
        """Factor 1 + R^T N^T J T^-1 J^T N R where T or a K, (6, 6), has changed."""
        p, least = self.p, where(self.tolerance > SINGLE, ROUNDED_SINGLE, ROUNDED)
        with guarded(p, "link factor", changed):
            inverse = self.tree.inverse([link.pulls(link.basis) for link in self.links])
            roots = []
            for n, (old, stiffness) in enumerate(zip(self.roots, stiffnesses, strict=True)):
                with p.block("link root", member=n):
                    size = old.shape[0]  # of one contact, K at the contact is its first block
                    roots.append(p.let("root", root_of(stiffness[:size, :size], least)))
                    p.assign(old, roots[n])
            matrix = {}
            for (n, m), block in inverse.items():
                with p.block(f"link matrix {n} {m}"):
                    own = roots[n].T @ block @ roots[m]
                    matrix[n, m] = p.let("matrix", own + SX(ca.DM.eye(own.shape[0])) * (n == m))
            self.matrix.factor(matrix)

    def taken(self, twists: Sequence[SX]) -> list[SX]:
        """Return l of the links, (6,) each, for their twists J T^-1 y; inside a block."""
        along = [
            root.T @ link.basis.T @ v
            for root, link, v in zip(self.roots, self.links, twists, strict=True)
        ]
        found = self.matrix.solve(along)
        return [
            link.basis @ (root @ x)
            for root, link, x in zip(self.roots, self.links, found, strict=True)
        ]


def any_of(flags: Iterable[SX]) -> SX:
    """Return 1 where one of the flags is."""
    return reduce(ca.fmax, flags)
