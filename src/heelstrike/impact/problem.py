"""The nonlinear programme of a planned hit (planning.py): variables q and v, constraints by kind.

Every expression is CasADi's, exported from the same programs that are compiled elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from heelstrike.compile.export import export_casadi
from heelstrike.contact.contact import NormalLaw
from heelstrike.dynamics.quantities import quantities
from heelstrike.errors import HeelstrikeError
from heelstrike.impact.given import servo_of
from heelstrike.impact.hit import GENERALIZED, OWN, Hit, square
from heelstrike.impact.motion import motion_program
from heelstrike.impact.nlp import ipopt
from heelstrike.impact.smooth import smooth_hit
from heelstrike.impact.soles import soles_program
from heelstrike.impact.support import edges, support
from heelstrike.impact.target import Target

MODES = 10
"""Vectors of the faster form: with six the force is as good, but the ZMP 16 mm off, with ten 3."""
DT, STEPS = 5e-4, 120
"""Of the hit that is planned with [s]."""
LOOKED = (0, 3, 6, 12, 20, 40, 80, 119)
"""Steps at which ZMP, soles and torques are looked at: the force is largest at first."""
SOLE = 1 / 3
"""Margin of a sole's own centre of pressure, as a share of the ZMP's."""
CLOSE = 1e-3
"""A constraint that is missed by more than this is not held [m, rad, or a share]."""
PUSH = 0.4
"""Share of the weight that the floor carries at least."""
MATTERS, NEAR, SLOW = 4.0, 0.3, 0.05
"""Weights of the goal, of a radian away from the start and of a radian a second: the last two make
the optimum one.
"""


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


class Problem:
    """Posture and velocities of a hit as a nonlinear programme."""

    def __init__(self, made: Hit, wish: Wish, q: np.ndarray, place: ArrayLike | None) -> None:
        self.hit, self.wish, self.q0 = made, wish, q
        robot = self.robot = made.robot
        self.names = [robot.bodies[i].name for i in made.held]
        hand = robot.bodies[made.body].name
        asked = [f"{kind}:{name}" for name in [*self.names, hand] for kind in ("pose", "jacobian")]
        self.places = export_casadi(quantities(robot, asked), asked)
        self.at_rest = self.placed(ca.DM(q))
        own = self.point_of(self.at_rest)
        self.place = np.array(own).ravel() if place is None else np.asarray(place, dtype=float)
        if self.place.shape != (3,) or not np.isfinite(self.place).all():
            raise HeelstrikeError(f"a place is three numbers [m], not {place!r}")

    # kinematics

    def placed(self, q: Any) -> list[Any]:
        """Pose and Jacobian of the held links, then of the hand's body."""
        zero = ca.DM.zeros(self.robot.nv)
        return list(self.places(q, zero, zero, zero, 9.81))

    def point_of(self, placed: list[Any]) -> Any:
        """Where the hand is."""
        pose = placed[-2]
        return pose[:3] + ca.reshape(pose[3:], 3, 3).T @ ca.DM(self.hit.point)

    def feet(self, placed: list[Any]) -> Any:
        """How far the held links are from where they stand: metres, then radians."""
        gaps = []
        for k in range(len(self.names)):
            pose, before = placed[2 * k], self.at_rest[2 * k]
            turn = ca.reshape(before[3:], 3, 3) @ ca.reshape(pose[3:], 3, 3).T
            spin = ca.vertcat(turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0],
                              turn[1, 0] - turn[0, 1])  # fmt: skip
            gaps += [pose[:3] - before[:3], spin / 2]
        return ca.vertcat(*gaps)

    def hand_velocity(self, placed: list[Any], v: Any) -> Any:
        """In world axes."""
        pose, jacobian = placed[-2], placed[-1]
        turn = ca.reshape(pose[3:], 3, 3).T
        lever = ca.skew(ca.DM(self.hit.point))
        return turn @ ((jacobian[:3, :] - lever @ jacobian[3:, :]) @ v)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Of q: the joints' ranges; the base is held by the feet."""
        low, high = self.robot.lower.copy(), self.robot.upper.copy()
        low[:7], high[:7] = self.q0[:7] - 0.3, self.q0[:7] + 0.3
        return np.maximum(low, -1e3), np.minimum(high, 1e3)

    def reach(self) -> np.ndarray:
        """The posture nearest to the start with feet and hand where they must be."""
        q = ca.MX.sym("q", self.robot.nq)
        placed = self.placed(q)
        held = ca.vertcat(self.feet(placed), self.point_of(placed) - ca.DM(self.place),
                          ca.dot(q[3:7], q[3:7]) - 1)  # fmt: skip
        problem = {"x": q, "f": ca.sumsqr(q - ca.DM(self.q0)), "g": held}
        low, high = self.bounds()
        found, missed, _ = ipopt(problem, self.q0, low, high, np.zeros(held.numel()),
                                  np.zeros(held.numel()), 100)  # fmt: skip
        if missed.max() > CLOSE:
            raise HeelstrikeError(
                f"the hand cannot reach {np.round(self.place, 3)} from where the feet stand: "
                f"it stays {missed.max():.3g} m or rad away; move the target or the feet"
            )
        return found

    def speed_limits(self) -> np.ndarray:
        """Of the joints [rad/s]."""
        own = self.robot.velocity_limit[6:]
        return np.where(np.isfinite(own), own, self.wish.joint_speed)

    def straight(self, q: np.ndarray) -> np.ndarray:
        """The velocities of least energy that move the hand along the direction, up to a limit."""
        own = self.hit.at(q, OWN + GENERALIZED)
        jacobian, n = own["jacobian"][0][:3], self.hit.n
        moved = square(own["inverse"][0], n) @ jacobian.T
        turning = moved @ np.linalg.solve(jacobian @ moved, self.hit.direction)
        turning = turning / np.max(np.abs(turning) / self.speed_limits())
        return np.concatenate([own["base"][0] @ turning, turning])

    # the problem

    def solve(self, start: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, Any, int]:
        """Posture, velocities, what is missed by kind, iterations: first the goal, then the nearest
        point that holds every constraint.
        """
        nq, nv = self.robot.nq, self.robot.nv
        x = ca.MX.sym("x", nq + nv)
        groups, impact = self.constraints(x[:nq], x[nq:])
        guess = np.r_[start, 0.9 * self.straight(start)]
        aim = self.aim(x, guess, impact)
        near = NEAR * ca.sumsqr(x[7:nq] - ca.DM(start[7:])) + SLOW * ca.sumsqr(x[nq:])
        problem = {"x": x, "f": aim + near, "g": ca.vertcat(*(g for g, _, _ in groups.values()))}
        low, high = self.bounds()
        fast = np.r_[np.full(6, 3.0), self.speed_limits()]
        lows = np.concatenate([np.full(g.numel(), a) for g, a, _ in groups.values()])
        highs = np.concatenate([np.full(g.numel(), b) for g, _, b in groups.values()])
        box = (np.r_[low, -fast], np.r_[high, fast], lows, highs)
        found, _, count = ipopt(problem, guess, *box, most)
        nearest = problem | {"f": 10 * ca.sumsqr(x - ca.DM(found))}
        found, missed, more = ipopt(nearest, found, *box, most // 2, begin=1e-4)
        sizes = np.cumsum([0, *(g.numel() for g, _, _ in groups.values())])
        by_kind = {
            name: float(missed[a:b].max())
            for name, a, b in zip(groups, sizes[:-1], sizes[1:], strict=True)
        }
        return found[:nq], found[nq:], by_kind, count + more

    def aim(self, x: Any, guess: np.ndarray, impact: dict[str, Any]) -> Any:
        """What is made small: the goal in terms of what the start gives, so that NEAR and SLOW
        mean the same for every robot.
        """
        goal, impulse = self.wish.goal, impact["impulse"]
        if isinstance(goal, int | float):
            return MATTERS * 25 * (impulse / goal - 1) ** 2
        wanted = impulse if goal == "impulse" else ca.mmax(impact["forces"])
        begun = float(ca.Function("begun", [x], [wanted])(guess))
        return -MATTERS * wanted / begun

    def constraints(self, q: Any, v: Any) -> tuple[dict[str, Held], Any]:
        """By kind: expression, least and most; and the planned impact."""
        made, placed = self.hit, self.placed(q)
        n = ca.DM(made.direction)
        velocity = self.hand_velocity(placed, v)
        feet_v = ca.vertcat(*(placed[2 * k + 1] @ v for k in range(len(self.names))))
        speed = ca.dot(n, velocity)
        tangents = ca.DM(np.linalg.svd(made.direction[None])[2][1:])
        impact = self.impact(q, speed)
        groups: dict[str, Held] = {
            "the feet's places": (self.feet(placed), 0.0, 0.0),
            "the feet's rest": (feet_v, 0.0, 0.0),
            "the hand's place": (self.point_of(placed) - ca.DM(self.place), 0.0, 0.0),
            "the hand's direction": (tangents @ velocity, 0.0, 0.0),
            "the quaternion": (ca.dot(q[3:7], q[3:7]) - 1, 0.0, 0.0),
            "approach": (speed, 0.01, 1e3),
            "torque limits": (impact["loads"], -1.0, 1.0),
        }
        return groups | self.standing(q, v, impact), impact

    def impact(self, q: Any, speed: Any) -> dict[str, Any]:
        """The hit by the faster form; torques, that carry the weight as well, where it is looked
        at, and their shares of the limits.
        """
        servo = servo_of(self.hit, None, None, None)
        names = ("size", "shapes", "damping", "stiffness", "damping_loads", "stiffness_loads")
        own = export_casadi(self.hit.program(MODES, stiff=True), names)
        gains = {name: servo[name] for name in ("kd", "kp", "limit")}
        found = own(q=q, point=self.hit.point, direction=self.hit.direction, **gains)
        n = self.hit.n
        gained = [_square(found[k], MODES) for k in ("damping", "stiffness")]
        hit = smooth_hit(MODES, self.wish.law, self.wish.target, DT, STEPS)
        made = hit(T=gained[0], K=gained[1], j=found["size"], v=speed)
        at = list(LOOKED)
        z, s, rates = (made[k][:, at] for k in ("z", "s", "rates"))
        tall = [ca.reshape(found[k], n, MODES) for k in ("damping_loads", "stiffness_loads")]
        shapes = ca.reshape(found["shapes"], n, MODES)
        none = ca.DM.zeros(n)
        weight = export_casadi(motion_program(self.hit), ["weight"])(
            q=q, turning=none, rate=none, force=0, point=self.hit.point,
            direction=self.hit.direction, gravity=self.robot.gravity,
        )["weight"]  # fmt: skip
        limit = ca.DM(servo["limit"])
        torque = ca.repmat(limit, 1, len(at)) * (tall[0] @ z + tall[1] @ s)
        torque = torque + ca.repmat(weight, 1, len(at))
        return {
            "impulse": made["impulse"], "forces": made["forces"], "force": made["forces"][:, at],
            "loads": ca.vec(torque / ca.repmat(limit, 1, len(at))), "torque": torque,
            "u": -shapes @ z, "rates": -shapes @ rates,
        }  # fmt: skip

    def standing(self, q: Any, v: Any, impact: dict[str, Any]) -> dict[str, Held]:
        """The ZMP of the whole inside the support polygon by the margin; the floor's push over the
        weight, for a robot that takes off has no ZMP; and each sole pressed on its own polygon.
        """
        made = self.hit
        motion = export_casadi(motion_program(made), ["wrench"])
        soles = export_casadi(soles_program(made), ["soles"]) if len(made.held) > 1 else None
        weight = self.robot.mass * self.robot.gravity
        whole, pushes, each = [], [], []
        for k in range(len(LOOKED)):
            now = {
                "q": q, "turning": v[6:] + impact["u"][:, k], "rate": impact["rates"][:, k],
                "force": impact["force"][k], "point": made.point, "direction": made.direction,
                "gravity": self.robot.gravity,
            }  # fmt: skip
            wrench = motion(**now)["wrench"]
            pushes.append(wrench[2] / weight)
            whole.append(self.inside(wrench, made.held, self.wish.margin) / weight)
            if soles is not None:
                columns = soles(torque=impact["torque"][:, k], **now)["soles"]
                for body, own in zip(made.held, ca.horzsplit(columns), strict=True):
                    each.append(self.inside(own, [body], SOLE * self.wish.margin) / weight)
        groups: dict[str, Held] = {"the ZMP": (ca.vertcat(*whole), 0.0, 1e3)}
        if each:
            groups["soles that stay flat"] = (ca.vertcat(*each), 0.0, 1e3)
        return groups | {"the floor's push": (ca.vertcat(*pushes), PUSH, 1e3)}

    def inside(self, wrench: Any, bodies: Sequence[int], margin: float) -> Any:
        """Moment by which the centre of pressure is inside each edge of the bodies' polygon, less
        that of the margin [N m].
        """
        corners, height = support(self.hit, self.q0, bodies)
        inward, offset = edges(corners)
        place = ca.vertcat(height * wrench[0] - wrench[4], height * wrench[1] + wrench[3])
        return ca.DM(inward) @ place - ca.DM(offset + margin) * wrench[2]

    def refuse(self, missed: dict[str, float]) -> None:
        """Where the plan does not hold, says which constraint it was."""
        kind = max(missed, key=lambda name: missed[name])
        if missed[kind] > CLOSE:
            raise HeelstrikeError(
                f"no plan was found: {kind} cannot be held, by {missed[kind]:.3g}; move the "
                "target, ask for less margin, or allow more iterations with most="
            )


def _square(packed: Any, n: int) -> Any:
    """The symmetric matrix of a packed upper triangle, as expressions."""
    at = [[min(i, j) + max(i, j) * (max(i, j) + 1) // 2 for j in range(n)] for i in range(n)]
    return ca.vertcat(*(packed[row].T for row in at))
