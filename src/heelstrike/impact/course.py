"""The course of a planned hit, and the constraints on it: torque limits, joint ranges, balance.

The Krylov form (differentiable.py) with posture and inertia kept gives forces, torques and the
joints' motion over 0.1 s, the time span of `estimate` and `simulate_full`. At some of its times
are required

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
from heelstrike.impact.differentiable import smooth_hit
from heelstrike.impact.hit import Hit
from heelstrike.impact.motion import motion_program
from heelstrike.impact.options import servo_of
from heelstrike.impact.soles import soles_program
from heelstrike.impact.support import edges, support
from heelstrike.impact.target import Target
from heelstrike.runtime.export_casadi import export_casadi

MODES = 10
"""Vectors of the Krylov form: with six the force is as good, but the ZMP 16 mm off; with ten 4 mm
after the first touch, 13 mm at it.
"""
DT, STEPS = 5e-4, 200
"""Step [s] and number of steps of the planned hit."""
LOOKED = (0, 3, 6, 12, 24, 40, 70, 100, 140, 199)
"""Steps at which constraints are checked; the force is largest at first."""
SOLE = 1 / 3
"""Margin of a sole's own centre of pressure, as a share of the ZMP's."""
LOAD = 0.95
"""Share of a torque limit that is used: with steps of DT torques come out 3 % too small."""
PUSH = 0.4
"""Smallest share of the weight that the floor carries."""
STOP = 0.01
"""Distance of a joint to its stops [rad]: they push as hard as a hit, and no estimate has them."""

Held: TypeAlias = tuple[Any, float, float]
"""An expression with its lower and upper bound."""


@dataclass(frozen=True)
class PlanGoal:
    """Goal and margins of a plan."""

    goal: str | float
    law: NormalLaw
    target: Target
    margin: float
    joint_speed: float


@dataclass(frozen=True)
class Course:
    """The course as CasADi expressions of q, v; columns are the times that are checked."""

    impulse: Any
    forces: Any
    """Force at every step [N]."""
    force: Any
    torque: Any
    """Torques of the servo, (n, times) [N m]."""
    loads: Any
    """Torques as shares of their limits, (n, times)."""
    turned: Any
    """Angles by which the hit turns the joints, their velocities and accelerations, (n, times)."""
    turning: Any
    rate: Any


def course(made: Hit, goal: PlanGoal, q: Any, speed: Any) -> Course:
    """Return the course of a hit from posture q at the hand's speed."""
    servo, n, times = servo_of(made, None, None, None), made.n, len(LOOKED)
    names = ("size", "shapes", "damping", "stiffness", "damping_loads", "stiffness_loads")
    own = export_casadi(made.program(MODES, stiff=True), names)
    gains = {name: servo[name] for name in ("kd", "kp", "limit")}
    found = own(q=q, point=made.point, direction=made.direction, **gains)
    gained = [_square(found[k], MODES) for k in ("damping", "stiffness")]
    hit = smooth_hit(MODES, goal.law, goal.target, DT, STEPS)
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


def held(made: Hit, goal: PlanGoal, q0: np.ndarray, q: Any, v: Any, hit: Course) -> dict[str, Held]:
    """Return the constraints on the course, by kind; the feet stand as in q0."""
    groups: dict[str, Held] = {
        "torque limits": (ca.vec(hit.loads), -LOAD, LOAD),
        "joint ranges": (_joint_distances(made, q, v, hit), 0.0, 1e3),
    }
    return groups | _standing(made, goal.margin, q0, q, v, hit)


def _joint_distances(made: Hit, q: Any, v: Any, hit: Course) -> Any:
    """Return the distance of every joint to both ends of its range, less STOP [rad]."""
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
    """Return the constraints of balance.

    The ZMP is inside the support polygon by the margin; the floor carries a share of the weight,
    as a robot that takes off has no ZMP; and each sole is pressed on its own polygon.
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
    """Return the moment by which the centre of pressure is inside each edge, less the margin's
    [N m].
    """
    corners, height = polygon
    inward, offset = edges(corners)
    place = ca.vertcat(height * wrench[0] - wrench[4], height * wrench[1] + wrench[3])
    return ca.DM(inward) @ place - ca.DM(offset + margin) * wrench[2]


def _square(packed: Any, n: int) -> Any:
    """Return the symmetric matrix of a packed upper triangle, as expressions."""
    at = [[min(i, j) + max(i, j) * (max(i, j) + 1) // 2 for j in range(n)] for i in range(n)]
    return ca.vertcat(*(packed[row].T for row in at))
