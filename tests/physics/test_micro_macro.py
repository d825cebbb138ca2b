"""A membrane over a rigid floor, against its two parts and closed forms of rest.

Oracles: hs.Elastic, which it is while no point is through the membrane; rest on n points under a
weight W: W / (n k) deep where the membrane can carry that within its thickness, else at the floor,
which carries what the membrane leaves (ORACLE M2: 22 % of 5 kg on four points of [Sugihara2006]'s
membrane). A box of 5 kg on its four lower corners, the membrane of [Sugihara2006] IV-C unless said.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import heelstrike as hs

W, N, THICKNESS = 5 * 9.81, 4, 5e-4
MEMBRANE = hs.Elastic(hs.TimestepDamper(hs.LinearSpring(k=5512, c=158)), hs.Kinetic(mu=0.4))
FLOOR = hs.Rigid(friction=hs.Coulomb(mu_s=1.0, mu_k=0.4))
K = "ground.membrane.normal.law.k"


@cache
def box(below, alone=False):
    corners = [("box", (x, y, -0.05), 0.0) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
    law = MEMBRANE if alone else hs.MicroMacro(MEMBRANE, FLOOR, THICKNESS, below)
    return hs.Simulator(hs.Scene(hs.load("box", points=corners), hs.Plane(law=law)), dt=1e-3)


def ran(below, duration, worlds, height=0.0, alone=False, **options):
    """Dropped from a height, or put at a depth if that is negative."""
    q0 = np.zeros((worlds, 7))
    q0[:, 2], q0[:, 6] = 0.05 + height, 1
    options = {"v0": np.zeros((worlds, 6)), "gravity": (0, 0, -9.81)} | options
    gravity = np.broadcast_to(options.pop("gravity"), (worlds, 3))
    mu_s = np.full(worlds, options.pop("mu_s", 1.0))
    vary = {"gravity": gravity} | options.pop("vary", {})
    vary |= {} if alone else {"ground.rigid.friction.mu_s": mu_s}
    start = {"q0": q0, "worlds": worlds, "vary": vary}
    return box(below, alone).run(duration, progress=False, **start, **options).data


@pytest.mark.parametrize("below", ["both", "rigid"])
def test_inside_the_membrane_it_is_elastic(below):
    """Bouncing, tumbling, sliding, while no corner reaches the floor: nothing differs."""
    rng = np.random.default_rng(0)
    v0 = rng.normal(size=(8, 6)) * [0.3, 0.3, 0.2, 1, 1, 1]
    thick = {"ground.thickness": np.full(8, 0.5), K: np.full(8, 5512.0)}
    floor = ran(below, 0.5, 8, height=0.005, v0=v0, vary=thick)
    elastic = ran(below, 0.5, 8, height=0.005, alone=True, v0=v0)
    assert elastic.touching.values.any()
    for name in ("q", "v", "force", "work_contact", "work_friction"):
        off = np.abs(floor[name].values - elastic[name].values).max()
        # the same sums in another program
        assert off <= 1e-11 * np.abs(elastic[name].values).max(), name
    assert (floor.solver_rounds.values <= 2).all()


@pytest.mark.parametrize("below", ["both", "rigid"])
def test_settles_where_membrane_or_floor_carry(below):
    k = np.array([1e3, 5512, 2e4, 5e4, 1e5])
    vary = {K: k, "ground.thickness": np.full(5, THICKNESS)}
    data = ran(below, 3.0, 5, height=-1e-5, vary=vary)
    depth, rate = data.depth.values[:, -1], data.depth_rate.values[:, -1]
    soft = W / (N * k) > THICKNESS
    assert np.allclose(depth[~soft], (W / (N * k[~soft]))[:, None], rtol=1e-6)
    # neither speed nor depth grows at the floor; it is reached at 0.1 m/s at most
    assert (depth[soft] > THICKNESS).all()
    assert (depth[soft] < THICKNESS + 0.1e-3).all()
    assert np.abs(rate).max() < 1e-9
    assert np.allclose(data.normal_force.values[:, -1], W / N, rtol=1e-6)


def test_share_of_the_membrane():
    """Let go at the depth of rest with the floor far below, the box falls with g less the
    membrane's part: 22 % of it, and what the depth beyond the thickness adds.
    """
    vary = {K: np.full(1, 5512.0), "ground.thickness": np.full(1, THICKNESS)}
    depth = ran("both", 2.0, 1, height=-1e-5, vary=vary).depth.values[0, -1].mean()
    vary["ground.thickness"] = np.full(1, 0.5)
    falling = ran("both", 1e-3, 1, height=-depth, vary=vary)
    fall = falling.v.values[0, -1, 2] / -1e-3 / 9.81
    share = N * 5512 * THICKNESS / W
    assert share == pytest.approx(0.2247, abs=1e-4)
    assert 1 - fall == pytest.approx(share * depth / THICKNESS, rel=1e-9)
    assert depth == pytest.approx(THICKNESS, rel=0.2)


def test_rest_depends_on_the_way_only_where_the_floor_is_alone():
    """Put 1 mm deep on a membrane that could carry it at 0.4 mm: pressed up to there ("both"), or
    left where it is ("rigid").
    """
    vary = {K: np.full(1, W / (N * 4e-4)), "ground.thickness": np.full(1, THICKNESS)}
    both, rigid = (ran(below, 3.0, 1, height=-1e-3, vary=vary) for below in ("both", "rigid"))
    assert np.allclose(both.depth.values[0, -1], 4e-4, rtol=1e-6)
    assert np.allclose(rigid.depth.values[0, -1], 1e-3, rtol=1e-6)


def test_what_the_membrane_carries_is_lost_to_friction():
    """Pulled sideways by 20 N where the cone of mu_s = 0.6 allows 29 N: with "both" the floor has
    only what the membrane of 2e4 N/m leaves, 18 %, and lets go. Why "rigid" is the default.
    """
    gravity = np.array([20 / 5, 0, -9.81])
    vary = {K: np.full(1, 2e4), "ground.thickness": np.full(1, THICKNESS)}
    ways = {}
    for below in ("both", "rigid"):
        start = {"height": -1.001 * THICKNESS, "gravity": gravity, "mu_s": 0.6}
        ways[below] = ran(below, 1.0, 1, vary=vary, **start).q.values[0, -1, 0]
    assert ways["both"] > 0.1
    assert abs(ways["rigid"]) < 1e-8
    assert hs.MicroMacro().below == "rigid"


def test_floor_holds_where_the_membrane_creeps():
    """On a slope below both friction angles: a point on the floor stays; kinetic friction lets one
    in the membrane creep.
    """
    angle = np.radians(15)
    gravity = 9.81 * np.array([np.sin(angle), 0, -np.cos(angle)])
    k = np.array([5512, 1e5])
    vary = {K: k, "ground.thickness": np.full(2, THICKNESS)}
    data = ran("both", 3.0, 2, height=-1e-5, gravity=gravity, vary=vary)
    late = data.contact_position.values[:, -1] - data.contact_position.values[:, 2000]
    creep = np.linalg.norm(late, axis=-1).max(axis=-1)
    assert creep[0] < 1e-9
    assert creep[1] > 1e-6
    assert np.abs(data.force.values[0, -1].sum(axis=0) + 5 * gravity).max() < 1e-6


@pytest.mark.parametrize("below", ["both", "rigid"])
def test_impact_through_the_membrane(below):
    """The floor takes what the membrane cannot: no deeper than the step's way, no rebound (e = 0)
    but what the membrane gives back. Depth is kept, not to take its recovery for a rebound.
    """
    speed = np.array([0.5, 1.0, 2.0])
    v0 = np.zeros((3, 6))
    v0[:, 2] = -speed
    vary = {K: np.full(3, 5512.0), "ground.thickness": np.full(3, THICKNESS)}
    vary["ground.rigid.correction"] = np.zeros(3)
    data = ran(below, 0.1, 3, height=0.0, v0=v0, vary=vary)
    assert (data.peak_depth.values.max(axis=1) < THICKNESS + 1.01 * speed * 1e-3).all()
    up = data.com_velocity.values[:, :, 2].max(axis=1)
    back = np.sqrt(N * 5512 / 5) * data.peak_depth.values.max(axis=1)
    assert (up < (back if below == "both" else 1e-6)).all()
    assert np.abs(data.normal_force.values[:, -1].sum(axis=1) - W).max() < 1e-3 * W
