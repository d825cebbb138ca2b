"""The nonlinear program of a planned hit (planning.py): variables q and v, constraints by kind.

Here are those of posture and velocities; course.py has those that hold through the hit.

Every expression is CasADi's, exported from the same programs that are compiled elsewhere.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from heelstrike.dynamics.quantities import quantities
from heelstrike.errors import HeelstrikeError
from heelstrike.impact.course import Course, Held, PlanGoal, course, held
from heelstrike.impact.hit import GENERALIZED, OWN, Hit, square
from heelstrike.impact.nlp import ipopt
from heelstrike.runtime.export_casadi import export_casadi

CLOSE = 1e-3
"""Largest violation of a constraint that counts as held [m, rad, or a share]."""
MATTERS, NEAR, SLOW = 4.0, 0.3, 0.05
"""Weights of the goal, of a radian away from the start and of a radian a second: the last two make
the optimum one.
"""


class Problem:
    """Posture and velocities of a hit as a nonlinear program."""

    def __init__(self, made: Hit, wish: PlanGoal, q: np.ndarray, place: ArrayLike | None) -> None:
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
        """Return pose and Jacobian of the held links, then of the hand's body."""
        zero = ca.DM.zeros(self.robot.nv)
        return list(self.places(q, zero, zero, zero, 9.81))

    def point_of(self, placed: list[Any]) -> Any:
        """Return the position of the hand."""
        pose = placed[-2]
        return pose[:3] + ca.reshape(pose[3:], 3, 3).T @ ca.DM(self.hit.point)

    def feet(self, placed: list[Any]) -> Any:
        """Return the distance of the held links from where they stand: metres, then radians."""
        gaps = []
        for k in range(len(self.names)):
            pose, before = placed[2 * k], self.at_rest[2 * k]
            turn = ca.reshape(before[3:], 3, 3) @ ca.reshape(pose[3:], 3, 3).T
            spin = ca.vertcat(turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0],
                              turn[1, 0] - turn[0, 1])  # fmt: skip
            gaps += [pose[:3] - before[:3], spin / 2]
        return ca.vertcat(*gaps)

    def hand_velocity(self, placed: list[Any], v: Any) -> Any:
        """Return the velocity of the hand in world axes."""
        pose, jacobian = placed[-2], placed[-1]
        turn = ca.reshape(pose[3:], 3, 3).T
        lever = ca.skew(ca.DM(self.hit.point))
        return turn @ ((jacobian[:3, :] - lever @ jacobian[3:, :]) @ v)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds of q: the joints' ranges; the base is held by the feet."""
        low, high = self.robot.lower.copy(), self.robot.upper.copy()
        low[:7], high[:7] = self.q0[:7] - 0.3, self.q0[:7] + 0.3
        return np.maximum(low, -1e3), np.minimum(high, 1e3)

    def reach(self) -> np.ndarray:
        """Return the posture nearest to the start with feet and hand where they must be."""
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
        """Return the speed limits of the joints [rad/s]."""
        own = self.robot.velocity_limit[6:]
        return np.where(np.isfinite(own), own, self.wish.joint_speed)

    def straight(self, q: np.ndarray) -> np.ndarray:
        """Return the velocities of least energy that move the hand along the direction, up to a
        limit.
        """
        own = self.hit.at(q, OWN + GENERALIZED)
        jacobian, n = own["jacobian"][0][:3], self.hit.n
        moved = square(own["inverse"][0], n) @ jacobian.T
        turning = moved @ np.linalg.solve(jacobian @ moved, self.hit.direction)
        turning = turning / np.max(np.abs(turning) / self.speed_limits())
        return np.concatenate([own["base"][0] @ turning, turning])

    # the problem

    def solve(self, start: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, Any, int]:
        """Return posture, velocities, violations by kind, and iterations.

        The goal is optimised first; the nearest point that holds every constraint follows.
        """
        nq, nv = self.robot.nq, self.robot.nv
        x = ca.MX.sym("x", nq + nv)
        groups, hit = self.constraints(x[:nq], x[nq:])
        guess = np.r_[start, 0.9 * self.straight(start)]
        aim = self.aim(x, guess, hit)
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

    def aim(self, x: Any, guess: np.ndarray, hit: Course) -> Any:
        """Return the objective: the goal relative to the start's, so that NEAR and SLOW mean the
        same for every robot.
        """
        goal, impulse = self.wish.goal, hit.impulse
        if isinstance(goal, int | float):
            return MATTERS * 25 * (impulse / goal - 1) ** 2
        wanted = impulse if goal == "impulse" else ca.mmax(hit.forces)
        begun = float(ca.Function("begun", [x], [wanted])(guess))
        return -MATTERS * wanted / begun

    def constraints(self, q: Any, v: Any) -> tuple[dict[str, Held], Course]:
        """Return the constraints by kind (expression, lower and upper bound) and the hit's
        course.
        """
        made, placed = self.hit, self.placed(q)
        n = ca.DM(made.direction)
        velocity = self.hand_velocity(placed, v)
        feet_v = ca.vertcat(*(placed[2 * k + 1] @ v for k in range(len(self.names))))
        speed = ca.dot(n, velocity)
        tangents = ca.DM(np.linalg.svd(made.direction[None])[2][1:])
        hit = course(made, self.wish, q, speed)
        groups: dict[str, Held] = {
            "the feet's places": (self.feet(placed), 0.0, 0.0),
            "the feet's rest": (feet_v, 0.0, 0.0),
            "the hand's place": (self.point_of(placed) - ca.DM(self.place), 0.0, 0.0),
            "the hand's direction": (tangents @ velocity, 0.0, 0.0),
            "the quaternion": (ca.dot(q[3:7], q[3:7]) - 1, 0.0, 0.0),
            "approach": (speed, 0.01, 1e3),
        }
        return groups | held(made, self.wish, self.q0, q, v, hit), hit

    def refuse(self, missed: dict[str, float]) -> None:
        """Raise an error that names the constraint which the plan violates."""
        kind = max(missed, key=lambda name: missed[name])
        if missed[kind] > CLOSE:
            raise HeelstrikeError(
                f"no plan was found: {kind} cannot be held, by {missed[kind]:.3g}; move the "
                "target, ask for less margin, or allow more iterations with most="
            )
