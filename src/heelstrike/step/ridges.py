"""Box 2 of [Sugihara2006], Fig. 4: where a capsule touches ground between its ends.

scene/ridge.py has the rule. A pair of a capsule's middle and a surface goes on as that of a sphere
about the place that was found on its axis; where the ground does not bulge it does not touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Point
from heelstrike.scene.ridge import half_of, place_on
from heelstrike.scene.surfaces import Surface
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, constant
from heelstrike.step.detect import placed
from heelstrike.step.pair import PairInputs
from heelstrike.step.state import StepState


def on_ridge(state: StepState, k: int, pair: PairInputs) -> PairInputs:
    """Return pair k as one of the place between two ends; others as they are; outside blocks."""
    own = state.scene.pairs[k]
    if own.point.half is None:
        return pair
    assert pair.surface is not None
    poses = [None if x is None else x.pose for x in (pair.body, pair.carrier)]
    ground = pair.surface.surface, own.part
    limb = state.inputs.limb_of[own.point.body]
    position, present = between(state.program, own.point, ground, poses, limb, k)
    return replace(pair, position=position, present=present)


def between(
    p: Program,
    point: Point,
    ground: tuple[Surface, int],
    poses: Sequence[Transform | None],
    limb: str | None,
    member: int,
) -> tuple[SX, SX]:
    """Return where a capsule touches ground between its ends, in the frame of its body [m], and 1
    where it does; outside blocks.

    `poses` are those of its body and of the surface; None: the world's.
    """
    (surface, part), half = ground, half_of(point)
    first, along = constant(half.start), constant(half.way)
    with p.block("ends", limb=limb, member=member):
        start = p.let("start", placed(first, *poses)[-1])
        way = p.let("way", placed(first + along, *poses)[-1] - start)

    with repeated(p, "ridge", limit=half.rounds) as loop:
        state = loop.carry("state", half.start_of_search())
        with p.block("share", limb=limb, member=member):
            share = p.let("share", half.share(state))
            place = p.let("place", start + share * way)
        found = surface.search(p, place)
        with p.block("ridge", limb=limb, member=member):
            own = place_on(found, part, point.radius, share, place, way)
            new = p.let("state", half.after(state, own))
            loop.next(state, new)
            loop.until(half.is_over(new))
    with p.block("between", limb=limb, member=member):
        position = p.let("position", first + half.share(state) * along)
        return position, p.let("present", half.is_found(state))
