"""Parameters and combinations that data determine, from the covariance of their logarithms.

An eigenvector of C whose standard error exceeds VAGUE is a direction in which parameters move
together without effect on the data. The parameters in it are not determined; directions at right
angles to it are: products of powers such as c k^-0.5, which is what rebounds determine of a
linear spring and damper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heelstrike.contact.restitution import Floats

VAGUE = float(np.log(2))
"""Standard error of ln p above which a direction is not determined: a factor of 2."""
INVOLVED = 0.1
"""Share of a parameter in such directions from which it counts as part of them."""
LINKED = 0.05
"""Entry of the projector from which two parameters are in one group."""


@dataclass(frozen=True)
class Combination:
    """A product of powers that the data determine."""

    powers: dict[str, float]
    value: float
    error: float
    """Standard error, as a share of the value."""

    def __str__(self) -> str:
        parts = [
            name if round(power, 2) == 1 else f"{name}^{power:.2g}"
            for name, power in self.powers.items()
        ]
        return f"{' '.join(parts)} = {self.value:.4g} (+- {100 * self.error:.2g} %)"


@dataclass(frozen=True)
class Group:
    """Parameters that the data do not determine one by one, and the combinations that they do."""

    names: tuple[str, ...]
    determined: tuple[Combination, ...]
    """Determined combinations; empty if the data do not depend on these parameters."""

    def __str__(self) -> str:
        if not self.determined:
            return f"the data say nothing of {', '.join(self.names)}"
        combinations = "; ".join(map(str, self.determined))
        names = ", ".join(self.names)
        return f"the data do not determine {names} one by one; they determine {combinations}"


def groups(names: tuple[str, ...], x: Floats, covariance: Floats) -> tuple[Group, ...]:
    """Return the groups that are not determined; empty if all parameters are."""
    w, v = np.linalg.eigh(covariance)
    vague = w > VAGUE**2
    lost = v[:, vague] @ v[:, vague].T
    kept = (v[:, ~vague] * np.maximum(w[~vague], 0)) @ v[:, ~vague].T
    found = []
    for members in _linked(lost):
        powers = _determined(lost[np.ix_(members, members)])
        made = [_combination(names, x, kept, members, row) for row in powers]
        found.append(Group(tuple(names[i] for i in members), tuple(made)))
    return tuple(found)


def _linked(lost: Floats) -> list[list[int]]:
    """Return groups of parameters that share undetermined directions."""
    left = [i for i in range(len(lost)) if lost[i, i] > INVOLVED]
    found = []
    while left:
        group, edge = [left[0]], [left.pop(0)]
        while edge:
            here = edge.pop()
            near = [j for j in left if abs(lost[here, j]) > LINKED]
            left = [j for j in left if j not in near]
            group += near
            edge += near
        found.append(sorted(group))
    return found


def _determined(lost: Floats) -> list[Floats]:
    """Return the powers of the determined directions of a group; the largest is 1."""
    w, v = np.linalg.eigh(lost)
    rows = v[:, w < 0.5].T
    return [row / row[np.argmax(np.abs(row))] for row in rows]


def _combination(
    names: tuple[str, ...], x: Floats, kept: Floats, members: list[int], row: Floats
) -> Combination:
    full = np.zeros(len(x))
    full[members] = row
    order = sorted(members, key=lambda i: -full[i])
    powers = {names[i]: float(full[i]) for i in order if abs(full[i]) > LINKED}
    return Combination(powers, float(np.exp(full @ x)), float(np.sqrt(full @ kept @ full)))
