"""Inertia and Jacobian of a robot whose base follows its joints [Tsujita2009] (5), [Yoshida1991].

With the base's rows first, H = [[H_b, H_bm], [H_bm^T, H_m]], J = [J_b, J_m], a base that nothing
drives moves with the joints by B = -H_b^-1 H_bm, and

    H* = H_m + H_bm^T B,        J* = J_m + J_b B                                            (5)
    H*^-1 = joint block of H^-1 = Y_m^T D^-1 Y_m,     Y = L^-T,  H = L^T D L     along the tree

Links of a virtual base have M_g, I_g in H. Where they are fixed (constraints J_c v = 0), in the
limit of (1), (2),

    H*^-1 -> Y_m^T D^-1 Y_m - X (J_c H^-1 J_c^T)^-1 X^T,   X = joint rows of H^-1 J_c^T
    B -> -(J_cb^T J_cb)^-1 J_cb^T J_cm

which is H*^-1 of the constrained robot; H* itself has no limit while two feet stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.dynamics.bodies import body_inertias
from heelstrike.dynamics.crba import crba
from heelstrike.dynamics.factor import TreeFactor, factor_tree
from heelstrike.dynamics.jacobian import body_jacobian
from heelstrike.dynamics.kinematics import Kinematics, kinematics
from heelstrike.impact.base import floats
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot
from heelstrike.spatial.inertia import RigidInertia
from heelstrike.spatial.ldl import factor
from heelstrike.spatial.vector import SX, zeros


@dataclass(frozen=True)
class Reduced:
    """Symbols of a program; n joints, and nb = 6 (or 0) velocities of the base before them."""

    kin: Kinematics
    inertia: SX
    """H, (nv, nv), with the joints' equivalent inertia."""
    inverse: SX
    """H*^-1, (n, n)."""
    base: SX
    """B: the base's twist per joint velocity, (nb, n)."""
    fixed: bool
    """Whether the held links cannot move at all."""

    @property
    def nb(self) -> int:
        return int(self.base.shape[0])

    def generalized_inertia(self) -> SX:
        """H* of (5), (n, n)."""
        nb = self.nb
        return self.inertia[nb:, nb:] + self.inertia[nb:, :nb] @ self.base

    def generalized(self, jacobian: SX) -> SX:
        """Return J* of (5) from the Jacobian of all velocities."""
        return jacobian[:, self.nb :] + jacobian[:, : self.nb] @ self.base

    def base_yield(self, jacobian: SX) -> SX:
        """Return J_b H_b^-1 J_b^T, the compliance of the base itself, which (15) leaves out.

        It is zero where links are fixed.
        """
        nb = self.nb
        if self.fixed or nb == 0:
            return zeros(jacobian.shape[0], jacobian.shape[0])
        own = jacobian[:, :nb]
        return own @ factor(self.inertia[:nb, :nb]).solve(own.T)


def reduced(
    p: Program,
    robot: Robot,
    q: SX,
    held: Sequence[int],
    fixed: bool,
    bodies: list[RigidInertia] | None = None,
) -> Reduced:
    """Return the reduced inertia at q; `held` bodies are fixed, or heavy by `bodies`
    (`grounded`).
    """
    nb = 6 if floats(robot) else 0
    kin = kinematics(p, robot, q, zeros(robot.nv), bodies)
    h = crba(p, robot, kin, SX(robot.armature))
    tree = factor_tree(p, robot, h)
    rows = _half(p, tree, nb)
    inverse = _product(p, tree, rows)
    if nb and fixed and held:
        jacobians = [body_jacobian(p, robot, kin, body) for body in held]
        inverse = _constrained(p, tree, rows, inverse, jacobians)
        base = held_base(p, jacobians)
    else:
        base = free_base(p, h, nb)
    return Reduced(kin, h, inverse, base, fixed and bool(held))


def free_base(p: Program, h: SX, nb: int) -> SX:
    """Return B = -H_b^-1 H_bm, (nb, n)."""
    with p.block("base map"):
        return p.let("B", -factor(h[:nb, :nb]).solve(ca.densify(h[:nb, nb:]))) if nb else h[:0, :]


def held_base(p: Program, jacobians: Sequence[SX]) -> SX:
    """Return the B for which bodies of these Jacobians stay at rest."""
    with p.block("base map"):
        c = ca.densify(ca.vertcat(*jacobians))
        own = c[:, :6]
        return p.let("B", -factor(own.T @ own).solve(own.T @ c[:, 6:]))


def grounded(p: Program, robot: Robot, candidates: Sequence[int]) -> list[RigidInertia]:
    """Return inertias by (1), (2): those of candidates are replaced where the input "held" is 1.

    Inputs: held (one a candidate, 0 or 1), virtual_mass [kg], virtual_inertia [kg m^2].
    """
    bodies = body_inertias(robot)
    flags = p.input("held", max(len(candidates), 1))
    mass, inertia = p.input("virtual_mass", 1), p.input("virtual_inertia", 1)
    for k, i in enumerate(candidates):
        own, on = bodies[i], flags[k] > 0.5
        central = ca.if_else(on, inertia * SX(ca.DM.eye(3)), own.central)
        bodies[i] = RigidInertia(ca.if_else(on, mass, own.mass), own.com, ca.densify(central))
    return bodies


def _half(p: Program, tree: TreeFactor, nb: int) -> list[SX]:
    """Return the rows of Y_m: L^-T of the joints' columns, with their zeros."""
    nv = len(tree.inverse)
    eye = SX.eye(nv)[:, nb:]
    rows = [eye[k, :] for k in range(nv)]
    for k in reversed(range(nv)):
        with p.block("half", limb="inverse"):
            rows[k] = p.let("Y", rows[k])
        for i in tree.ancestors[k]:
            rows[i] = rows[i] - tree.lower[k, i] * rows[k]
    return rows


def _product(p: Program, tree: TreeFactor, rows: Sequence[SX]) -> SX:
    """Return Y_m^T D^-1 Y_m, one column at a time."""
    n = rows[0].shape[1]
    upper = SX(n, n)
    for j in range(n):
        with p.block("inverse"):
            total = SX(j + 1, 1)
            for row, inverse in zip(rows, tree.inverse, strict=True):
                if row[0, j].nnz():
                    total = total + row[0, : j + 1].T * (inverse * row[0, j])
            upper[: j + 1, j] = p.let("A", total)
    return ca.densify(ca.triu2symm(upper))


def _constrained(
    p: Program, tree: TreeFactor, rows: Sequence[SX], inverse: SX, jacobians: Sequence[SX]
) -> SX:
    """Return the inverse without the motion of the fixed links."""
    halves = tree.forward(p, ca.densify(ca.vertcat(*jacobians).T), "constraints")
    weighted = tree.scale(p, halves, "constraints")
    with p.block("response", limb="constraints"):
        x = zeros(rows[0].shape[1], halves.shape[1])
        for k, row in enumerate(rows):
            x = ca.mac(row.T, weighted[k, :], x)
        x = p.let("X", ca.densify(x))
    with p.block("inertia", limb="constraints"):
        gram = factor(halves.T @ weighted).renamed(lambda y: p.let("G", y))
    with p.block("multipliers", limb="constraints"):
        multipliers = p.let("Z", gram.solve(x.T))
    columns = []
    for j in range(x.shape[0]):
        with p.block("inverse", limb="constraints"):
            columns.append(p.let("A", inverse[: j + 1, j] - x[: j + 1, :] @ multipliers[:, j]))
    upper = SX(x.shape[0], x.shape[0])
    for j, column in enumerate(columns):
        upper[: j + 1, j] = column
    return ca.densify(ca.triu2symm(upper))
