"""Proximal policy optimisation [Schulman2017] of an hs.Environments, in PyTorch, on its device.

Actor and critic are separate perceptrons of standardised observations; advantages are generalised
[Schulman2016]; the learning rate follows the divergence of the policy from its predecessor.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

import heelstrike as hs


@dataclass(frozen=True)
class Settings:
    steps: int = 24  # actions of each world between two updates
    epochs: int = 4
    batches: int = 4
    discount: float = 0.98
    decay: float = 0.95  # of the generalised advantage
    clip: float = 0.2
    divergence: float = 0.015  # wanted, of an update
    entropy: float = 2e-3
    spread: float = 0.4  # of actions at first
    hidden: tuple[int, ...] = (128, 128)


class Standard(nn.Module):
    """Subtracts the mean of all that was seen, and divides by its standard deviation."""

    def __init__(self, size: int) -> None:
        super().__init__()
        for name, value in (("mean", torch.zeros(size)), ("var", torch.ones(size))):
            self.register_buffer(name, value)
        self.register_buffer("count", torch.tensor(1e-4))

    def watch(self, x: Tensor) -> None:
        n, mean, var = x.shape[0], x.mean(0), x.var(0, unbiased=False)
        total, off = self.count + n, mean - self.mean
        both = self.var * self.count + var * n + off * off * self.count * n / total
        self.var.copy_(both / total)
        self.mean.add_(off * n / total)
        self.count.copy_(total)

    def forward(self, x: Tensor) -> Tensor:
        return ((x - self.mean) / (self.var + 1e-4).sqrt()).clamp(-5, 5)


class ActorCritic(nn.Module):
    def __init__(self, seen: int, known: int, actions: int, settings: Settings) -> None:
        super().__init__()
        self.actor = perceptron(seen, *settings.hidden, actions)
        self.critic = perceptron(known, *settings.hidden, 1)
        with torch.no_grad():
            self.actor[-1].weight.mul_(0.01)
            self.actor[-1].bias.zero_()
        self.log_spread = nn.Parameter(torch.full((actions,), settings.spread).log())

    def log_density(self, mean: Tensor, action: Tensor) -> Tensor:
        off = (action - mean) / self.log_spread.exp()
        return (-0.5 * off * off - self.log_spread).sum(1)


def perceptron(first: int, *sizes: int) -> nn.Sequential:
    layers: list[nn.Module] = [Standard(first)]
    for one, two in pairwise((first, *sizes)):
        layers += [nn.Linear(one, two), nn.ELU()]
    return nn.Sequential(*layers[:-1])


class Learner:
    """Learns a policy; worlds must begin an episode in the step that ends one."""

    def __init__(self, envs: hs.Environments, settings: Settings, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.envs, self.settings, self.device = envs, settings, envs.sim.device
        self.seen, self.known = self._both(*envs.reset(seed=seed))
        sizes = self.seen.shape[1], self.known.shape[1], len(envs.action_names)
        self.net = ActorCritic(*sizes, settings).to(self.device)
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.rate, self.samples, self.seconds = 1e-3, 0, [0.0, 0.0]

    def iterate(self) -> dict[str, float]:
        """Act, learn, and return means of the reward's terms and of the ends of episodes."""
        started = time.perf_counter()
        data, found = self._act()
        between = time.perf_counter()
        self._learn(data)
        self.seconds[0] += between - started
        self.seconds[1] += time.perf_counter() - between
        self.samples += len(data["seen"])
        return found

    @torch.no_grad()
    def _act(self) -> tuple[dict[str, Tensor], dict[str, float]]:
        kept: dict[str, list[Tensor]] = {}
        sums: dict[str, Tensor] = {}
        for _ in range(self.settings.steps):
            self.net.actor[0].watch(self.seen)
            self.net.critic[0].watch(self.known)
            mean = self.net.actor(self.seen)
            action = mean + self.net.log_spread.exp() * torch.randn_like(mean)
            value = self.net.critic(self.known)[:, 0]
            row = {"seen": self.seen, "known": self.known, "action": action, "value": value}
            row |= {"density": self.net.log_density(mean, action), "mean": mean}
            *found, reward, fell, late, info = self.envs.step(self._array(action))
            self.seen, self.known = self._both(found[0], info)
            fell, late = self._tensor(fell) > 0, self._tensor(late) > 0
            row["reward"] = self._tensor(reward) + self.settings.discount * value * (late & ~fell)
            row["over"] = (fell | late).float()
            for name, x in row.items():
                kept.setdefault(name, []).append(x)
            terms = info["reward_terms"] | {"falls": fell, "level": self.envs.level}
            for name, term in terms.items():
                sums[name] = sums.get(name, 0.0) + self._tensor(term).mean()
        data = {name: torch.stack(rows) for name, rows in kept.items()}
        self._advantages(data)
        means = {name: float(total) / self.settings.steps for name, total in sums.items()}
        return {name: x.flatten(0, 1) for name, x in data.items()}, means

    def _advantages(self, data: dict[str, Tensor]) -> None:
        later, value = torch.zeros_like(data["value"][0]), self.net.critic(self.known)[:, 0]
        found = torch.zeros_like(data["value"])
        for t in reversed(range(self.settings.steps)):
            on = self.settings.discount * (1 - data["over"][t])
            off = data["reward"][t] + on * value - data["value"][t]
            found[t] = later = off + self.settings.decay * on * later
            value = data["value"][t]
        data["return"] = found + data["value"]
        data["advantage"] = (found - found.mean()) / (found.std() + 1e-8)

    def _learn(self, data: dict[str, Tensor]) -> None:
        given, net = self.settings, self.net
        size = len(data["seen"]) // given.batches
        before = net.log_spread.detach().clone()
        for _ in range(given.epochs):
            order = torch.randperm(len(data["seen"]), device=self.device)
            for first in range(0, size * given.batches, size):
                part = {name: x[order[first : first + size]] for name, x in data.items()}
                mean = net.actor(part["seen"])
                self._adapt(mean.detach(), part["mean"], before)
                ratio = (net.log_density(mean, part["action"]) - part["density"]).exp()
                near = ratio.clamp(1 - given.clip, 1 + given.clip)
                gain = torch.min(ratio * part["advantage"], near * part["advantage"]).mean()
                off = net.critic(part["known"])[:, 0] - part["return"]
                loss = (off * off).mean() - gain - given.entropy * net.log_spread.sum()
                self.optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                self.optimiser.step()

    def _adapt(self, mean: Tensor, old: Tensor, before: Tensor) -> None:
        """Lower the learning rate where the policy moves too far, else raise it."""
        now = self.net.log_spread.detach()
        square = before.exp() ** 2 + (mean - old) ** 2
        moved = float((now - before + square / (2 * now.exp() ** 2) - 0.5).sum(1).mean())
        if moved > 2 * self.settings.divergence:
            self.rate = max(1e-4, self.rate / 1.5)
        elif moved < self.settings.divergence / 2:
            self.rate = min(3e-3, self.rate * 1.5)
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate

    def _both(self, seen: object, info: dict[str, object]) -> tuple[Tensor, Tensor]:
        seen = self._tensor(seen)
        return seen, self._tensor(info["critic"]) if "critic" in info else seen

    def _tensor(self, x: object) -> Tensor:
        return torch.as_tensor(x, device=self.device).float()

    def _array(self, x: Tensor) -> object:
        return x.numpy() if self.device == "cpu" else x
