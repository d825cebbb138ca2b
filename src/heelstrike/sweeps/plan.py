"""Which world has which values.

World w has point w mod P of the grid, P the product of the axes' lengths; the last axis varies
fastest. What is random is drawn for each world. So a world's values depend on its number, the axes
and the seed: not on the number of worlds, and not on who computes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.sweeps.axes import GridLike, Random, RandomLike, grid_values, random_of

MOST = 2**40
"""Worlds of a sweep."""


@dataclass(frozen=True)
class Plan:
    """The worlds of a sweep."""

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
    ) -> Plan:
        """From what a user gives; one point of the grid a world unless told otherwise."""
        axes = {path: grid_values(path, given) for path, given in (grid or {}).items()}
        draws = {path: random_of(path, given) for path, given in (random or {}).items()}
        if twice := sorted(set(axes) & set(draws)):
            raise HeelstrikeError(f"'{twice[0]}' is on the grid and random; keep one of them")
        points = prod(len(values) for values in axes.values())
        if worlds is None:
            if not axes:
                raise HeelstrikeError(
                    "say how many worlds (--worlds 1000), or give a grid: "
                    "--grid ground.normal.k=1e3:1e6:log:64"
                )
            worlds = points
        if not isinstance(worlds, int | np.integer) or not 0 < worlds < MOST:
            raise HeelstrikeError(f"worlds is a whole number above 0, not {worlds!r}")
        if worlds % points:
            shape = " x ".join(str(len(values)) for values in axes.values())
            near = max(1, round(worlds / points)) * points
            raise HeelstrikeError(
                f"{worlds} worlds are no multiple of the grid's {shape} = {points} points; take "
                f"{near}, or leave the number of worlds out"
            )
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise HeelstrikeError(f"the seed is a whole number of at least 0, not {seed!r}")
        return cls(axes, draws, int(worlds), int(seed))

    @property
    def paths(self) -> tuple[str, ...]:
        return (*self.grid, *self.random)

    def values(self, first: int, last: int) -> dict[str, np.ndarray]:
        """By path, of the worlds first to last - 1."""
        sizes = [len(values) for values in self.grid.values()]
        index = np.unravel_index(np.arange(first, last) % prod(sizes), sizes) if sizes else ()
        found = {
            path: np.array(values)[at]
            for (path, values), at in zip(self.grid.items(), index, strict=True)
        }
        for path, random in self.random.items():
            found[path] = random.drawn(self.seed, path, first, last)
        return found

    def as_dict(self) -> dict[str, Any]:
        """For a manifest."""
        return {
            "grid": {path: list(values) for path, values in self.grid.items()},
            "random": {path: random.as_list() for path, random in self.random.items()},
            "worlds": self.worlds,
            "seed": self.seed,
        }
