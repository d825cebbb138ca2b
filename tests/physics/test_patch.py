"""Friction against rolling and spinning, of explicit and of coupled laws.

Oracles, with r the radius of rolling friction, s that of spinning friction and I = k2 m R^2: a
ball stops after v^2 R (1 + k2) / (2 r g); it rolls down a slope with (g sin - g cos r / R) /
(1 + k2), and rests where tan < r / R; its spin falls at s m g / I.
"""

from __future__ import annotations

import numpy as np
import pytest

import heelstrike as hs

G, R, K2 = 9.81, 0.05, 0.4
"""The bundled ball has 1 kg, 0.05 m and 1e-3 kg m^2."""
NORMAL = hs.LinearSpring(k=2e4, c=100, damping="both")
DEPTH = G / 2e4


def ground(rolling=0.0, spinning=0.0, friction=None):
    patch = hs.Patch(rolling=rolling, spinning=spinning)
    return hs.Elastic(NORMAL, friction or hs.Bristle(0.8, 0.6), patch=patch)


def run(law, time, normal=(0.0, 0.0, 1.0), v0=(0, 0, 0, 0, 0, 0), **options):
    slope = hs.Plane(law, normal=normal)
    tilt = slope.axes[2]
    place = (R - DEPTH * tilt[2]) * tilt
    sim = hs.Simulator(hs.Scene(hs.load("ball"), slope), dt=1e-3, **options)
    return sim.run(time, q0=[*place, 0, 0, 0, 1], v0=v0, progress=False).data


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rolling", [1e-3, 5e-3])
def test_a_ball_stops_at_its_distance(rolling, dtype):
    """Then it rests: no creep."""
    v = 0.5
    stop = v**2 * R * (1 + K2) / (2 * rolling * G)
    time = 2 * stop / v
    data = run(ground(rolling), time + 2.0, v0=[v, 0, 0, 0, v / R, 0], dtype=dtype)
    x = data.q.values[0, :, 0]
    # the spring of the patch gives back its angle at the limit, rolling f_n / (k R^2)
    assert x[-1] == pytest.approx(stop, rel=2e-3)
    assert np.ptp(x[-500:]) < (1e-12 if dtype == "float64" else 1e-6)
    assert abs(data.v.values[0, -1]).max() < 1e-6
    # halfway in time, it has half its speed
    halfway = data.com_velocity.values[0, round(time / 2 * 1e3), 0]
    assert halfway == pytest.approx(v / 2, rel=1e-2)


@pytest.mark.parametrize("share", [0.8, 1.5])
def test_a_ball_on_a_slope(share):
    """It rests below tan = r / R and rolls above."""
    rolling = 5e-3
    angle = np.arctan(share * rolling / R)
    normal = (-np.sin(angle), 0.0, np.cos(angle))
    data = run(ground(rolling), 1.0, normal=normal)
    q, speed = data.q.values[0], np.linalg.norm(data.com_velocity.values[0], axis=1)
    if share < 1:
        assert np.linalg.norm(q[-1, :3] - q[0, :3]) < 2e-4
        assert np.abs(q[-1] - q[-300]).max() < 1e-9
    else:
        expected = (np.sin(angle) - np.cos(angle) * rolling / R) * G / (1 + K2)
        assert (speed[900] - speed[400]) / 0.5 == pytest.approx(expected, rel=1e-9)


def test_a_ball_spins_down():
    """At s m g / I; it stays where it is."""
    spinning, spin = 1e-3, 20.0
    rate = spinning * G / 1e-3
    data = run(ground(spinning=spinning), 3.0, v0=[0, 0, 0, 0, 0, spin])
    w = data.v.values[0, :, 5]
    assert w[1000] == pytest.approx(spin - rate, rel=1e-3)
    assert abs(w[-1]) < 1e-9
    assert np.abs(data.q.values[0, -1, :2]).max() < 1e-9


def test_work_of_rolling_friction_is_friction():
    """It has taken all of the energy of rolling and spinning."""
    v = 0.5
    data = run(ground(5e-3, 1e-3), 1.0, v0=[v, 0, 0, 0, v / R, 5.0])
    before, after = (float((data.kinetic + data.potential).values[0, k]) for k in (0, -1))
    assert after - before == pytest.approx(-0.7 * v**2 - 0.5e-3 * 5.0**2, rel=1e-3)
    assert float(data.work_friction.values[0, -1]) == pytest.approx(after - before, rel=1e-3)


def test_a_recorded_moment_has_the_moment_of_the_patch():
    """While the ball rolls on, the pressure is rolling ahead of its centre, and so is the ZMP."""
    rolling, v = 2e-3, 0.5
    data = run(ground(rolling), 0.2, v0=[v, 0, 0, 0, v / R, 0])
    ahead = data.zmp.values[0, 100:, 0] - data.q.values[0, 100:, 0]
    np.testing.assert_allclose(ahead, rolling, rtol=2e-2)


def test_points_of_a_face_have_none():
    """A cube slides as far with a patch as without: bits are equal."""
    ends = []
    for patch in (None, hs.Patch(rolling=0.1, spinning=0.1)):
        law = hs.Elastic(NORMAL, hs.Kinetic(mu=0.3), patch=patch)
        sim = hs.Simulator(hs.Scene(hs.load("cube"), hs.Plane(law)), dt=1e-3)
        q0, v0 = [0, 0, 0.05, 0, 0, 0, 1], [0.5, 0, 0, 0, 0, 3.0]
        ends.append(sim.run(0.3, q0=q0, v0=v0, progress=False).data.q.values[0, -1])
    np.testing.assert_array_equal(*ends)


def test_radii_are_run_time_parameters():
    """One compilation, three worlds; the second turns back where it was without friction."""
    law = ground(1e-3)
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(law)), dt=1e-3)
    radii = np.array([0.0, 1e-3, 4e-3])
    v0 = [0.5, 0, 0, 0, 0.5 / R, 0]
    q0 = [0, 0, R - DEPTH, 0, 0, 0, 1]
    vary = {"ground.patch.rolling": radii}
    data = sim.run(0.5, worlds=3, q0=q0, v0=v0, vary=vary, progress=False).data
    speed = data.com_velocity.values[:, -1, 0]
    np.testing.assert_allclose(speed, 0.5 - 0.5 * G * radii / R / (1 + K2), rtol=5e-3)


RADII = hs.Patch(rolling=5e-3, spinning=1e-3)
COUPLED = {
    "rigid": hs.Rigid(patch=RADII),
    "signorini": hs.Signorini(patch=RADII),
    "implicit": hs.Elastic(NORMAL, hs.Coulomb(), implicit=True, patch=RADII),
    "micro-macro": hs.MicroMacro(hs.Elastic(NORMAL, hs.Bristle(0.8, 0.6)), hs.Rigid(patch=RADII)),
}


@pytest.mark.parametrize("name", COUPLED)
def test_coupled_laws(name):
    """A ball stops at its distance and rests, another one spins down; energy only falls."""
    law, v, spin = COUPLED[name], 0.5, 20.0
    lever = R - DEPTH if name == "implicit" else R  # its friction acts at the surface
    stop = v**2 * (lever**2 + K2 * R**2) / (2 * lever * RADII.rolling * G)
    rate = RADII.spinning * G / 1e-3
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(law)), dt=1e-3)
    height = R if name in ("rigid", "signorini") else R - DEPTH
    start = {"q0": [0, 0, height, 0, 0, 0, 1], "progress": False}
    starts = [[v, 0, 0, 0, v / lever, 0], [0, 0, 0, 0, 0, spin]]
    data = sim.run(3.0, worlds=2, v0=np.array(starts), **start).data
    x, w = data.q.values[0, :, 0], data.v.values[1, :, 5]
    # the first step has no load of a step before: v dt of 0.36 m, and rate dt of 10 rad/s
    assert x[-1] == pytest.approx(stop, rel=2e-3)
    assert np.ptp(x[-500:]) < 1e-12
    assert w[1000] == pytest.approx(spin - rate, rel=2e-3)
    assert abs(data.v.values[:, -1]).max() < 1e-9
    energy = (data.kinetic + data.potential).values
    # a bristle gives back f_t^2 / 2 k, with f_t = rolling m g / (R (1 + k2)) and k = 2e4 N/m
    assert np.diff(energy, axis=1).max() < (2e-5 if name == "micro-macro" else 1e-9)
    works = data.work_friction.values[:, -1] + data.work_contact.values[:, -1]
    np.testing.assert_allclose(works, energy[:, -1] - energy[:, 0], atol=2e-4)


@pytest.mark.parametrize("share", [0.8, 1.5])
def test_a_ball_on_a_slope_of_a_coupled_law(share):
    """It rests below tan = r / R, without creep, and rolls above."""
    angle = np.arctan(share * RADII.rolling / R)
    slope = hs.Plane(COUPLED["rigid"], normal=(-np.sin(angle), 0.0, np.cos(angle)))
    sim = hs.Simulator(hs.Scene(hs.load("ball"), slope), dt=1e-3)
    data = sim.run(1.0, q0=[*(R * slope.axes[2]), 0, 0, 0, 1], progress=False).data
    speed = np.linalg.norm(data.com_velocity.values[0], axis=1)
    if share < 1:
        assert np.abs(data.q.values[0, -1] - data.q.values[0, 10]).max() < 1e-9
    else:
        expected = (np.sin(angle) - np.cos(angle) * RADII.rolling / R) * G / (1 + K2)
        assert (speed[900] - speed[400]) / 0.5 == pytest.approx(expected, rel=1e-6)


def test_what_is_no_patch_is_refused():
    with pytest.raises(hs.ParameterError, match=r"rigid\.patch"):
        hs.MicroMacro(hs.Elastic(NORMAL, hs.Kinetic(), patch=hs.Patch()))
    for law in (hs.Elastic, hs.Rigid, hs.Signorini):
        with pytest.raises(hs.ParameterError, match=r"hs\.Patch\(\.\.\.\), or None"):
            law(patch=1e-3)
    with pytest.raises(hs.ParameterError, match="patch"):
        hs.Rigid(rule="paper", patch=hs.Patch())
