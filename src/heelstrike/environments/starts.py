"""How an episode begins: where the robot is, and what differs from world to world."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from heelstrike.environments import draws
from heelstrike.environments.arrays import Arrays, Some, columns
from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import Robot
from heelstrike.simulate.simulator import Simulator

Range: TypeAlias = tuple[Any, Any] | Callable[[Any], Any]
"""Low and high, or a function of numbers in [0, 1) of shape (count, size)."""
Start: TypeAlias = Callable[["Draw"], tuple[Any, Any]]
"""Returns q (count, nq) and v (count, nv)."""


class Chance:
    """The random numbers of all worlds."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.usual = 0
        """Numbers that a start took the last time."""
        self._counters: dict[tuple[int, int], Any] = {}
        self.seed, self.other, self.episode, self.a, self.b = (
            arrays.whole(np.zeros(arrays.worlds, np.int32)) for _ in range(5)
        )
        self.other[...] = draws.other(self.seed)

    def begin(self, some: Some, seeds: Sequence[int] | None) -> None:
        """The next episode, or the first one of these seeds, one a world."""
        if seeds is None:
            some.put(self.episode, some.pick(self.episode) + 1)
        else:
            given = self.arrays.whole(draws.folded(seeds))
            some.put(self.seed, some.pick(given))
            some.put(self.other, draws.other(some.pick(given)))
            some.put(self.episode, 0 * some.pick(given))
        a, b = draws.stream(*(some.pick(x) for x in (self.seed, self.other, self.episode)))
        some.put(self.a, a)
        some.put(self.b, b)

    def counters(self, first: int, count: int) -> Any:
        """`first`, `first` + 1, ...: made once, and then where the arrays are."""
        if (first, count) not in self._counters:
            k = np.arange(first, first + count)
            self._counters[first, count] = self.arrays.whole(k)
        return self._counters[first, count]

    def uniform(self, some: Some, k: Any) -> Any:
        """In [0, 1), (worlds chosen, n), for counters k of shape (n,) or (worlds chosen, n)."""
        a, b = (some.pick(part)[:, None] for part in (self.a, self.b))
        return self.arrays.given(draws.bits(a, b, k)) * 2.0**-24


class Draw:
    """What a start is made of: the usual one, and random numbers of the worlds that begin."""

    def __init__(self, chance: Chance, some: Some, q0: Any, v0: Any) -> None:
        self._chance, self._some = chance, some
        self._taken = self._made = self._first = 0
        self._ready: Any = None
        self.q0, self.v0 = q0, v0
        """The scene's own start, (nq,) and (nv,)."""
        self.count = some.count
        """Rows to make."""

    @property
    def xp(self) -> Any:
        """The module of these arrays, numpy or torch."""
        return self._chance.arrays.xp

    def uniform(self, size: int, low: Any = 0.0, high: Any = 1.0) -> Any:
        """New numbers between low and high, (count, size); a world draws the same in any batch."""
        return low + (high - low) * self._next(size)

    def _next(self, size: int) -> Any:
        """Of all that were made at once: as many as a start usually takes."""
        chance, first = self._chance, self._taken
        self._taken += size
        if self._ready is None or self._taken > self._made:
            self._first, self._made = first, max(self._taken, chance.usual)
            k = chance.counters(first, self._made - first)
            self._ready = chance.uniform(self._some, k)
        chance.usual = max(chance.usual, self._taken)
        return self._ready[:, first - self._first : self._taken - self._first]


def noisy(robot: Robot, arrays: Arrays, noise: tuple[float, float]) -> Start:
    """A start whose joints are off by up to noise[0] [rad or m], and move by up to noise[1]."""
    try:
        position, speed = (float(x) for x in noise)
    except (TypeError, ValueError):
        position = speed = -1.0
    if not (0 <= position < np.inf and 0 <= speed < np.inf):
        raise HeelstrikeError(
            f"noise is two numbers of at least 0, of positions and of speeds, not {noise!r:.60}"
        )
    joints = [joint for joint in robot.joints if joint.kind in ("revolute", "prismatic")]
    in_q, in_v = (columns(arrays, [getattr(j, i) for j in joints]) for i in ("iq", "iv"))

    def start(draw: Draw) -> tuple[Any, Any]:
        q, v = arrays.nothing(draw.count, robot.nq), arrays.nothing(draw.count, robot.nv)
        q += draw.q0
        v += draw.v0
        if position or speed:
            off = draw.uniform(2 * len(joints), -1.0, 1.0)
            q[:, in_q] += position * off[:, : len(joints)]
            v[:, in_v] += speed * off[:, len(joints) :]
        return q, v

    return start


class Varied:
    """Parameters that are drawn anew for each episode."""

    def __init__(self, arrays: Arrays, ranges: Mapping[str, Range]) -> None:
        self.arrays = arrays
        self.values = {path: self._function(path, given) for path, given in ranges.items()}
        self.tiles = {path: arrays.tiles(path) for path in ranges}

    def begin(self, some: Some, draw: Draw) -> None:
        for path, function in self.values.items():
            some.write(self.tiles[path], function(draw.uniform(self.tiles[path].shape[1])))

    def _function(self, path: str, given: Range) -> Callable[[Any], Any]:
        if callable(given):
            return given
        low, high = (self.arrays.given(np.atleast_1d(end)) for end in given)
        return lambda u: low + (high - low) * u


def check_varied(sim: Simulator, ranges: Mapping[str, Range]) -> None:
    """Makes room for them, and lets the laws refuse what they would not take."""
    if "dt" in ranges:
        raise HeelstrikeError("all worlds of an environment share dt; vary something else")
    for path, given in ranges.items():
        ends: Sequence[Any]
        sim.compiled.add_parameters([path])
        if callable(given):
            size = sim.parameters.size(path)
            ends = [np.asarray(given(np.full((1, size), u)))[0] for u in (0.0, 1 - 2.0**-24)]
        elif isinstance(given, Sequence) and len(given) == 2:
            ends = given
        else:
            raise HeelstrikeError(
                f"vary['{path}'] is (low, high), or a function of numbers in [0, 1), not {given!r}"
            )
        for end in ends:
            sim.parameters[path] = end
