"""How deep every world's points start inside the surfaces: by one compiled program for all worlds,
with each world's own coordinates and surfaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.runtime.cache import cached_kernel
from heelstrike.scene.surfaces import HeightField
from heelstrike.step.ground import heights_name

if TYPE_CHECKING:
    from heelstrike.ir.program import Program
    from heelstrike.step.plan import StepPlan


def placed_by(plan: StepPlan) -> list[str]:
    """What decides where points and surfaces are: q, and parameters of surfaces."""
    known = plan.parameters()
    own = [f"{s.name}.{name}" for s in plan.scene.surfaces for name in s.parameter_names]
    return ["q", *(path for path in own if path in known)]


def depths(plan: StepPlan, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Of every pair in every world, (worlds, pairs) [m]; `values` are rows, or the same for all."""
    tables = {heights_name(s): s.table for s in plan.scene.surfaces if isinstance(s, HeightField)}
    kernel = cached_kernel(("starts", plan.key()), lambda: _program(plan))
    wanted = {name: values[name] for name in placed_by(plan)}
    return kernel(1, **wanted, **tables)["depth"]


def _program(plan: StepPlan) -> Program:
    import casadi as ca

    from heelstrike.dynamics.kinematics import kinematics, poses
    from heelstrike.ir.program import Program
    from heelstrike.spatial.vector import SX
    from heelstrike.step.detect import seat
    from heelstrike.step.ground import traced

    p, robot, known = Program("starts"), plan.robot, plan.parameters()
    q = p.input("q", robot.nq)
    values = {path: p.input(path, np.size(known[path])) for path in placed_by(plan)[1:]}
    surfaces = [traced(p, surface, values) for surface in plan.scene.surfaces]
    placed = poses(p, robot, kinematics(p, robot, q, SX.zeros(robot.nv)))
    found = []
    for k, pair in enumerate(plan.scene.pairs):
        with p.block("depth", member=k):
            inside = seat(pair, placed)[-1]
            depth, _ = surfaces[pair.surface].depth_and_axes(inside, pair.point.radius, pair.part)
            found.append(p.let("depth", depth))
    with p.block("depths"):
        p.output("depth", ca.vertcat(*found))
    return p
