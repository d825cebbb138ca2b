"""Friction in the simulator against Coulomb's law in closed form.

Oracles: a body that slides on a plane loses mu g of speed a second and stops after v^2 / (2 mu g);
on a slope theta it stays for tan(theta) < mu and else gains g (sin(theta) - mu cos(theta)); on a
belt it gains mu g until it rides along. Slopes are gravity tilted, one slope a world. Bodies rest
on four points of a Hunt-Crossley ground, so damped that bouncing is over in a tenth of a second.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import heelstrike as hs

G, K = 9.81, 5e4
FRICTIONS = {
    "kinetic": hs.Kinetic(mu=0.5, epsilon=1e-3),
    "bristle": hs.Bristle(mu_s=0.5, mu_k=0.5, k_t=5e4, c_t=100),
}
"""Four bristles feel 0.63 kg of the brick sideways, as it can roll: kappa + 2 gamma = 1.6 < 4."""


@cache
def simulator(friction, body="brick", low=False):
    """A body on the ground; `low` puts its points at the height of its centre of mass."""
    robot = hs.load(body, collide="feet")
    if low:
        corners = [replace(p, position=p.position * [1, 1, 0]) for p in robot.points[:4]]
        robot = replace(robot, points=tuple(corners))
    law = hs.Elastic(hs.HuntCrossley(k=K, alpha=2.0), friction)
    return hs.Simulator(hs.Scene(robot, hs.Plane(name="ground", law=law)), dt=1e-3)


def at_rest(sim):
    """Where the ground carries the body."""
    q = np.zeros(7)
    q[6] = 1
    robot = sim.robot
    q[2] = -min(point.position[2] for point in robot.points) - robot.mass * G / (4 * K)
    return q


def sliding(worlds, vx=0.0, vy=0.0):
    v = np.zeros((worlds, 6))
    v[:, 0], v[:, 1] = vx, vy
    return v


def coefficient(name, mu):
    paths = ("mu",) if name == "kinetic" else ("mu_s", "mu_k")
    return {f"ground.friction.{path}": mu for path in paths}


def run(sim, duration, v0, vary, **options):
    options = {"record": ("q", "v")} | options
    vary = {"ground.velocity": np.zeros(3), "gravity": np.array([0, 0, -G])} | vary
    start = {"q0": at_rest(sim), "v0": v0, "worlds": len(v0)}
    return sim.run(duration, vary=vary, progress=False, **start, **options).data


@pytest.mark.parametrize("body", ["brick", "box"])
@pytest.mark.parametrize("name", FRICTIONS)
def test_stopping_distance(name, body):
    """v^2 / (2 mu g) - v dt / 2, the last term because positions move with the new velocity."""
    v, mu = (x.ravel() for x in np.meshgrid([0.5, 1.0, 2.0, 3.0], [0.1, 0.2, 0.3, 0.5]))
    sim, dt = simulator(FRICTIONS[name], body), 1e-3
    data = run(sim, 3.5, sliding(16, v), coefficient(name, mu))
    stop = np.ceil(v / (mu * G) / dt).astype(int) + 1
    travelled = data.q.values[np.arange(16), stop, 0]
    # how the last step falls: mu g dt^2 = 4.9 um at most
    np.testing.assert_allclose(travelled, v**2 / (2 * mu * G) - v * dt / 2, rtol=0, atol=8e-6)
    # (7) leaves what is slower than epsilon, or half a step's friction, alone; a bristle holds
    slowest = 1e-6 if name == "bristle" else 1e-3 + 0.5 * G * dt
    assert np.abs(data.v.values[:, -1, 0]).max() < slowest


def tilted(theta):
    """Gravity of slopes, downhill along x."""
    return G * np.stack([np.sin(theta), 0 * theta, -np.cos(theta)], axis=1)


@pytest.mark.parametrize("name", FRICTIONS)
def test_slope(name):
    """41 slopes within a degree of atan(mu): what is steeper slides as it should."""
    off = np.deg2rad(np.linspace(-1, 1, 41))
    theta = np.arctan(0.5) + off
    sim, dt, duration = simulator(FRICTIONS[name]), 1e-3, 2.0
    vary = coefficient(name, np.full(41, 0.5)) | {"gravity": tilted(theta)}
    data = run(sim, duration, sliding(41), vary)
    speed, place = data.v.values[:, :, 0], data.q.values[:, -1, 0]
    gain = G * (np.sin(theta) - 0.5 * np.cos(theta))
    slides = off > 1e-9
    # over the second second: in the first the body settles on its bristles
    np.testing.assert_allclose((speed[:, -1] - speed[:, 1000])[slides], gain[slides], rtol=1e-6)
    speed = speed[:, -1]
    stays = off < -1e-3
    if name == "bristle":
        assert np.abs(speed[stays]).max() < 1e-9
        assert np.abs(place[stays]).max() < 2e-3  # until the bristles have bent
    else:  # nothing holds below epsilon: it creeps, by about half a step's worth of gravity
        assert np.abs(speed[stays]).max() < 1e-3 + G * dt
        assert np.abs(place[stays]).max() < duration * (1e-3 + G * dt)


@pytest.mark.parametrize("name", FRICTIONS)
def test_direction_is_the_slip_s_own(name):
    """Sliding at 64 angles: friction is against the slip at every point and time. No pyramid."""
    angle = 2 * np.pi * (np.arange(64) + 0.3) / 64
    sim = simulator(FRICTIONS[name], low=True)
    v0 = sliding(64, np.cos(angle), np.sin(angle))
    vary = coefficient(name, np.full(64, 0.5))
    data = run(sim, 0.1, v0, vary, record=("force", "slip", "normal_force"))
    force, slip = data.force.values[..., :2], data.slip.values[..., :2]
    normal = data.normal_force.values[..., None]
    # a bristle needs a step or two to bend
    force, slip, normal = (x[:, 5:] for x in (force, slip, normal))
    against = -slip / np.linalg.norm(slip, axis=-1, keepdims=True)
    assert np.abs(force / (0.5 * normal) - against).max() < 1e-6
    assert normal.min() > 2


def test_a_bristle_does_not_creep():
    """Under half of what it can hold the place at 10 s is that at 1 s, within a nanometre."""
    sim = simulator(FRICTIONS["bristle"])
    vary = coefficient("bristle", np.full(2, 0.5)) | {"gravity": tilted(np.arctan([0.25, -0.25]))}
    data = run(sim, 10.0, sliding(2), vary, every=1000, record=("q", "force"))
    place = data.q.values[:, :, :3]
    assert np.abs(place[:, 10] - place[:, 1]).max() < 1e-9
    assert np.abs(place[:, 10, 0]).min() > 1e-6  # it has bent
    load = G * np.sin(np.arctan(0.25))
    np.testing.assert_allclose(
        data.force.values[:, 10, :, 0].sum(axis=-1), [-load, load], rtol=1e-6
    )


@pytest.mark.parametrize("name", FRICTIONS)
def test_treadmill(name):
    """A belt at 1 m/s, along x, y and askew, takes a brick along with mu g."""
    way = np.array([[1, 0, 0], [0, -1, 0], [0.6, 0.8, 0]])
    sim, dt = simulator(FRICTIONS[name]), 1e-3
    vary = coefficient(name, np.full(3, 0.5)) | {"ground.velocity": way}
    data = run(sim, 1.0, sliding(3), vary)
    along = np.einsum("wta,wa->wt", data.v.values[:, :, :3], way)
    time = data.time.values
    catching = time < 0.95 / (0.5 * G)
    # a brick rocks when friction sets in, which bends its path by some tenths of a percent
    np.testing.assert_allclose(
        along[:, catching], 0.5 * G * time[catching] + 0 * way[:, :1], atol=0.02
    )
    slowest = 1e-7 if name == "bristle" else 1e-3 + 0.5 * G * dt
    assert np.abs(along[:, -1] - 1).max() < slowest


def test_it_takes_more_to_start_than_to_keep_moving():
    """mu_s = 0.8, mu_k = 0.4, 33 loads from 0.3 to 0.9 of the weight, raised over half a second."""
    sim = simulator(hs.Bristle(mu_s=0.8, mu_k=0.4, k_t=5e4, c_t=100), low=True)
    load = np.linspace(0.3, 0.9, 33)
    gravity = G * np.stack([load, 0 * load, -1 + 0 * load], axis=1)
    run(sim, 0.1, sliding(33), {}, record="final")
    for share in np.linspace(0.01, 1, 100):
        sim.parameters["gravity"] = gravity * [share, 0, 1]
        sim.step(5)
    raised = sim.run(1.0, record="final", progress=False).data.v.values[:, 0]
    started = raised > 0.1
    pushed = run(sim, 6.0, sliding(33, 0.5), {"gravity": gravity}, record="final")
    kept = pushed.v.values[:, 0] > 0.1
    # loads are 0.019 apart
    assert load[started].min() == pytest.approx(0.8, abs=0.02)
    assert load[kept].min() == pytest.approx(0.4, abs=0.02)
    assert np.abs(raised[~started]).max() < 1e-9
    # sliding for a second since the load was whole; they began before
    assert (raised[started] / (G * (load[started] - 0.4))).min() > 1.0
