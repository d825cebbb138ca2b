"""Box 2 of [Sugihara2006], Fig. 4: which bodies may touch.

Bodies that are apart skip all work on their contacts. A guard (ir/guard.py) around it asks

    gap of a sphere about the body's points < MARGIN      for a surface that they may touch
    or a coupled impulse of the last step pushed one of them

for every body, and for every two bodies that may touch one another. Apart, a pair has no force, no
memory and no impulse, as it would have if its law were evaluated (`SurfaceLaw.acts_apart`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import casadi as ca
import numpy as np

from heelstrike.ir.guard import OpenGuard, guarded
from heelstrike.robot.robot import WORLD, Point
from heelstrike.scene.scene import Pair
from heelstrike.spatial.vector import SX, constant
from heelstrike.step.detect import placed
from heelstrike.step.evaluation import Group
from heelstrike.step.plan import StepPlan
from heelstrike.step.state import StepState
from heelstrike.step.surfaces import IMPULSE_MEMORY

MARGIN = 1e-3
"""Gap above which rounding cannot make a point touch [m]."""
FEW_GROUPS = 4
"""Groups of bodies, at most, that are never skipped: feet alone are mostly on the ground, where
guards cost a few per cent of a step."""


@contextmanager
def near(state: StepState, bodies: Group, pairs: Sequence[int]) -> Iterator[OpenGuard | None]:
    """Guard work on the pairs of some bodies, if it may be skipped."""
    if not may_skip(state.plan, pairs):
        yield None
        return
    p, limb = state.program, state.inputs.limb_of[bodies[0]]
    with p.block("near", limb=limb, member=pairs[0]):
        need = p.let("near", _need(state, pairs))
    with guarded(p, "contacts", need) as guard:
        yield guard


def may_skip(plan: StepPlan, numbers: Sequence[int]) -> bool:
    """Return whether pairs can do without their laws where they are apart."""
    scene = plan.scene
    if len(scene.groups) <= FEW_GROUPS:
        return False
    pairs = [scene.pairs[k] for k in numbers]
    laws = [scene.laws[pair.law] for pair in pairs]
    place = SX.sym("place", 3)
    bounded = all(scene.surfaces[k].gap(place) is not None for k in {x.surface for x in pairs})
    literal = any(law.couples for law in laws) and not plan.is_swept
    return bounded and not literal and not any(law.acts_apart or law.timed for law in laws)


def _need(state: StepState, numbers: Sequence[int]) -> SX:
    """Return 1 where pairs of the same bodies may touch."""
    meetings: dict[tuple[int, int], list[Pair]] = {}
    for k in numbers:
        pair = state.scene.pairs[k]
        meetings.setdefault((pair.point.body, pair.surface), []).append(pair)
    gaps = [_gap(state, own) - _step(state, own) for own in meetings.values()]
    need = ca.mmin(ca.vertcat(*gaps)) < MARGIN
    coupled = [n for n, k in enumerate(state.plan.coupled_pairs) if k in numbers]
    if coupled:
        memory = state.inputs.impulses
        assert memory is not None
        pushes = ca.mmax(ca.vertcat(*(memory[IMPULSE_MEMORY * n + 2] for n in coupled)))
        need = ca.logic_or(need, pushes > 0)
    return need


def _gap(state: StepState, pairs: Sequence[Pair]) -> SX:
    """Return a lower bound of the distance of points of one body from one surface [m]."""
    first, points = pairs[0], list({id(pair.point): pair.point for pair in pairs}.values())
    centre, radius = bounding_sphere(points)
    surface = state.surfaces[first.surface].surface
    pose = None if first.point.body == WORLD else state.poses[first.point.body]
    frame = None if first.carrier is None else state.poses[first.carrier]
    *_, place = placed(constant(centre), pose, frame)
    gap = surface.gap(place, max(point.extent for point in points))
    assert gap is not None
    return gap - radius


def _step(state: StepState, pairs: Sequence[Pair]) -> SX:
    """Return how far a body's points move in a step, if that may pass a thin surface; else 0 [m].

    Points that may pass through a surface are its contacts before they touch it, or, under elastic
    laws, are counted.
    """
    first, points = pairs[0], [pair.point for pair in pairs]
    surface = state.surfaces[first.surface].surface
    thickness = surface.thickness
    if thickness is None or first.carrier is not None:
        return SX(0)
    motion, flow = state.motions[first.point.body], surface.material_velocity
    reach = max(float(np.linalg.norm(x.position)) + x.extent for x in points)
    speeds = motion.linear, reach * motion.angular, flow
    far = state.dt * sum((ca.sqrt(ca.sumsqr(x)) for x in speeds), SX(0))
    return ca.if_else(far > thickness / 4, far, 0)


def bounding_sphere(points: Sequence[Point]) -> tuple[np.ndarray, float]:
    """Return centre and radius of a sphere about points and their shapes [m]."""
    places, radii = np.array([x.position for x in points]), np.array([x.extent for x in points])
    lower, upper = (places - radii[:, None]).min(axis=0), (places + radii[:, None]).max(axis=0)
    centre = (lower + upper) / 2
    return centre, float((np.linalg.norm(places - centre, axis=1) + radii).max())
