"""Environments as a VecEnv of Stable-Baselines3, whose arrays are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from heelstrike.environments import Environments


class StableBaselinesVecEnv(VecEnv):  # type: ignore[misc]
    """The worlds of an `Environments`, as Stable-Baselines3 expects them."""

    def __init__(self, envs: Environments) -> None:
        self.envs = envs
        self._action: Any = None
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> Any:
        """Begin an episode in all worlds, with the seeds of `seed` if it was called."""
        seeds = None if self._seeds[0] is None else self._seeds
        observation, _ = self.envs.reset(seed=seeds)
        self._reset_seeds()
        self._reset_options()
        return on_cpu(observation)

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for `step_wait`."""
        self._action = actions

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Apply the actions; return observations, rewards, ends of episodes and infos."""
        observation, reward, terminated, truncated, info = self.envs.step(self._action)
        terminated, truncated = on_cpu(terminated), on_cpu(truncated)
        done = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if done.any():
            last = on_cpu(info["final_obs"])
            for i in np.flatnonzero(done):
                late = bool(truncated[i] and not terminated[i])
                own = {n: x[i] for n, x in last.items()} if isinstance(last, dict) else last[i]
                infos[i] = {"terminal_observation": own, "TimeLimit.truncated": late}
        return on_cpu(observation), on_cpu(reward), done, infos

    def get_images(self) -> list[np.ndarray | None]:
        """Return a picture of each world, where the environments have a render_mode."""
        return list(self.envs.render() or [None] * self.num_envs)

    def close(self) -> None:
        """Close the environments."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the environments, once for each world."""
        return [getattr(self.envs, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the environments, which all worlds share."""
        setattr(self.envs, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the environments once; return its result for each world."""
        found = getattr(self.envs, method_name)(*method_args, **method_kwargs)
        return [found] * len(list(self._get_indices(indices)))

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return False for each world: there are no wrappers."""
        return [False] * len(list(self._get_indices(indices)))


def on_cpu(array: Any) -> Any:
    """Return a NumPy array, or a dict of them; a tensor is copied from its device."""
    if isinstance(array, dict):
        return {name: on_cpu(part) for name, part in array.items()}
    return array if isinstance(array, np.ndarray) else array.cpu().numpy()
