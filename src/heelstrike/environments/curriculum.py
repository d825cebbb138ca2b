"""Curricula: how hard the next episode of a world is, as a function of its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import TypeAlias

from heelstrike.environments.arrays import Array
from heelstrike.environments.observation import Observation


@dataclass(frozen=True)
class Progress:
    """What a curriculum knows of all worlds, of which some end an episode; (worlds,) each."""

    state: Observation
    """State at the end of the episode."""
    level: Array
    """Level of the episode, 0 to 1."""
    share: Array
    """Length of the episode over the time limit, 0 to 1."""
    reward: Array
    """Sum of the rewards of the episode."""
    actions: Array
    """Number of actions since the environment was made, (1,)."""

    @property
    def xp(self) -> ModuleType:
        """The module of these arrays, numpy or torch."""
        return self.state.xp


Curriculum: TypeAlias = Callable[[Progress], Array]
"""Returns the levels of the next episodes, (worlds,); they are clipped to 0 and 1."""


def by_survival(p: Progress) -> Array:
    """Raise the level by 0.1 after a full episode, and lower it by 0.1 after less than half."""
    return p.level + 0.1 * (p.share >= 1) - 0.1 * (p.share < 0.5)
