"""Contacts in world axes, and what those of a body come to.

    CoP of a body  = sum f_n p / sum f_n            over its points, f_n >= 0
    ZMP            = (-M_y / F_z, M_x / F_z, 0)     of all forces about the world's origin

Both are NaN where nothing presses. A body that carries a surface feels the opposite forces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD
from heelstrike.scene.scene import Pair, Scene, bodies_in
from heelstrike.spatial.vector import SX, cross, zeros
from heelstrike.step.detect import Touched


@dataclass(frozen=True)
class Seen:
    """A pair in world axes."""

    slip: SX
    force: SX
    moment: SX
    """About the world's origin."""
    load: SX
    """Normal force, never negative."""
    weighted: SX
    """Its position, times the load."""


def points(p: Program, pairs: Sequence[Touched]) -> list[Seen]:
    """Each pair in a block of its own."""
    found = []
    for k, pair in enumerate(pairs):
        with p.block("point", member=k):
            force = pair.axes.T @ ca.vertcat(pair.tangent, pair.normal)
            load = ca.fmax(pair.normal, 0)
            found.append(
                Seen(
                    slip=p.let("slip", pair.axes[:2, :].T @ pair.slip),
                    force=p.let("force", force),
                    moment=p.let("moment", cross(pair.position, force)),
                    load=p.let("load", load),
                    weighted=p.let("weighted", load * pair.position),
                )
            )
    return found


def net(scene: Scene, seen: Sequence[Seen]) -> dict[str, SX]:
    """Force, moment and CoP of each body, (bodies, 3), and the ZMP."""
    pairs = scene.pairs
    rows: dict[str, list[SX]] = {"body_force": [], "body_moment": [], "cop": []}
    for body in bodies_in(pairs):
        signs = [float(x.point.body == body) - float(x.carrier == body) for x in pairs]
        rows["body_force"].append(_sum([s * x.force for s, x in zip(signs, seen, strict=True)]))
        rows["body_moment"].append(_sum([s * x.moment for s, x in zip(signs, seen, strict=True)]))
        own = [x for x, pair in zip(seen, pairs, strict=True) if body in _bodies(pair)]
        load = sum((x.load for x in own), SX(0))
        rows["cop"].append(_where_loaded(_sum([x.weighted for x in own]), load))
    signs = [_from_outside(pair) for pair in pairs]
    force = _sum([s * x.force for s, x in zip(signs, seen, strict=True)])
    moment = _sum([s * x.moment for s, x in zip(signs, seen, strict=True)])
    place = ca.vertcat(-moment[1], moment[0], 0)
    values = {name: ca.horzcat(*columns).T for name, columns in rows.items()}
    return values | {"zmp": _where_loaded(place, force[2])}


def _from_outside(pair: Pair) -> float:
    """1 for a force of the ground, -1 where a point of the world feels the robot's; forces between
    bodies cancel.
    """
    if pair.carrier is None:
        return 1.0
    return -1.0 if pair.point.body == WORLD else 0.0


def _bodies(pair: Pair) -> tuple[int | None, ...]:
    """Those that take part."""
    return (pair.point.body, pair.carrier)


def _sum(columns: Sequence[SX]) -> SX:
    return sum(columns, zeros())


def _where_loaded(weighted: SX, load: SX) -> SX:
    """weighted / load, NaN where the load is not above 0."""
    loaded = load > 0
    safe = ca.if_else(loaded, load, 1)
    return ca.vertcat(*(ca.if_else(loaded, x / safe, np.nan) for x in ca.vertsplit(weighted)))
