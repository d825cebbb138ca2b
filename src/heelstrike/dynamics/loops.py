"""Loops of a robot: which constraints are eliminated together, and at which body.

A constraint acts along the joints between its bodies and the body at which both branches meet. With
that body's acceleration given, these joints alone decide whether it holds, so that it is eliminated
there (loop_sweep.py). Constraints that share a joint on their ways form one loop, which is
eliminated where all of them meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from heelstrike.dynamics.tree import supports
from heelstrike.robot.constraints import Constraint, JointCoupling
from heelstrike.robot.robot import WORLD, Robot


@dataclass(frozen=True)
class Loop:
    """Constraints that are eliminated together."""

    name: str
    """Name of its first constraint."""
    constraints: tuple[Constraint, ...]
    numbers: tuple[int, ...]
    """Their indices in `Robot.constraints`."""
    meets: int
    """Body at which all branches meet, or WORLD."""
    ways: tuple[frozenset[int], ...]
    """Joints of each constraint, from its bodies inward to `meets`."""

    @property
    def joints(self) -> frozenset[int]:
        """Joints on the way of any of its constraints."""
        return frozenset().union(*self.ways)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(constraint.size for constraint in self.constraints)

    def spans(self) -> list[slice]:
        """Return the rows of each constraint."""
        spans, first = [], 0
        for constraint in self.constraints:
            spans.append(slice(first, first + constraint.size))
            first += constraint.size
        return spans

    def through(self, joint: int) -> list[int]:
        """Return which of its constraints, by place in `constraints`, have a joint on their way."""
        return [k for k, way in enumerate(self.ways) if joint in way]


def loops_of(robot: Robot) -> list[Loop]:
    """Return the loops of a robot; none shares a joint with another."""
    groups = [([n], _ends(robot, c)) for n, c in enumerate(robot.constraints)]
    while (pair := _overlap(robot, groups)) is not None:
        (one, ends), (more, others) = groups[pair[0]], groups.pop(pair[1])
        groups[pair[0]] = sorted(one + more), ends | others
    found = []
    for numbers, ends in groups:
        constraints = tuple(robot.constraints[n] for n in numbers)
        meets = _meeting(robot, ends)
        ways = tuple(_way(robot, _ends(robot, c), meets) for c in constraints)
        found.append(Loop(constraints[0].name, constraints, tuple(numbers), meets, ways))
    return found


def constrained_roots(robot: Robot) -> set[int]:
    """Return the joints on the world that are on the way of a constraint."""
    return {i for loop in loops_of(robot) for i in loop.joints if robot.joints[i].parent == WORLD}


def is_joined(robot: Robot, bodies: Iterable[int]) -> bool:
    """Return whether a loop moves two of some bodies, so that it may carry forces between them."""
    lines = [set(supports(robot, body)) for body in bodies]
    return any(sum(bool(loop.joints & x) for x in lines) > 1 for loop in loops_of(robot))


_End = tuple[int, bool]
"""A body, and whether the constraint acts at its joint, on whose inner body it then ends."""


def _ends(robot: Robot, constraint: Constraint) -> frozenset[_End]:
    if isinstance(constraint, JointCoupling):
        return frozenset((joint, True) for joint in constraint.bodies)
    return frozenset((body, False) for body in (constraint.body, constraint.other))


def _meeting(robot: Robot, ends: frozenset[_End]) -> int:
    """Return the outermost body that carries all ends."""
    lines = []
    for body, at_joint in ends:
        inner = robot.joints[body].parent if at_joint else body
        lines.append(supports(robot, inner))
    shared = set(lines[0]).intersection(*lines)
    return max(shared, key=lambda i: len(supports(robot, i)), default=WORLD)


def _way(robot: Robot, ends: frozenset[_End], meets: int) -> frozenset[int]:
    inside = set(supports(robot, meets))
    return frozenset(i for body, _ in ends for i in supports(robot, body) if i not in inside)


def _overlap(
    robot: Robot, groups: list[tuple[list[int], frozenset[_End]]]
) -> tuple[int, int] | None:
    """Return the first two groups that share a joint."""
    ways = [_way(robot, ends, _meeting(robot, ends)) for _, ends in groups]
    for b in range(len(ways)):
        for a in range(b):
            if ways[a] & ways[b]:
                return a, b
    return None
