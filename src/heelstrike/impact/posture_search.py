"""Search for the posture in which a hand hits like a wanted virtual mass.

Over q, nearest to a start posture,

    m_a(q) = m                      virtual mass along the direction of the hit (hit.py)
    pose(q) = pose(q_start)         of the links that stand: feet flat where they are
    hand on the target's line       through a place, along the direction
    limits                          of joints
    centre of mass                  over the support polygon, inside by a margin: it stands still

[Tsujita2009] has postures of 4, 6 and 8 kg, "designed heuristically" (fig 6). Gradients are
CasADi's, of the traced dynamics; IPOPT solves. The least and the most that m_a can be are found the
same way. All of it is local: another start may lead elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.dynamics.quantities import quantities
from heelstrike.errors import HeelstrikeError
from heelstrike.impact.base import VirtualBase, floats
from heelstrike.impact.course import Held, PlanGoal
from heelstrike.impact.hit import Hit, hit
from heelstrike.impact.mass import virtual_mass
from heelstrike.impact.nlp import ipopt
from heelstrike.impact.problem import CLOSE, Problem
from heelstrike.impact.support import edges, support
from heelstrike.impact.support import margin as inside
from heelstrike.impact.target import Target
from heelstrike.robot.robot import Robot
from heelstrike.runtime.export_casadi import export_casadi

ENDS = {"least": 1.0, "most": -1.0}
"""Named masses, with the sign of the logarithm that is minimised."""
TRUE = 1e-3
"""Relative error of the mass that is accepted."""
PULL = 0.01
"""Weight of a radian away from the start when the mass is minimised or maximised."""


@dataclass(frozen=True, eq=False)
class Posture:
    """A posture from which a hand hits with a wanted virtual mass."""

    q: np.ndarray
    virtual_mass: float
    """Virtual mass m_a along the hit [kg]."""
    hand: np.ndarray
    """Position of the point that hits [m]."""
    margin: float
    """Distance of the centre of mass inside the support polygon [m]."""


def posture(
    robot: Robot,
    link: str,
    point: ArrayLike = (0.0, 0.0, 0.0),
    direction: str | ArrayLike = "x",
    mass: float | str = "most",
    q: ArrayLike | None = None,
    place: ArrayLike | None = None,
    base: VirtualBase | None = None,
    margin: float = 0.02,
    most: int = 200,
) -> Posture:
    """Find the posture nearest to q (None: the robot's first pose) whose hand, a point of a link,
    is on the line through a place of the world [m] (None: where the hand is at q) and has the
    virtual mass [kg], or the "least" or "most" there is. `margin` is that of the centre of mass
    [m]; `most` bounds the iterations.
    """
    if not (mass in ENDS or (isinstance(mass, int | float) and 0 < mass < np.inf)):
        raise HeelstrikeError(f"a mass is above 0 kg, or 'least' or 'most', not {mass!r}")
    if not floats(robot):
        raise HeelstrikeError(f"{robot.name} does not stand: a posture needs a floating robot")
    held = VirtualBase((base or VirtualBase()).links, mass=np.inf)
    made = hit(robot, link, direction, point, held)
    start = next(iter(robot.poses.values()), robot.neutral) if q is None else q
    search = _Search(made, made.postures(start)[0], place, margin, most)
    found = search.of(mass)
    if not isinstance(mass, str) and abs(search.mass_at(found) / mass - 1) > TRUE:
        least, largest = (search.mass_at(search.of(name)) for name in ENDS)
        raise HeelstrikeError(
            f"no posture of {robot.name} was found in which '{link}' has {mass:g} kg on this "
            f"line: it reaches {least:.3g} to {largest:.3g} kg from this start; ask for a mass "
            "between them, for 'least' or 'most', or start elsewhere with q="
        )
    own = float(virtual_mass(robot, found, link, point, direction, base))
    over = np.array(search.centre(found)).ravel()[:2]
    corners = support(made, found)[0]
    return Posture(found, own, made.at(found)["hand"][0], float(inside(over, corners)))


class _Search:
    """Search for postures of one hit from one start."""

    def __init__(
        self, made: Hit, q: np.ndarray, place: ArrayLike | None, margin: float, most: int
    ) -> None:
        self.hit, self.margin, self.most = made, margin, most
        wish = PlanGoal("impulse", LinearSpring(), Target(), margin, joint_speed=1.0)
        self.where = Problem(made, wish, q, place)  # of which only the places count here
        self.own = export_casadi(made.program(), ("m_a",))
        self.com = export_casadi(quantities(made.robot, ["com"]), ["com"])
        if len(support(made, q)[0]) < 3:
            raise HeelstrikeError(
                f"the links that hold {made.robot.name} have no contact points to stand on; name "
                "others: base=hs.VirtualBase([...])"
            )
        self.q = ca.MX.sym("q", made.robot.nq)
        self.near = ca.sumsqr(self.q[7:] - ca.DM(q[7:]))
        self.reached = self.solve(self.near, self.constraints(), q)

    def mass(self, q: Any) -> Any:
        """Return the virtual mass m_a [kg]."""
        return self.own(q=q, point=self.hit.point, direction=self.hit.direction)["m_a"]

    def mass_at(self, q: np.ndarray) -> float:
        """Return m_a of a posture [kg]."""
        return float(self.mass(q))

    def centre(self, q: Any) -> Any:
        """Return the centre of mass [m]."""
        zero = ca.DM.zeros(self.hit.robot.nv)
        return self.com(q, zero, zero, zero, 9.81)

    def of(self, mass: float | str) -> np.ndarray:
        """Return the posture of a mass; if there is none, the one that IPOPT ended with."""
        weight, groups = ca.log(self.mass(self.q)), self.constraints()
        if isinstance(mass, str):
            return self.solve(ENDS[mass] * weight + PULL * self.near, groups, self.reached)
        wanted: dict[str, Held] = {"the mass": (weight - np.log(mass), 0.0, 0.0)}
        return self.solve(self.near, groups | wanted, self.reached, strict=False)

    def solve(
        self, aim: Any, groups: dict[str, Held], guess: np.ndarray, strict: bool = True
    ) -> np.ndarray:
        """Minimise the aim; with `strict`, raise an error if a constraint does not hold."""
        problem = {"x": self.q, "f": aim, "g": ca.vertcat(*(g for g, _, _ in groups.values()))}
        sizes = [held[0].numel() for held in groups.values()]
        lows, highs = (np.repeat([held[k] for held in groups.values()], sizes) for k in (1, 2))
        low, high = self.where.bounds()
        found, missed, _ = ipopt(problem, guess, low, high, lows, highs, self.most)
        worst = int(missed.argmax())
        if strict and missed[worst] > CLOSE:
            kind = list(groups)[int(np.searchsorted(np.cumsum(sizes), worst, side="right"))]
            raise HeelstrikeError(
                f"{self.hit.robot.name} cannot stand like that: {kind} cannot be held, by "
                f"{missed[worst]:.3g} m or rad; move the target's line, ask for less margin, or "
                "start elsewhere with q="
            )
        return np.clip(found, low, high)  # which IPOPT leaves by a hair

    def constraints(self) -> dict[str, Held]:
        """Return the constraints by kind: expression, lower and upper bound."""
        where, q = self.where, self.q
        placed = where.placed(q)
        tangents = ca.DM(np.linalg.svd(self.hit.direction[None])[2][1:])
        inward, offset = edges(support(self.hit, where.q0)[0])
        over = ca.DM(inward) @ self.centre(q)[:2] - ca.DM(offset + self.margin)
        return {
            "the feet's places": (where.feet(placed), 0.0, 0.0),
            "the hand's line": (tangents @ (where.point_of(placed) - ca.DM(where.place)), 0.0, 0.0),
            "the quaternion": (ca.dot(q[3:7], q[3:7]) - 1, 0.0, 0.0),
            "the centre of mass": (over, 0.0, 1e3),
        }
