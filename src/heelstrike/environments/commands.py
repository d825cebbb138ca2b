"""Commands: what a policy is asked to do, such as a velocity, drawn anew from time to time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from heelstrike.checks import mapping, number
from heelstrike.environments.arrays import Array, Arrays, WorldSubset
from heelstrike.environments.pushes import check_range
from heelstrike.environments.random_numbers import WorldRandom
from heelstrike.environments.ranges import Drawing, Range
from heelstrike.environments.timetable import COMMANDS, Timetable
from heelstrike.errors import ParameterError


@dataclass(frozen=True)
class Commands:
    """Named numbers that each world draws at the start of an episode and then again and again.

    Examples:
        >>> hs.Commands({"vx": (-0.05, 0.15), "turn": (-0.5, 0.5)}, wait=(3.0, 6.0))
    """

    ranges: Mapping[str, Range]
    """Range of each command by name."""
    wait: tuple[float, float] = (4.0, 8.0)
    """Shortest and longest time from one draw to the next [s]."""
    zero: float = 0.1
    """Share of draws in which all commands are 0."""

    def __post_init__(self) -> None:
        allowed = "ranges by name: {'vx': (0.0, 0.2)}"
        if not mapping("ranges", self.ranges, allowed):
            raise ParameterError("ranges", self.ranges, allowed)
        check_range("Commands", "wait", self.wait)
        number("zero", self.zero, "a share from 0 to 1", least=0.0, below=1.0 + 1e-12)


class CommandSchedule:
    """Commands of all worlds."""

    def __init__(self, arrays: Arrays, random: WorldRandom, commands: Commands, dt: float) -> None:
        self.names = tuple(commands.ranges)
        self.tiles = arrays.zeros(arrays.shape[0], len(self.names), arrays.shape[1])
        """Present commands, as tiles."""
        one = np.ones(1)
        self._drawings = [Drawing(arrays, n, given, one) for n, given in commands.ranges.items()]
        soon, late = (wait / dt for wait in commands.wait)
        numbers = len(self.names) + 1
        self._timetable = Timetable(arrays, random, (soon, late), numbers, COMMANDS)
        self._zero, self._xp = commands.zero, arrays.xp

    def begin(self, some: WorldSubset, level: Array) -> None:
        """Draw commands of worlds that begin an episode."""
        self._write(some, self._timetable.begin(some), level)

    def renew(self, level: Array) -> None:
        """Draw commands of worlds whose time has come."""
        due = self._timetable.due()
        if due is not None:
            self._write(*due, level)

    def _write(self, some: WorldSubset, u: Array, level: Array) -> None:
        level = some.pick(level)
        values = [draw(u[:, i : i + 1], level) for i, draw in enumerate(self._drawings)]
        moving = u[:, -1:] >= self._zero
        some.write(self.tiles, self._xp.concatenate(values, 1) * moving)
