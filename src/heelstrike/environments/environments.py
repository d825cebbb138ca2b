"""A Gymnasium vector environment: one compiled step for all worlds, an action every few steps.

envs = hs.Environments("stand", worlds=256)
observation, info = envs.reset(seed=0)
observation, reward, terminated, truncated, info = envs.step(envs.action_space.sample())
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike

from heelstrike.checks import count, mapping
from heelstrike.environments import settings, task
from heelstrike.environments.actions import Actions
from heelstrike.environments.arrays import Array
from heelstrike.environments.episode_start import (
    Draw,
    Range,
    Start,
    VariedParameters,
    noisy_start,
)
from heelstrike.environments.observation import Observation, StateLayout
from heelstrike.environments.pushes import Pushes, PushSchedule, add_push_slot
from heelstrike.environments.random_numbers import WorldRandom
from heelstrike.environments.settings import Hook, Source
from heelstrike.errors import HeelstrikeError
from heelstrike.scene.sensor import Sensor
from heelstrike.simulate.run_options import MANY_WORLDS

if TYPE_CHECKING:
    from heelstrike.view.render.live import WorldCamera

Step = tuple[Array, Array, Array, Array, dict[str, Any]]
"""Observation, reward, terminated, truncated and info."""


class Environments(VectorEnv[Array, Array, Array]):
    """The worlds of a simulator as a Gymnasium vector environment for reinforcement learning."""

    def __init__(
        self,
        scene: Source = "stand",
        worlds: int | None = None,
        *,
        hold: int = 20,
        episode: float = 10.0,
        action: str = "position",
        scale: ArrayLike | None = None,
        observation: Hook = task.observation,
        reward: Hook = task.reward,
        terminated: Hook = task.fell,
        critic: Hook | None = None,
        noise: tuple[float, float] = (0.01, 0.05),
        start: Start | None = None,
        pushes: Pushes | None = None,
        vary: Mapping[str, Range] | None = None,
        sensors: Sequence[str | Sensor] = (),
        autoreset: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        dtype: str | None = None,
        device: str | None = None,
        threads: int | None = None,
        graph: bool | None = None,
        render_mode: str | None = None,
        width: int = 320,
    ) -> None:
        """Make the worlds and compile their step.

        Args:
            scene: Name of a bundled scene, a .toml file, a SceneFile, an hs.Scene with its default
                servo, or an hs.Simulator.
            worlds: Number of worlds; by default 1, or the simulator's.
            hold: Number of steps per action.
            episode: Time after which an episode is truncated [s].
            action: "position" of the servo's joints, or "torque".
            scale: Position [rad or m] or torque [N m or N] of the action 1, for all joints or each;
                by default 0.25 rad, or the torque limits.
            observation: Function of an `Observation` that returns what a policy sees.
            reward: Function of an `Observation` that returns the reward of each world.
            terminated: Function of an `Observation` that returns which episodes ended.
            critic: Function of an `Observation` that returns what a critic sees besides, in
                info["critic"].
            noise: Largest deviations of joint positions [rad or m] and velocities at the start.
            start: Function of a `Draw` that returns q and v, in place of `noise`.
            pushes: Random pushes, if any.
            vary: Ranges of parameters, by path, from which each episode draws.
            sensors: Quantities that every step measures, besides the scene's own.
            autoreset: Mode of Gymnasium: "next_step", "same_step" or "disabled".
            dtype: "float32" (default) or "float64".
            device: "cpu" (default) or "cuda".
            threads: Number of threads; by default all cores if there are many worlds.
            graph: Whether a GPU replays an action as a CUDA graph; by default if all functions
                are the default ones.
            render_mode: "rgb_array", so that `render` returns pictures, or None.
            width: Width of pictures [pixels].

        docs/environments.md has examples.
        """
        hooks = {"observation": observation, "reward": reward, "terminated": terminated}
        settings.check_functions(start, critic, **hooks)
        self.sim, q0, v0 = settings.make_simulator(scene, worlds, dtype, device, sensors)
        sim = self.sim
        self.hold, self.num_envs = count("hold", hold), sim.worlds
        cores = os.cpu_count() or 1 if sim.worlds > MANY_WORLDS else 1
        self.threads = cores if threads is None else count("threads", threads)
        period = self.hold * float(sim.parameters["dt"].ravel()[0])
        self.metadata = {
            "autoreset_mode": settings.autoreset_mode(autoreset),
            "render_modes": ["rgb_array"],
            "render_fps": round(1 / period),
        }
        self.render_mode = settings.render_mode(render_mode)
        self._width = count("width", width, least=16, most=4096)
        self._camera: WorldCamera | None = None
        path = add_push_slot(sim, pushes) if pushes is not None else ""
        self._arrays = arrays = settings.make_arrays(sim)
        dt = float(sim.parameters["dt"].ravel()[0])
        self._limit = hold * settings.action_limit(episode, dt * hold)
        self._layout = StateLayout(arrays, q0, dt * hold)
        self._actions = Actions(arrays, action, scale, q0)
        self.action_names = self._actions.names
        """The joint of each entry of an action."""
        self._hooks, self._critic = (observation, reward, terminated), critic
        self._q0, self._v0 = arrays.real_array(q0), arrays.real_array(v0)
        self._start = start or noisy_start(sim.robot, arrays, noise)
        self._random = WorldRandom(arrays)
        self.vary = {} if vary is None else vary
        self._schedule: PushSchedule | None = None
        if pushes is not None:
            self._schedule = PushSchedule(arrays, self._random, pushes, path, dt, hold)
        self._initial = {name: arrays.real_array(sim.state.initial(name)) for name in sim.state}
        with arrays.stream():
            self._all = arrays.mask(np.ones(sim.worlds, bool))
            self._done = ~self._all
            self._impulse = 1 * self._layout.impulse
            self._action = arrays.zeros(sim.worlds, self._actions.size)
            self._begin(self._all)
            size = settings.check_hooks(self._observe(), sim.worlds, self._hooks, critic)
        real = np.dtype(str(arrays.real).removeprefix("torch."))
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), real)
        self.single_action_space = gymnasium.spaces.Box(-1, 1, (self._actions.size,))
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._seeded = False
        functions = [observation, reward, terminated, critic, start, *(vary or {}).values()]
        self._replay = settings.make_replay(arrays, graph, functions, self._advance, self._held)

    @property
    def graph(self) -> bool:
        """True if actions are replayed as CUDA graphs."""
        return self._replay is not None and self._replay.captures

    @property
    def max_episode_steps(self) -> int:
        """Number of actions after which an episode is truncated."""
        return self._limit // self.hold

    @property
    def episode_steps(self) -> Array:
        """Number of actions of each world since its episode began, (worlds,); may be assigned.

        Learners that start episodes at random lengths assign them; the worlds' clocks follow.
        """
        return self._arrays.column(self._layout.tiles["clock"], 0) // self.hold

    @episode_steps.setter
    def episode_steps(self, lengths: Array) -> None:
        with self._arrays.stream():
            clock = self.hold * self._arrays.real_array(lengths)
            self._arrays.fill(self._layout.tiles["clock"], clock.reshape(-1, 1))

    @property
    def vary(self) -> Mapping[str, Range]:
        """Ranges of parameters by path; assigned ones are drawn from the next episode on.

        Parameters that are no longer varied keep the values that were drawn last.
        """
        return self._varied.ranges

    @vary.setter
    def vary(self, ranges: Mapping[str, Range] | None) -> None:
        allowed = "ranges by path: {'ground.friction.mu_k': (0.3, 0.8)}"
        checked = mapping("vary", {} if ranges is None else ranges, allowed)
        self._varied = VariedParameters(self._arrays, checked)

    def reset(  # type: ignore[override]
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode in all worlds, or in those of the mask options["reset_mask"].

        World i draws from the seed `seed` + i, or from seed[i].
        """
        if isinstance(seed, np.integer):
            seed = int(seed)
        settings.seeds(seed, self.num_envs)
        super().reset(seed=seed % 2**62 if isinstance(seed, int) else None)  # theirs: 0 or above
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**62))
        self._seeded = True
        allowed = "options by name: {'reset_mask': mask}"
        mask = mapping("options", {} if options is None else options, allowed).get("reset_mask")
        with self._arrays.stream():
            chosen = self._all if mask is None else self._mask(mask)
            self._begin(chosen, settings.seeds(seed, self.num_envs))
            self._done[...] = self._done & ~chosen
            self.sim.compiled.check_parameters()  # here, since reading them in a step would copy
            return self._hooks[0](self._observe()), self._groups()

    def step(self, actions: Array) -> Step:
        """Apply an action in each world for `hold` steps."""
        with self._arrays.stream():
            action = self._actions.checked(actions)
            pushes = self._schedule is not None and self._schedule.due()
            return (self._replay or self._advance)(action, pushes)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Return a picture of each world, (height, width, 3) of bytes; None without render_mode."""
        if self.render_mode is None:
            return None
        if self._camera is None:
            from heelstrike.view.render.live import WorldCamera

            self._camera = WorldCamera(self.sim, self._width)
        return tuple(self._camera.image(world) for world in range(self.num_envs))

    def _advance(self, action: Array, pushes: bool) -> Step:
        """Apply an action and return its results.

        On a GPU this is work for the device alone, so that it can be captured: what the next action
        needs is written in place.
        """
        self._action = self._actions.apply(action)
        if self._schedule is not None and pushes:
            self._schedule.renew()
        self._impulse = 1 * self._layout.impulse
        self.sim.step(self.hold, self.threads)
        if self.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP:
            return self._next_step()
        observation, reward, terminated, truncated = self._evaluate()
        info: dict[str, Any] = {}
        if self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP:
            over = terminated | truncated
            if self._begin(over):
                info = {"final_obs": observation, "_final_obs": over}
                info |= {"final_info": {}, "_final_info": over}
                observation = self._hooks[0](self._observe())
        return observation, reward, terminated, truncated, info | self._groups()

    def _held(self, values: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        """Return action and impulses, which the next observation needs; set them if passed."""
        if values is not None:
            self._action, self._impulse = values
        return self._action, self._impulse

    def _next_step(self) -> Step:
        """Return the results; worlds that were done begin an episode in place of their action."""
        restarted = self._done
        begun = self._begin(restarted)
        observation, reward, terminated, truncated = self._evaluate()
        if begun:
            reward = self._arrays.xp.where(restarted, 0 * reward, reward)
            terminated, truncated = terminated & ~restarted, truncated & ~restarted
        self._done[...] = terminated | truncated
        return observation, reward, terminated, truncated, self._groups()

    def _evaluate(self) -> tuple[Array, Array, Array, Array]:
        """Return observation, reward, terminated and truncated."""
        state = self._observe()
        observation, reward, terminated = self._hooks
        late = state.steps >= self._limit
        return observation(state), reward(state), terminated(state) | state.failed, late

    def _groups(self) -> dict[str, Any]:
        """Return further groups of observations by name."""
        return {} if self._critic is None else {"critic": self._critic(self._observe())}

    def _observe(self) -> Observation:
        return Observation(self._layout, self._action, self._impulse)

    def _begin(self, mask: Array, seeds: Sequence[int] | None = None) -> bool:
        """Put worlds at the start of an episode; return whether there may be any."""
        some = self._arrays.subset(mask)
        if some is None:
            return False
        self._random.begin(some, seeds)
        draw = Draw(self._random, some, self._q0, self._v0)
        q, v = self._start(draw)
        for name, value in (self._initial | {"q": q, "v": v}).items():
            some.write(self._layout.tiles[name], value)
        self._varied.begin(some, draw)
        if self._schedule is not None:
            self._schedule.begin(some)
        some.write(self._impulse, self._arrays.zeros(1))
        self._action = 1 * self._action  # a copy: arrays that were returned must not change
        some.put(self._action, 0 * some.pick(self._action))
        return True

    def _mask(self, given: Array) -> Array:
        if tuple(np.shape(given)) != (self.num_envs,):
            raise HeelstrikeError(
                f"reset_mask has the shape {tuple(np.shape(given))}; pass {self.num_envs} booleans"
            )
        return self._arrays.mask(given)
