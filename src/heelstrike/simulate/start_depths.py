"""The depths at which contact points start inside surfaces, by one compiled program for all worlds.

Each world has its own coordinates and surfaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.runtime.cache import cached_kernel
from heelstrike.step.surfaces import surface_tables

if TYPE_CHECKING:
    from heelstrike.ir.program import Program
    from heelstrike.step.plan import StepPlan


def placement_inputs(plan: StepPlan) -> list[str]:
    """Return the inputs that place points and surfaces: q, and parameters of surfaces."""
    known = plan.parameters()
    own = [f"{s.name}.{name}" for s in plan.scene.surfaces for name in s.parameter_names]
    return ["q", *(path for path in own if path in known)]


def start_depths(plan: StepPlan, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the depth of every pair in every world, (worlds, pairs) [m].

    `values` are rows, one per world, or vectors that all worlds share.
    """
    kernel = cached_kernel(("starts", plan.key()), lambda: _program(plan))
    inputs = {name: values[name] for name in placement_inputs(plan)}
    return kernel(1, **inputs, **surface_tables(plan.scene))["depth"]


def _program(plan: StepPlan) -> Program:
    import casadi as ca

    from heelstrike.dynamics.kinematics import kinematics, poses
    from heelstrike.ir.program import Program
    from heelstrike.robot.robot import WORLD
    from heelstrike.scene.deepest import deepest
    from heelstrike.spatial.vector import SX, constant
    from heelstrike.step.detect import placed
    from heelstrike.step.surfaces import with_symbols

    p, robot, known = Program("starts"), plan.robot, plan.parameters()
    q = p.input("q", robot.nq)
    values = {path: p.input(path, np.size(known[path])) for path in placement_inputs(plan)[1:]}
    surfaces = [with_symbols(p, surface, values) for surface in plan.scene.surfaces]
    at = poses(p, robot, kinematics(p, robot, q, SX.zeros(robot.nv)))
    found = []
    for k, pair in enumerate(plan.scene.pairs):
        with p.block("place", member=k):
            bodies = pair.point.body, pair.carrier
            where = (None if body in (None, WORLD) else at[body] for body in bodies)
            point = pair.point
            pose, frame, _, inside = placed(constant(point.position), *where)
            inside, half_axes = p.let("place", inside), None
            if point.half_axes is not None:
                half_axes = p.let("half", frame.unrotate(pose.rotate(constant(point.half_axes))))
        surface = surfaces[pair.surface].search(p, inside)
        with p.block("depth", member=k):
            shape = point.radius, half_axes, point.extent
            found.append(p.let("depth", deepest(surface, inside, *shape, pair.part)[0]))
    with p.block("depths"):
        p.output("depth", ca.vertcat(*found))
    return p
