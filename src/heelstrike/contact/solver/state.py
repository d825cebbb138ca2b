"""State of the swept problem: bodies, contacts and joints with the variables of their iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import casadi as ca

from heelstrike.contact.law import SX
from heelstrike.contact.solver.anchors import Anchor, PassedPoint
from heelstrike.contact.solver.links import AnyLink, LinkTree
from heelstrike.contact.solver.rows import Row
from heelstrike.ir.arguments import LABEL
from heelstrike.ir.guard import OpenGuard

Limbs = Sequence[tuple[str, Sequence[int]]]
"""Names of limbs, and the velocity indices of each."""


class Tree(LinkTree, Protocol):
    """The robot's tree: dynamics/sweep.py."""

    @property
    def velocities(self) -> set[int]:
        """Velocity indices that are swept."""

    @property
    def loads(self) -> Mapping[int, Any]:
        """Bodies that may have an r, by number, as `set_force` and `set_stiffness` take them."""

    def set_force(self, load: Any, force: SX) -> None:
        """Assign r of a body, in world axes [N, N m]; inside a block."""

    def set_stiffness(self, load: Any, stiffness: SX) -> None:
        """Assign K of a body, in world axes; inside a block."""

    def factor(self, bodies: Mapping[int, SX], joint: Mapping[int, SX], diagonal: SX) -> None:
        """Factor where bodies or joints changed."""

    def factor_stiffness(self, diagonal: SX, share: SX) -> None:
        """Factor the sum of J^T K J, plus a small share of H and its diagonal."""

    def solve(self, rho: Mapping[int, SX]) -> tuple[SX, dict[int, SX]]:
        """Return accelerations of joints and, by body in world axes, of loaded bodies."""

    def accept(self, step: SX, accepted: SX) -> None:
        """Move the forces of closed loops by a step along the last direction."""


@dataclass(frozen=True)
class Point:
    """A contact with the variables of its iteration."""

    number: int = field(metadata=LABEL)
    """Of its row."""
    row: Row
    rho: SX
    """Compliance of the first pass [1/kg]."""
    own: SX
    """Velocity per impulse of contacts of its body by themselves [1/kg]."""
    anchor: Anchor
    f: SX
    """Impulse at the best velocity so far (3) [N s]."""
    trial: SX
    """Impulse at the trial (3)."""
    slipping: SX
    """Slip at the end of the pass, if the point is taken to stick [m/s]."""
    next_slides: SX
    """1 where the point slides in the next pass too."""

    @property
    def map(self) -> SX:
        """G, (3, 6)."""
        return self.row.map

    def passed(self, twist: SX, firm: SX) -> PassedPoint:
        """Return the contact at the end of a pass that leaves its body a twist.

        `firm` is the share of its compliance that it has in the pass.
        """
        g = self.map
        left = g @ twist - self.row.target
        return PassedPoint(self.row, g, self.rho * firm, self.anchor, self.trial, left)


@dataclass(frozen=True)
class Body:
    """A body that may touch the ground, with the variables of its iteration, in world axes.

    Or two that may touch one another, with what holds for their relative twist (links.py).
    """

    number: int = field(metadata=LABEL)
    """Of the body; of a link another number than any body has."""
    limb: str | None = field(metadata=LABEL)
    points: list[Point]
    touch: OpenGuard = field(metadata=LABEL)
    """Guard of what is done for lanes in which it touches; what is not said to be outside exists
    there alone."""
    active: SX
    """1 where one of its points touches; outside."""
    coast: SX
    """Its twist after the step if no force acted on it (6) [m/s, rad/s]."""
    y0: SX
    """Field of the anchors at the start of the step."""
    twist: SX
    """Its twist after the step, at the best acceleration so far."""
    direction: SX
    """Newton's direction of it."""
    wrench: SX
    """Impulse of its contacts (6) [N s, N m s]; outside."""
    lack: SX
    """r (6); outside."""
    stiffness: SX
    """K, the upper triangle as a column (21)."""
    scales: SX
    """Largest speed of its contacts, largest impulse that is rounding, and whether one moves;
    outside."""
    y: SX
    """Field of the anchors (6), see anchors.py; of a link, of the first ones."""
    dy: SX
    """Change that the end of a pass wants of it."""
    trial_twist: SX
    trial_wrench: SX
    trial_lack: SX
    facts: SX
    """At the trial: largest entry of r, largest entry of the wrench, slope along the line; outside.
    """
    measured: SX
    """At the end of a pass, `Measured` as a column; outside."""
    changed: SX
    """1 where K has changed in this round; outside."""
    link: AnyLink | None = None
    taken: SX | None = None
    """Of a link, l of its direction (6): K dV as it acted on the bodies."""


@dataclass(frozen=True)
class Solved:
    """How the iteration ended."""

    impulses: list[SX]
    """Of each row, in its axes [N s]; inside the guard `touch` of its body."""
    slides: list[SX]
    """1 where the next step begins with a sliding contact; inside the same guard."""
    a: SX
    """Accelerations of the joints that are swept; of others as they were."""
    rounds: SX
    ended: SX
    """Criterion that ended it (criteria.Ended)."""
    residual: SX
    """Velocity by which the worst contact misses its law (residual.py) [m/s]."""
    unshared: SX | None
    """How far fields moved since loads were shared out (sharing.py)."""


@dataclass(frozen=True)
class TriedJoint:
    """A joint at the trial, as symbols."""

    a: SX
    torque: SX
    slope: SX
    """Of its torque."""
    rho: SX
    facts: SX
    """Size of rho, slope along the line."""


@dataclass(frozen=True)
class Judged:
    """Decisions of a round, as symbols."""

    ends: SX
    """1 where r is small: the pass ends."""
    accepted: SX
    """1 where the trial is the new best."""
    slope: SX
    """Along the line."""
    slides: SX
    """1 where a contact slides."""
    criterion: SX
    """Ended.ROUNDING where that would end the solve, else 0."""


def upper(matrix: SX) -> SX:
    """Return the upper triangle of a symmetric (6, 6) matrix as a column."""
    return ca.vertcat(*(matrix[r, c] for c in range(6) for r in range(c + 1)))


def full(column: SX) -> SX:
    """Return the symmetric matrix of an upper triangle."""
    return ca.densify(ca.triu2symm(SX(ca.Sparsity.upper(6), ca.densify(column))))
