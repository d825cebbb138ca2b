"""Gymnasium environments over the worlds of a simulator; they need the extra heelstrike[gym].

Importing this package registers `heelstrike/Stand-v0` and `heelstrike/Walk-v0` with Gymnasium.

environments.py        hs.Environments, the vector environment
single_environment.py  one world, and the functions that Gymnasium calls
settings.py            checks and defaults of its arguments
task.py                the default task: observation, reward and the end of an episode
walk.py                the walking task
observation.py         the quantities from which a task is computed
actions.py             actions as positions or torques
episodes.py            the beginnings of episodes and the schedules of their events
episode_start.py       the state at the start           ranges.py    what is drawn from
varied.py              parameters that differ           curriculum.py   levels by progress
commands.py, pushes.py, changes.py                      drawn again and again, by timetable.py
policy.py, policy_file.py    policies from ONNX files, and how they are written
random_numbers.py      random numbers of each world
arrays.py              the worlds' arrays on a CPU      gpu_arrays.py, cuda_graph.py    on a GPU
"""

from __future__ import annotations

from heelstrike.errors import MissingPackageError

try:
    import gymnasium
except ImportError as error:
    raise MissingPackageError(
        "hs.Environments needs gymnasium, which is not installed; run pip install 'heelstrike[gym]'"
    ) from error

from heelstrike.environments.changes import Changes
from heelstrike.environments.commands import Commands
from heelstrike.environments.curriculum import Progress
from heelstrike.environments.environments import Environments
from heelstrike.environments.episode_start import Draw
from heelstrike.environments.observation import Observation
from heelstrike.environments.pushes import Pushes
from heelstrike.environments.ranges import Factor, Graded
from heelstrike.environments.single_environment import (
    SingleEnvironment,
    make_stand,
    make_stand_vector,
    make_walk,
    make_walk_vector,
)

__all__ = [
    "Changes",
    "Commands",
    "Draw",
    "Environments",
    "Factor",
    "Graded",
    "Observation",
    "Progress",
    "Pushes",
    "SingleEnvironment",
]

gymnasium.register(
    id="heelstrike/Stand-v0",
    entry_point=make_stand,
    vector_entry_point=make_stand_vector,
)
gymnasium.register(
    id="heelstrike/Walk-v0",
    entry_point=make_walk,
    vector_entry_point=make_walk_vector,
)
