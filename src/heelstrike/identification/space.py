"""The space of a search: parameters by path with their ranges, all above 0, as logarithms.

A stiffness is known to a share of itself, so steps, standard errors and the combinations that data
determine (apart.py) are all of logarithms: x = ln p, and c / sqrt(k) is a direction in x.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heelstrike.contact.restitution import Floats
from heelstrike.errors import HeelstrikeError

Search = Mapping[Any, tuple[float, float]]
"""Least and most by path; several paths, a tuple as the key, share one number."""
DECADE = 10.0
"""Default range: the law's own value divided and multiplied by this."""


@dataclass(frozen=True)
class Space:
    """The parameters that are searched, in order."""

    names: tuple[str, ...]
    """The path; of several that share a number, the first."""
    paths: tuple[tuple[str, ...], ...]
    low: Floats
    """Logarithm of the lower bounds, (p,)."""
    high: Floats

    @classmethod
    def of(cls, search: Search) -> Space:
        if not search:
            raise HeelstrikeError(
                "nothing to identify; name parameters and their ranges: "
                "search={'normal.k': (1e3, 1e5)}"
            )
        paths = tuple((key,) if isinstance(key, str) else tuple(key) for key in search)
        ranges = []
        for one, given in zip(paths, search.values(), strict=True):
            least, most = _pair(one[0], given)
            if not 0 < least < most < np.inf:
                raise HeelstrikeError(
                    f"the range of {one[0]} is ({least:g}, {most:g}); give (least, most), "
                    "with 0 < least < most"
                )
            ranges.append((np.log(least), np.log(most)))
        low, high = np.array(ranges).T
        return cls(tuple(one[0] for one in paths), paths, low, high)

    def __len__(self) -> int:
        return len(self.names)

    def values(self, x: Floats) -> dict[str, Floats]:
        """Return parameters by path, one value per set, of the rows of x."""
        return {
            path: np.exp(column)
            for one, column in zip(self.paths, x.T, strict=True)
            for path in one
        }

    def clipped(self, x: Floats) -> Floats:
        return np.clip(x, self.low, self.high)

    def drawn(self, sets: int, random: np.random.Generator) -> Floats:
        """Draw sets uniformly in the logarithms, (sets, p)."""
        return random.uniform(self.low, self.high, (sets, len(self)))

    def with_range(self, name: str, least: float, most: float) -> Space:
        """Return the space with a further number, which is no parameter of the law."""
        return Space(
            (*self.names, name),
            (*self.paths, (name,)),
            np.append(self.low, np.log(least)),
            np.append(self.high, np.log(most)),
        )

    def prefixed(self, prefix: str) -> Space:
        """Return the space with a prefix before every path."""
        paths = tuple(tuple(prefix + path for path in one) for one in self.paths)
        return Space(self.names, paths, self.low, self.high)


def around(values: Mapping[str, Floats]) -> dict[str, tuple[float, float]]:
    """Return a range for every number above 0: a decade to each side."""
    return {
        path: (float(value[0]) / DECADE, float(value[0]) * DECADE)
        for path, value in values.items()
        if value.size == 1 and value[0] > 0
    }


def _pair(name: str, given: object) -> tuple[float, float]:
    try:
        least, most = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise HeelstrikeError(
            f"the range of {name} is two numbers, (least, most), not {given!r:.60}"
        ) from None
    return float(least), float(most)
