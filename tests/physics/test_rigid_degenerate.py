"""Rigid contact where matrices are singular, numbers are extreme and points are many.

Oracles: the weight at rest; finite numbers everywhere; the same motion however many points say it.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import heelstrike as hs
from tests.boxes import grid

G, DT = 9.81, 1e-3


@cache
def box(n=2):
    law = hs.Rigid(friction=hs.Coulomb(mu_s=1.0, mu_k=0.4))
    return hs.Simulator(hs.Scene(hs.load("box", points=grid(n)), hs.Plane(law=law)), dt=DT)


STANDARD = {
    **{"ground.restitution": 0.0, "ground.smoothing": 1e-2},
    **{"ground.correction": 0.0, "ground.allowance": 0.0},
    **{"ground.friction.mu_s": 1.0, "ground.friction.mu_k": 0.4, "dt": DT, "box.mass": 5.0},
}


def ran(steps, worlds, sim=None, depth=1e-9, gravity=(0, 0, -G), v0=None, **values):
    """The box, put at a depth, with values of the law by the end of their paths."""
    q0 = np.zeros((worlds, 7))
    q0[:, 2], q0[:, 6] = 0.05 - np.asarray(depth), 1
    v0 = np.zeros((worlds, 6)) if v0 is None else v0
    own = STANDARD | {"gravity": gravity}
    for name, value in values.items():
        own[next(path for path in own if path.endswith("." + name) or path == name)] = value
    vary = {
        path: np.broadcast_to(x, (worlds, 3) if path == "gravity" else worlds)
        for path, x in own.items()
    }
    record = ("q", "v", "force", "depth", "normal_force", "solver_unfinished")
    start = {"q0": q0, "v0": v0, "worlds": worlds, "vary": vary}
    data = (sim or box()).run(steps=steps, record=record, progress=False, **start).data
    assert (data.failed.values == -1).all()
    assert all(np.isfinite(data[name].values).all() for name in record)
    return data


@pytest.mark.parametrize(
    "values",
    [
        {"smoothing": [1e-9, 1e-6, 1e-3, 1, 1e2]},
        {"mu_s": [0, 1e-9, 1, 100, 1e3], "mu_k": [0, 0, 1, 100, 1]},
        {"mass": [1e-6, 1e-3, 1, 1e3, 1e6]},
        {"dt": [1e-7, 1e-5, 1e-3, 1e-2, 0.05]},
        {"restitution": [0, 0.25, 0.5, 0.75, 1]},
    ],
    ids=lambda values: "-".join(values),
)
def test_rest_at_the_ends_of_every_parameter(values):
    """The weight on four coplanar corners, six of whose twelve directions are not independent."""
    values = {name: np.array(x, dtype=float) for name, x in values.items()}
    data = ran(200, 5, **values)
    weight = values.get("mass", 5.0) * G
    total = data.normal_force.values[:, -1].sum(axis=1) / weight
    if "restitution" in values:  # the fall of g dt^2 of the first step bounces on for e = 1
        assert np.abs(data.v.values[:, -1]).max() < 2 * G * DT
        total = total[:1]
    assert np.allclose(total, 1, rtol=1e-5)


def test_flies_with_speeds_of_every_size():
    """Thrown along the ground at up to 1 km/s, spinning at up to 1,000 rad/s."""
    v0 = np.zeros((6, 6))
    v0[:, 0], v0[:, 5] = [1e-12, 1e-6, 1, 1e3, 0, 1e2], [0, 1e-9, 1, 0, 1e3, 1e3]
    data = ran(300, 6, v0=v0)
    lost = np.linalg.norm(data.v.values[:, -1, :3], axis=-1)
    assert (lost <= np.linalg.norm(v0[:, :3], axis=1) + 1e-6).all()


def test_a_point_at_depth_zero_is_not_in():
    """d > 0 is contact: one that is just there falls for a step, then rests."""
    data = ran(5, 3, depth=np.array([0.0, -1e-300, 1e-300]))
    first = data.normal_force.values[:, 0].sum(axis=1)
    assert first[:2].max() == 0
    assert np.allclose(data.normal_force.values[:, -1].sum(axis=1), 5 * G, rtol=1e-5)


def test_correction_pushes_out():
    """At correction times the depth over the allowance: it falls by 1 - correction dt a step; 0
    leaves it there.
    """
    correction = np.array([0.0, 10, 50, 200])
    data = ran(60, 4, depth=np.array([1e-3, 1e-3, 1e-3, 2e-4]), correction=correction)
    depth = data.depth.values[..., 0]
    expected = depth[:, :1] * (1 - correction[:, None] * DT) ** np.arange(61)
    # SETTLED: 1e-6 of the largest velocity, 0.05 m/s, for a few steps
    assert np.abs(depth - expected).max() < 4 * 1e-6 * 0.05 * DT


def test_more_points_say_the_same():
    """Sixteen points under a box that lands, slides and stops move it as four do."""
    v0 = np.array([[0.5, 0.1, -0.2, 0, 0, 0.0], [1, 0, 0, 0, 0, 0], [0, 0, -1, 0, 0, 0]])
    four, sixteen = (ran(300, 3, box(n), v0=v0) for n in (2, 4))
    # SETTLED: 1e-6 of the slip of 1 m/s is 2.5e-4 of a step's friction, over a way of 0.13 m
    assert np.abs(four.q.values[:, -1] - sixteen.q.values[:, -1]).max() < 1e-4
    assert np.allclose(sixteen.normal_force.values[:, -1].sum(axis=1), 5 * G, rtol=1e-5)


def test_no_lambda():
    """rule="paper" with lam = 0: four coplanar corners share the weight."""
    law = hs.Rigid(rule="paper", lam=0)
    sim = hs.Simulator(hs.Scene(hs.load("box"), hs.Plane(law=law)), dt=DT)
    data = sim.run(0.1, q0=[0, 0, 0.05 - 1e-9, 0, 0, 0, 1], progress=False).data
    assert np.allclose(data.normal_force.values[0, -1, :4], 5 * G / 4, rtol=1e-6)


ENDS = {
    "membrane": (
        hs.MicroMacro(),
        {"ground.thickness": [0, 0, 1, 1], "ground.membrane.normal.k": 0},
    ),
    "springs": (
        hs.Elastic(hs.LinearSpring(), hs.Coulomb(0, 0), implicit=True),
        {"ground.normal.k": [0, 0, 1e12, 1e12], "ground.normal.c": [0, 1e12, 0, 1e12]},
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_other_laws_at_their_ends(name):
    """A membrane of no thickness, or one that the box never gets through and that gives no force;
    springs and dampers of nothing and of 1e12: it rests, or falls freely where nothing holds it.
    """
    law, values = ENDS[name]
    sim = hs.Simulator(hs.Scene(hs.load("box"), hs.Plane(law=law)), dt=DT)
    vary = {path: np.broadcast_to(np.array(x, dtype=float), 4) for path, x in values.items()}
    q0 = [0, 0, 0.05 - 1e-9, 0, 0, 0, 1]
    data = sim.run(0.2, q0=q0, worlds=4, vary=vary, record=("v", "force"), progress=False).data
    assert np.isfinite(data.v.values).all()
    assert np.isfinite(data.force.values).all()
    falls = np.array([False, False, True, True] if name == "membrane" else [True] + 3 * [False])
    speed = -data.v.values[:, -1, 2]
    assert np.allclose(speed[falls], 0.2 * G, rtol=1e-9)
    assert np.abs(speed[~falls]).max() < 1e-6


@pytest.mark.nightly
def test_a_hundred_points():
    data = ran(300, 2, box(10), v0=np.array([[1, 0, 0, 0, 0, 0], [0.3, 0.1, -0.5, 0, 0, 1.0]]))
    assert np.allclose(data.normal_force.values[:, -1].sum(axis=1), 5 * G, rtol=1e-5)
    assert data.solver_unfinished.values.mean() < 0.05


STILT = """<mujoco model="stilt"><worldbody>
  <body name="sole" pos="0 0 0.05"><freejoint name="root"/>
    <inertial pos="0 0 0" mass="{light}" diaginertia="{inertia} {inertia} {inertia}"/>
    <geom name="sole" type="box" size="0.1 0.1 0.05"/>
    <body name="load" pos="0 0 0.1"><joint name="lift" type="slide" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="1000" diaginertia="10 10 10"/>
    </body>
  </body></worldbody>
  <actuator><position name="lift" joint="lift" kp="1e6" kv="2e4"/></actuator></mujoco>"""


@pytest.mark.parametrize("ratio", [1e3, 1e6, 1e9])
def test_mass_ratio(ratio, tmp_path):
    """A sole of 1 kg to 1 mg under a ton on a spring: the ground carries both, and it stands."""
    light = 1e3 / ratio
    path = tmp_path / "stilt.xml"
    path.write_text(STILT.format(light=light, inertia=light / 150))
    corners = [("sole", (x, y, -0.05), 0.0) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    scene = hs.Scene(hs.load(path, points=corners), hs.Plane(law=hs.Rigid()))
    sim = hs.Simulator(scene, dt=DT, control=hs.Servo())
    q0 = np.array([0, 0, 0.05 - 1e-9, 0, 0, 0, 1, 0])
    data = sim.run(3.0, q0=q0, v0=np.zeros(7), progress=False).data
    assert data.failed.values[0] == -1
    weight = (1e3 + light) * G
    assert data.normal_force.values[0, -1].sum() == pytest.approx(weight, rel=1e-6)
    assert np.ptp(data.depth.values[0, -1000:], axis=0).max() < 1e-9  # it hopped before
