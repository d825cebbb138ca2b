"""Anchors of contacts: the impulses that a pass of the swept problem starts from (passes.py).

Under a body that many points carry, impulses are not unique. Those of equal, vanishing compliance
are meant: the least sum of squares,

    f = nearest(G_j y)          with one six-vector y for all points of a body

so anchors are kept to a_j = G_j y. At the end of a pass y follows the multipliers a - u / rho of
the loaded points by least squares; points that carry nothing only keep it in bounds. The result
depends neither on where y started nor on the step. A point that slides keeps its own tangential
anchor, f_t.

Between two moving bodies, corners of each may touch faces of the other, and no relative motion of
rigid bodies has all of their targets: a field that follows them swings from pass to pass. There
anchors start the step at the field that is nearest to the last step's impulses, and follow the
impulse of each point from then on. At rest and in steady motion that is the same least sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.rows import Row
from heelstrike.ir.program import Program
from heelstrike.spatial.ldl import factor
from heelstrike.spatial.vector import zeros

FURTHEST = 3.0
"""Distance of a multiplier from the impulse that it makes, in the body's largest impulses."""
MISFIT = 2.0
"""Misfits of its target with which a point that carries nothing may still approach."""
WEAK, WEAK_SINGLE = 1e-6, 1e-4
"""Weight of points that carry nothing, in float64 and in float32."""
DAMPING, DAMPING_SINGLE = 1e-10, 1e-6
"""Addition to the diagonal of the normal equations, relative."""


@dataclass(frozen=True)
class Anchor:
    """State of a contact from pass to pass, as variables."""

    a: SX
    """Impulse that the pass starts from (3) [N s]."""
    f: SX
    """Impulse that the last pass found; at first that which `a` makes (3)."""
    slides: SX
    tentative: SX
    """1 where it slides because it slipped at the start of the step: it may stick yet."""
    bound: SX
    """Radius of its tube [N s]."""
    change: SX
    """Change of the bound that the last pass wanted."""


def first_anchor(p: Program, row: Row, a: SX) -> Anchor:
    """Return the first anchor of a contact; inside a block."""
    return Anchor(
        p.variable("a", a),
        p.variable("f", zeros()),
        p.variable("slides", row.slid),
        p.variable("tentative", row.slid),
        p.variable("bound", row.bound(a[2], row.slid)),
        p.variable("change", SX(0)),
    )


@dataclass(frozen=True)
class PassedPoint:
    """A contact at the end of a pass."""

    row: Row
    map: SX
    """G, (3, 6)."""
    rho: SX
    """Compliance of the pass [1/kg]."""
    anchor: Anchor
    f: SX
    """Impulse (3) [N s]."""
    left: SX
    """Velocity over the target (3) [m/s]."""

    @property
    def z(self) -> SX:
        """Multiplier a - u / rho."""
        return self.anchor.a - self.left / self.rho

    @property
    def loaded(self) -> SX:
        return self.f[2] > 0

    @property
    def stops(self) -> SX:
        """1 where it was taken to slide, but friction within its bound stops it: it gets mu_s.

        Where mu_s = mu_k the tube holds it as the cone would.
        """
        tentative = ca.logic_and(self.anchor.tentative, self.anchor.slides)
        tentative = ca.logic_and(tentative, self.row.mu_s > self.row.mu_k)
        return ca.logic_and(ca.logic_and(tentative, self.loaded), ca.logic_not(self.at_bound))

    @property
    def slides(self) -> SX:
        """1 where it slides in the next pass too."""
        return ca.logic_and(self.anchor.slides, ca.logic_not(self.stops))

    @property
    def approach(self) -> SX:
        """Speed of a point that carries nothing towards its target, beyond misfits [m/s]."""
        speed = ca.fmax(-self.left[2] - MISFIT * self.row.misfit, 0)
        return where(ca.logic_and(self.row.active, ca.logic_not(self.loaded)), speed, 0)

    @property
    def miss(self) -> SX:
        """Largest velocity left that the anchors should undo [m/s]."""
        sizes = ca.fabs(self.left)
        along = where(self.slides, 0, ca.fmax(sizes[0], sizes[1]))
        return where(self.loaded, ca.fmax(along, sizes[2]), self.approach)

    @property
    def bounded(self) -> SX:
        """1 where friction has the bound of the pass before: in a tube, not a cone."""
        return self.anchor.slides if self.row.compliance is None else SX(1)

    @property
    def at_bound(self) -> SX:
        """1 where friction is at such a bound."""
        z = self.z
        beyond = ca.dot(z[:2], z[:2]) > self.anchor.bound * self.anchor.bound
        return ca.logic_and(self.bounded, beyond)


def weights_of(row: Row, held: SX, pressed: SX, weak: SX) -> SX:
    """Return the weights of a contact along its axes (3): 1 where it counts, else `weak`."""
    along, across = where(held, 1, weak), where(pressed, 1, weak)
    return where(row.active, ca.vertcat(along, along, across), 0)


@dataclass(frozen=True)
class Fit:
    """Normal equations of y of a link, or of the change of y of a body, as variables."""

    matrix: SX
    """Upper triangle as a column (21)."""
    right: SX
    """(6,)"""
    furthest: SX
    """Distance of a multiplier from its impulse, at most [N s]."""

    def add(self, p: Program, point: PassedPoint, single: SX) -> None:
        """Add a contact; `single` is 1 where numbers are float32; inside a block."""
        weak = where(single, WEAK_SINGLE, WEAK)
        g, z, f, furthest = point.map, point.z, point.f, self.furthest
        excess = z - f
        size = ca.sqrt(ca.fmax(ca.dot(excess, excess), 1e-30))
        wanted = f + ca.fmin(1, furthest / size) * excess - point.anchor.a
        pressed = ca.logic_or(point.loaded, point.approach > 0)
        held = ca.logic_and(point.loaded, ca.logic_not(point.slides))
        across, weights = where(pressed, 1, weak), weights_of(point.row, held, pressed, weak)
        back = ca.fmax(-furthest - point.anchor.a[2], 0)
        pull = ca.vertcat(where(held, wanted[:2], 0), across * where(pressed, wanted[2], back))
        self._add(p, g, weights, where(point.row.active, pull, 0))

    def add_last(self, p: Program, row: Row, single: SX) -> None:
        """Add the impulse that a contact had in the last step; inside a block."""
        weak, loaded = where(single, WEAK_SINGLE, WEAK), row.past[2] > 0
        held = ca.logic_and(loaded, ca.logic_not(row.slid))
        weights = weights_of(row, held, loaded, weak)
        self._add(p, row.map, weights, weights * row.past)

    def _add(self, p: Program, g: SX, weights: SX, pull: SX) -> None:
        own = ca.triu(ca.densify(g.T @ ca.diag(weights) @ g)).nz[:]
        changed = [k for k in range(own.numel()) if not own[k].is_zero()]
        p.assign(self.matrix[changed], self.matrix[changed] + own[changed])
        p.assign(self.right, self.right + g.T @ pull)

    def solved(self, single: SX) -> SX:
        """Return y, or its change."""
        damping = where(single, DAMPING_SINGLE, DAMPING)
        matrix = SX(ca.Sparsity.upper(6), self.matrix)
        diagonal = ca.diag(damping * ca.diag(matrix) + 1e-30)
        return factor(ca.densify(ca.triu2symm(matrix + diagonal))).solve(self.right)


def new_fit(p: Program, impulses: Sequence[SX]) -> Fit:
    """Return a fit without contacts, given their impulses; inside a block."""
    furthest = FURTHEST * reduce(ca.fmax, (ca.mmax(ca.fabs(f)) for f in impulses))
    matrix, right = p.variable("fit", zeros(21)), p.variable("fit", zeros(6))
    return Fit(matrix, right, p.let("furthest", furthest))
