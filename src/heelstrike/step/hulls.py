"""Box 2 of [Sugihara2006], Fig. 4: which corners of a hull touch the ground.

robot/hull.py has the rule. A pair of a hull's side and a surface goes on as that of a mere point,
the corner. A side whose corner is that of another side does not touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heelstrike.ir.program import Program
from heelstrike.robot.hull import Hull
from heelstrike.scene.deepest import normals_of
from heelstrike.scene.surfaces import Surface
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import constant
from heelstrike.step.detect import placed
from heelstrike.step.hull_table import HullTable, Sides
from heelstrike.step.pair import PairInputs
from heelstrike.step.state import StepState


def on_corner(
    state: StepState, k: int, pair: PairInputs, known: dict[tuple[int, int, int], Sides]
) -> PairInputs:
    """Return pair k as one of the corner that touches; others as they are; outside blocks.

    `known` holds the corners that were found for other sides.
    """
    own = state.scene.pairs[k]
    if own.point.hull is None:
        return pair
    key = id(own.point.hull), own.surface, own.part
    if key not in known:
        assert pair.surface is not None
        poses = tuple(None if x is None else x.pose for x in (pair.body, pair.carrier))
        limb = state.inputs.limb_of[own.point.body]
        ground = pair.surface.surface, own.part
        hulls = state.inputs.hulls
        known[key] = sides(state.program, hulls, own.point.hull, ground, poses, limb, k)
    position, present = known[key][own.point.side]
    return replace(pair, position=position, present=present)


def sides(
    p: Program,
    hulls: HullTable,
    hull: Hull,
    ground: tuple[Surface, int],
    poses: Sequence[Transform | None],
    limb: str | None,
    member: int,
) -> Sides:
    """Return the corners of a hull that touch a part of a surface; outside blocks.

    `poses` are those of the hull's body and of the surface; None: the world's.
    """
    surface, part = ground
    position, normal = constant(hull.centre), None
    for _ in range(normals_of(surface)):
        with p.block("hull", limb=limb, member=member):
            body, other, _, place = placed(position, *poses)
            if normal is not None:
                *_, place = placed(hulls.lowest(hull, body, normal), *poses)
            place = p.let("place", place)
        found = surface.search(p, place)
        with p.block("hull", limb=limb, member=member):
            axes = found.depth_and_axes(place, 0.0, part)[1]
            normal = p.let("normal", other.rotate(axes[2, :].T))
    assert normal is not None
    with p.block("hull", limb=limb, member=member):
        return hulls.sides(p, hull, body, normal)
