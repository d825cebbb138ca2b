"""Largest step in which MuJoCo keeps a scene at rest, by the criterion of measure/stability.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.measure.peer.trace import traced
from heelstrike.measure.resting import rest_pose, steady, still
from heelstrike.measure.stability import STEP_SIZES, STEPS, last_stable

if TYPE_CHECKING:
    from heelstrike.simulate.scene_file import SceneFile


def largest_stable_step(made: SceneFile) -> float:
    """Return the last of STEP_SIZES in which the scene rests [s]."""
    held = still(made)
    pose = rest_pose(held, held.simulator(bare=True))
    traces = [traced(held, STEPS, float(dt), pose) for dt in STEP_SIZES]
    stable = [t.failed < 0 and bool(steady(held, t.normal[None])[0]) for t in traces]
    return last_stable(STEP_SIZES, np.array(stable))
