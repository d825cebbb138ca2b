"""Sparse factorization H = L^T D L of the joint-space inertia [Featherstone2008], section 6.5.

L is unit lower triangular. Row k of L has entries only for the ancestors of k in the tree, so there
is no fill-in.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.dynamics.tree import limbs, supports
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot
from heelstrike.spatial.vector import SX, zeros


@dataclass(frozen=True)
class TreeFactor:
    """The factor as symbols of a program."""

    lower: dict[tuple[int, int], SX]
    """L_ki by velocity k and its ancestor i < k."""
    inverse: list[SX]
    """1 / D_k by velocity k."""
    ancestors: list[list[int]]
    """Ancestors of each velocity, nearest first; a joint's earlier velocities count as such."""

    def solve(self, p: Program, right: SX, name: str = "solve") -> SX:
        """Return H^-1 right, for each column."""
        return self.backward(p, self.scale(p, self.forward(p, right, name), name), name)

    def forward(self, p: Program, right: SX, name: str = "solve") -> SX:
        """Return L^-T right, from the tips inward."""
        with p.block("inward", limb=name):
            rows = list(ca.vertsplit(ca.densify(right)))
            for k in reversed(range(len(rows))):
                for i in self.ancestors[k]:
                    rows[i] = rows[i] - self.lower[k, i] * rows[k]
            return p.let(name, ca.vertcat(*rows))

    def scale(self, p: Program, right: SX, name: str = "solve") -> SX:
        """Return D^-1 right."""
        with p.block("scale", limb=name):
            rows = [
                row * inverse
                for row, inverse in zip(ca.vertsplit(right), self.inverse, strict=True)
            ]
            return p.let(name, ca.vertcat(*rows))

    def backward(self, p: Program, right: SX, name: str = "solve") -> SX:
        """Return L^-1 right, from the root outward."""
        with p.block("outward", limb=name):
            rows = list(ca.vertsplit(right))
            for k in range(len(rows)):
                for i in self.ancestors[k]:
                    rows[k] = rows[k] - self.lower[k, i] * rows[i]
            return p.let(name, ca.vertcat(*rows))


def factor_tree(p: Program, robot: Robot, h: SX) -> TreeFactor:
    """Factor H, the result of `crba`, from the tips inward."""
    ancestors = _ancestors(robot)
    entries = {(k, i): h[k, i] for k in range(robot.nv) for i in [k, *ancestors[k]]}
    lower: dict[tuple[int, int], SX] = {}
    inverse: list[SX] = [zeros(1)] * robot.nv
    for limb in reversed(limbs(robot)):
        with p.block("factor", limb=limb.name):
            changed: dict[tuple[int, int], None] = {}
            for joint in (robot.joints[i] for i in reversed(limb.joints)):
                for k in reversed(range(joint.iv, joint.iv + joint.nv)):
                    inverse[k] = p.let("D", 1 / entries[k, k])
                    for i in ancestors[k]:
                        ratio = entries[k, i] / entries[k, k]
                        for j in [i, *ancestors[i]]:
                            entries[i, j] = entries[i, j] - ratio * entries[k, j]
                            changed[i, j] = None
                        lower[k, i] = p.let("L", ratio)
            for key in changed:
                entries[key] = p.let("H", entries[key])
    return TreeFactor(lower, inverse, ancestors)


def _ancestors(robot: Robot) -> list[list[int]]:
    result: list[list[int]] = [[] for _ in range(robot.nv)]
    for b in range(len(robot.joints)):
        path = [
            k
            for i in supports(robot, b)
            for k in range(robot.joints[i].iv, robot.joints[i].iv + robot.joints[i].nv)
        ]
        joint = robot.joints[b]
        for k in range(joint.iv, joint.iv + joint.nv):
            result[k] = sorted((i for i in path if i < k), reverse=True)
    return result
