"""Cylinders and ellipsoids on a plane: contacts that move over their body.

Oracles: rolling without slip at constant speed; Euler's disc, whose contact goes round at
Omega^2 = 4 g / (R sin alpha) while its centre rests; a wheel driven by a torque, and one that
slips; an ellipsoid that rocks on its side, w^2 = g (a^2 - c^2) / c / (k^2 + c^2) with the radius of
gyration k; energy; a cylinder at rest.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import heelstrike as hs

G = 9.81
R, HALF = 0.1, 0.02
"""Radius and half length of the coin [m], of 1 kg."""
GRIP = hs.Coulomb(0.8, 0.8)
LAWS = {
    "rigid": hs.Rigid(friction=GRIP),
    "exact": hs.Signorini(friction=GRIP),
    "elastic": hs.Elastic(
        hs.LinearSpring(k=1e5, c=100, damping="both"), hs.Bristle(0.8, 0.8, k_t=1e5, c_t=100)
    ),
}
EVERY = pytest.mark.parametrize("law", LAWS)
MOST = pytest.mark.parametrize(
    "law", ["rigid", pytest.param("exact", marks=pytest.mark.nightly), "elastic"]
)


@pytest.fixture(scope="module")
def body(tmp_path_factory):
    """Loads a free body of 1 kg by its kind and size, of even density."""

    @cache
    def load(kind, *size):
        path = tmp_path_factory.mktemp("body") / f"{kind}.xml"
        path.write_text(
            f'<mujoco><worldbody><body name="b"><freejoint/><geom name="g" type="{kind}" mass="1" '
            f'size="{" ".join(map(str, size))}"/></body></worldbody></mujoco>'
        )
        return hs.load(path)

    return load


@cache
def simulator(robot, law, dt, dtype="float64"):
    return hs.Simulator(hs.Scene(robot, hs.Plane(LAWS[law])), dt=dt, dtype=dtype)


def run(robot, law, time, place, spin=(0, 0, 0), velocity=(0, 0, 0), dt=1e-3, dtype="float64"):
    """Return a run from a rotation and height, with spin and velocity in world axes."""
    turn, height = place
    q0 = np.r_[0, 0, height, pin.Quaternion(np.array(turn)).coeffs()]
    v0 = np.r_[turn.T @ np.asarray(velocity), turn.T @ np.asarray(spin)]
    record = ["q", "v", "com_velocity", "kinetic", "potential", "depth", "slip", "normal_force"]
    sim = simulator(robot, law, dt, dtype)
    return sim.run(time, q0=q0, v0=v0, record=record, progress=False).data


def energy(data):
    return (data.kinetic + data.potential).values[0]


def rotations(data):
    return np.array([pin.Quaternion(q[3:7]).toRotationMatrix() for q in data.q.values[0]])


def sunk(law, points):
    """Depth at which 1 kg rests on some points of the elastic law [m]."""
    return G / LAWS[law].normal.k / points if law == "elastic" else 0.0


LYING = pin.rpy.rpyToMatrix(np.pi / 2, 0, 0)


@EVERY
def test_a_coin_stands_at_rest(body, law):
    """It keeps place and heading to rounding: neither wobble nor creep."""
    data = run(body("cylinder", R, HALF), law, 1.0, (np.eye(3), HALF))
    q, late = data.q.values[0], slice(500, None)
    assert np.abs(q[late] - q[-1]).max() < 1e-12
    assert np.abs(data.v.values[0, late]).max() < 1e-11
    assert abs(q[-1, 2] - HALF) < 1e-4
    assert np.abs(q[-1, [0, 1, 3, 4, 5]]).max() < 1e-12


@EVERY
def test_a_dropped_coin_comes_to_rest(body, law):
    """Dropped on its edge, turning, it falls onto its cap and rests there.

    How long it wobbles depends on the last bits: 1.6 to 3.7 s for tilts from 0.19 to 0.22 rad.
    """
    turn = pin.AngleAxis(0.2, np.array([0.96, 0.28, 0])).toRotationMatrix()
    data = run(body("cylinder", R, HALF), law, 6.0, (turn, HALF + 0.03), spin=(0, 0, 3))
    end = data.q.values[0, -1]
    assert np.abs(data.v.values[0, -1]).max() < 1e-6
    assert rotations(data)[-1, 2, 2] == pytest.approx(1, abs=1e-6)
    assert abs(end[2] - HALF) < 1e-4


@EVERY
def test_a_coin_rolls_straight(body, law):
    """1 m at constant speed and height, with v = w R and its energy kept."""
    spin = 5.0
    height = R - sunk(law, 2)
    data = run(body("cylinder", R, HALF), law, 2.0, (LYING, height), (0, spin, 0), (spin * R, 0, 0))
    q, late = data.q.values[0], slice(10, None)  # a rigid body falls for one step until it touches
    speed = data.com_velocity.values[0, :, 0]
    turning = np.einsum("tij,tj->ti", rotations(data), data.v.values[0, :, 3:])
    assert q[-1, 0] == pytest.approx(1.0, abs=1e-9)
    assert abs(q[-1, 1]) < 1e-12
    assert np.ptp(q[late, 2]) < 1e-9
    assert np.abs(speed - turning[:, 1] * R).max() < 1e-9
    assert np.ptp(speed) < 1e-9
    assert np.ptp(energy(data)[late]) < 1e-8
    touching = data.normal_force.values[0, -1] > 0
    assert [str(x) for x in data.point.values[touching]] == ["g.4", "g.9"]


def disc_of_euler(body):
    """A thin disc, its rim alone: no fixed points."""
    disc = body("cylinder", R, HALF)
    rim = replace(disc.points[4], position=np.zeros(3))
    thin = replace(disc.bodies[0], inertia=np.diag([0.25, 0.25, 0.5]) * R**2)
    return replace(disc, points=(rim,), bodies=(thin,), model=None)


@EVERY
@pytest.mark.parametrize("tilt", [0.1, 0.3, 0.8])
def test_eulers_disc(body, law, tilt):
    """Five turns of the contact: its rate, its tilt and its energy at 1 ms."""
    disc = disc_of_euler(body)
    rate = np.sqrt(4 * G / (R * np.sin(tilt)))
    low = np.array([np.cos(tilt), 0, -np.sin(tilt)])  # from the centre to the contact
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    turn = np.column_stack([low, np.cross(axis, low), axis])
    start = turn, R * np.sin(tilt) - sunk(law, 1)
    errors = []
    for dt in (1e-3, 2.5e-4):
        data = run(disc, law, 10 * np.pi / rate, start, -rate * np.sin(tilt) * low, dt=dt)
        axes = rotations(data)[:, :, 2]
        turned = np.unwrap(np.arctan2(axes[:, 1], axes[:, 0]))
        measured = (turned[-1] - turned[0]) / (data.time.values[-1] - data.time.values[0])
        errors.append(abs(measured / rate - 1))
        assert np.abs(np.arccos(axes[:, 2]) - tilt).max() < 0.05 * tilt
        assert np.ptp(energy(data)) < 5e-3 * energy(data)[0]
    assert errors[0] < 5e-3
    assert errors[1] < 1e-3


@EVERY
def test_a_disc_that_spins_down_gains_no_energy(body, law):
    """A coin on its edge, let go with less spin than steady precession: it nutates and falls."""
    tilt = 0.5
    low = np.array([np.cos(tilt), 0, -np.sin(tilt)])
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    turn = np.column_stack([low, np.cross(axis, low), axis])
    height = R * np.sin(tilt) + HALF * np.cos(tilt)
    data = run(body("cylinder", R, HALF), law, 2.0, (turn, height), -10 * low)
    E = energy(data)
    assert (E - np.minimum.accumulate(E)).max() < 0.01 * E[0]
    assert data.depth.values.max() < 2e-3


@EVERY
def test_an_ellipsoid_rocks(body, law):
    """Small rocking without slip about its lowest axis, over three periods."""
    a, b, c = 0.2, 0.1, 0.08
    period = 2 * np.pi / np.sqrt(G * (a**2 - c**2) / c / ((a**2 + c**2) / 5 + c**2))
    tilt = 0.02
    turn = pin.rpy.rpyToMatrix(0, tilt, 0)
    height = np.hypot(a * np.sin(tilt), c * np.cos(tilt)) - sunk(law, 1)
    data = run(body("ellipsoid", a, b, c), law, 3.2 * period, (turn, height))
    pitch = -rotations(data)[:, 2, 0]
    falls = np.flatnonzero((pitch[:-1] > 0) & (pitch[1:] <= 0))
    crossing = falls + pitch[falls] / (pitch[falls] - pitch[falls + 1])
    assert np.diff(crossing).mean() * 1e-3 == pytest.approx(period, rel=1e-2)
    lasts = round(1e3 * period)
    assert pitch[-lasts:].max() == pytest.approx(pitch[:lasts].max(), rel=1e-2)


@EVERY
def test_a_rolling_ellipsoid_keeps_its_energy(body, law):
    """It rolls end over end about its long sides, up and down by 20 mm."""
    a, b, c = 0.12, 0.15, 0.1
    spin = 12.0
    data = run(
        body("ellipsoid", a, b, c), law, 1.0, (np.eye(3), c - sunk(law, 1)), (0, spin, 0),
        (spin * c, 0, 0),
    )  # fmt: skip
    E, late = energy(data), slice(2, None)
    assert np.ptp(data.q.values[0, :, 2]) > 0.015
    assert data.q.values[0, -1, 0] > 1
    assert np.ptp(E[late]) < 0.01 * E[0]
    assert (data.normal_force.values[0, late] > 0).all()


CART = f"""<mujoco><worldbody><body name="cart" pos="0 0 {R}"><joint name="x" type="slide"
  axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
  <geom type="box" size=".1 .05 .02" pos="0 0 .1" mass="3" contype="0" conaffinity="0"/>
  <body name="wheel"><joint name="axle" axis="0 1 0"/><geom name="w" type="cylinder" mass="1"
  size="{R} {HALF}" euler="90 0 0"/></body></body></worldbody></mujoco>"""


@EVERY
@pytest.mark.parametrize("torque", [1.0, 8.0])
def test_a_wheel_is_driven(tmp_path, law, torque):
    """It rolls, a = T / R / (m + I / R^2), or slips where that needs more than mu N: a = mu g."""
    path = tmp_path / "cart.xml"
    path.write_text(CART)
    robot = hs.load(path, collide="feet")
    assert len(robot.points) == 2
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(LAWS[law])), dt=1e-3)
    sim.reset(q0=[0, -4 * sunk(law, 2), 0])
    sim.torque = [0, 0, torque]
    v = sim.step(400)["v"]
    rolls = torque / R / (4 + 0.5)
    expected = min(rolls, 0.8 * G) * 0.4
    assert v[0] == pytest.approx(expected, rel=5e-3)
    if rolls < 0.8 * G:
        assert v[2] * R == pytest.approx(v[0], rel=1e-3)
    else:
        assert v[2] * R > 1.2 * v[0]


WHEELS = "".join(
    f'<body name="w{x}{y}" pos="{0.3 * x} {0.2 * y} -.1"><joint name="a{x}{y}" axis="0 1 0"/><geom '
    f'name="w{x}{y}" type="cylinder" size="{R} .03" euler="90 0 0" mass="1"/></body>'
    for x in (-1, 1)
    for y in (-1, 1)
)
ROVER = f"""<mujoco><worldbody><body name="base" pos="0 0 .2"><freejoint/><geom type="box" mass="10"
  size=".35 .15 .05"/>{WHEELS}</body></worldbody></mujoco>"""


@MOST
def test_a_rover_drives(tmp_path, law):
    """Four driven wheels, two rims each: straight ahead, at 4 T / R / (m + 4 I / R^2)."""
    path = tmp_path / "rover.xml"
    path.write_text(ROVER)
    robot = hs.load(path, collide="feet")
    assert len(robot.points) == 8
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(LAWS[law])), dt=1e-3)
    sim.reset(q0=[0, 0, 0.2 - 14 * sunk(law, 8), 0, 0, 0, 1, 0, 0, 0, 0])
    sim.torque = [0] * 6 + [1.0] * 4
    state = sim.step(500)
    speed = 0.5 * 4 / R / (14 + 2)
    assert state["v"][0] == pytest.approx(speed, rel=1e-3)
    np.testing.assert_allclose(state["v"][6:] * R, speed, rtol=2e-3)
    assert np.abs(state["q"][[1, 3, 4, 5]]).max() < 1e-3
    assert abs(state["q"][2] - 0.2) < 1e-3


@pytest.mark.parametrize("law", ["rigid", "exact"])
def test_works_of_a_rolling_ball_balance(law):
    """It skids, then rolls: friction takes what is lost, the normal force nothing."""
    start = {"q0": [0, 0, 0.05 - 1e-6, 0, 0, 0, 1], "v0": [1, 0.3, 0, 3, -10, 4]}
    data = simulator(hs.load("ball"), law, 1e-3).run(1.0, **start, progress=False).data
    lost = energy(data)[-1] - energy(data)[0]
    assert lost < -0.3
    assert data.work_friction.values[0, -1] == pytest.approx(lost, rel=1e-6)
    assert abs(data.work_contact.values[0, -1]) < 1e-6


@MOST
def test_float32(body, law):
    """A coin rolls 1 m and an upright one stands, to the accuracy of the numbers."""
    coin = body("cylinder", R, HALF)
    data = run(coin, law, 2.0, (LYING, R - sunk(law, 2)), (0, 5, 0), (0.5, 0, 0), dtype="float32")
    assert data.q.values[0, -1, 0] == pytest.approx(1.0, abs=1e-3)
    assert np.ptp(data.q.values[0, 10:, 2]) < 1e-5
    data = run(coin, law, 2.0, (np.eye(3), HALF), dtype="float32")
    assert np.abs(data.q.values[0, -1] - data.q.values[0, 1000]).max() < 1e-5
