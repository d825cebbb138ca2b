"""Which shapes are compared: bounds of distances, sets of pairs, and steps that skip.

Oracles: coal for distances, Python's own sets, and runs whose steps skip nothing.
"""

from __future__ import annotations

from types import SimpleNamespace

import casadi as ca
import coal
import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

import heelstrike as hs
from heelstrike.contact.geometry.box_gap import PlacedBox, box_gap
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.robot.bounding_box import bounding_box
from heelstrike.robot.convex import ConvexShape
from heelstrike.robot.placement import placements
from heelstrike.runtime.compiler import compile_program
from heelstrike.step import clearance
from heelstrike.step.pair_set import PairSet, new_set
from tests import folding
from tests.convex_pairs import KINDS, kind

SLIDES = """<mujoco><worldbody>
<body name="post"><freejoint/><geom name="post" type="capsule" fromto="0 0 0 0 0 1" size="0.05"/>
 <body name="slide"><joint type="slide" axis="1 0 0"/>
  <geom type="sphere" size="0.05" contype="0" conaffinity="0"/>
  <body name="boom" pos="0.3 0 0.5"><joint type="ball"/>
   <geom name="boom" type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/></body></body>
</body>
<body name="ball" pos="-0.5 0 0.5"><freejoint/><geom name="ball" type="sphere" size="0.1"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("parallel", [True, False])
def test_gaps_of_boxes_are_bounds(parallel):
    """Never more than coal's distance, and equal to it where the boxes are parallel."""
    rng = np.random.default_rng(3)
    sizes = {"centre": (3, 1), "axes": (3, 3), "half": (3, 1)}
    symbols = [{name: ca.SX.sym(name, *size) for name, size in sizes.items()} for _ in range(2)]
    gap = box_gap(*(PlacedBox(**own) for own in symbols))
    of = ca.Function("gap", [x for own in symbols for x in own.values()], [gap])
    found = []
    for _ in range(1000):
        half, places = rng.uniform(0.02, 0.3, (2, 3)), rng.uniform(-0.6, 0.6, (2, 3))
        turns = Rotation.random(2, rng).as_matrix()[[0, 0] if parallel else [0, 1]]
        boxes = [coal.Box(*(2 * h)) for h in half]
        frames = [coal.Transform3s(R, p) for R, p in zip(turns, places, strict=True)]
        answer = coal.DistanceResult()
        coal.distance(boxes[0], frames[0], boxes[1], frames[1], coal.DistanceRequest(), answer)
        own = float(of(places[0], turns[0], half[0], places[1], turns[1], half[1]))
        found.append((own, max(answer.min_distance, 0.0)))
    own, true = np.array(found).T
    assert (true > 0.01).sum() > 300
    assert (own <= true + 1e-6).all()  # coal's tolerance
    assert not parallel or own == pytest.approx(true, abs=1e-6)


@pytest.mark.parametrize("name", KINDS)
def test_boxes_hold_their_shapes(name):
    """No point of a shape is outside, along any axis of the box; boxes and capsules are their
    own.
    """
    own = kind(name)
    turn, shift = Rotation.random(rng=1).as_matrix(), np.array([0.1, 0.2, 0.3])
    axes = np.zeros((3, 3)) if own.half_axes is None else turn @ own.half_axes
    box = bounding_box(ConvexShape(0, own.vertices @ turn.T + shift, axes, own.radius))
    assert box.axes.T @ box.axes == pytest.approx(np.eye(3), abs=1e-11)
    directions = np.random.default_rng(2).normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    vertices = (own.vertices @ turn.T + shift) @ directions.T
    reach = vertices.max(axis=0) + np.linalg.norm(axes.T @ directions.T, axis=0)
    room = directions @ box.centre + np.abs(directions @ box.axes) @ box.half
    assert (reach <= room + 1e-10).all()
    if name in ("box", "capsule", "sphere"):
        sides = sorted(np.ptp(own.vertices, axis=0) / 2)
        assert sorted(box.half) == pytest.approx(sides, abs=1e-10)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_pairs_are_taken_in_order(dtype):
    """Random sets of 60 pairs come out complete and sorted, in each world."""
    count, worlds = 60, 40
    p = Program("sets")
    wanted = p.input("wanted", count)
    with p.block("set"):
        pairs: PairSet = new_set(p, count)
        taken, order = p.variable("taken", ca.SX.zeros(count)), p.variable("order", ca.SX(0))
    for k in range(count):
        with p.block("add", member=k):
            word, bit = pairs.place(k)
            p.assign(word, word + wanted[k] * bit)
    with repeated(p, "take", count) as loop:
        with p.block("pair"):
            pair = pairs.take_first(p)
        with p.block("note"):
            p.assign(order, order + 1)
            for k in range(count):
                p.assign(taken[k], ca.if_else(pair == k, order + 1, taken[k]))
            loop.until(ca.logic_not(pairs.some))
    with p.block("out"):
        p.output("taken", taken)
    batch = compile_program(p, dtype=dtype).batch(worlds)
    chosen = np.random.default_rng(4).random((worlds, count)) < 0.3
    batch.set(wanted=chosen.astype(float))
    batch.run(1, 1)
    found = batch.output("taken").reshape(worlds, count)
    expected = np.where(chosen, np.cumsum(chosen, axis=1), 0)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("name", ["chain", "slides"])
def test_skipped_steps_change_nothing(tmp_path, monkeypatch, name):
    """A run that compares shapes in every step has the same bits; contacts of capsules do not
    depend on the last normal.
    """
    (tmp_path / "slides.xml").write_text(SLIDES)
    robot = folding.chain(tmp_path) if name == "chain" else hs.load(tmp_path / "slides.xml")
    # arms fold; the ball flies at the post while the boom slides and turns
    fast = {"chain": ([0] * 6, -6, -9, 6, 9), "slides": ([0] * 6, -2, 1, 2, 8, 4, 0, 0, 0, 0, 0)}
    v0 = np.random.default_rng(5).normal(scale=0.3, size=(8, robot.nv)) + np.hstack(fast[name])
    ground = hs.Plane(hs.Elastic(hs.LinearSpring(k=2e4, c=20.0), hs.Bristle()), point=(0, 0, -99))
    runs = []
    for gap in (clearance.MIN_GAP, 1e9):
        monkeypatch.setattr(clearance, "MIN_GAP", gap)
        sim = hs.Simulator(hs.Scene(robot, ground, gravity=0), dt=5e-4, control=None, worlds=8)
        run = sim.run(0.4, q0=robot.pose("zero"), v0=v0, record=("q", "v", "self_pair"))
        runs.append(run.data)
    assert (runs[0]["self_pair"].values >= 0).any(axis=(1, 2)).sum() >= 4
    for variable in ("q", "v"):
        assert np.array_equal(runs[0][variable].values, runs[1][variable].values)


@pytest.mark.parametrize("name", ["chain", "slides", "hoap1"])
def test_no_shapes_approach_faster_than_their_bound(tmp_path, name):
    """Random states: placements after a step of 1 us, by Pinocchio, show the speed of each pair."""
    (tmp_path / "slides.xml").write_text(SLIDES)
    loaded = {"chain": lambda: folding.chain(tmp_path), "hoap1": lambda: hs.load("hoap1")}
    robot = loaded.get(name, lambda: hs.load(tmp_path / "slides.xml"))()
    contact = hs.Scene(robot, hs.Plane(hs.Rigid())).shape_contact
    state = SimpleNamespace(robot=robot, q=ca.SX.sym("q", robot.nq), v=ca.SX.sym("v", robot.nv))
    bound = ca.Function("bound", [state.q, state.v], [clearance.largest_approach(state, contact)])
    rng, dt, largest = np.random.default_rng(6), 1e-6, 0.0
    for _ in range(50):
        q = pin.integrate(robot.model, robot.pose("zero"), rng.normal(size=robot.nv))
        v = rng.normal(size=robot.nv) * rng.integers(0, 2, robot.nv)  # some joints move
        apart = []
        for moved in (0.0, dt):
            placed = placements(robot, pin.integrate(robot.model, q, moved * v))
            places = [
                R @ x.vertices.T + p[:, None] for x in contact.shapes for R, p in [placed[x.body]]
            ]
            own = [
                np.linalg.norm(places[i][:, :, None] - places[j][:, None], axis=0).min()
                for i, j in contact.pairs
            ]
            apart.append(np.array(own))
        approach = ((apart[0] - apart[1]) / dt).max()
        assert approach <= float(bound(q, v)) + 1e-6
        largest = max(largest, approach / float(bound(q, v)))
    assert largest > 0.3  # the bound is not idle
