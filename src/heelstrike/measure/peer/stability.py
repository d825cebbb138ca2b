"""In which steps MuJoCo keeps a scene at rest, by the criterion of measure/stability.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.measure.peer.trace import traced
from heelstrike.measure.stability import STEP_SIZES, STEPS, lowered, steady, still

if TYPE_CHECKING:
    from heelstrike.scene_files import SceneFile


def largest_stable_step(made: SceneFile) -> float:
    """The largest of STEP_SIZES below the first in which the scene does not rest [s]."""
    held = still(made)
    pose, best = lowered(held, np.ones(1))[0], 0.0
    for dt in STEP_SIZES:
        trace = traced(held, STEPS, float(dt), pose)
        if trace.failed >= 0 or not steady(held, trace.normal[None])[0]:
            break
        best = float(dt)
    return best
