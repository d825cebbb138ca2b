"""The depths at which contact points start inside surfaces, by one compiled program for all worlds.

Each world has its own coordinates and surfaces.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from heelstrike.runtime.cache import cached_kernel
from heelstrike.step.hull_table import hull_tables
from heelstrike.step.plan import StepPlan
from heelstrike.step.start_depths import depth_program, placement_inputs
from heelstrike.step.surfaces import surface_tables


def start_depths(plan: StepPlan, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the depth of every pair in every world, (worlds, pairs) [m].

    `values` are rows, one per world, or vectors that all worlds share.
    """
    kernel = cached_kernel(("starts", plan.key()), lambda: depth_program(plan))
    inputs = {name: values[name] for name in placement_inputs(plan)}
    tables = surface_tables(plan.scene) | hull_tables(plan.scene)
    return kernel(1, **inputs, **tables)["depth"]
