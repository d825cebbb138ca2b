"""Pushes at random moments, in random directions, each world its own."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from heelstrike.environments.arrays import Arrays, Some
from heelstrike.environments.starts import Chance
from heelstrike.errors import HeelstrikeError
from heelstrike.simulate.simulator import Simulator

REAL = int | float | np.integer | np.floating
LATE = 1e9
"""A step that no world comes to."""


@dataclass(frozen=True)
class Pushes:
    """A level force on a body for a while, again and again, from anywhere around."""

    force: tuple[float, float] = (0.0, 10.0)
    """Least and largest [N]."""
    duration: float = 0.1
    """Of a push [s]."""
    wait: tuple[float, float] = (0.5, 1.5)
    """Before the first push and between two, least and largest [s]."""
    body: str | None = None
    """None: the base. It acts at the body's centre of mass."""

    def __post_init__(self) -> None:
        for name, pair in (("force", self.force), ("wait", self.wait)):
            if not _is_span(pair):
                raise HeelstrikeError(
                    f"{name} of the pushes is (least, largest), both at least 0, not {pair!r}"
                )
        if not (isinstance(self.duration, REAL) and 0 < self.duration < math.inf):
            raise HeelstrikeError(f"a push lasts for a time above 0 s, not {self.duration!r}")


def _is_span(pair: Iterable[float]) -> bool:
    """Two numbers, the first at least 0 and the second not below it."""
    try:
        low, high = pair
    except (TypeError, ValueError):
        return False
    real = isinstance(low, REAL) and isinstance(high, REAL)
    return bool(real and 0 <= low <= high < math.inf)


def make_room(sim: Simulator, pushes: Pushes) -> str:
    """For one more push at the body's centre of mass; returns the path of its parameters."""
    body = sim.robot.bodies[sim.robot.body(pushes.body) if pushes.body is not None else 0]
    path = sim.compiled.add_push(body.name)
    sim.parameters[f"{path}.point"] = body.com
    sim.parameters[f"{path}.last"] = LATE  # as the simulator knows it: not free for its own pushes
    return path


class Pushing:
    """Gives each world its next push when the last one is over.

    When a push comes is known as soon as the one before it ends, so that all worlds are looked at
    only now and then, and yet in time. Counters of random numbers are below 0: -3 t - 1, 2, 3 of a
    push that follows one which ended at step t.
    """

    def __init__(
        self, arrays: Arrays, chance: Chance, pushes: Pushes, path: str, dt: float, hold: int
    ) -> None:
        self.arrays, self.chance, self.pushes = arrays, chance, pushes
        self.steps = max(1, round(pushes.duration / dt))
        self.wait = [wait / dt for wait in pushes.wait]
        self.pause = max(1, int(self.wait[0] / hold))
        """Actions between two looks."""
        self._until = 0
        names = ("force", "first", "last")
        self.force, self.first, self.last = (arrays.tiles(f"{path}.{name}") for name in names)
        self.clock = arrays.tiles("clock")
        self._three = arrays.whole(np.arange(1, 4))

    def begin(self, some: Some) -> None:
        """No push is under way in worlds that begin."""
        never = self.arrays.nothing(1)
        some.write(self.first, never)
        some.write(self.last, never)

    def due(self) -> bool:
        """Before an action: whether it is time to look for pushes that are over."""
        self._until -= 1
        if self._until > 0:
            return False
        self._until = self.pause
        return True

    def renew(self) -> None:
        """The next push of worlds whose last one is over."""
        clock, last = (self.arrays.column(tiles, 0) for tiles in (self.clock, self.last))
        some = self.arrays.some(clock >= last)
        if some is None:
            return
        xp, since = self.arrays.xp, some.pick(last)
        u = self.chance.uniform(some, -3 * self.arrays.whole(since)[:, None] - self._three)
        least, largest = self.pushes.force
        size, angle = least + (largest - least) * u[:, 0], 2 * math.pi * u[:, 1]
        level = [size * xp.cos(angle), size * xp.sin(angle), 0 * size]
        soon, late = self.wait
        first = xp.round(since + soon + (late - soon) * u[:, 2])[:, None]
        some.write(self.force, xp.stack(level, 1))
        some.write(self.first, first)
        some.write(self.last, first + self.steps)
