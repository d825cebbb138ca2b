"""Box 10, added to those of [Sugihara2006], Fig. 4: contact forces summed by body, CoP and ZMP.

    CoP of a body  = sum f_n p / sum f_n            over its points, f_n >= 0
    ZMP            = (-M_y / F_z, M_x / F_z, 0)     of all forces about the world's origin

Both are NaN without a normal force. A body that carries a surface receives the opposite forces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD
from heelstrike.scene.scene import Pair, Scene
from heelstrike.spatial.motion import ForceVector
from heelstrike.spatial.vector import SX, cross, zeros
from heelstrike.step.pair import PairState


@dataclass(frozen=True)
class PointObservation:
    """A pair in world axes."""

    slip: SX
    """Tangential velocity [m/s]."""
    force: SX
    """Force on the point [N]."""
    moment: SX
    """Moment about the world's origin: of the force, and against rolling and spinning [N m]."""
    load: SX
    """Normal force, never negative [N]."""
    weighted: SX
    """Position times the load [N m]."""


def observe(p: Program, pairs: Sequence[PairState]) -> list[PointObservation]:
    """Return all pairs in world axes, each traced in a block of its own."""
    found = []
    for k, pair in enumerate(pairs):
        with p.block("point", member=k):
            force = pair.axes.T @ ca.vertcat(pair.tangent, pair.normal)
            moment = cross(pair.position, force)
            if pair.moment is not None:
                moment = moment + pair.axes.T @ pair.moment
            load = ca.fmax(pair.normal, 0)
            found.append(
                PointObservation(
                    slip=p.let("slip", pair.axes[:2, :].T @ pair.slip),
                    force=p.let("force", force),
                    moment=p.let("moment", moment),
                    load=p.let("load", load),
                    weighted=p.let("weighted", load * pair.position),
                )
            )
    return found


def contact_sums(
    scene: Scene, observed: Sequence[PointObservation], others: Mapping[int, ForceVector]
) -> dict[str, SX]:
    """Return force, moment and CoP of each body, (bodies, 3), and the ZMP.

    `others` are forces and moments about the world's origin between shapes of bodies, by body.
    """
    pairs, none = scene.pairs, ForceVector(zeros(), zeros())
    rows: dict[str, list[SX]] = {"body_force": [], "body_moment": [], "cop": []}
    for body in scene.bodies:
        signs = [float(x.point.body == body) - float(x.carrier == body) for x in pairs]
        more, signed = others.get(body, none), list(zip(signs, observed, strict=True))
        rows["body_force"].append(_sum([s * x.force for s, x in signed]) + more.linear)
        rows["body_moment"].append(_sum([s * x.moment for s, x in signed]) + more.angular)
        own = [x for x, pair in zip(observed, pairs, strict=True) if body in _bodies(pair)]
        load = sum((x.load for x in own), SX(0))
        rows["cop"].append(_where_loaded(_sum([x.weighted for x in own]), load))
    signs = [_sign_of_ground(pair) for pair in pairs]
    force = _sum([s * x.force for s, x in zip(signs, observed, strict=True)])
    moment = _sum([s * x.moment for s, x in zip(signs, observed, strict=True)])
    place = ca.vertcat(-moment[1], moment[0], 0)
    values = {name: ca.horzcat(*columns).T for name, columns in rows.items()}
    return values | {"zmp": _where_loaded(place, force[2])}


def _sign_of_ground(pair: Pair) -> float:
    """Return 1 for a force of the ground on the robot, -1 for one of the robot on a fixed point.

    Forces between bodies cancel: 0.
    """
    if pair.carrier is None:
        return 1.0
    return -1.0 if pair.point.body == WORLD else 0.0


def _bodies(pair: Pair) -> tuple[int | None, ...]:
    return (pair.point.body, pair.carrier)


def _sum(columns: Sequence[SX]) -> SX:
    return sum(columns, zeros())


def _where_loaded(weighted: SX, load: SX) -> SX:
    """Return weighted / load, NaN where the load is not above 0."""
    loaded = load > 0
    safe = ca.if_else(loaded, load, 1)
    return ca.vertcat(*(ca.if_else(loaded, x / safe, np.nan) for x in ca.vertsplit(weighted)))
