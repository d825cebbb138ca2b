"""Equality constraints of a robot: what closes loops and couples joints (docs/closed-loops.md).

Bodies are indices of `Robot.bodies`, or WORLD; points and placements are in the frames of bodies,
those of WORLD in the world. Each constraint names what vanishes while it holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import WORLD, first_duplicate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heelstrike.robot.robot import Robot

DEGREE = 4
"""Degree of a coupling's polynomial, at most."""


class _BetweenBodies:
    """Constraints of one body with another, or with WORLD."""

    body: int
    other: int

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies that it acts on."""
        return tuple(body for body in (self.body, self.other) if body != WORLD)


@dataclass(frozen=True, eq=False)
class Connect(_BetweenBodies):
    """A point of one body stays at a point of another: a ball joint.

    Its rows are the point of `body` less that of `other` [m].
    """

    size: ClassVar[int] = 3
    name: str
    body: int
    point: np.ndarray
    """In the frame of `body` [m]."""
    other: int
    """Index of the other body, or WORLD."""
    other_point: np.ndarray
    """In the frame of `other` [m]."""


@dataclass(frozen=True, eq=False)
class Weld(_BetweenBodies):
    """A frame of one body stays at a frame of another: the two are one rigid body.

    Its rows are the origin of the frame of `body` less that of `other` [m], and the rotation vector
    from the frame of `other` to that of `body` [rad].
    """

    size: ClassVar[int] = 6
    name: str
    body: int
    rotation: np.ndarray
    """Axes of the frame of `body`, (3, 3)."""
    point: np.ndarray
    """Its origin [m]."""
    other: int
    """Index of the other body, or WORLD."""
    other_rotation: np.ndarray
    other_point: np.ndarray


@dataclass(frozen=True, eq=False)
class Distance(_BetweenBodies):
    """A point of one body keeps its distance from a point of another: a rod without mass.

    Its row is the distance less `length` [m].
    """

    size: ClassVar[int] = 1
    name: str
    body: int
    point: np.ndarray
    """In the frame of `body` [m]."""
    other: int
    """Index of the other body, or WORLD."""
    other_point: np.ndarray
    """In the frame of `other` [m]."""
    length: float
    """[m], above 0."""


@dataclass(frozen=True, eq=False)
class JointCoupling:
    """The coordinate of a joint is a polynomial of that of another, or a constant.

        q - reference = c_0 + c_1 x + ... + c_4 x^4 + sum f_k q_k,   x = q_other - other_reference

    All are revolute or prismatic joints. Its row is the left side less the right one [rad, m].
    """

    size: ClassVar[int] = 1
    name: str
    joint: int
    """Index of the joint."""
    other: int | None
    """Index of the other joint; None: x is 0."""
    coefficients: tuple[float, ...]
    """c_0, c_1, ... as far as they are given, at most up to c_4."""
    reference: float = 0.0
    """[rad or m]"""
    other_reference: float = 0.0
    """[rad or m]"""
    more: tuple[tuple[int, float], ...] = ()
    """Further joints, by index, and their factors f_k."""

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies that its joints move."""
        other = () if self.other is None else (self.other,)
        return (self.joint, *other, *(joint for joint, _ in self.more))


Constraint: TypeAlias = Connect | Weld | Distance | JointCoupling


def moved(constraint: Constraint, prefix: str, first: int) -> Constraint:
    """Return a constraint of a part in a whole, in which the part's bodies begin at `first`."""
    name = f"{prefix}{constraint.name}"
    other = constraint.other if constraint.other in (None, WORLD) else constraint.other + first
    if isinstance(constraint, JointCoupling):
        more = tuple((joint + first, factor) for joint, factor in constraint.more)
        joint = constraint.joint + first
        return replace(constraint, name=name, joint=joint, other=other, more=more)
    assert other is not None
    return replace(constraint, name=name, body=constraint.body + first, other=other)


def apart_pairs(robot: Robot, constraints: Sequence[Constraint]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of shapes that may touch, without those of bodies that a point or a weld
    joins: like neighbours in the tree, they would press against what holds them.
    """
    points = [c for c in constraints if isinstance(c, Connect | Weld) and c.other != WORLD]
    joined = {frozenset((c.body, c.other)) for c in points}
    return tuple(
        (i, j)
        for i, j in robot.self_pairs
        if frozenset((robot.shapes[i].body, robot.shapes[j].body)) not in joined
    )


def check_constraints(robot: Robot, constraints: Sequence[Constraint]) -> None:
    """Raise a HeelstrikeError for constraints that a robot cannot have."""
    twice = first_duplicate([constraint.name for constraint in constraints])
    if twice is not None:
        raise HeelstrikeError(
            f"two constraints of {robot.name} are called '{twice}'",
            path="constraints",
            value=twice,
            remedy="give each a name of its own",
        )
    for constraint in constraints:
        fault = _fault(robot, constraint)
        if fault is not None:
            raise HeelstrikeError(
                f"constraint '{constraint.name}' of {robot.name} {fault}",
                path="constraints",
                value=constraint.name,
            )


def _fault(robot: Robot, constraint: Constraint) -> str | None:
    """Return what is wrong with a constraint, or None."""
    bodies = range(len(robot.bodies))
    if isinstance(constraint, JointCoupling):
        return _coupling_fault(robot, constraint)
    if constraint.body not in bodies or constraint.other not in (WORLD, *bodies):
        return (
            f"joins the bodies {constraint.body} and {constraint.other}; indices are 0 to "
            f"{bodies[-1]}, and -1 for the world as the second"
        )
    if constraint.body == constraint.other:
        return f"joins body '{robot.bodies[constraint.body].name}' with itself"
    places = [constraint.point, constraint.other_point]
    if isinstance(constraint, Weld):
        places += [constraint.rotation, constraint.other_rotation]
    if not all(np.isfinite(place).all() for place in places):
        return "has a place that is not finite"
    if isinstance(constraint, Distance) and not constraint.length > 0:
        return f"has the length {constraint.length:g} m; it must be above 0 (0 is a Connect)"
    return None


def _coupling_fault(robot: Robot, coupling: JointCoupling) -> str | None:
    for i in coupling.bodies:
        if i not in range(len(robot.joints)):
            return f"couples joint {i}; indices are 0 to {len(robot.joints) - 1}"
        joint = robot.joints[i]
        if joint.kind not in ("revolute", "prismatic"):
            return f"couples joint '{joint.name}', which is {joint.kind}, not revolute or prismatic"
    if len({*coupling.bodies}) < len(coupling.bodies):
        return f"couples joint '{robot.joints[coupling.joint].name}' with itself, or another twice"
    factors = (factor for _, factor in coupling.more)
    numbers = (*coupling.coefficients, coupling.reference, coupling.other_reference, *factors)
    if not np.isfinite(numbers).all():
        return "has a coefficient that is not finite"
    if len(coupling.coefficients) > DEGREE + 1:
        return f"has {len(coupling.coefficients)} coefficients; {DEGREE + 1} at most are possible"
    return None
