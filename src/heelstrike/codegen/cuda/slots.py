"""Where in memory values are: those that one warp makes and another reads in shared memory, those
that a swarm's member keeps for itself in its row.

A value has a slot from the phase in which it is written to the last one in which it is read; then
another may have it. Values of a crew's or a swarm's members lie side by side, so that a member
finds its own by its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heelstrike.codegen.cuda.crews import Places
from heelstrike.ir.code import Place


@dataclass(frozen=True)
class Life:
    """Phases in which a value is needed."""

    first: int
    last: int

    def meets(self, other: Life) -> bool:
        return self.first <= other.last and other.first <= self.last

    def with_(self, other: Life) -> Life:
        return Life(min(self.first, other.first), max(self.last, other.last))


ALWAYS = Life(0, 2**31)


def slots(lives: dict[Place, Life], groups: Sequence[Places]) -> dict[Place, int]:
    """The slot of each value; `groups` are those that lie side by side if they can, the first ones
    before others.
    """
    found: dict[Place, int] = {}
    placed: list[tuple[Life, int, int]] = []
    left = dict.fromkeys(lives)
    rows = []
    for group in (*groups, *((place,) for place in lives)):
        if all(place in left for place in group) and len(set(group)) == len(group):
            rows.append(group)
            for place in group:
                del left[place]
    for row in sorted(rows, key=lambda row: -len(row)):
        life = lives[row[0]]
        for place in row[1:]:
            life = life.with_(lives[place])
        taken = sorted((a, b) for other, a, b in placed if life.meets(other))
        start = 0
        for a, b in taken:
            if start + len(row) <= a:
                break
            start = max(start, b)
        placed.append((life, start, start + len(row)))
        found |= {place: start + k for k, place in enumerate(row)}
    return found
