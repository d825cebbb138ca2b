"""Box 2 of [Sugihara2006], Fig. 4: which corners of a hull touch flat ground.

robot/hull.py has the rule. A pair of a hull's side and a surface goes on as that of a mere point,
the corner. A side whose corner is that of another side does not touch.
"""

from __future__ import annotations

from dataclasses import replace

from heelstrike.step.detect import placed
from heelstrike.step.hull_table import Sides
from heelstrike.step.state import PairInputs, StepState


def on_corner(
    state: StepState, k: int, pair: PairInputs, known: dict[tuple[int, int], Sides]
) -> PairInputs:
    """Return pair k as one of the corner that touches; others as they are; outside blocks.

    `known` holds the corners that were found for other sides.
    """
    own = state.scene.pairs[k]
    if own.point.hull is None:
        return pair
    p, key = state.program, (id(own.point.hull), own.surface)
    if key not in known:
        assert pair.surface is not None
        poses = (None if x is None else x.pose for x in (pair.body, pair.carrier))
        with p.block("hull", limb=state.inputs.limb_of[own.point.body], member=k):
            pose, frame, _, centre = placed(pair.position, *poses)
            axes = pair.surface.surface.depth_and_axes(centre, 0.0, pair.part)[1]
            normal = p.let("normal", frame.rotate(axes[2, :].T))
            known[key] = state.inputs.hulls.sides(p, own.point.hull, pose, normal)
    position, present = known[key][own.point.side]
    return replace(pair, position=position, present=present)
