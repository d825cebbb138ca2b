"""Programs of a robot's kinematic and dynamic quantities, which are chosen by name.

program = quantities(robot, ["mass_matrix", "com", "jacobian:left_foot"])
kernel = hs.compile_program(program)
kernel(q=q, v=v, a=a, tau=tau, gravity=[9.81])["com"]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from heelstrike.dynamics.aba import aba
from heelstrike.dynamics.centroidal import (
    Centroidal,
    centroidal,
    contact_wrench,
    kinetic_energy,
    potential_energy,
    zmp,
)
from heelstrike.dynamics.crba import crba
from heelstrike.dynamics.delassus import inverse_inertia
from heelstrike.dynamics.factor import TreeFactor, factor_tree
from heelstrike.dynamics.jacobian import bias_accelerations, body_jacobian
from heelstrike.dynamics.kinematics import Kinematics, accelerations, kinematics, poses
from heelstrike.dynamics.rnea import gravity_torque, rnea
from heelstrike.errors import UnknownNameError
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.rotation import constant_rotation
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, constant


class Workspace:
    """Intermediate results that the quantities share, traced when first needed."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.program = Program("quantities")
        self.q = self.program.input("q", robot.nq)
        self.v = self.program.input("v", robot.nv)
        self.a = self.program.input("a", robot.nv)
        self.tau = self.program.input("tau", robot.nv)
        self.gravity = ca.vertcat(0, 0, -self.program.input("gravity", 1))

    @cached_property
    def kin(self) -> Kinematics:
        """Kinematics at q and v."""
        return kinematics(self.program, self.robot, self.q, self.v)

    @cached_property
    def poses(self) -> list[Transform]:
        """Placements of the bodies in the world."""
        return poses(self.program, self.robot, self.kin)

    @cached_property
    def mass_matrix(self) -> SX:
        """H with the armature, (nv, nv)."""
        return crba(self.program, self.robot, self.kin, SX(self.robot.armature))

    @cached_property
    def factor(self) -> TreeFactor:
        """Factor of the mass matrix."""
        return factor_tree(self.program, self.robot, self.mass_matrix)

    @cached_property
    def centroidal(self) -> Centroidal:
        """Centre of mass and momentum."""
        return centroidal(self.program, self.robot, self.kin)

    @cached_property
    def bias(self) -> list[MotionVector]:
        """J_dot v of the bodies."""
        return bias_accelerations(self.program, self.robot, self.kin, self.v)

    @cached_property
    def wrench(self) -> ForceVector:
        """Wrench that the motion q, v, a needs from contacts."""
        base = -self.gravity
        moved = accelerations(self.program, self.robot, self.kin, self.v, self.a, base)
        return contact_wrench(self.program, self.robot, self.kin, self.poses, moved)

    def forward_dynamics(self) -> SX:
        """Return joint accelerations under tau and gravity, (nv,)."""
        armature = SX(self.robot.armature)
        args = (self.kin, self.v, self.tau, self.gravity, armature)
        return aba(self.program, self.robot, *args)

    def inverse_dynamics(self) -> SX:
        """Return the joint forces of the accelerations a, (nv,), armature included."""
        tau = rnea(self.program, self.robot, self.kin, self.v, self.a, self.gravity)
        return tau + SX(self.robot.armature) * self.a

    def jacobian(self, link: str) -> SX:
        """Return a link's Jacobian, (6, nv), in its own frame."""
        body, placement = self.link(link)
        columns = body_jacobian(self.program, self.robot, self.kin, body)
        moved = placement.motion_columns_in(MotionVector(columns[:3, :], columns[3:, :]))
        with self.program.block("jacobian", limb=link):
            return self.program.let("J", moved.column)

    def inverse_inertia(self, links: str) -> SX:
        """Return J H^-1 J^T of links whose names are separated by commas, (6 n, 6 n)."""
        jacobians = [self.jacobian(link) for link in map(str.strip, links.split(","))]
        return inverse_inertia(self.program, self.factor, jacobians)

    def pose(self, link: str) -> SX:
        """Return a link's position [m], then its rotation matrix row by row, (12,)."""
        body, placement = self.link(link)
        pose = self.poses[body].then(placement)
        return ca.vertcat(pose.origin, ca.vec(pose.matrix.T))

    def velocity(self, link: str) -> SX:
        """Return a link's twist in its own frame, (6,)."""
        body, placement = self.link(link)
        return placement.motion_in(self.kin.velocities[body]).column

    def jacobian_bias(self, link: str) -> SX:
        """Return J_dot v of a link, a spatial acceleration in its own frame, (6,)."""
        body, placement = self.link(link)
        return placement.motion_in(self.bias[body]).column

    def link(self, name: str) -> tuple[int, Transform]:
        """Return the body that a link or joint belongs to, and the link's placement on it."""
        if name in self.robot.frames and self.robot.frames[name].body != WORLD:
            frame = self.robot.frames[name]
            turns = constant_rotation(frame.rotation)
            return frame.body, Transform(turns, constant(frame.translation))
        return self.robot.body(name), Transform((), constant(np.zeros(3)))


ROBOT_QUANTITIES: dict[str, Callable[[Workspace], SX]] = {
    "mass_matrix": lambda w: w.mass_matrix,
    "mass_solve": lambda w: w.factor.solve(w.program, w.tau),
    "bias": lambda w: rnea(w.program, w.robot, w.kin, w.v, None, w.gravity),
    "gravity_torque": lambda w: gravity_torque(w.program, w.robot, w.kin, w.gravity),
    "forward_dynamics": Workspace.forward_dynamics,
    "inverse_dynamics": Workspace.inverse_dynamics,
    "com": lambda w: w.centroidal.com,
    "com_velocity": lambda w: w.centroidal.velocity,
    "momentum": lambda w: w.centroidal.momentum.column,
    "kinetic_energy": lambda w: kinetic_energy(
        w.program, w.robot, w.kin, w.v, SX(w.robot.armature)
    ),
    "potential_energy": lambda w: potential_energy(w.program, w.kin, w.centroidal.com, w.gravity),
    "contact_wrench": lambda w: w.wrench.column,
    "zmp": lambda w: zmp(w.wrench),
}
"""Quantities of the whole robot, by name; docs/programs.md has their units and frames."""

LINK_QUANTITIES: dict[str, Callable[[Workspace, str], SX]] = {
    "pose": Workspace.pose,
    "velocity": Workspace.velocity,
    "jacobian": Workspace.jacobian,
    "jacobian_bias": Workspace.jacobian_bias,
    "inverse_inertia": Workspace.inverse_inertia,
}
"""Quantities of a link, requested as "name:link"; inverse_inertia takes "link,link,..."."""


def quantities(robot: Robot, names: Sequence[str]) -> Program:
    """Return a program with one output per name, (docs/programs.md).

    Its inputs are q, (nq,), v, a and tau, (nv,), and gravity, (1,) [m/s^2], positive down.
    """
    work = Workspace(robot)
    values = {}
    for name in [names] if isinstance(names, str) else names:
        kind, _, link = name.partition(":")
        if kind in ROBOT_QUANTITIES and not link:
            values[name] = ROBOT_QUANTITIES[kind](work)
        elif kind in LINK_QUANTITIES and link:
            values[name] = LINK_QUANTITIES[kind](work, link)
        else:
            of_links = [f"{kind}:LINK" for kind in LINK_QUANTITIES]
            raise UnknownNameError(
                "quantity", name, [*ROBOT_QUANTITIES, *of_links], plural="quantities"
            )
    with work.program.block("outputs"):
        for name, value in values.items():
            work.program.output(name, value)
    return work.program
