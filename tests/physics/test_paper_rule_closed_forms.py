"""The literal rule of [Sugihara2006] on bodies, where its answer can be written down.

Oracles, for a box of mass m on n points, a = half its length, h = height of its centre:

    support     s = 1 / (1 + lam (m/n)^2) of the force that would stop it in a step         M1, M2
    sinking     w <- (w + g dt) lam / ((n/m)^2 + lam),  to w* = g dt lam (m/n)^2            M2
    rebound     v+ = -v0 - g dt + ((1 + e) v0 + g dt) s                                     M3
    sliding     N = (m g / 4) (1 +- mu_k h / a)                                             M4
    slope       N = (m g cos / 4) (1 +- (h/a) tan), T = m g sin / 4;
                the upper corners fail at tan = mu_s / (1 + mu_s h / a), below the body's   M5
    a foot      normals linear in x and y until one would pull; large lam turns the
                gradient round and rubs (against the QP, written out here)                  M6 to M8

M9: a flat fall is in K and rebounds. M10: without mu_s friction jumps to mu_k. A slider ends in a
2-cycle of mu_k g dt unless epsilon catches it. Symmetric cases 1e-9; lam = 1e-12 leaves 1e-8.
"""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import heelstrike as hs

M, G, DT = 5.0, 9.81, 1e-3
A, H = 0.1, 0.05
INERTIA = np.array([1 / 120, 1 / 48, 1 / 48])
LAMS = np.array([0.01, 0.1, 1.0, 4.0, 7.0])
DOWN = (0.0, 0.0, -G)
EVEN = np.array([(x, y, -H) for x in (-0.1, -0.04, 0.04, 0.1) for y in (-0.05, 0.05)])
"""Eight points under the box, symmetric about its centre of mass."""
FOOT = EVEN + np.array([0.03, 0, 0])


@cache
def simulator(name="corners"):
    """The box on its own corners, or on eight points."""
    places = {"corners": (), "even": EVEN, "foot": FOOT}[name]
    points = [("box", tuple(place), 0.0) for place in places]
    box = hs.load("box", points=points) if points else hs.load("box")
    law = hs.Rigid(friction=hs.Coulomb(mu_s=1.0, mu_k=0.4), rule="paper")
    return hs.Simulator(hs.Scene(box, hs.Plane(law=law)), dt=DT)


def run(steps, v0=(0,) * 6, worlds=1, sim=None, **values):
    """Steps of the box from 1 nm deep; values of the ground by name, one or a world each."""
    given = {"lam": 1e-12, "epsilon": 5e-3, "restitution": 0.0, "gravity": DOWN}
    given |= {"friction.mu_s": 1.0, "friction.mu_k": 0.4} | values
    vary = {}
    for name, value in given.items():
        path = name if name == "gravity" else f"ground.{name}"
        vary[path] = np.broadcast_to(value, (worlds, *((3,) if name == "gravity" else ())))
    q0 = np.tile([0, 0, H - 1e-9, 0, 0, 0, 1.0], (worlds, 1))
    start = {"q0": q0, "v0": np.broadcast_to(np.asarray(v0, float), (worlds, 6))}
    sim = sim or simulator()
    return sim.run(steps=steps, worlds=worlds, vary=vary, progress=False, **start).data


def support(lam, n=4):
    return 1 / (1 + lam * (M / n) ** 2)


def test_rest_on_four_corners():
    """M1: a quarter of the weight each, and no friction."""
    data = run(5)
    assert data.normal_force.values[0, :-1, :4] == pytest.approx(M * G / 4, abs=1e-8)
    assert np.abs(data.force.values[0, :, :, :2]).max() < 1e-9


@pytest.mark.parametrize("n", [4, 8])
def test_support_and_sinking(n):
    """M2, 60 steps of the recurrence; where they have settled, it sinks at w* with full support."""
    ground = simulator({4: "corners", 8: "even"}[n])
    data = run(60, worlds=5, lam=LAMS, epsilon=1.0, sim=ground)  # all stay in S, however they sink
    first = data.normal_force.values[:, 0, :n]
    assert first == pytest.approx(np.tile(M * G / n * support(LAMS, n), (n, 1)).T, rel=1e-9)
    w = np.zeros((5, 61))
    for k in range(60):
        w[:, k + 1] = (w[:, k] + G * DT) * LAMS / ((n / M) ** 2 + LAMS)
    sinking = -data.v.values[..., 2]
    assert sinking == pytest.approx(w, abs=1e-12)
    settled = LAMS <= 1
    sinks = G * DT * LAMS * (M / n) ** 2
    assert sinking[settled, -1] == pytest.approx(sinks[settled], rel=1e-9)
    carried = data.normal_force.values[settled, -2].sum(axis=-1)
    assert carried == pytest.approx(M * G, rel=1e-9)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_rebound(e):
    """M3, and e v0 as lam goes to nothing."""
    lam = np.append(LAMS, 1e-12)
    v0 = 1.0
    data = run(1, v0=(0, 0, -v0, 0, 0, 0), worlds=6, lam=lam, restitution=e)
    after = -v0 - G * DT + ((1 + e) * v0 + G * DT) * support(lam)
    assert data.v.values[:, 1, 2] == pytest.approx(after, abs=1e-11)
    assert data.v.values[-1, 1, 2] == pytest.approx(e * v0, abs=1e-8)


def test_sliding():
    """M4: friction presses the front corners down."""
    data = run(3, v0=(0.5, 0, 0, 0, 0, 0))
    share = 0.4 * H / A
    normals = M * G / 4 * np.array([1 + share, 1 + share, 1 - share, 1 - share])
    assert data.normal_force.values[0, 0, :4] == pytest.approx(normals, rel=1e-8)
    assert data.force.values[0, 0, :4, 0] == pytest.approx(-0.4 * normals, rel=1e-8)
    assert data.v.values[0, 1, 0] == pytest.approx(0.5 - 0.4 * G * DT, abs=1e-11)


@pytest.mark.parametrize("mu", [0.5, 1.0, 1.5])
def test_points_fail_below_the_angle_of_the_body(mu):
    """M5 and finding 5b: (36) judges point by point, so the lightly loaded corners slide first."""
    limit = np.arctan(mu / (1 + mu * H / A))
    angle = limit + np.radians([-10, -0.05, 0.05])
    gravity = G * np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], axis=1)
    data = run(100, worlds=3, gravity=gravity, **{"friction.mu_s": mu})
    tan = np.tan(angle)[:, None]
    share = np.array([1, 1, -1, -1]) * H / A
    normals = (M * G * np.cos(angle) / 4)[:, None] * (1 + share * tan)
    assert data.normal_force.values[:, 0, :4] == pytest.approx(normals, rel=1e-7)
    rubs = data.force.values[:, 0, :4, 0]
    held = np.tile(-M * G * np.sin(angle) / 4, (4, 1)).T
    assert rubs[:2] == pytest.approx(held[:2], rel=1e-7)
    assert rubs[2, :2] == pytest.approx(held[2, :2], rel=1e-7)
    assert rubs[2, 2:] == pytest.approx(-0.4 * normals[2, 2:], rel=1e-7)
    moved = data.q.values[:, -1, 0]
    assert np.abs(moved[:2]).max() < 1e-9
    assert moved[2] > 1e-4  # 2 degrees and more below atan(mu_s)
    assert limit < np.arctan(mu) - np.radians(2)


def test_flat_fall_rebounds():
    """M9: S and K are told apart by the whole speed, so a fall without slip has its e."""
    data = run(1, v0=(0, 0, -1.0, 0, 0, 0), restitution=0.5)
    assert data.v.values[0, 1] == pytest.approx([0, 0, 0.5, 0, 0, 0], abs=1e-8)
    rest = run(1, v0=(0, 0, -4e-3, 0, 0, 0), restitution=0.5)  # slower than epsilon: in S
    assert rest.v.values[0, 1, 2] == pytest.approx(0, abs=1e-8)


def test_slider_ends_in_a_cycle_unless_epsilon_catches_it():
    """S7: speeds of a cycle sum to mu_k g dt, so epsilon = mu_k g dt / 2 is always enough."""
    step = 0.4 * G * DT
    speeds = 0.5 + step * np.linspace(0.05, 0.95, 7)
    v0 = np.zeros((14, 6))
    v0[:, 0] = np.tile(speeds, 2)
    epsilon = np.repeat([1e-9, 1.0001 * step / 2], 7)
    last = run(250, v0=v0, worlds=14, epsilon=epsilon).v.values[:, -2:, 0]
    # friction that turns round rocks the box a little, and its normals with it
    assert np.abs(last[:7]).sum(axis=1) == pytest.approx(step, rel=1e-3)
    assert (last[:7, 0] * last[:7, 1] < 0).all()
    assert np.abs(last[7:]).max() < 1e-9


def maps(places):
    """From the box's twist about its centre to its points' velocities, (3 n, 6)."""
    return np.vstack([np.hstack([np.eye(3), -np.cross(np.eye(3), r)]) for r in places])


def quadratic(places, lam, pull):
    """(33) for points at rest under gravity: forces (n, 3)."""
    g = maps(places)
    a = g @ np.diag(np.r_[np.full(3, 1 / M), 1 / INERTIA]) @ g.T
    v = -np.tile(np.asarray(pull) * DT, len(places))
    lower = np.tile([-np.inf, -np.inf, 0], len(places))
    stacked = np.vstack([a, np.sqrt(lam) * np.eye(len(v))])
    found = lsq_linear(stacked, np.r_[v, 0 * v], (lower, np.inf), method="bvls", tol=1e-15)
    forces = found.x.reshape(-1, 3) / DT
    forces[forces[:, 2] < 1e-9, :2] = 0  # (36): beyond mu_s f_n, however large mu_s is
    return forces


PULLS = {"level": DOWN, "leaning": (-0.25 * G, 0.1 * G, -G), "one pulls": (-0.9 * G, 0, -G)}


@pytest.mark.parametrize("pull", PULLS)
def test_eight_points_of_a_foot(pull):
    """M6, M7: rank 6 of 24; the forces of the QP, and as lam goes normals on a plane in x and y
    while none would pull.
    """
    gravity, lams = PULLS[pull], np.array([1e-4, 1e-2, 1.0, 100.0])
    big = {"friction.mu_s": 1e3, "gravity": gravity}
    data = run(1, worlds=4, lam=lams, sim=simulator("foot"), **big)
    assert np.linalg.matrix_rank(maps(FOOT)) == 6
    for i, lam in enumerate(lams):
        theirs = quadratic(FOOT, lam, gravity)
        # the box is 1 nm deep, and A is rounded: eps |A|^2 / lam
        assert data.force.values[i, 0] == pytest.approx(theirs, abs=1e-8 * M * G)
    light = run(1, lam=1e-9, sim=simulator("foot"), **big).force.values[0, 0]
    plane = np.c_[np.ones(8), FOOT[:, :2]]
    left = light[:, 2] - plane @ np.linalg.lstsq(plane, light[:, 2], rcond=None)[0]
    if pull == "one pulls":  # it is dropped, with the friction that balanced the rest
        assert (light[:, 2] == 0).any()
        assert np.abs(left).max() > 0.1
    else:
        assert light[:, 2].min() > 0
        assert light.sum(axis=0) == pytest.approx(-M * np.asarray(gravity), abs=1e-6 * M * G)
        assert np.abs(left).max() < 1e-5 * M * G


def test_large_lam_turns_the_gradient_round_and_rubs():
    """M8: the centre of mass is behind the foot's middle, so its heel carries more; with a large
    lam its toes do, and the level foot rubs.
    """
    data = run(1, worlds=2, lam=[1e-6, 1e4], sim=simulator("foot"), **{"friction.mu_s": 1e3})
    normal, tangent = data.normal_force.values[:, 0], data.force.values[:, 0, :, 0]
    slope = [np.polyfit(FOOT[:, 0], n / n.mean(), 1)[0] for n in normal]
    assert slope[0] < -1
    assert slope[1] > 1
    assert np.abs(tangent[0]).max() < 1e-4 * normal[0].mean()
    assert np.abs(tangent[1]).max() > 0.05 * normal[1].mean()


@pytest.mark.parametrize("case", ["paper drop", "paper keep", "consistent keep"])
def test_what_19_drops_shows_on_a_wheel(case):
    """A rolling ball: dropping how the contact turns sinks it at v^2 dt / R; kept, it rolls."""
    speed, radius = 1.0, 0.05
    rule, bias = case.split()
    law = hs.Rigid(friction=hs.Coulomb(1.0, 0.4), rule=rule, lam=1e-9, bias=bias)
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(law=law)), dt=DT)
    start = {"q0": [0, 0, radius - 1e-9, 0, 0, 0, 1], "v0": [speed, 0, 0, 0, speed / radius, 0]}
    data = sim.run(steps=50, progress=False, **start).data
    sinks = speed**2 * DT / radius if bias == "drop" else 0
    assert data.depth_rate.values[0, -1, 0] == pytest.approx(sinks, abs=1e-9)
    assert data.com_velocity.values[0, -1, 0] == pytest.approx(speed, abs=1e-9)


TILTS = [0.0, *10.0 ** np.arange(-18.0, -5.0)]


@pytest.mark.parametrize("name", ["box", "cube", "brick"])
def test_forces_of_a_sliding_body_are_continuous_in_its_tilt(name):
    """Four corners of K: tilts of 1e-18 to 1e-6 rad change the forces by their own size.

    Dust in the rows of the factors must not be taken for directions.
    """
    body = hs.load(name, collide="feet")
    height = -min(x.position[2] for x in body.points)
    about = np.array([(1, 0, 0), (0.955, 0.296, 0), (0.540, 0.841, 0)])
    half = np.repeat(TILTS, len(about))[:, None] / 2 * np.tile(about, (len(TILTS), 1))
    q0 = np.zeros((len(half), 7))
    q0[:, 2], q0[:, 3:6], q0[:, 6] = height - 1e-4, half, 1
    law = hs.Rigid(rule="paper")
    sim = hs.Simulator(hs.Scene(body, hs.Plane(law=law)), dt=DT, worlds=len(half))
    run = sim.run(steps=1, q0=q0, v0=[0.3, 0.1, 0, 0, 0, 0], progress=False)
    forces = run.data.normal_force.values[:, 0].reshape(len(TILTS), -1)
    changes = np.abs(forces - forces[0]).max(axis=1) / forces.max()
    # levers of 0.1 m tilt into depths and speeds: at most 22 of the largest force per rad
    assert (changes < 1e-13 + 100 * np.array(TILTS)).all(), changes


POLAR = """<mujoco model="polar"><worldbody>
  <body name="arm"><joint name="turn" type="hinge" axis="0 1 0"/>
    <inertial pos="0 0 0" mass="1e-9" diaginertia="1e-9 1e-9 1e-9"/>
    <body name="bead" pos="1 0 0"><joint name="out" type="slide" axis="1 0 0"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1e-9 1e-9 1e-9"/>
    </body>
  </body></worldbody></mujoco>"""


@pytest.mark.parametrize("forces", ["b", "b-hat"])
def test_b_hat_misses_what_the_motion_does(forces, tmp_path):
    """M11 in contact: a bead on an arm, r = 1, r' = 0.5, theta' = 2, is to stand still. With b it
    does; with gravity alone it keeps -dt H^-1 (b - g) = -dt (2 r' theta' / r, -r theta'^2).
    """
    path = tmp_path / "polar.xml"
    path.write_text(POLAR)
    law = hs.Rigid(friction=hs.Coulomb(1e3, 1e3), rule="paper", lam=1e-9, epsilon=1e3)
    floor = hs.Plane(law=dataclasses.replace(law, forces=forces), point=(0, 0, 1e-9))
    sim = hs.Simulator(hs.Scene(hs.load(path, points=[("bead", (0, 0, 0))]), floor), dt=DT)
    sim.run(steps=1, q0=[0, 0], v0=[2, 0.5], progress=False)
    missed = [-2 * 0.5 * 2 * DT, 2**2 * DT] if forces == "b-hat" else [0, 0]
    # 1e-9 of inertia that is not the bead's, and of lam, of the speeds
    assert sim.state["v"].reshape(-1) == pytest.approx(missed, abs=1e-8)


def test_b_hat_belongs_to_the_paper():
    with pytest.raises(hs.HeelstrikeError, match="forces is 'b-hat'; allowed: 'b'"):
        hs.Rigid(forces="b-hat")
