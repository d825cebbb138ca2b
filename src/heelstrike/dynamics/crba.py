"""Composite-rigid-body algorithm: the joint-space inertia H [Featherstone2008], table 6.2.

I^c_i = I_i + sum of I^c of the children,   F = I^c_i S_i
H_ij = F^T S_j   for every ancestor j of i
"""

from __future__ import annotations

from typing import cast

import casadi as ca

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.dynamics.tree import limbs
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.spatial.inertia import Inertia, spatial_inertia
from heelstrike.spatial.motion import ForceVector
from heelstrike.spatial.vector import SX


def crba(p: Program, robot: Robot, kin: Kinematics, diagonal: SX) -> SX:
    """Return H + diag(diagonal), symmetric, (nv, nv).

    Entries of joints on different branches are structural zeros.
    """
    bodies = [spatial_inertia(body) for body in kin.bodies]
    from_children: dict[int, list[Inertia]] = {i: [] for i in range(len(bodies))}
    h = SX(robot.nv, robot.nv)
    for limb in reversed(limbs(robot)):
        with p.block("inertia", limb=limb.name):
            for i in reversed(limb.joints):
                composite = bodies[i]
                for more in from_children.pop(i):
                    composite = composite + more
                _fill_rows(p, robot, kin, i, composite, h)
                parent = robot.joints[i].parent
                if parent != WORLD:
                    outer = kin.placements[i].inertia_out(composite)
                    if i == limb.joints[0]:
                        outer = outer.renamed(
                            lambda x: p.let("inertia", x), lambda x: p.let_symmetric("inertia", x)
                        )
                    from_children[parent].append(outer)
    return cast(SX, ca.triu2symm(ca.triu(h)) + ca.diag(diagonal))


def _fill_rows(
    p: Program, robot: Robot, kin: Kinematics, i: int, composite: Inertia, h: SX
) -> None:
    """Write the entries of H between joint i and its ancestors into the upper triangle."""
    joint = robot.joints[i]
    rows = slice(joint.iv, joint.iv + joint.nv)
    s_linear, s_angular = joints.subspace(joint)
    force = ForceVector(*composite.times(s_linear, s_angular))  # nv columns
    h[rows, rows] = p.let("H", ca.triu(s_linear.T @ force.linear + s_angular.T @ force.angular))
    j = i
    while robot.joints[j].parent != WORLD:
        force = kin.placements[j].force_columns_out(force)
        j = robot.joints[j].parent
        ancestor = robot.joints[j]
        s_linear, s_angular = joints.subspace(ancestor)
        h[ancestor.iv : ancestor.iv + ancestor.nv, rows] = p.let(
            "H", s_linear.T @ force.linear + s_angular.T @ force.angular
        )
