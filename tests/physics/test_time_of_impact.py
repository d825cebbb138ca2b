"""Impacts at the instant at which points enter, against closed forms.

Oracles: a ball that bounces, by parabolas; a rimless wheel about its spokes, by quadrature of the
pendulum's energy and conservation of angular momentum about the new spoke. Errors are averaged or
bounded over phases of the impact within a step.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

import heelstrike as hs

G, E = 9.81, 0.7


def bounced(height, time):
    """Return the height of a point after a time [s], at rest at the start."""
    t = np.sqrt(2 * height / G)
    v = G * t * E
    while t + 2 * v / G < time:
        t, v = t + 2 * v / G, v * E
    return v * (time - t) - 0.5 * G * (time - t) ** 2


def bouncing_errors(law, dt):
    """Return errors of height [m] of balls from 41 heights after 0.9 s: two or three bounces."""
    heights = np.linspace(0.3, 0.5, 41)
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(law=law)), dt=dt, worlds=41)
    q0 = np.tile([0, 0, 0.05, 0, 0, 0, 1.0], (41, 1))
    q0[:, 2] += heights
    sim.reset(q0=q0, v0=[0, 0, G * dt / 2, 0, 0, 0])  # velocities belong to half a step before
    sim.step(round(0.9 / dt))
    exact = np.array([bounced(height, 0.9) for height in heights])
    return np.array(sim.state["q"])[:, 2] - 0.05 - exact


@pytest.mark.parametrize("law", [hs.Rigid, hs.Signorini])
def test_a_bouncing_ball_is_of_second_order(law):
    law = law(restitution=E, time_of_impact=True)
    errors = [np.sqrt(np.mean(bouncing_errors(law, dt) ** 2)) for dt in (2e-3, 1e-3, 5e-4)]
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx([2, 2], abs=0.3)
    assert errors[1] < 2e-5  # 1.1e-3 m without


SPOKE, SPOKES, MASS, INERTIA = 0.5, 8, 2.0, 0.05
HALF = np.pi / SPOKES
ABOUT_TIP = INERTIA + MASS * SPOKE**2
PULL = MASS * G * SPOKE / ABOUT_TIP
WHEEL = f"""<mujoco><worldbody><body name="wheel"><freejoint/>
  <inertial pos="0 0 0" mass="{MASS}" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>
  </body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    path = tmp_path_factory.mktemp("wheel") / "wheel.xml"
    path.write_text(WHEEL)
    angles = 2 * HALF * np.arange(SPOKES)
    tips = [(SPOKE * np.sin(a), y, -SPOKE * np.cos(a)) for a in angles for y in (-0.1, 0.1)]
    return hs.load(path, points=[("wheel", tip) for tip in tips])


def climb(margin):
    """Return the speed over the first spoke, and the times to the second and up over it [s].

    The wheel has `margin` times the energy that takes it over the second spoke.
    """
    barrier = 2 * PULL * (1 - np.cos(HALF))
    kept = (INERTIA + MASS * SPOKE**2 * np.cos(2 * HALF)) / ABOUT_TIP
    start = margin * barrier / kept**2 - barrier

    def time(square, first, last):
        return quad(lambda x: 1 / np.sqrt(square + 2 * PULL * (1 - np.cos(x))), first, last)[0]

    return np.sqrt(start), time(start, 0, HALF), time((margin - 1) * barrier, -HALF, 0)


def slowness(wheel, law, dt, margin, phases):
    """Return the relative errors of the time that the wheel takes to climb the second spoke."""
    speed, falls, climbs = climb(margin)
    sim = hs.Simulator(hs.Scene(wheel, hs.Plane(law=law)), dt=dt, worlds=len(phases))
    turned = speed * dt * np.asarray(phases)
    rotation = Rotation.from_rotvec(np.outer(turned, [0, 1, 0]))
    q0, v0 = np.zeros((len(phases), 7)), np.zeros((len(phases), 6))
    q0[:, 0], q0[:, 2] = SPOKE * np.sin(turned), SPOKE * np.cos(turned) - 1e-9
    q0[:, 3:] = rotation.as_quat()
    spin = np.sqrt(speed**2 + 2 * PULL * (1 - np.cos(turned)))
    hub = SPOKE * spin[:, None] * np.column_stack([np.cos(turned), 0 * turned, -np.sin(turned)])
    v0[:, :3], v0[:, 4] = rotation.inv().apply(hub), spin
    run = sim.run(falls + 2 * climbs, q0=q0, v0=v0, record=("q",), progress=False)
    q, t = run.data.q.values, run.data.time.values
    angles = np.unwrap(2 * np.arctan2(q[:, :, 4], q[:, :, 6]), axis=1)
    times = [np.interp(2 * HALF, x, t) - np.interp(HALF, x, t) for x in angles]
    assert (angles.max(axis=1) > 2 * HALF).all()
    return np.array(times) / climbs - 1


@pytest.mark.parametrize(("margin", "most"), [(1.02, 0.06), (1.1, 0.015)])
@pytest.mark.parametrize("law", [hs.Rigid, pytest.param(hs.Signorini, marks=pytest.mark.nightly)])
def test_a_rimless_wheel_near_stall(wheel, law, margin, most):
    """Without it the errors are 13 % and 2.5 %."""
    timed = law(friction=hs.Coulomb(5.0, 5.0), time_of_impact=True)
    errors = slowness(wheel, timed, 1e-3, margin, np.linspace(0, 0.9, 7))
    assert np.abs(errors).max() < most
    plain = slowness(wheel, law(friction=hs.Coulomb(5.0, 5.0)), 1e-3, margin, [0.2])
    assert abs(plain[0]) > 1.5 * most


def test_literal_rules_are_not_timed():
    with pytest.raises(hs.HeelstrikeError, match="time_of_impact is True; allowed: False"):
        hs.Rigid(rule="paper", time_of_impact=True)
