"""What benchmarks.models claims of the laws that make a promise, in the scenes of [LeLidec2024].

Oracles: Coulomb's law (a straight way of v^2 / 2 mu g, rest up to mu m g) and statics.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.models import DT, LAWS, MASS, MU, PUSHES, STARTS, G, ramp, slide, stack

EXACTLY = {"Signorini": 1e-6, "Rigid": 1e-3}
"""[um]; shares of 1e-9 and 1e-6 of the slip of 1 m/s, over 1 ms, that steps in a row may add up."""


@pytest.mark.parametrize("law", [pytest.param("Signorini", marks=pytest.mark.nightly), "Rigid"])
def test_slides_straight_and_flat(law):
    found, off = slide(LAWS[law]), EXACTLY[law]
    assert found.drift_um < off
    assert found.hop_um < off
    assert abs(found.short_um) < 1e3 * off  # friction itself, over 200 steps
    assert found.won_uJ < 10 * off
    assert found.rounds < 5


@pytest.mark.parametrize("law", EXACTLY)
def test_sticks_until_mu_m_g(law):
    found = ramp(LAWS[law])
    assert abs(found.moved_um) < EXACTLY[law]
    speeds = np.cumsum(np.maximum(PUSHES / MASS - MU * G, 0) * 10 * DT)
    assert found.starts_N == pytest.approx(PUSHES[speeds > STARTS][0])


@pytest.mark.parametrize("law", [pytest.param("Signorini", marks=pytest.mark.nightly), "Rigid"])
def test_light_cube_carries_a_heavy_one(law):
    """Up to a million times its mass, where Newton's matrix has lost a digit for each of ten."""
    found = stack(LAWS[law])
    assert [x.ratio for x in found] == [1, 1e3, 1e6]
    assert max(x.depth_um for x in found[:2]) < 1.01
    assert found[2].depth_um < {"Signorini": 1.1, "Rigid": 20}[law]
    assert np.max([x.speed_m_s for x in found]) < {"Signorini": 1e-9, "Rigid": 1e-3}[law]
