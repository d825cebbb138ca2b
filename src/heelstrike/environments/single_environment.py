"""One world as a Gymnasium environment, and the functions that Gymnasium calls."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from heelstrike.environments.arrays import Array
from heelstrike.environments.environments import Environments
from heelstrike.environments.pushes import Pushes
from heelstrike.environments.settings import Source
from heelstrike.environments.walk import walking

STAND: dict[str, Any] = {"scene": "stand", "pushes": Pushes(force=(0.0, 12.0))}
"""Options of heelstrike/Stand-v0: hoap1, pushed harder than its servo alone withstands."""


class SingleEnvironment(gymnasium.Env[Array, Array]):
    """An `Environments` with one world; it takes all arguments except `worlds` and `autoreset`."""

    def __init__(
        self, scene: Source = "stand", *, render_mode: str | None = None, **options: Any
    ) -> None:
        options = {"render_mode": render_mode, "autoreset": AutoresetMode.DISABLED} | options
        self.envs = Environments(scene, 1, **options)
        self.metadata = {name: self.envs.metadata[name] for name in ("render_modes", "render_fps")}
        self.render_mode = self.envs.render_mode
        self.observation_space = self.envs.single_observation_space
        self.action_space = self.envs.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode; return its observation and an empty info."""
        super().reset(seed=seed)
        observation, info = self.envs.reset(seed=seed)
        return observation[0], info

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Apply an action; return observation, reward, terminated, truncated and info."""
        observation, reward, terminated, truncated, info = self.envs.step(np.asarray(action)[None])
        return observation[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self) -> np.ndarray | None:  # type: ignore[override]
        """Return a picture, (height, width, 3) of bytes; None without render_mode."""
        pictures = self.envs.render()
        return None if pictures is None else pictures[0]


def make_stand(**options: Any) -> SingleEnvironment:
    """Return heelstrike/Stand-v0 with one world."""
    return SingleEnvironment(**(STAND | options))


def make_stand_vector(num_envs: int = 1, **options: Any) -> Environments:
    """Return heelstrike/Stand-v0 with many worlds."""
    return Environments(worlds=num_envs, **(STAND | options))


def make_walk(**options: Any) -> SingleEnvironment:
    """Return heelstrike/Walk-v0 with one world."""
    return SingleEnvironment(**walking(**options))


def make_walk_vector(num_envs: int = 1, **options: Any) -> Environments:
    """Return heelstrike/Walk-v0 with many worlds."""
    return Environments(**walking(worlds=num_envs, **options))
