"""Parameters that differ between worlds and episodes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from heelstrike.environments.arrays import Array, Arrays, WorldSubset
from heelstrike.environments.ranges import Drawing, Range
from heelstrike.errors import HeelstrikeError
from heelstrike.simulate.simulator import Simulator


class OwnValues:
    """Values that parameters had before any of them was drawn, by path."""

    def __init__(self, sim: Simulator) -> None:
        self._sim = sim
        self._values: dict[str, np.ndarray] = {}

    def __getitem__(self, path: str) -> np.ndarray:
        """Return the value of a parameter in the first world, (size,); raise if it is unknown."""
        if path not in self._values:
            self._sim.compiled.add_parameters([path])
            self._values[path] = np.atleast_2d(self._sim.parameters[path])[0]
        return self._values[path]


class VariedParameters:
    """Parameters with ranges, of which each world has its own values."""

    def __init__(self, arrays: Arrays, ranges: Mapping[str, Range], own: OwnValues) -> None:
        """Make parameters vary per world; raise if the ends of a range are not allowed."""
        self.ranges = dict(ranges)
        sim = arrays.sim
        if "dt" in ranges:
            raise HeelstrikeError(
                "all worlds of an environment share one time step; remove dt from vary", path="dt"
            )
        self._drawings = {}
        for path, given in ranges.items():
            drawing = self._drawings[path] = Drawing(arrays, path, given, own[path])
            for end in drawing.extremes():
                sim.parameters.checked(path, end, sim.worlds)
        self.tiles = {path: arrays.tiles(path) for path in ranges}
        """Present values by path, as tiles."""
        self._own = {path: arrays.real_array(own[path]) for path in ranges}
        self.numbers = sum(drawing.numbers for drawing in self._drawings.values())
        """Count of random numbers of a draw."""
        sim.parameters.unchecked.update(ranges)

    def write(self, some: WorldSubset, u: Array, level: Array) -> None:
        """Write drawn values of some worlds for u (count, numbers) and their levels (count,)."""
        first = 0
        for path, drawing in self._drawings.items():
            last = first + drawing.numbers
            some.write(self.tiles[path], drawing(u[:, first:last], level))
            first = last

    def restore(self, some: WorldSubset) -> None:
        """Write the parameters' own values."""
        for path, tiles in self.tiles.items():
            some.write(tiles, self._own[path])
