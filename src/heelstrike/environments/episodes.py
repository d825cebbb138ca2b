"""Episodes: what worlds draw when they begin one, and what changes while it lasts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from heelstrike.checks import instance, mapping, numbers
from heelstrike.environments.arrays import Array, Arrays, WorldSubset
from heelstrike.environments.changes import Changes, ChangeSchedule
from heelstrike.environments.commands import Commands, CommandSchedule
from heelstrike.environments.curriculum import Curriculum
from heelstrike.environments.episode_start import Draw, Start, started
from heelstrike.environments.observation import StateLayout
from heelstrike.environments.pushes import Pushes, PushSchedule
from heelstrike.environments.random_numbers import WorldRandom
from heelstrike.environments.ranges import Range
from heelstrike.environments.varied import OwnValues, VariedParameters
from heelstrike.errors import HeelstrikeError
from heelstrike.scene.sensor import MAX_SEED, SEED
from heelstrike.scene.terrain import Terrain


@dataclass(frozen=True)
class Happenings:
    """What an environment draws, besides its parameters."""

    start: Start
    pushes: Pushes | None = None
    push_path: str = ""
    """Path of the parameters of the pushes."""
    commands: Commands | None = None
    changes: Changes | None = None
    terrain: Terrain | None = None
    curriculum: Curriculum | None = None


class Episodes:
    """The beginnings of episodes and the schedules of their events."""

    def __init__(
        self,
        arrays: Arrays,
        layout: StateLayout,
        happenings: Happenings,
        q0: np.ndarray,
        v0: np.ndarray,
        hold: int,
    ) -> None:
        self.arrays, self.layout, self.happenings = arrays, layout, happenings
        sim, self._random = arrays.sim, WorldRandom(arrays)
        self._q0, self._v0 = arrays.real_array(q0), arrays.real_array(v0)
        self._initial = {name: arrays.real_array(sim.state.initial(name)) for name in sim.state}
        self._own = OwnValues(sim)
        self._level = arrays.zeros(arrays.shape[0], 1, arrays.shape[1])
        self._level += float(happenings.curriculum is None)
        layout.readable["level"] = self._level
        self._origins: Array = None
        if happenings.terrain is not None:
            self._origins = arrays.real_array(happenings.terrain.origins.reshape(-1, 3))
        self._pushes = self._commands = self._changes = None
        if (pushes := happenings.pushes) is not None:
            path = happenings.push_path
            self._pushes = PushSchedule(arrays, self._random, pushes, path, layout.dt, hold)
        if (commands := happenings.commands) is not None:
            instance("commands", commands, Commands, "hs.Commands(...)")
            self._commands = CommandSchedule(arrays, self._random, commands, layout.dt)
            layout.readable["command"] = self._commands.tiles
            layout.command_names = self._commands.names
        if (changes := happenings.changes) is not None:
            instance("changes", changes, Changes, "hs.Changes(...)")
            changed = VariedParameters(arrays, changes.ranges, self._own)
            layout.parameters |= changed.tiles
            self._changes = ChangeSchedule(arrays, self._random, changes, layout.dt, changed)

    @property
    def vary(self) -> Mapping[str, Range]:
        """Ranges of parameters by path; a mapping whose entries cannot be assigned."""
        return self._ranges

    @vary.setter
    def vary(self, ranges: Mapping[str, Range] | None) -> None:
        allowed = "ranges by path: {'ground.friction.mu_k': (0.3, 0.8)}"
        given = dict(mapping("vary", {} if ranges is None else ranges, allowed))
        every = given
        if SEED in self.arrays.sim.parameters:  # noise of sensors differs from episode to episode
            every = {SEED: lambda u: MAX_SEED * u} | given
        self._varied = VariedParameters(self.arrays, every, self._own)
        self._ranges = MappingProxyType(given)
        self.layout.parameters |= {path: self._varied.tiles[path] for path in given}

    @property
    def level(self) -> Array:
        """Level of each world, (worlds,)."""
        return self.arrays.column(self._level, 0)

    @property
    def pushes_due(self) -> bool:
        """Whether pushes must be checked before this action; reading it counts the action."""
        return self._pushes is not None and self._pushes.due()

    def renew(self, pushes: bool) -> None:
        """Draw what is due before an action."""
        if self._pushes is not None and pushes:
            self._pushes.renew(self.level)
        if self._commands is not None:
            self._commands.renew(self.level)
        if self._changes is not None:
            self._changes.renew(self.level)

    def command(self, values: Array) -> None:
        """Set the commands of all worlds, (worlds, n), until the next draw."""
        if self._commands is None:
            raise HeelstrikeError("these environments have no commands; pass commands= to them")
        shape = self.arrays.worlds, len(self._commands.names)
        columns = ", ".join(self._commands.names)
        found = numbers("commands", values, [shape], f"{shape[0]} rows of {columns}")
        self.arrays.fill(self._commands.tiles, self.arrays.real_array(found))

    def begin(self, some: WorldSubset, seeds: Sequence[int] | None, level: Array | None) -> None:
        """Put worlds at the start of an episode, with new levels (worlds,) if they are passed."""
        self._random.begin(some, seeds)
        if level is not None:
            some.write(self._level, some.pick(level.clip(0.0, 1.0))[:, None])
        draw = Draw(self._random, some, self._q0, self._v0, lambda: self.level)
        q, v = started(self.happenings.start, draw)
        if self._origins is not None:
            q[:, :3] += self._origin(some, draw)
        for name, value in (self._initial | {"q": q, "v": v}).items():
            some.write(self.layout.tiles[name], value)
        if self._changes is not None:
            self._changes.begin(some)
        if self._varied.numbers:
            self._varied.write(some, draw.uniform(self._varied.numbers), draw.level)
        if self._pushes is not None:
            self._pushes.begin(some)
        if self._commands is not None:
            self._commands.begin(some, self.level)

    def _origin(self, some: WorldSubset, draw: Draw) -> Array:
        """Return the places on the terrain at which worlds begin, (count, 3)."""
        terrain = self.happenings.terrain
        assert terrain is not None
        u = draw.uniform(2)
        if self.happenings.curriculum is None:
            some.write(self._level, u[:, 1:])
        rows, kinds = terrain.levels, len(terrain.kinds)
        row = (rows * draw.level).clip(0, rows - 1)
        kind = (kinds * u[:, 0]).clip(0, kinds - 1)
        whole = self.arrays.index
        return self._origins[kinds * whole(row) + whole(kind)]
