"""Gymnasium environments over the worlds of a simulator; they need the extra heelstrike[gym].

Importing this package registers `heelstrike/Stand-v0` with Gymnasium.

environments.py        hs.Environments, the vector environment
single_environment.py  one world, and the functions that Gymnasium calls
settings.py            checks and defaults of its arguments
task.py                the default task: observation, reward and the end of an episode
observation.py         the quantities from which a task is computed
actions.py             actions as positions or torques
episode_start.py       the start of an episode, and parameters that vary
policy.py              policies from ONNX files
random_numbers.py      random numbers of each world     pushes.py    random pushes
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

from heelstrike.environments.environments import Environments
from heelstrike.environments.episode_start import Draw
from heelstrike.environments.observation import Observation
from heelstrike.environments.pushes import Pushes
from heelstrike.environments.single_environment import (
    SingleEnvironment,
    make_stand,
    make_stand_vector,
)

__all__ = ["Draw", "Environments", "Observation", "Pushes", "SingleEnvironment"]

gymnasium.register(
    id="heelstrike/Stand-v0",
    entry_point=make_stand,
    vector_entry_point=make_stand_vector,
)
