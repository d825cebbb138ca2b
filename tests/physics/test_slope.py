"""Slope at which a block begins to slide, tilted slowly in six directions.

Oracle: Coulomb's law, tan(slope) = mu_s in every direction. The slope grows by 2.5 degrees a second
and is read when the block has moved by 2 mm, which takes 0.2 to 0.8 degrees longer.
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs

AZIMUTHS = np.radians([0, 20, 37, 45, 60, 90])
FLAT = [("box", (x, y, 0.0), 0.0) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
"""Corners in the plane of the centre of mass: the slope does not shift load between them."""


def bristle(mu_s, mu_k):
    return hs.Elastic(hs.LinearSpring(), hs.Bristle(mu_s=mu_s, mu_k=mu_k))


def sliding_slopes(law, points=None):
    """Return the slope in degrees, by azimuth."""
    box = hs.load("box") if points is None else hs.load("box", points=points)
    worlds = len(AZIMUTHS)
    sim = hs.Simulator(hs.Scene(box, hs.Plane(law=law)), dt=1e-3, worlds=worlds)
    height = -min(x.position[2] for x in box.points)
    sim.reset(q0=np.tile([0, 0, height - 1e-4, 0, 0, 0, 1.0], (worlds, 1)))
    start, found = None, np.full(worlds, np.nan)
    for slope in np.arange(15, 33, 0.05):
        a = np.radians(slope)
        along = np.sin(a) * np.stack([np.cos(AZIMUTHS), np.sin(AZIMUTHS)], axis=1)
        sim.parameters["gravity"] = 9.81 * np.column_stack([along, np.full(worlds, -np.cos(a))])
        sim.step(20)
        place = np.array(sim.state["q"])[:, :2]
        start = place if start is None else start
        moved = np.linalg.norm(place - start, axis=1) > 2e-3
        found = np.where(np.isnan(found) & moved, slope, found)
    return found


@pytest.mark.parametrize(
    ("law", "points", "mu"),
    [
        (hs.Rigid(friction=hs.Coulomb(0.6, 0.5)), None, 0.6),
        (hs.Signorini(friction=hs.Coulomb(0.6, 0.6)), None, 0.6),
        (hs.Signorini(friction=hs.Coulomb(0.5, 0.5)), None, 0.5),
        (bristle(0.6, 0.6), None, 0.6),
        (bristle(0.6, 0.5), FLAT, 0.6),
    ],
    ids=["rigid", "signorini 0.6", "signorini 0.5", "bristle, one mu", "bristle, even load"],
)
def test_friction_is_the_same_in_every_direction(law, points, mu):
    slopes, limit = sliding_slopes(law, points), np.degrees(np.arctan(mu))
    assert np.ptp(slopes) < 0.11  # two readings
    assert (slopes > limit).all()
    assert (slopes < limit + 0.9).all()


def test_corners_that_carry_little_slide_first_on_bristles():
    """Each corner has a bristle, bent alike, but not its load: corners uphill slide before the body
    does, and then rub with mu_k. The body goes when mu_s of the corners that stick and mu_k of the
    others no longer hold it; at 37 degrees that is all but the lowest.
    """
    slopes = sliding_slopes(bristle(0.6, 0.5))
    height, half = 0.05, np.array([0.1, 0.05])
    limit = 0.55
    for _ in range(50):  # N of the lowest corner depends on the slope
        share = 0.25 * (
            1 + limit * height * (np.cos(AZIMUTHS[2]) / half[0] + np.sin(AZIMUTHS[2]) / half[1])
        )
        limit = 0.5 + 0.1 * share
    assert slopes[2] == pytest.approx(np.degrees(np.arctan(limit)), abs=0.3)
    assert slopes[2] < slopes[0] < np.degrees(np.arctan(0.6))
