"""H = L^T D L along the tree: no entry appears that H does not have [Featherstone2008], section
6.5.

L is unit lower triangular; row k of L has entries only for the joints that carry joint k.
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
    """L_ki of velocity k and a velocity i < k that carries it."""
    inverse: list[SX]
    """1 / D_k"""
    carriers: list[list[int]]
    """For each velocity the velocities of smaller index that carry it, nearest first."""

    def solve(self, p: Program, right: SX, name: str = "solve") -> SX:
        """H^-1 right, for each column."""
        return self.backward(p, self.scale(p, self.forward(p, right, name), name), name)

    def forward(self, p: Program, right: SX, name: str = "solve") -> SX:
        """L^-T right: from the tips inward."""
        with p.block("inward", limb=name):
            rows = list(ca.vertsplit(ca.densify(right)))
            for k in reversed(range(len(rows))):
                for i in self.carriers[k]:
                    rows[i] = rows[i] - self.lower[k, i] * rows[k]
            return p.let(name, ca.vertcat(*rows))

    def scale(self, p: Program, right: SX, name: str = "solve") -> SX:
        """D^-1 right"""
        with p.block("scale", limb=name):
            rows = [
                row * inverse
                for row, inverse in zip(ca.vertsplit(right), self.inverse, strict=True)
            ]
            return p.let(name, ca.vertcat(*rows))

    def backward(self, p: Program, right: SX, name: str = "solve") -> SX:
        """L^-1 right: from the root outward."""
        with p.block("outward", limb=name):
            rows = list(ca.vertsplit(right))
            for k in range(len(rows)):
                for i in self.carriers[k]:
                    rows[k] = rows[k] - self.lower[k, i] * rows[i]
            return p.let(name, ca.vertcat(*rows))


def factor_tree(p: Program, robot: Robot, h: SX) -> TreeFactor:
    """The factor of H (from `crba`), eliminating from the tips inward."""
    carriers = _carriers(robot)
    entries = {(k, i): h[k, i] for k in range(robot.nv) for i in [k, *carriers[k]]}
    lower: dict[tuple[int, int], SX] = {}
    inverse: list[SX] = [zeros(1)] * robot.nv
    for limb in reversed(limbs(robot)):
        with p.block("factor", limb=limb.name):
            changed: dict[tuple[int, int], None] = {}
            for joint in (robot.joints[i] for i in reversed(limb.joints)):
                for k in reversed(range(joint.iv, joint.iv + joint.nv)):
                    inverse[k] = p.let("D", 1 / entries[k, k])
                    for i in carriers[k]:
                        ratio = entries[k, i] / entries[k, k]
                        for j in [i, *carriers[i]]:
                            entries[i, j] = entries[i, j] - ratio * entries[k, j]
                            changed[i, j] = None
                        lower[k, i] = p.let("L", ratio)
            for key in changed:
                entries[key] = p.let("H", entries[key])
    return TreeFactor(lower, inverse, carriers)


def _carriers(robot: Robot) -> list[list[int]]:
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
