"""Checks and defaults of an environment's arguments: simulator, modes and the task's functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from heelstrike.checks import instance, mapping
from heelstrike.environments import task
from heelstrike.environments.arrays import Array, Arrays
from heelstrike.environments.changes import Changes
from heelstrike.environments.commands import Commands
from heelstrike.environments.observation import Observation
from heelstrike.environments.ranges import Range
from heelstrike.errors import HeelstrikeError, ParameterError, UnknownNameError
from heelstrike.scene.scene import Scene
from heelstrike.scene.sensor import Sensor
from heelstrike.scene.servo import Servo
from heelstrike.scene.surfaces.height_field import HeightField
from heelstrike.scene.terrain import Terrain
from heelstrike.simulate.scene_file import SceneFile, load_scene
from heelstrike.simulate.simulator import Simulator
from heelstrike.simulate.target import check_choice

if TYPE_CHECKING:
    from heelstrike.environments.cuda_graph import GraphReplay, Held, Work

Source: TypeAlias = str | os.PathLike[str] | SceneFile | Scene | Simulator
"""The name of a bundled scene, a .toml file, a loaded scene, an hs.Scene or an hs.Simulator."""
Hook: TypeAlias = Callable[[Observation], Any]
"""A function of a task: observation, reward or the end of an episode."""
RESET_OPTIONS = "reset_mask", "commands"
"""Names of the options of a reset."""


def make_simulator(
    source: Source,
    worlds: int | None,
    dtype: str | None,
    device: str | None,
    sensors: Sequence[str | Sensor],
) -> tuple[Simulator, np.ndarray, np.ndarray]:
    """Return the simulator, and q and v at the start of an episode."""
    if isinstance(source, str | os.PathLike):
        source = load_scene(source)
    count, real, place = 1 if worlds is None else worlds, dtype or "float32", device or "cpu"
    if isinstance(source, SceneFile):
        return source.simulator(count, place, dtype=real, sensors=sensors), *source.start
    if isinstance(source, Scene):
        source = Simulator(
            source, control=Servo(), worlds=count, dtype=real, device=place, sensors=sensors
        )
        sensors = ()
    elif not isinstance(source, Simulator):
        allowed = "the name or file of a scene, an hs.Scene or an hs.Simulator"
        raise ParameterError("scene", source, allowed)
    if sensors:
        raise HeelstrikeError(
            "a simulator has sensors of its own",
            path="sensors",
            remedy="pass them to hs.Simulator",
        )
    own = {"worlds": source.worlds, "dtype": source.dtype, "device": source.device}
    for name, value in (("worlds", worlds), ("dtype", dtype), ("device", device)):
        if value not in (None, own[name]):
            raise ParameterError(
                name, value, f"{own[name]}, which the simulator has", "omit it here"
            )
    q, v = (np.atleast_2d(source.start[name])[0] for name in ("q", "v"))
    return source, q, v


def make_arrays(sim: Simulator) -> Arrays:
    """Return the arrays of a simulator on its device."""
    if sim.device == "cpu":
        return Arrays(sim)
    if len(sim.compiled.target.gpus) > 1:
        allowed = 'one device, such as "cuda" or "cuda:1", whose arrays a policy reads in place'
        raise ParameterError("device", sim.device, allowed, "use hs.Environments for each GPU")
    from heelstrike.environments.gpu_arrays import GpuArrays

    return GpuArrays(sim)


def make_replay(
    arrays: Arrays, graph: bool | None, functions: Sequence[object], work: Work, held: Held
) -> GraphReplay | None:
    """Return the replay of actions as CUDA graphs on a GPU; None if none are used.

    Unless `graph` says so, they are used if all functions of the task are the default ones.
    """
    if graph is not None:
        instance("graph", graph, bool, "True, False or None")
    if arrays.sim.device == "cpu":
        if graph:
            raise HeelstrikeError('graph=True needs device="cuda"; omit it on a CPU')
        return None
    ours = (task.observation, task.reward, task.fell)
    default = all(x in ours for x in functions if callable(x))
    if not (default if graph is None else graph):
        return None
    from heelstrike.environments.cuda_graph import GraphReplay
    from heelstrike.environments.gpu_arrays import GpuArrays

    assert isinstance(arrays, GpuArrays)
    return GraphReplay(arrays, work, held, bool(graph))


def autoreset_mode(given: str | AutoresetMode) -> AutoresetMode:
    """Return a mode of Gymnasium by its lower-case name."""
    if isinstance(given, AutoresetMode):
        return given
    check_choice("autoreset mode", given, [each.name.lower() for each in AutoresetMode])
    return AutoresetMode[given.upper()]


def render_mode(given: str | None) -> str | None:
    """Return a mode of rendering."""
    if given is not None:
        check_choice("render_mode", given, ["rgb_array"])
    return given


def action_limit(episode: float, period: float) -> int:
    """Return the number of actions of an episode [s] with a period of actions [s]."""
    if not (isinstance(episode, int | float) and period <= episode < 1e6):
        allowed = f"times of at least one action, {period:g} s"
        raise ParameterError("episode", episode, allowed)
    return int(np.ceil(episode / period - 1e-9))


def seeds(given: int | Sequence[int] | None, worlds: int) -> Sequence[int] | None:
    """Return one seed per world, from one number or as many as worlds."""
    if given is None:
        return None
    try:
        found = range(given, given + worlds) if isinstance(given, int) else list(map(index, given))
    except TypeError:
        found = []
    if len(found) != worlds:
        raise ParameterError("seed", given, f"one integer, or {worlds} integers")
    return found


def check_functions(optional: Mapping[str, object], **hooks: object) -> None:
    """Raise if a function of a task is none; optional ones may be None."""
    for name, hook in {**optional, **hooks}.items():
        if not callable(hook) and not (name in optional and hook is None):
            raise ParameterError(name, hook, "a function")


def checked_terrain(sim: Simulator, terrain: object) -> Terrain | None:
    """Return a terrain that is a surface of the scene, or None."""
    if terrain is None:
        return None
    if not isinstance(terrain, Terrain):
        raise ParameterError("terrain", terrain, "hs.Terrain(...)")
    grounds = [x.table for x in sim.scene.surfaces if isinstance(x, HeightField)]
    if not any(np.array_equal(ground, terrain.heights) for ground in grounds):
        raise HeelstrikeError(
            "the scene does not have this terrain",
            path="terrain",
            remedy="build it with hs.Scene(robot, terrain.surface())",
        )
    return terrain


def functions_of(
    vary: Mapping[str, Range] | None, commands: Commands | None, changes: Changes | None
) -> list[Range]:
    """Return all ranges, of which those that are functions must be captured."""
    parts = (vary, commands and commands.ranges, changes and changes.ranges)
    return [given for part in parts for given in (part or {}).values()]


def space(example: Array | Mapping[str, Array]) -> gymnasium.Space[Any]:
    """Return the space of an observation of one world, from that of all worlds."""
    if isinstance(example, Mapping):
        return gymnasium.spaces.Dict({name: space(x) for name, x in example.items()})
    return gymnasium.spaces.Box(-np.inf, np.inf, tuple(example.shape)[1:], _dtype(example))


def reset_options(given: Mapping[str, Any] | None) -> tuple[Array, Array]:
    """Return mask and commands of the options of a reset; None where they are absent."""
    allowed = "options by name: {'reset_mask': mask, 'commands': numbers}"
    own = mapping("options", {} if given is None else given, allowed)
    for name in own:
        if name not in RESET_OPTIONS:
            raise UnknownNameError("option", name, RESET_OPTIONS, path="options")
    mask, commands = (own.get(name) for name in RESET_OPTIONS)
    return mask, commands


def check_hooks(
    state: Observation, worlds: int, hooks: tuple[Hook, Hook, Hook], critic: Hook | None
) -> Array | Mapping[str, Array]:
    """Call the functions of a task once, check what they return, and return the observation."""
    observation, reward, terminated = (hook(state) for hook in hooks)
    groups = (
        {f"observation '{k}'": x for k, x in observation.items()}
        if isinstance(observation, Mapping)
        else {"observation": observation}
    )
    groups |= {} if critic is None else {"critic": critic(state)}
    for name, group in groups.items():
        found = tuple(np.shape(group))
        if len(found) != 2 or found[0] != worlds:
            raise HeelstrikeError(
                f"{name} returned an array of shape {found}; return ({worlds}, n), a row per world"
            )
        if _dtype(group).kind != "f":
            raise HeelstrikeError(
                f"{name} returned an array of {_dtype(group)}; return real numbers, such as 1.0 * x"
            )
    terms = (
        {f"reward '{k}'": x for k, x in reward.items()}
        if isinstance(reward, Mapping)
        else {"reward": reward}
    )
    for name, result in {**terms, "terminated": terminated}.items():
        if tuple(np.shape(result)) != (worlds,):
            raise HeelstrikeError(
                f"{name} returned an array of shape {tuple(np.shape(result))}; return ({worlds},), "
                "a value per world"
            )
    if _dtype(terminated).kind != "b":
        raise HeelstrikeError(
            f"terminated returned an array of {_dtype(terminated)}; return booleans: x < 0.2"
        )
    return observation


def _dtype(array: Array) -> np.dtype:
    """Return the type of an array's numbers, of NumPy or PyTorch."""
    own = getattr(array, "dtype", None)
    return np.asarray(array).dtype if own is None else np.dtype(str(own).removeprefix("torch."))
