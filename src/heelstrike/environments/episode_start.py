"""The start of an episode: the state of the robot, from random numbers of its world."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TypeAlias

import numpy as np

from heelstrike.environments.arrays import Array, Arrays, WorldSubset, columns
from heelstrike.environments.random_numbers import WorldRandom
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.robot.robot import Robot

Start: TypeAlias = Callable[["Draw"], tuple[Array, Array]]
"""Returns q (count, nq) and v (count, nv)."""


class Draw:
    """The scene's start, and random numbers of the worlds that begin an episode."""

    def __init__(
        self,
        random: WorldRandom,
        some: WorldSubset,
        q0: Array,
        v0: Array,
        level: Callable[[], Array],
    ) -> None:
        self._random, self._some, self._level = random, some, level
        self._taken = self._made = self._first = 0
        self._ready: Array = None
        self.q0, self.v0 = q0, v0
        """The scene's own start, (nq,) and (nv,)."""
        self.count = some.count
        """Number of rows to return."""

    @property
    def xp(self) -> ModuleType:
        """The module of these arrays, numpy or torch."""
        return self._random.arrays.xp

    @property
    def level(self) -> Array:
        """Levels of these worlds, 0 to 1, (count,)."""
        return self._some.pick(self._level())

    def uniform(self, size: int, low: Array = 0.0, high: Array = 1.0) -> Array:
        """Return new numbers between low and high, (count, size).

        A world draws the same numbers in any batch.
        """
        return low + (high - low) * self._next(size)

    def _next(self, size: int) -> Array:
        """Return the next numbers; as many are made at once as a start usually draws."""
        random, first = self._random, self._taken
        self._taken += size
        if self._ready is None or self._taken > self._made:
            self._first, self._made = first, max(self._taken, random.usual)
            k = random.counters(first, self._made - first)
            self._ready = random.uniform(self._some, k)
        random.usual = max(random.usual, self._taken)
        return self._ready[:, first - self._first : self._taken - self._first]


def started(start: Start, draw: Draw) -> tuple[Array, Array]:
    """Return what a start returns; raise unless it is q and v of these worlds."""
    found = start(draw)
    parts = found if isinstance(found, tuple | list) else [found]
    shapes = [tuple(np.shape(part)) for part in parts]
    wanted = [(draw.count, len(draw.q0)), (draw.count, len(draw.v0))]
    if shapes != wanted:
        given = " and ".join(map(str, shapes))
        raise HeelstrikeError(
            f"start returned arrays of the shapes {given}; return q, {wanted[0]}, and v, "
            f"{wanted[1]}, a row for each of draw.count worlds",
            path="start",
        )
    q, v = parts
    return q, v


def noisy_start(robot: Robot, arrays: Arrays, noise: tuple[float, float]) -> Start:
    """Return a start with joint positions off by up to noise[0], and speeds by up to noise[1].

    Units are rad or m, and rad/s or m/s.
    """
    try:
        position, speed = (float(x) for x in noise)
    except (TypeError, ValueError):
        position = speed = -1.0
    if not (0 <= position < np.inf and 0 <= speed < np.inf):
        raise ParameterError("noise", noise, "two numbers of at least 0, for positions and speeds")
    joints = [joint for joint in robot.joints if joint.kind in ("revolute", "prismatic")]
    in_q, in_v = columns(arrays, [j.iq for j in joints]), columns(arrays, [j.iv for j in joints])

    def start(draw: Draw) -> tuple[Array, Array]:
        q, v = arrays.zeros(draw.count, robot.nq), arrays.zeros(draw.count, robot.nv)
        q += draw.q0
        v += draw.v0
        if position or speed:
            off = draw.uniform(2 * len(joints), -1.0, 1.0)
            q[:, in_q] += position * off[:, : len(joints)]
            v[:, in_v] += speed * off[:, len(joints) :]
        return q, v

    return start
