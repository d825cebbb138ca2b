"""The start of an episode: the state of the robot, and parameters that vary between worlds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TypeAlias

import numpy as np

from heelstrike.environments.arrays import Array, Arrays, WorldSubset, columns
from heelstrike.environments.random_numbers import WorldRandom
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.robot.robot import Robot
from heelstrike.scene.sensor import MAX_SEED, SEED
from heelstrike.simulate.simulator import Simulator

Range: TypeAlias = tuple[Array, Array] | Callable[[Array], Array]
"""Low and high, or a function of random numbers in [0, 1) of shape (count, size)."""
Start: TypeAlias = Callable[["Draw"], tuple[Array, Array]]
"""Returns q (count, nq) and v (count, nv)."""


class Draw:
    """The scene's start, and random numbers of the worlds that begin an episode."""

    def __init__(self, random: WorldRandom, some: WorldSubset, q0: Array, v0: Array) -> None:
        self._random, self._some = random, some
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


class VariedParameters:
    """Parameters that are drawn for each episode."""

    def __init__(self, arrays: Arrays, ranges: Mapping[str, Range]) -> None:
        """Make parameters vary per world; raise if the ends of a range are not allowed.

        Noise of sensors draws from another seed in each episode.
        """
        self.arrays, self.ranges = arrays, dict(ranges)
        if SEED in arrays.sim.parameters:
            ranges = {SEED: lambda u: MAX_SEED * u} | self.ranges
        prepare_varied(arrays.sim, ranges)
        self.values = {path: self._function(path, given) for path, given in ranges.items()}
        self.tiles = {path: arrays.tiles(path) for path in ranges}

    def begin(self, some: WorldSubset, draw: Draw) -> None:
        """Draw the parameters of worlds that begin an episode."""
        for path, function in self.values.items():
            some.write(self.tiles[path], function(draw.uniform(self.tiles[path].shape[1])))

    def _function(self, path: str, given: Range) -> Callable[[Array], Array]:
        if callable(given):
            return given
        low, high = (self.arrays.real_array(np.atleast_1d(end)) for end in given)
        return lambda u: low + (high - low) * u


def prepare_varied(sim: Simulator, ranges: Mapping[str, Range]) -> None:
    """Make parameters vary per world, and raise if the ends of a range are not allowed."""
    if "dt" in ranges:
        raise HeelstrikeError(
            "all worlds of an environment share one time step; remove dt from vary", path="dt"
        )
    for path, given in ranges.items():
        ends: Sequence[Array]
        sim.compiled.add_parameters([path])
        if callable(given):
            size = sim.parameters.size(path)
            ends = [np.asarray(given(np.full((1, size), u)))[0] for u in (0.0, 1 - 2.0**-24)]
        elif isinstance(given, Sequence) and len(given) == 2:
            ends = given
        else:
            allowed = "(low, high), or a function of numbers in [0, 1)"
            raise ParameterError(path, given, allowed, owner="vary")
        for end in ends:
            sim.parameters[path] = end
