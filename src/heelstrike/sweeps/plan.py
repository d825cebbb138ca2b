"""The values of each world of a sweep.

World w has point w mod P of the grid, where P is the product of the axes' lengths; the last axis
varies fastest. Random values are drawn for each world. So the values of a world depend on its
number, the axes and the seed, and not on the number of worlds or on the worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.sweeps.axes import GridLike, Random, RandomLike, grid_values, parse_random

MAX_WORLDS = 2**40
"""Number of worlds that a sweep must stay below."""


@dataclass(frozen=True)
class SweepPlan:
    """The values of all worlds of a sweep."""

    grid: Mapping[str, tuple[float, ...]]
    random: Mapping[str, Random]
    worlds: int
    seed: int

    @classmethod
    def of(
        cls,
        grid: Mapping[str, GridLike] | None,
        random: Mapping[str, RandomLike] | None,
        worlds: int | None,
        seed: int,
    ) -> SweepPlan:
        """Return a plan from grid and distributions; by default with one world per grid point."""
        axes = {path: grid_values(path, given) for path, given in (grid or {}).items()}
        draws = {path: parse_random(path, given) for path, given in (random or {}).items()}
        if both := sorted(set(axes) & set(draws)):
            raise HeelstrikeError(
                f"'{both[0]}' is both on the grid and random; keep one of them", path=both[0]
            )
        points = prod(len(values) for values in axes.values())
        if worlds is None:
            if not axes:
                raise HeelstrikeError(
                    "the number of worlds is not known; pass it (--worlds 1000), or a grid "
                    "(--grid ground.normal.k=1e3:1e6:log:64)"
                )
            worlds = points
        if not isinstance(worlds, int | np.integer) or not 0 < worlds < MAX_WORLDS:
            raise ParameterError("worlds", worlds, "integers above 0")
        if worlds % points:
            shape = " x ".join(str(len(values)) for values in axes.values())
            near = max(1, round(worlds / points)) * points
            raise HeelstrikeError(
                f"{worlds} worlds are not a multiple of the grid's {shape} = {points} points; use "
                f"{near}, or omit the number of worlds"
            )
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise ParameterError("seed", seed, "integers of at least 0")
        return cls(axes, draws, int(worlds), int(seed))

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that vary."""
        return (*self.grid, *self.random)

    def values(self, first: int, last: int) -> dict[str, np.ndarray]:
        """Return the values of the worlds first to last - 1, by path."""
        sizes = [len(values) for values in self.grid.values()]
        index = np.unravel_index(np.arange(first, last) % prod(sizes), sizes) if sizes else ()
        found = {
            path: np.array(values)[at]
            for (path, values), at in zip(self.grid.items(), index, strict=True)
        }
        for path, random in self.random.items():
            found[path] = random.draw(self.seed, path, first, last)
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as it stands in a manifest."""
        return {
            "grid": {path: list(values) for path, values in self.grid.items()},
            "random": {path: random.as_list() for path, random in self.random.items()},
            "worlds": self.worlds,
            "seed": self.seed,
        }
