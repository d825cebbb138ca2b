"""Parameters that change in the middle of an episode: slippery ground, a weaker servo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heelstrike.checks import mapping
from heelstrike.environments.arrays import Array, Arrays, WorldSubset
from heelstrike.environments.pushes import check_range
from heelstrike.environments.random_numbers import WorldRandom
from heelstrike.environments.ranges import Range
from heelstrike.environments.timetable import CHANGES, Timetable
from heelstrike.environments.varied import VariedParameters


@dataclass(frozen=True)
class Changes:
    """Parameters that each world draws again and again during an episode.

    An episode begins with the parameters' own values, or with those that `vary` draws.

    Examples:
        >>> hs.Changes({"ground.friction.mu_k": (0.2, 0.8)}, wait=(1.0, 3.0))
    """

    ranges: Mapping[str, Range]
    """Range of each parameter by path."""
    wait: tuple[float, float] = (1.0, 3.0)
    """Shortest and longest time before the first change and between two [s]."""

    def __post_init__(self) -> None:
        mapping("ranges", self.ranges, "ranges by path: {'ground.friction.mu_k': (0.2, 0.8)}")
        check_range("Changes", "wait", self.wait)


class ChangeSchedule:
    """Changes of parameters in all worlds."""

    def __init__(
        self,
        arrays: Arrays,
        random: WorldRandom,
        changes: Changes,
        dt: float,
        varied: VariedParameters,
    ) -> None:
        """Make the schedule; `varied` holds the parameters' ranges, of which episodes draw none."""
        self._varied = varied
        soon, late = (wait / dt for wait in changes.wait)
        self._timetable = Timetable(arrays, random, (soon, late), varied.numbers, CHANGES)

    def begin(self, some: WorldSubset) -> None:
        """Give worlds that begin an episode the parameters' own values."""
        self._timetable.begin(some)
        self._varied.restore(some)

    def renew(self, level: Array) -> None:
        """Change the parameters of worlds whose time has come."""
        due = self._timetable.due()
        if due is not None:
            some, u = due
            self._varied.write(some, u, some.pick(level))
