"""The ball on stairs of examples/roll.py.

Oracles: where a rolling ball turns about a nose and falls, energy is kept; a landing without
restitution keeps the angular momentum about the point of contact, v' = (5 v + 2 r w) / 7.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "roll.py"))
RADIUS, RISE, MASS = 0.05, 0.1, 1.0


def test_a_ball_rolls_down_stairs():
    data = EXAMPLE["simulate"]().data.isel(world=0)
    v, spin = data["com_velocity"].values, data["v"].sel(joint="root.wy").values
    heights = data["q"].sel(coordinate="root.z").values
    energy = (data["kinetic"] + data["potential"]).values
    hits = np.flatnonzero(np.diff(v[:, 2]) > 0.2)
    assert len(hits) == 4
    # a ball that falls at 1.4 m/s enters the tread by up to 1.4 mm in a step
    lowest = RADIUS + RISE * np.arange(3, -1, -1)
    assert ((heights[hits] > lowest - 1.4e-3) & (heights[hits] <= lowest)).all()
    kept = (5 * v[hits, 0] + 2 * RADIUS * spin[hits]) / 7
    # impulses are solved to 1e-9 of the speed; friction ends slip within the step
    assert v[hits + 1, 0] == pytest.approx(kept, abs=1e-8)
    assert RADIUS * spin[hits + 1] == pytest.approx(kept, abs=1e-8)
    # the depth over 1 mm, 0.4 mm at most, is left at 10/s: weight times way, and 1/2 m v^2 at first
    rises = 10 * 0.4e-3
    assert np.diff(energy).max() < MASS * (9.81 * rises * 1e-3 + rises**2 / 2)
    # each stair gives 0.98 J, of which steps of 1 ms lose 7e-3: of first order, 1.4e-3 with 0.2 ms
    for begin, end in zip((0, *(hits[:-1] + 1)), hits, strict=True):
        assert energy[begin] - energy[end] < 8e-3
