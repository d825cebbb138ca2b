"""Random pushes: each world has its own times, directions and forces."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from heelstrike.checks import array_of_numbers, instance, number
from heelstrike.environments.arrays import Array, Arrays, WorldSubset
from heelstrike.environments.random_numbers import WorldRandom
from heelstrike.environments.ranges import Drawing, Graded
from heelstrike.errors import ParameterError
from heelstrike.simulate.simulator import Simulator

NEVER = 1e9
"""A step that no world reaches."""


@dataclass(frozen=True)
class Pushes:
    """Repeated horizontal pushes on a body, each from a random direction."""

    force: tuple[float, float] | Graded = (0.0, 10.0)
    """Smallest and largest force [N]; `hs.Graded` for forces that grow with the level."""
    duration: float = 0.1
    """Duration of a push [s]."""
    wait: tuple[float, float] = (0.5, 1.5)
    """Shortest and longest time before the first push and between two [s]."""
    body: str | None = None
    """The body, by default the base; the force acts at its centre of mass."""

    def __post_init__(self) -> None:
        force = self.force
        for pair in (force.easy, force.hard) if isinstance(force, Graded) else (force,):
            check_range("Pushes", "force", pair)
        check_range("Pushes", "wait", self.wait)
        number("duration", self.duration, "times above 0 s", above=0.0)


def check_range(owner: str, name: str, pair: object) -> None:
    """Raise unless a pair is two numbers, the first at least 0 and the second not below it."""
    ends = array_of_numbers(pair)
    if ends is None or ends.shape != (2,) or not 0 <= ends[0] <= ends[1] < np.inf:
        raise ParameterError(name, pair, "(smallest, largest), both at least 0", owner=owner)


def add_push_slot(sim: Simulator, pushes: Pushes) -> str:
    """Add a push at the body's centre of mass, and return the path of its parameters."""
    instance("pushes", pushes, Pushes, "hs.Pushes(...)")
    body = sim.robot.bodies[sim.robot.body(pushes.body) if pushes.body is not None else 0]
    path = sim.compiled.add_push(body.name)
    sim.parameters[f"{path}.point"] = body.com
    sim.parameters[f"{path}.last"] = NEVER  # so that sim.push does not use this slot
    return path


class PushSchedule:
    """Schedules the next push of each world when the last one is over.

    The time of a push is known as soon as the one before it ends, so that worlds are checked only
    now and then, and yet in time. Counters of random numbers are negative: -3 t - 1, 2, 3 for the
    push after one that ended at step t.
    """

    def __init__(
        self, arrays: Arrays, random: WorldRandom, pushes: Pushes, path: str, dt: float, hold: int
    ) -> None:
        self.arrays, self.random, self.pushes = arrays, random, pushes
        self.steps = max(1, round(pushes.duration / dt))
        self.wait = [wait / dt for wait in pushes.wait]
        self.pause = max(1, int(self.wait[0] / hold))
        """Number of actions between two checks."""
        self._until = 0
        names = ("force", "first", "last")
        self.force, self.first, self.last = (arrays.tiles(f"{path}.{name}") for name in names)
        self.clock = arrays.tiles("clock")
        self._size = Drawing(arrays, "force", pushes.force, np.ones(1))
        self._three = arrays.int_array(np.arange(1, 4))

    def begin(self, some: WorldSubset) -> None:
        """End the pushes of worlds that begin an episode."""
        never = self.arrays.zeros(1)
        some.write(self.first, never)
        some.write(self.last, never)

    def due(self) -> bool:
        """Return whether worlds must be checked before this action; count the action."""
        self._until -= 1
        if self._until > 0:
            return False
        self._until = self.pause
        return True

    def renew(self, level: Array) -> None:
        """Draw the next push of worlds whose last one is over, by their levels (worlds,)."""
        clock, last = (self.arrays.column(tiles, 0) for tiles in (self.clock, self.last))
        some = self.arrays.subset(clock >= last)
        if some is None:
            return
        xp, since = self.arrays.xp, some.pick(last)
        u = self.random.uniform(some, -3 * self.arrays.int_array(since)[:, None] - self._three)
        size, angle = self._size(u[:, :1], some.pick(level))[:, 0], 2 * math.pi * u[:, 1]
        force = [size * xp.cos(angle), size * xp.sin(angle), 0 * size]
        soon, late = self.wait
        first = xp.round(since + soon + (late - soon) * u[:, 2])[:, None]
        some.write(self.force, xp.stack(force, 1))
        some.write(self.first, first)
        some.write(self.last, first + self.steps)
