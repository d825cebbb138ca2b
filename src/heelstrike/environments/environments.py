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

from heelstrike.checks import count
from heelstrike.environments import settings, task
from heelstrike.environments.actions import Actions
from heelstrike.environments.arrays import Array
from heelstrike.environments.changes import Changes
from heelstrike.environments.commands import Commands
from heelstrike.environments.curriculum import Curriculum, Progress
from heelstrike.environments.episode_start import Start, noisy_start
from heelstrike.environments.episodes import Episodes, Happenings
from heelstrike.environments.observation import Observation, StateLayout
from heelstrike.environments.pushes import Pushes, add_push_slot
from heelstrike.environments.ranges import Range
from heelstrike.environments.settings import Hook, Source
from heelstrike.errors import HeelstrikeError
from heelstrike.scene.sensor import Sensor
from heelstrike.scene.terrain import Terrain
from heelstrike.simulate.adaptive import refuse
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
        commands: Commands | None = None,
        changes: Changes | None = None,
        terrain: Terrain | None = None,
        curriculum: Curriculum | None = None,
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
            observation: Function of an `Observation` that returns what a policy sees, an array or
                a dict of arrays by name.
            reward: Function of an `Observation` that returns the reward of each world, or a dict of
                terms by name, whose sum is the reward; they are in info["reward_terms"].
            terminated: Function of an `Observation` that returns which episodes ended.
            critic: Function of an `Observation` that returns what a critic sees besides, in
                info["critic"].
            noise: Largest deviations of joint positions [rad or m] and velocities at the start.
            start: Function of a `Draw` that returns q and v, in place of `noise`.
            pushes: Random pushes, if any.
            commands: Numbers that a policy is asked for, such as a velocity.
            changes: Parameters that change in the middle of an episode.
            terrain: Ground with levels, on whose tiles worlds begin; the scene must have it.
            curriculum: Function of a `Progress` that returns the levels of the next episodes.
            vary: Ranges of parameters, by path, from which each episode draws.
            sensors: Quantities that every step measures, besides the scene's own.
            autoreset: Mode of Gymnasium: "next_step", "same_step" or "disabled".
            dtype: "float32" (default) or "float64".
            device: "cpu" (default), or a GPU: "cuda", or by number "cuda:1".
            threads: Number of threads; by default all cores if there are many worlds.
            graph: Whether a GPU replays an action as a CUDA graph; by default if all functions
                are the default ones.
            render_mode: "rgb_array", so that `render` returns pictures, or None.
            width: Width of pictures [pixels].

        docs/environments.md has examples.
        """
        hooks = {"observation": observation, "reward": reward, "terminated": terminated}
        optional = {"start": start, "critic": critic, "curriculum": curriculum}
        settings.check_functions(optional, **hooks)
        self.sim, q0, v0 = settings.make_simulator(scene, worlds, dtype, device, sensors)
        sim = self.sim
        refuse(sim.compiled.accuracy, "an environment")
        self.hold, self.num_envs = count("hold", hold), sim.worlds
        cores = os.cpu_count() or 1 if sim.worlds > MANY_WORLDS else 1
        self.threads = cores if threads is None else count("threads", threads)
        period = self.hold * float(sim.parameters["dt"].ravel()[0])
        self._set_display(autoreset, render_mode, width, period)
        path = add_push_slot(sim, pushes) if pushes is not None else ""
        self._arrays = arrays = settings.make_arrays(sim)
        self._limit = hold * settings.action_limit(episode, period)
        self._layout = StateLayout(arrays, q0, period, settings.checked_terrain(sim, terrain))
        self._actions = Actions(arrays, action, scale, q0)
        self.action_names = self._actions.names
        """The joint of each entry of an action."""
        self._hooks, self._critic = (observation, reward, terminated), critic
        begin = start or noisy_start(sim.robot, arrays, noise)
        happenings = Happenings(begin, pushes, path, commands, changes, terrain, curriculum)
        self._episodes = Episodes(arrays, self._layout, happenings, q0, v0, self.hold)
        self._episodes.vary = vary
        self._first_episode()
        given: list[object] = [*self._hooks, critic, start, curriculum]
        given += settings.functions_of(vary, commands, changes)
        self._replay = settings.make_replay(arrays, graph, given, self._advance, self._held)

    def _set_display(
        self, autoreset: str | AutoresetMode, render_mode: str | None, width: int, period: float
    ) -> None:
        """Set what Gymnasium asks of episodes and pictures; `period` is that of an action [s]."""
        self.metadata = {
            "autoreset_mode": settings.autoreset_mode(autoreset),
            "render_modes": ["rgb_array"],
            "render_fps": round(1 / period),
        }
        self.render_mode = settings.render_mode(render_mode)
        self._width = count("width", width, least=16, most=4096)
        self._camera: WorldCamera | None = None

    def _first_episode(self) -> None:
        """Begin an episode in all worlds, and check the functions of the task on it."""
        arrays = self._arrays
        with arrays.stream():
            self._all = arrays.mask(np.ones(self.num_envs, bool))
            self._done = ~self._all
            self._impulse = 1 * self._layout.impulse
            self._action = arrays.zeros(self.num_envs, self._actions.size)
            self._last_action, self._previous = 1 * self._action, 1 * self._action
            self._total, self._count = arrays.zeros(self.num_envs), arrays.zeros(1)
            self._zero = arrays.zeros(1)
            self._begin(self._all, first=True)
            found = settings.check_hooks(self._observe(), self.num_envs, self._hooks, self._critic)
        self.single_observation_space = settings.space(found)
        self.single_action_space = gymnasium.spaces.Box(-1, 1, (self._actions.size,))
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._seeded = False

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
        return self._episodes.vary

    @vary.setter
    def vary(self, ranges: Mapping[str, Range] | None) -> None:
        self._episodes.vary = ranges
        if self._replay is not None:
            self._replay.forget()

    @property
    def level(self) -> Array:
        """Level of each world, 0 to 1, (worlds,)."""
        return self._episodes.level

    def reset(  # type: ignore[override]
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode in all worlds, or in those of the mask options["reset_mask"].

        World i draws from the seed `seed` + i, or from seed[i]. options["commands"], (worlds, n),
        are the commands of all worlds in place of those drawn, until the next draw.
        """
        if isinstance(seed, np.integer):
            seed = int(seed)
        settings.seeds(seed, self.num_envs)
        super().reset(seed=seed % 2**62 if isinstance(seed, int) else None)  # theirs: 0 or above
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**62))
        self._seeded = True
        mask, asked = settings.reset_options(options)
        with self._arrays.stream():
            chosen = self._all if mask is None else self._mask(mask)
            self._begin(chosen, settings.seeds(seed, self.num_envs), first=True)
            if asked is not None:
                self._episodes.command(asked)
            self._done[...] = self._done & ~chosen
            self.sim.compiled.check_parameters()  # here, since reading them in a step would copy
            return self._hooks[0](self._observe()), self._groups()

    def step(self, actions: Array) -> Step:
        """Apply an action in each world for `hold` steps."""
        with self._arrays.stream():
            action = self._actions.checked(actions)
            return (self._replay or self._advance)(action, self._episodes.pushes_due)

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
        self._last_action, self._action = 1 * self._previous, self._actions.apply(action)
        self._previous[...] = self._action
        self._episodes.renew(pushes)
        self._impulse = 1 * self._layout.impulse
        self.sim.step(self.hold, self.threads)
        if self.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP:
            return self._next_step()
        observation, reward, terminated, truncated, info = self._evaluate()
        if self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP:
            over = terminated | truncated
            if self._begin(over):
                info |= {"final_obs": observation, "_final_obs": over}
                info |= {"final_info": {}, "_final_info": over}
                observation = self._hooks[0](self._observe())
        return observation, reward, terminated, truncated, info | self._groups()

    def _held(self, values: tuple[Array, ...] | None = None) -> tuple[Array, ...]:
        """Return actions and impulses, which the next observation needs; set them if passed."""
        if values is not None:
            self._action, self._last_action, self._impulse = values
        return self._action, self._last_action, self._impulse

    def _next_step(self) -> Step:
        """Return the results; worlds that were done begin an episode in place of their action."""
        restarted = self._done
        begun = self._begin(restarted)
        observation, reward, terminated, truncated, info = self._evaluate()
        if begun:
            reward = self._arrays.xp.where(restarted, 0 * reward, reward)
            terminated, truncated = terminated & ~restarted, truncated & ~restarted
        self._done[...] = terminated | truncated
        return observation, reward, terminated, truncated, info | self._groups()

    def _evaluate(self) -> Step:
        """Return observation, reward, terminated, truncated, and the terms of the reward."""
        state = self._observe()
        observation, reward, terminated = self._hooks
        late = state.steps >= self._limit
        found = reward(state)
        info = {"reward_terms": found} if isinstance(found, Mapping) else {}
        total = sum(found.values()) if isinstance(found, Mapping) else found
        if self._episodes.happenings.curriculum is not None:
            self._total += total
            self._count += 1
        return observation(state), total, terminated(state) | state.failed, late, info

    def _groups(self) -> dict[str, Any]:
        """Return further groups of observations by name."""
        return {} if self._critic is None else {"critic": self._critic(self._observe())}

    def _observe(self) -> Observation:
        return Observation(self._layout, self._action, self._impulse, self._last_action)

    def _begin(self, mask: Array, seeds: Sequence[int] | None = None, first: bool = False) -> bool:
        """Put worlds at the start of an episode; return whether there may be any.

        Unless it is their first one, the curriculum sets their levels.
        """
        some = self._arrays.subset(mask)
        if some is None:
            return False
        self._episodes.begin(some, seeds, None if first else self._next_level())
        some.write(self._impulse, self._zero)
        begun, where = mask[:, None], self._arrays.xp.where  # new arrays: returned ones stay
        self._action = where(begun, self._zero, self._action)
        self._last_action = where(begun, self._zero, self._last_action)
        self._previous[...] = self._action
        if self._episodes.happenings.curriculum is not None:
            some.put(self._total, 0 * some.pick(self._total))
        return True

    def _next_level(self) -> Array | None:
        """Return the level of each world's next episode, (worlds,), if there is a curriculum."""
        curriculum = self._episodes.happenings.curriculum
        if curriculum is None:
            return None
        state = self._observe()
        share = (state.steps / self._limit).clip(0.0, 1.0)
        found = curriculum(Progress(state, self.level, share, self._total, self._count))
        if (shape := tuple(np.shape(found))) != (self.num_envs,):
            raise HeelstrikeError(
                f"curriculum returned an array of shape {shape}; return ({self.num_envs},), "
                "a level per world"
            )
        return found

    def _mask(self, given: Array) -> Array:
        kind = str(given.dtype if hasattr(given, "dtype") else np.asarray(given).dtype)
        if tuple(np.shape(given)) != (self.num_envs,) or not kind.endswith("bool"):
            raise HeelstrikeError(
                f"reset_mask has the shape {tuple(np.shape(given))} and the type {kind}; pass "
                f"{self.num_envs} booleans"
            )
        return self._arrays.mask(given)
