"""The course of a planned hit, and what must hold on it: torque limits, joint ranges, a robot that
stands.

The faster form (smooth.py) with posture and inertia kept gives forces, torques and the joints'
motion over 0.1 s, as long as `estimate` and `simulate_full` look. At some of its times are asked

    torques      within their limits, the weight's share included
    joints       q + t v + what the hit turns them by, inside their ranges
    ZMP          inside the support polygon by a margin
    soles        each pressed on its own polygon (soles.py)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from heelstrike.contact.law import NormalLaw
from heelstrike.impact.given import servo_of
from heelstrike.impact.hit import Hit
from heelstrike.impact.motion import motion_program
from heelstrike.impact.smooth import smooth_hit
from heelstrike.impact.soles import soles_program
from heelstrike.impact.support import edges, support
from heelstrike.impact.target import Target
from heelstrike.runtime.export_casadi import export_casadi

MODES = 10
"""Vectors of the faster form: with six the force is as good, but the ZMP 16 mm off; with ten 4 mm
after the first touch, 13 mm at it.
"""
DT, STEPS = 5e-4, 200
"""Of the hit that is planned with [s]."""
LOOKED = (0, 3, 6, 12, 24, 40, 70, 100, 140, 199)
"""Steps at which it is looked: the force is largest at first."""
SOLE = 1 / 3
"""Margin of a sole's own centre of pressure, as a share of the ZMP's."""
LOAD = 0.95
"""Share of a torque's limit that is used: steps of DT see it 3 % too small."""
PUSH = 0.4
"""Share of the weight that the floor carries at least."""
STOP = 0.01
"""Room of a joint to its stops [rad]: they push as hard as a hit, and no estimate knows them."""

Held: TypeAlias = tuple[Any, float, float]
"""An expression, its least and its most."""


@dataclass(frozen=True)
class Wish:
    """What is asked for."""

    goal: str | float
    law: NormalLaw
    target: Target
    margin: float
    joint_speed: float


@dataclass(frozen=True)
class Course:
    """CasADi's expressions of q, v; columns are the times that are looked at."""

    impulse: Any
    forces: Any
    """At every step [N]."""
    force: Any
    torque: Any
    """Of the servo, (n, times) [N m]."""
    loads: Any
    """Shares of the limits, (n, times)."""
    turned: Any
    """Angles by which the hit turns the joints, their velocities and accelerations, (n, times)."""
    turning: Any
    rate: Any


def course(made: Hit, wish: Wish, q: Any, speed: Any) -> Course:
    """Of a hit from posture q at the hand's speed."""
    servo, n, times = servo_of(made, None, None, None), made.n, len(LOOKED)
    names = ("size", "shapes", "damping", "stiffness", "damping_loads", "stiffness_loads")
    own = export_casadi(made.program(MODES, stiff=True), names)
    gains = {name: servo[name] for name in ("kd", "kp", "limit")}
    found = own(q=q, point=made.point, direction=made.direction, **gains)
    gained = [_square(found[k], MODES) for k in ("damping", "stiffness")]
    hit = smooth_hit(MODES, wish.law, wish.target, DT, STEPS)
    smooth = hit(T=gained[0], K=gained[1], j=found["size"], v=speed)
    z, s, rates = (smooth[k][:, list(LOOKED)] for k in ("z", "s", "rates"))
    tall = [ca.reshape(found[k], n, MODES) for k in ("damping_loads", "stiffness_loads")]
    shapes = ca.reshape(found["shapes"], n, MODES)
    none = ca.DM.zeros(n)
    weight = export_casadi(motion_program(made), ["weight"])(
        q=q, turning=none, rate=none, force=0, point=made.point, direction=made.direction,
        gravity=made.robot.gravity,
    )["weight"]  # fmt: skip
    limit = ca.repmat(ca.DM(servo["limit"]), 1, times)
    torque = limit * (tall[0] @ z + tall[1] @ s) + ca.repmat(weight, 1, times)
    forces = smooth["forces"]
    return Course(smooth["impulse"], forces, forces[:, list(LOOKED)], torque, torque / limit,
                  -shapes @ s, -shapes @ z, -shapes @ rates)  # fmt: skip


def held(made: Hit, wish: Wish, q0: np.ndarray, q: Any, v: Any, hit: Course) -> dict[str, Held]:
    """What must hold on the course, by kind; the feet stand as in q0."""
    groups: dict[str, Held] = {
        "torque limits": (ca.vec(hit.loads), -LOAD, LOAD),
        "joint ranges": (_room(made, q, v, hit), 0.0, 1e3),
    }
    return groups | _standing(made, wish.margin, q0, q, v, hit)


def _room(made: Hit, q: Any, v: Any, hit: Course) -> Any:
    """Of every joint to both ends of its range, less STOP [rad]."""
    low, high = made.robot.lower[7:], made.robot.upper[7:]
    ends = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
    stop = np.minimum(STOP, (high - low)[ends] / 4)
    rooms = []
    for k, step in enumerate(LOOKED):
        angle = (q[7:] + DT * step * v[6:] + hit.turned[:, k])[list(ends)]
        rooms += [angle - ca.DM(low[ends] + stop), ca.DM(high[ends] - stop) - angle]
    return ca.vertcat(*rooms)


def _standing(
    made: Hit, margin: float, q0: np.ndarray, q: Any, v: Any, hit: Course
) -> dict[str, Held]:
    """The ZMP of the whole inside the support polygon by the margin; the floor's push over the
    weight, for a robot that takes off has no ZMP; and each sole pressed on its own polygon.
    """
    servo = servo_of(made, None, None, None)
    motion = export_casadi(motion_program(made), ["wrench"])
    soles = export_casadi(soles_program(made), ["soles"]) if len(made.held) > 1 else None
    weight = made.robot.mass * made.robot.gravity
    whole, pushes, each = [], [], []
    for k, step in enumerate(LOOKED):
        now = {
            "q": q, "turning": v[6:] + hit.turning[:, k], "rate": hit.rate[:, k],
            "force": hit.force[k], "point": made.point, "direction": made.direction,
            "gravity": made.robot.gravity,
        }  # fmt: skip
        wrench = motion(**now)["wrench"]
        pushes.append(wrench[2] / weight)
        whole.append(_inside(wrench, support(made, q0), margin) / weight)
        if soles is not None:
            columns = soles(
                torque=hit.torque[:, k], kp=servo["kp"], kd=servo["kd"], time=DT * step, **now
            )["soles"]
            for body, own in zip(made.held, ca.horzsplit(columns), strict=True):
                each.append(_inside(own, support(made, q0, [body]), SOLE * margin) / weight)
    groups: dict[str, Held] = {"the ZMP": (ca.vertcat(*whole), 0.0, 1e3)}
    if each:
        groups["soles that stay flat"] = (ca.vertcat(*each), 0.0, 1e3)
    return groups | {"the floor's push": (ca.vertcat(*pushes), PUSH, 1e3)}


def _inside(wrench: Any, polygon: tuple[np.ndarray, float], margin: float) -> Any:
    """Moment by which the centre of pressure is inside each edge of the polygon, less that of the
    margin [N m].
    """
    corners, height = polygon
    inward, offset = edges(corners)
    place = ca.vertcat(height * wrench[0] - wrench[4], height * wrench[1] + wrench[3])
    return ca.DM(inward) @ place - ca.DM(offset + margin) * wrench[2]


def _square(packed: Any, n: int) -> Any:
    """The symmetric matrix of a packed upper triangle, as expressions."""
    at = [[min(i, j) + max(i, j) * (max(i, j) + 1) // 2 for j in range(n)] for i in range(n)]
    return ca.vertcat(*(packed[row].T for row in at))
