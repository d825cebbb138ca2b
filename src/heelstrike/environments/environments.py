"""A Gymnasium vector environment: one compiled step for all worlds, an action every few steps.

envs = hs.Environments("stand", worlds=256)
seen, info = envs.reset(seed=0)
seen, reward, terminated, truncated, info = envs.step(envs.action_space.sample())
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from heelstrike.environments import settings, task
from heelstrike.environments.actions import Actions
from heelstrike.environments.pushes import Pushes, Pushing, make_room
from heelstrike.environments.seen import Layout, Seen
from heelstrike.environments.settings import Hook, Source
from heelstrike.environments.starts import (
    Chance,
    Draw,
    Range,
    Start,
    Varied,
    check_varied,
    noisy,
)
from heelstrike.errors import HeelstrikeError
from heelstrike.simulate.run_options import MANY_WORLDS, positive_integer


class Environments(VectorEnv[Any, Any, Any]):
    """The worlds of a simulator, as reinforcement learning sees them."""

    def __init__(
        self,
        scene: Source = "stand",
        worlds: int | None = None,
        *,
        hold: int = 20,
        episode: float = 10.0,
        action: str = "position",
        scale: Any = None,
        observation: Hook = task.observation,
        reward: Hook = task.reward,
        terminated: Hook = task.fell,
        noise: tuple[float, float] = (0.01, 0.05),
        start: Start | None = None,
        pushes: Pushes | None = None,
        vary: Mapping[str, Range] | None = None,
        autoreset: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        dtype: str | None = None,
        device: str | None = None,
        threads: int | None = None,
        graph: bool | None = None,
    ) -> None:
        """See docs/environments.md. `hold` is the number of steps that an action holds, `episode`
        a time [s]; `observation`, `reward` and `terminated` are functions of a `Seen`, `start` of a
        `Draw`. `graph` says whether a GPU replays an action as a CUDA graph.
        """
        self.sim, q0, v0 = settings.simulator(scene, worlds, dtype, device)
        sim = self.sim
        self.hold, self.num_envs = positive_integer("hold", hold), sim.worlds
        cores = os.cpu_count() or 1 if sim.worlds > MANY_WORLDS else 1
        self.threads = cores if threads is None else positive_integer("threads", threads)
        self.metadata = {"autoreset_mode": settings.mode(autoreset), "render_modes": []}
        path = make_room(sim, pushes) if pushes is not None else ""
        check_varied(sim, vary or {})
        self._arrays = arrays = settings.arrays(sim)
        dt = float(sim.parameters["dt"].ravel()[0])
        self._limit = hold * settings.action_limit(episode, dt * hold)
        self._layout = Layout(arrays, q0, dt * hold)
        self._actions = Actions(arrays, action, scale, q0)
        self.action_names = self._actions.names
        """The joint of each entry of an action."""
        self._hooks = observation, reward, terminated
        self._q0, self._v0 = arrays.given(q0), arrays.given(v0)
        self._start = start or noisy(sim.robot, arrays, noise)
        self._chance = Chance(arrays)
        self._varied = Varied(arrays, vary or {})
        self._pushing: Pushing | None = None
        if pushes is not None:
            self._pushing = Pushing(arrays, self._chance, pushes, path, dt, hold)
        self._initial = {name: arrays.given(sim.state.initial(name)) for name in sim.state}
        with arrays.stream():
            self._all = arrays.mask(np.ones(sim.worlds, bool))
            self._done = ~self._all
            self._impulse = 1 * self._layout.impulse
            self._action = arrays.nothing(sim.worlds, self._actions.size)
            self._begin(self._all)
            size = settings.check_hooks(self._look(), sim.worlds, self._hooks)
        real = np.dtype(str(arrays.real).removeprefix("torch."))
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), real)
        self.single_action_space = gymnasium.spaces.Box(-1, 1, (self._actions.size,))
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._sown = False
        own = [observation, reward, terminated, start, *(vary or {}).values()]
        self._replay = settings.replay(arrays, graph, own, self._advance, self._held)

    @property
    def graph(self) -> bool:
        """Whether actions are replayed as CUDA graphs."""
        return self._replay is not None and self._replay.captures

    # Gymnasium's own

    def reset(  # type: ignore[override]
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode in all worlds, or where options["reset_mask"] holds. World i draws from
        the seed `seed` + i, or from seed[i].
        """
        if isinstance(seed, np.integer):
            seed = int(seed)
        super().reset(seed=seed if isinstance(seed, int) else None)
        if seed is None and not self._sown:
            seed = int(self.np_random.integers(2**62))
        self._sown = True
        mask = (options or {}).get("reset_mask")
        with self._arrays.stream():
            chosen = self._all if mask is None else self._mask(mask)
            self._begin(chosen, settings.seeds(seed, self.num_envs))
            self._done[...] = self._done & ~chosen
            return self._hooks[0](self._look()), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Takes an action in each world, for `hold` steps."""
        with self._arrays.stream():
            action = self._actions.given(actions)
            pushes = self._pushing is not None and self._pushing.due()
            return (self._replay or self._advance)(action, pushes)

    # inside

    def _advance(self, action: Any, pushes: bool) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """An action, and what comes of it. On a GPU all of it is work for the device alone, so that
        it may be captured: what it leaves for the next action is written in place.
        """
        self._action = self._actions.take(action)
        if self._pushing is not None and pushes:
            self._pushing.renew()
        self._impulse = 1 * self._layout.impulse
        self.sim.step(self.hold, self.threads)
        if self.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP:
            return self._next_step()
        observation, reward, ended, cut = self._judge()
        info: dict[str, Any] = {}
        if self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP:
            over = ended | cut
            if self._begin(over):
                info = {"final_obs": observation, "_final_obs": over}
                info |= {"final_info": {}, "_final_info": over}
                observation = self._hooks[0](self._look())
        return observation, reward, ended, cut, info

    def _held(self, values: tuple[Any, Any] | None = None) -> tuple[Any, Any]:
        """What a look after an action is made of: action and impulses; other ones, if given."""
        if values is not None:
            self._action, self._impulse = values
        return self._action, self._impulse

    def _next_step(self) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Worlds that were done begin anew instead of taking their action."""
        again = self._done
        begun = self._begin(again)
        observation, reward, ended, cut = self._judge()
        if begun:
            reward = self._arrays.xp.where(again, 0 * reward, reward)
            ended, cut = ended & ~again, cut & ~again
        self._done[...] = ended | cut
        return observation, reward, ended, cut, {}

    def _judge(self) -> tuple[Any, Any, Any, Any]:
        """Observation, reward, and which episodes ended or are cut off."""
        seen = self._look()
        observation, reward, terminated = self._hooks
        late = seen.steps >= self._limit
        return observation(seen), reward(seen), terminated(seen) | seen.failed, late

    def _look(self) -> Seen:
        return Seen(self._layout, self._action, self._impulse)

    def _begin(self, mask: Any, seeds: Sequence[int] | None = None) -> bool:
        """Puts worlds at the start of an episode; whether there may be any."""
        some = self._arrays.some(mask)
        if some is None:
            return False
        self._chance.begin(some, seeds)
        draw = Draw(self._chance, some, self._q0, self._v0)
        q, v = self._start(draw)
        for name, value in (self._initial | {"q": q, "v": v}).items():
            some.write(self._layout.tiles[name], value)
        self._varied.begin(some, draw)
        if self._pushing is not None:
            self._pushing.begin(some)
        some.write(self._impulse, self._arrays.nothing(1))
        self._action = 1 * self._action  # what was handed out stays as it is
        some.put(self._action, 0 * some.pick(self._action))
        return True

    def _mask(self, given: Any) -> Any:
        if tuple(np.shape(given)) != (self.num_envs,):
            raise HeelstrikeError(
                f"reset_mask is {self.num_envs} booleans, not of shape {tuple(np.shape(given))}"
            )
        return self._arrays.mask(given)
