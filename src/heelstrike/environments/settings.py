"""What an environment is given, checked: the simulator it stands on, its modes and its hooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from gymnasium.vector import AutoresetMode

from heelstrike.environments import task
from heelstrike.environments.arrays import Arrays
from heelstrike.environments.seen import Seen
from heelstrike.errors import HeelstrikeError
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo
from heelstrike.simulate.scene_file import SceneFile, load_scene
from heelstrike.simulate.simulator import Simulator
from heelstrike.simulate.target import check_choice

if TYPE_CHECKING:
    from heelstrike.environments.graph import Replay

Source: TypeAlias = str | os.PathLike[str] | SceneFile | Scene | Simulator
Hook: TypeAlias = Callable[[Seen], Any]
Started: TypeAlias = tuple[Simulator, np.ndarray, np.ndarray]


def simulator(source: Source, worlds: int | None, dtype: str | None, device: str | None) -> Started:
    """The simulator, and where an episode starts: q, v."""
    if isinstance(source, str | os.PathLike):
        source = load_scene(source)
    many, real, place = 1 if worlds is None else worlds, dtype or "float32", device or "cpu"
    if isinstance(source, SceneFile):
        return source.simulator(many, place, dtype=real), *source.start
    if isinstance(source, Scene):
        source = Simulator(source, control=Servo(), worlds=many, dtype=real, device=place)
    elif not isinstance(source, Simulator):
        raise HeelstrikeError(
            "environments are made of a scene's name or file, an hs.Scene or an hs.Simulator, not "
            f"{source!r:.60}"
        )
    own = {"worlds": source.worlds, "dtype": source.dtype, "device": source.device}
    for name, said in (("worlds", worlds), ("dtype", dtype), ("device", device)):
        if said not in (None, own[name]):
            raise HeelstrikeError(
                f"the simulator's {name} is {own[name]}, not {said}; leave it out here"
            )
    q, v = (np.atleast_2d(source.start[name])[0] for name in ("q", "v"))
    return source, q, v


def arrays(sim: Simulator) -> Arrays:
    """Of the device that it runs on."""
    if sim.device == "cpu":
        return Arrays(sim)
    from heelstrike.environments.on_gpu import GpuArrays

    return GpuArrays(sim)


def replay(
    arrays: Arrays, asked: bool | None, own: Sequence[Any], work: Any, held: Any
) -> Replay | None:
    """Who replays actions: on a GPU, if the user asks for it or has no functions of `own` there."""
    if arrays.sim.device == "cpu":
        if asked:
            raise HeelstrikeError('graph=True is for device="cuda": a CPU launches nothing')
        return None
    ours = (task.observation, task.reward, task.fell)
    wanted = all(x in ours for x in own if callable(x)) if asked is None else asked
    if not wanted:
        return None
    from heelstrike.environments.graph import Replay
    from heelstrike.environments.on_gpu import GpuArrays

    assert isinstance(arrays, GpuArrays)
    return Replay(arrays, work, held, bool(asked))


def mode(given: str | AutoresetMode) -> AutoresetMode:
    """Of Gymnasium's, by its name in small letters."""
    if isinstance(given, AutoresetMode):
        return given
    check_choice("autoreset", given, [each.name.lower() for each in AutoresetMode])
    return AutoresetMode[given.upper()]


def action_limit(episode: float, period: float) -> int:
    """Actions of an episode [s]."""
    if not (isinstance(episode, int | float) and period <= episode < 1e6):
        raise HeelstrikeError(
            f"an episode is a time [s] of at least one action, {period:g} s, not {episode!r}"
        )
    return int(np.ceil(episode / period - 1e-9))


def seeds(given: int | Sequence[int] | None, worlds: int) -> Sequence[int] | None:
    """One a world."""
    if given is None:
        return None
    found = range(given, given + worlds) if isinstance(given, int) else given
    if len(found) != worlds:
        raise HeelstrikeError(f"seed is one number, or {worlds} numbers, not {len(found)}")
    return found


def check_hooks(seen: Seen, worlds: int, hooks: tuple[Hook, Hook, Hook]) -> int:
    """Asks the user's functions once; the size of an observation."""
    observation, *rest = (hook(seen) for hook in hooks)
    shape = tuple(np.shape(observation))
    if len(shape) != 2 or shape[0] != worlds:
        raise HeelstrikeError(
            f"observation returns an array of shape ({worlds}, n), a row a world, not {shape}"
        )
    for name, answer in zip(("reward", "terminated"), rest, strict=True):
        if tuple(np.shape(answer)) != (worlds,):
            raise HeelstrikeError(
                f"{name} returns one value a world, shape ({worlds},), not "
                f"{tuple(np.shape(answer))}"
            )
    return shape[1]
