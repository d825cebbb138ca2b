"""Environments as a VecEnv of rsl_rl, whose arrays are PyTorch's, on a CPU or a GPU."""

from __future__ import annotations

from typing import Any

import torch
from rsl_rl.env import VecEnv
from tensordict import TensorDict

from heelstrike.environments import Environments


class RslVecEnv(VecEnv):  # type: ignore[misc]
    """The worlds of an `Environments`, as rsl_rl expects them."""

    def __init__(self, envs: Environments) -> None:
        self.envs = envs
        self.cfg: dict[str, Any] = {"robot": envs.sim.robot.name, "hold": envs.hold}
        self.num_envs = envs.num_envs
        self.num_actions = len(envs.action_names)
        self.max_episode_length = envs.max_episode_steps
        self.device = envs.sim.device
        self._observation = self._grouped(*envs.reset())

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Number of actions of each world since its episode began."""
        return torch.as_tensor(self.envs.episode_steps, device=self.device).long()

    @episode_length_buf.setter
    def episode_length_buf(self, lengths: torch.Tensor) -> None:
        self.envs.episode_steps = self._array(lengths)

    def get_observations(self) -> TensorDict:
        """Return the present observations by group."""
        return self._observation

    def step(
        self, actions: torch.Tensor
    ) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Apply actions; return observations, rewards, ends of episodes and time-outs."""
        found, reward, terminated, truncated, info = self.envs.step(self._array(actions.detach()))
        self._observation = self._grouped(found, info)
        reward, terminated, truncated = map(self._tensor, (reward, terminated, truncated))
        extras = {"time_outs": truncated & ~terminated}
        return self._observation, reward.float(), (terminated | truncated).long(), extras

    def _grouped(self, observation: Any, info: dict[str, Any]) -> TensorDict:
        groups = dict(observation) if isinstance(observation, dict) else {"policy": observation}
        if "critic" in info or "policy" in groups:
            groups.setdefault("critic", info.get("critic", groups.get("policy")))
        tensors = {name: self._tensor(x).float() for name, x in groups.items()}
        return TensorDict(tensors, batch_size=[self.num_envs], device=self.device)

    def _tensor(self, array: Any) -> torch.Tensor:
        return torch.as_tensor(array, device=self.device)

    def _array(self, tensor: torch.Tensor) -> Any:
        return tensor.cpu().numpy() if self.device == "cpu" else tensor
