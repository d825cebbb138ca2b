"""Net force, moment, CoP and ZMP against sums over the recorded points, by numpy.

Oracle: the definitions, over the points' own recorded forces and positions. Sums run in another
order, so they agree to rounding: 1e-12 of forces of some newtons, arms below a metre.
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.scene.scene import bodies_in

TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture(scope="module")
def run():
    """A cube falls, tilted, on a floor, and another one on it, whose upper face it carries."""
    robot = hs.combine({"low": hs.load("cube"), "high": hs.load("cube")})
    law = hs.Elastic(hs.LinearSpring(k=2e3, c=8), hs.Kinetic(mu=0.4))
    upper = hs.Box(law, "top", body="low/cube", size=(0.11,) * 3)
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law=law), upper), dt=1e-3)
    tilt = np.array([0.02, 0.03, 0.0, 1.0]) / np.linalg.norm([0.02, 0.03, 0.0, 1.0])
    q0 = np.concatenate([[0.2, 0.1, 0.058], tilt, [0.21, 0.1, 0.17], tilt])
    return sim.scene.pairs, sim.run(steps=250, q0=q0).data


def by_body(pairs, of_pairs, reaction):
    """Sums of (time, point, axis) over each body's points; `reaction` times what it carries."""
    return np.stack(
        [
            sum(
                ((x.point.body == body) + reaction * (x.carrier == body)) * of_pairs[:, k]
                for k, x in enumerate(pairs)
            )
            for body in bodies_in(pairs)
        ],
        axis=1,
    )


def test_forces_moments_and_pressure(run):
    pairs, data = run
    force, place = data.force.values[0], data.contact_position.values[0]
    load = np.maximum(data.normal_force.values[0], 0)[..., None]
    assert any(x.carrier is not None for x in pairs)
    assert np.allclose(data.body_force[0], by_body(pairs, force, -1), **TOLERANCE)
    moment = by_body(pairs, np.cross(place, force), -1)
    assert np.allclose(data.body_moment[0], moment, **TOLERANCE)
    total = by_body(pairs, np.broadcast_to(load, place.shape), 1)
    with np.errstate(invalid="ignore"):
        cop = by_body(pairs, load * place, 1) / total
    assert np.allclose(data.cop[0], cop, **TOLERANCE, equal_nan=True)
    assert np.isnan(cop).any()
    assert np.isfinite(cop).any(axis=(0, 2)).all()  # each body is pressed at some time


def test_zmp_is_of_the_outer_forces(run):
    pairs, data = run
    outer = [k for k, x in enumerate(pairs) if x.carrier is None]
    force, place = data.force.values[0][:, outer], data.contact_position.values[0][:, outer]
    total, moment = force.sum(axis=1), np.cross(place, force).sum(axis=1)
    lifted = total[:, 2] > 0
    expected = np.full_like(total, np.nan)
    expected[lifted, 0] = -moment[lifted, 1] / total[lifted, 2]
    expected[lifted, 1] = moment[lifted, 0] / total[lifted, 2]
    expected[lifted, 2] = 0
    assert lifted.any()
    assert not lifted.all()
    # a quotient of rounded moments and forces, which may nearly vanish as a foot lifts off
    assert np.allclose(data.zmp[0], expected, rtol=1e-9, atol=1e-9, equal_nan=True)
