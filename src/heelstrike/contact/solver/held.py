"""The swept problem with its active set held, for reverse sweeps: residuals and the adjoint solve.

Accelerations a and forces F of a step that was made solve, with M = H + S,

    M a + b - tau - J^T G^T F = 0                       of the joints
    u = 0                                               of a contact that sticks
    u_n = 0,  F_t + mu F_n u_t / |u_t| = 0              of one that slides
    F = 0                                               of one that is apart

and a soft normal has c (dt F_n - p(u_n)) = 0 instead of u_n = 0. The adjoint solve with cotangents
(a_bar, F_bar) is that of the transposed matrix, with w = J z, e = u_t / |u_t| and c across it:

    M z - J^T G^T pi = a_bar
    G w = -F_bar                                        sticks
    (G_n - mu e . G_t) w = -F_bar_n + mu e . F_bar_t    slides, and pi_t = -W (G_t w + F_bar_t)

with W = (mu f_n / |u_t|) c c^T. The direction e is that of -F_t, which is known also where a point
at its bound hardly slips. Friction makes the matrix unsymmetric: the normal constraint of a point
that slides holds friction, its multiplier acts along the normal. As in the step's own passes, each
constraint has a small compliance rho and an anchor that follows its multiplier; what friction adds
to the constraint is that of the pass before. All passes have one factor, and each is one solve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import casadi as ca

from heelstrike.contact.law import SX, where
from heelstrike.contact.solver.criteria import SINGLE
from heelstrike.contact.solver.rows import Row
from heelstrike.contact.solver.state import Tree
from heelstrike.contact.solver.sums import total
from heelstrike.ir.arguments import LABEL
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import zeros

PASSES = 200
"""Largest number of solves; points that stick take about five."""
SETTLED = 1e-11
"""Change of velocities from pass to pass that ends the passes, over the largest of them and of what
multipliers make of a contact by itself; 100 tolerances in float32."""
CREEPS, SLOW = 1e-7, 0.95
"""The same where a pass leaves more than the share SLOW of the change of the one before: where dry
friction locks the joints between contacts, forces that statics leaves open creep for thousands of
passes, and hardly move anything."""
SLOWEST = 1e-9
"""Slip [m/s] below which friction of a point that slides turns as at this slip."""
SLIGHT = 1e-12
"""Friction [N] below which a direction has no meaning."""


@dataclass(frozen=True)
class HeldPoint:
    """A contact as the step left it, as symbols."""

    number: int = field(metadata=LABEL)
    """Of its row."""
    map: SX
    """G, (3, 6)."""
    slides: SX
    """1 where it slides."""
    pulls: SX
    """mu e (2), 0 where it does not slide."""
    weight: SX
    """Slope -df/du of its impulse, of constrained velocities 1 / rho, (3, 3)."""
    constrained: SX
    """1 for velocities that are 0 (3)."""
    own: SX
    """Velocity per impulse of the contact by itself [1/kg]."""

    def wanted(self, cotangent: SX, w: SX) -> SX:
        """Return what G w is to be, with friction at w of the pass before (3)."""
        along = ca.dot(self.pulls, cotangent[:2] + (self.map @ w)[:2])
        return ca.vertcat(-cotangent[:2], along - cotangent[2])

    def multiplier(self, pi: SX, cotangent: SX, w: SX, dt: SX) -> SX:
        """Return the multiplier of the residual (3)."""
        sliding = cotangent[:2] + (self.map @ w)[:2]
        return ca.vertcat(where(self.slides, sliding, -pi[:2] / dt), -pi[2] / dt)


def held_point(
    p: Program,
    row: Row,
    number: int,
    force: SX,
    slides: SX,
    compliances: tuple[SX, SX],
    twist: SX,
    dt: SX,
) -> tuple[HeldPoint, SX]:
    """Return a contact at the force and twist of its step, and its residual (3); inside a block.

    `force` is that in the axes of the row [N]; the compliances are the contact's own and that of a
    pass [1/kg].
    """
    own, rho = compliances
    g = p.let("map", row.map)
    loaded, left = force[2] > 0, g @ twist - row.target
    slides = ca.logic_and(loaded, slides)
    speed = ca.sqrt(ca.fmax(ca.dot(left[:2], left[:2]), SLOWEST**2))
    along = -force[:2] / ca.sqrt(ca.fmax(ca.dot(force[:2], force[:2]), SLIGHT**2))
    across = ca.vertcat(-along[1], along[0])
    turns = row.mu_k * force[2] / speed
    rubs = force[:2] + row.mu_k * force[2] * along + turns * ca.dot(across, left[:2]) * across
    friction = where(slides, rubs, left[:2])
    normal, press = SX(rho), left[2]
    if row.compliance is not None:
        push, normal = row.soft(left[2])
        press = normal * (dt * force[2] - push)
    residual = where(loaded, ca.vertcat(friction, press), force)
    flat = where(slides, dt * turns * across @ across.T, SX(ca.DM.eye(2)) / rho)
    weight = where(loaded, ca.diagcat(ca.densify(flat), 1 / normal), 0)
    sticks = ca.logic_and(loaded, ca.logic_not(slides))
    bound = ca.vertcat(sticks, sticks, loaded if row.compliance is None else 0)
    pulls = where(slides, row.mu_k * along, 0)
    return HeldPoint(
        number,
        g,
        slides=p.let("slides", slides),
        pulls=p.let("pulls", pulls),
        weight=p.let_symmetric("weight", ca.densify(weight)),
        constrained=p.let("constrained", bound),
        own=own,
    ), residual


def solve_transposed(
    p: Program,
    tree: Tree,
    points: Mapping[int, Sequence[HeldPoint]],
    by_joint: SX,
    by_force: Mapping[int, SX],
    dt: SX,
    tolerance: SX,
) -> tuple[SX, dict[int, SX]]:
    """Return z, and by contact the multiplier of its residual (3).

    `points` are given by body; the tree has the factor with their weights. Cotangents are
    `by_joint`, of accelerations, and `by_force`, by contact; `tolerance` is that of the step.
    """
    with p.block("adjoint start"):
        z = p.variable("z", zeros(by_joint.numel()))
        twists = {body: p.variable("w", zeros(6)) for body in points}
        anchors = {x.number: p.variable("anchor", zeros()) for own in points.values() for x in own}
        last = {number: p.variable("pi", zeros()) for number in anchors}
    with repeated(p, "adjoint passes", limit=PASSES) as loop:
        before = loop.carry("change", SX(0))
        for body, own in points.items():
            with p.block("adjoint load", member=body):
                wrenches = []
                for x in own:
                    wanted = x.wanted(by_force[x.number], twists[body])
                    wrenches.append(x.map.T @ (anchors[x.number] + x.weight @ wanted))
                tree.set_force(tree.loads[body], total(wrenches))
        found, moved = tree.solve(dict(enumerate(ca.vertsplit(by_joint))))
        changes = []
        for body, own in points.items():
            old, new = twists[body], moved[body]
            with p.block("adjoint pass", member=body):
                for x in own:
                    missed = x.wanted(by_force[x.number], old) - x.map @ new
                    pi = p.let("pi", anchors[x.number] + x.weight @ missed)
                    p.assign(last[x.number], pi)
                    p.assign(anchors[x.number], x.constrained * pi)
                    change = ca.mmax(ca.fabs(x.map @ (new - old)))
                    size = ca.fabs(x.map @ new) + ca.fabs(by_force[x.number])
                    size = ca.mmax(size + x.own * ca.fabs(x.constrained * pi))
                    changes.append(p.let("change", ca.vertcat(change, size)))
                p.assign(old, new)
        with p.block("adjoint settled"):
            p.assign(z, found)
            change, size = ca.vertsplit(reduce(ca.fmax, changes))
            settled = where(tolerance > SINGLE, 100 * tolerance, SETTLED)
            creeps = ca.logic_and(change <= CREEPS * size, change > SLOW * before)
            loop.until(ca.logic_or(change <= settled * size, creeps))
            loop.next(before, change)
    multipliers = {}
    for body, own in points.items():
        for x in own:
            with p.block("adjoint of contact", member=x.number):
                values = last[x.number], by_force[x.number], twists[body]
                multipliers[x.number] = p.let("multiplier", x.multiplier(*values, dt))
    return z, multipliers
