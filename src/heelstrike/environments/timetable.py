"""Times at which each world draws again, and its random numbers then.

A world that draws at its step t is next due after a wait that is drawn with the rest. Counters of
random numbers are base + n t, base + n t + 1, ..., so that they depend on the world alone.
"""

from __future__ import annotations

import numpy as np

from heelstrike.environments.arrays import Array, Arrays, WorldSubset
from heelstrike.environments.random_numbers import WorldRandom

COMMANDS, CHANGES = 2**28, 2**29
"""First counters of commands and of changes of parameters."""


class Timetable:
    """When each world is due."""

    def __init__(
        self,
        arrays: Arrays,
        random: WorldRandom,
        wait: tuple[float, float],
        numbers: int,
        base: int,
    ) -> None:
        """Make a timetable.

        Args:
            arrays: arrays of the worlds.
            random: random numbers of the worlds.
            wait: shortest and longest time between two draws [steps].
            numbers: count of random numbers that a draw takes.
            base: first counter of random numbers.
        """
        self.arrays, self.random, self.wait, self.numbers = arrays, random, wait, numbers
        self._clock = arrays.tiles("clock")
        self._due = arrays.zeros(arrays.worlds)
        self._counters = arrays.int_array(base + np.arange(numbers + 1))

    def begin(self, some: WorldSubset) -> Array:
        """Return the numbers of worlds that begin an episode, (count, numbers)."""
        return self._draw(some, 0 * some.pick(self._due))

    def due(self) -> tuple[WorldSubset, Array] | None:
        """Return the worlds that are due and their numbers; None if there are none."""
        clock = self.arrays.column(self._clock, 0)
        some = self.arrays.subset(clock >= self._due)
        return None if some is None else (some, self._draw(some, some.pick(clock)))

    def _draw(self, some: WorldSubset, now: Array) -> Array:
        size, (soon, late) = self.numbers + 1, self.wait
        k = size * self.arrays.int_array(now)[:, None] + self._counters
        u = self.random.uniform(some, k)
        some.put(self._due, self.arrays.xp.round(now + soon + (late - soon) * u[:, -1]))
        return u[:, :-1]
