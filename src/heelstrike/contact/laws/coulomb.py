"""Dry friction of coupled contacts.

    |f_t| <= mu_s f_n     while the point sticks
    |f_t| =  mu_k f_n     against the slip that sticking would leave

[Sugihara2006] (35), (36). Which of the two holds is found with the impulses (coupled.py); a point
slides only if no impulses inside all cones hold it. mu_s < mu_k: the larger one holds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from heelstrike.parameters import check_numbers, parameter


@dataclass(frozen=True)
class Coulomb:
    """Friction with true rest, for rigid contacts and those that are solved with them."""

    mu_s: float = parameter(1.0, "1", "coefficient at rest")
    mu_k: float = parameter(0.8, "1", "coefficient while sliding")

    sources: ClassVar[tuple[str, ...]] = ("Sugihara2006",)

    def __post_init__(self) -> None:
        check_numbers(self, mu_s=(0, 1e3), mu_k=(0, 1e3))
