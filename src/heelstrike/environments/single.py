"""One world as a Gymnasium environment, and what `gymnasium.make` and `make_vec` make."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from heelstrike.environments.environments import Environments
from heelstrike.environments.pushes import Pushes
from heelstrike.environments.settings import Source

STAND: dict[str, Any] = {"scene": "stand", "pushes": Pushes(force=(0.0, 12.0))}
"""heelstrike/Stand-v0: hoap1, pushed to and beyond what its servo withstands."""


class Single(gymnasium.Env[Any, Any]):
    """The only world of an `Environments`; its arguments, but `worlds` and `autoreset`."""

    def __init__(
        self, scene: Source = "stand", *, render_mode: None = None, **options: Any
    ) -> None:
        self.envs = Environments(scene, 1, autoreset=AutoresetMode.DISABLED, **options)
        self.observation_space = self.envs.single_observation_space
        self.action_space = self.envs.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        observation, info = self.envs.reset(seed=seed)
        return observation[0], info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.envs.step(np.asarray(action)[None])
        return observation[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), info


def stand(**options: Any) -> Single:
    """heelstrike/Stand-v0, one world."""
    return Single(**(STAND | options))


def stands(num_envs: int = 1, **options: Any) -> Environments:
    """heelstrike/Stand-v0, many worlds."""
    return Environments(worlds=num_envs, **(STAND | options))
