"""Models that predict cases: laws in a simulator, MuJoCo, and functions of a set's own."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeWarning
from heelstrike.identification.assembly import Assembly
from heelstrike.identification.motions import Motions, Rollouts
from heelstrike.identification.space import Search
from heelstrike.simulate.simulator import Simulator
from heelstrike.validation.measured_set import Cases, Floats, Model

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True)
class Candidate:
    """A law, and what of it is searched."""

    law: SurfaceLaw
    ranges: Search


@dataclass(frozen=True)
class LawModel(Model):
    """A simulator whose motions begin with the first measured frame and `given["v0"]`."""

    sim: Simulator

    def predict(self, cases: Cases, values: Mapping[str, Floats]) -> Floats:
        """Return poses q, (set, case, frame, nq)."""
        step = float(cases.time[1] - cases.time[0])
        motions = Motions(step, cases.measured, np.asarray(cases.given["v0"]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HeelstrikeWarning)  # of sets that diverge
            return Rollouts(self.sim, motions, Assembly(self.sim, values)).poses(values)


@dataclass(frozen=True)
class Trajectories(Model):
    """A model by a function of one set of parameters, such as a peer's rollouts."""

    one: Callable[[Cases, Mapping[str, float]], Floats]
    """Returns channels (case, frame, channel)."""

    def predict(self, cases: Cases, values: Mapping[str, Floats]) -> Floats:
        """Return channels, (set, case, frame, channel)."""
        sets = len(next(iter(values.values()))) if values else 1
        rows = [{path: float(value[k]) for path, value in values.items()} for k in range(sets)]
        return np.stack([self.one(cases, row) for row in rows])


def mujoco_states(model: mujoco.MjModel, state: Floats, steps: int, every: int) -> Floats:
    """Return qpos (case, frame, nq) of MuJoCo's rollouts, frames `every` steps apart.

    Args:
        model: the model.
        state: qpos and qvel at the start, (case, nq + nv).
        steps: number of steps.
        every: steps between frames.
    """
    import mujoco
    from mujoco import rollout

    start = np.concatenate([np.zeros((len(state), 1)), state], axis=1)
    data = [mujoco.MjData(model) for _ in range(os.cpu_count() or 1)]
    made: Any = rollout.rollout(model, data, start, nstep=steps)[0]
    qpos = np.asarray(made)[:, every - 1 :: every, 1 : 1 + model.nq]
    return np.concatenate([state[:, None, : model.nq], qpos], axis=1)
