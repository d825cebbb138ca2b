"""The program of the depths at which contact points of a pose are inside surfaces."""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.dynamics.kinematics import kinematics, poses
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD
from heelstrike.scene.deepest import APART, deepest, search
from heelstrike.spatial.vector import SX, constant
from heelstrike.step.detect import placed
from heelstrike.step.hull_table import HullTable, Sides
from heelstrike.step.hulls import sides
from heelstrike.step.plan import StepPlan
from heelstrike.step.ridges import between
from heelstrike.step.surfaces import with_symbols


def placement_inputs(plan: StepPlan) -> list[str]:
    """Return the inputs that place points and surfaces: q, and parameters of surfaces."""
    known = plan.parameters()
    own = [f"{s.name}.{name}" for s in plan.scene.surfaces for name in s.parameter_names]
    return ["q", *(path for path in own if path in known)]


def depth_program(plan: StepPlan) -> Program:
    """Return the program whose output "depth" is that of every pair [m]."""
    p, robot, known = Program("starts"), plan.robot, plan.parameters()
    q = p.input("q", robot.nq)
    values = {path: p.input(path, np.size(known[path])) for path in placement_inputs(plan)[1:]}
    surfaces = [with_symbols(p, surface, values) for surface in plan.scene.surfaces]
    at = poses(p, robot, kinematics(p, robot, q, SX.zeros(robot.nv)))
    hulls = HullTable(p, plan.scene)
    corners: dict[tuple[int, int, int], Sides] = {}
    found = []
    for k, pair in enumerate(plan.scene.pairs):
        bodies = pair.point.body, pair.carrier
        where = [None if body in (None, WORLD) else at[body] for body in bodies]
        point, position, present = pair.point, constant(pair.point.position), None
        if point.hull is not None:
            key = id(point.hull), pair.surface, pair.part
            if key not in corners:
                ground = surfaces[pair.surface], pair.part
                corners[key] = sides(p, hulls, point.hull, ground, where, None, k)
            position, present = corners[key][point.side]
        if point.half is not None:
            ground = surfaces[pair.surface], pair.part
            position, present = between(p, point, ground, where, None, k)
        with p.block("place", member=k):
            pose, frame, _, inside = placed(position, *where)
            inside, half_axes = p.let("place", inside), None
            if point.half_axes is not None:
                half_axes = p.let("half", frame.unrotate(pose.rotate(constant(point.half_axes))))
        surface = search(p, surfaces[pair.surface], inside, half_axes)
        with p.block("depth", member=k):
            shape = point.radius, half_axes, point.roundness
            depth = deepest(surface, inside, *shape, pair.part)[0]
            if present is not None:
                depth = ca.if_else(present, depth, -APART)
            found.append(p.let("depth", depth))
    with p.block("depths"):
        p.output("depth", ca.vertcat(*found))
    return p
