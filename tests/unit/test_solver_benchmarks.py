"""The pieces of benchmarks.rigid_speed, robustness, literal and float32, on cases of a second.

Oracles: hand-made ledgers, Pinocchio's kinematics against MuJoCo's, a law that launches, and
forces that are the same to rounding where a step is linear.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import mujoco
import numpy as np
import pytest

import heelstrike as hs
from benchmarks import float32, literal, rigid_speed, robustness
from benchmarks.whole_body import LAWS, Faller, faller, laid, swaying, tumbling
from heelstrike.bench.peer import mujoco_model
from heelstrike.measure.peer.model import positions_of
from heelstrike.robot.load import find_file
from heelstrike.robot.placement import heights, lowest_height, placements
from heelstrike.simulate.start import check_apart

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def cube():
    return Faller("cube", hs.load("cube"), 1e-3)


def test_a_ledger_rises_by_what_a_quarter_has_above_those_before():
    falls, bounce = np.linspace(5, 1, 100), np.tile([3.0, 0.0, 3.0, 1.0], 25)
    assert robustness.rise(falls, 10) == 0
    assert robustness.rise(bounce, 4) == 0  # a spring gives back what it stored
    launched = np.where(np.arange(100) < 60, falls, falls + 2)
    # quarters fall by 40 / 99; the one of the launch is compared with the one before it
    assert robustness.rise(launched, 10) == pytest.approx(2 - 40 / 99)


def test_a_literal_rule_speeds_a_wheel_up():
    """By the consistent rule a rimless wheel is fastest at its start."""
    rules = literal.laws(hs.Coulomb(5.0, 4.0))
    assert literal.rolled(rules["Rigid, paper"]) > 50
    assert literal.rolled(rules["Rigid, consistent"]) <= literal.STARTS.max()
    assert literal.tossed(rules["Rigid, consistent"], quick=True)["gained"] == 0


def test_a_falling_cube_is_not_launched(cube):
    found = robustness.fall(cube, LAWS["Rigid"], 600, worlds=4)
    assert (found["failed"], found["launched"], found["steps"]) == (0, 0, 2400)
    # a cube turns without error; the order of the step is g dt times the speed of the fall
    assert found["rise_mm"] < 1
    assert 0 < found["rounds"]["mean"] <= found["rounds"]["99th percentile"]
    assert found["residual"] < 1e-3


def test_ground_that_returns_more_than_it_took_is_a_launch(cube):
    """A spring that pushes ten times harder going out, taken at the start of the step."""

    @hs.normal_law
    def trampoline(c, k=2e3):
        return k * c.depth * hs.where(c.depth_rate > 0, 1, 10)

    springy = hs.MicroMacro(hs.Elastic(trampoline(), None), hs.Rigid(), thickness=1.0)
    assert robustness.fall(cube, springy, 600, worlds=4)["launched"] > 0


def test_towers_and_ratios_stand():
    found = robustness.stand(hs.Rigid(), 2)
    assert found["carried"] == pytest.approx(1, abs=1e-6)
    assert found["moved_um"] < 1
    assert not found["failed"]


def test_sums_over_falls(cube):
    row = robustness.fall(cube, LAWS["Rigid"], 50, worlds=2)
    whole = robustness.together({"one": row, "other": row | {"unfinished": 1, "failed": 1}})
    assert (whole["steps"], whole["worlds"], whole["failed"]) == (200, 4, 1)
    assert whole["unfinished_percent"] == 0.5


def test_float32_of_a_cube(cube):
    found = float32.errors(cube, LAWS["Rigid"], times=2, worlds=8)
    assert set(found) == {"settling", "swaying", "falling"}
    off, same, history = (np.concatenate(each) for each in zip(*found.values(), strict=True))
    assert not history.any()  # a cube has no joints
    # rounding of float32 is 6e-8; a force in a step of 1 ms is m / dt times a velocity, 1e4 of it
    assert 0 < np.median(off[same]) < 1e-3
    assert float32.spread(off)["count"] == len(off) > 0
    assert float32.spread(np.array([]))["count"] == 0


@pytest.mark.parametrize("few", [False, True])
def test_points_on_the_whole_of_hoap1(few):
    found = faller("hoap1", few)
    assert (found.bodies, len(found.robot.points)) == ((3, 13) if few else (11, 137))
    assert found.dt == 1e-3


def test_starts_are_above_the_ground_and_repeat():
    robot = hs.load("hoap1", collide="feet")
    q0, v0 = tumbling(robot, 5)
    assert all(0.0199 < lowest_height(robot, q) < 0.5 for q in q0)
    assert np.allclose(np.linalg.norm(q0[:, 3:7], axis=1), 1)
    assert (q0[:, 7:] <= robot.upper[7:]).all()
    assert (q0[:, 7:] >= robot.lower[7:]).all()
    again = tumbling(robot, 5)
    assert all(np.array_equal(a, b) for a, b in zip((q0, v0), again, strict=True))
    assert not np.array_equal(tumbling(robot, 5, seed=1)[0], q0)
    q0, v0 = swaying(robot, 3, drop=0.0, speed=0.0)
    assert all(abs(lowest_height(robot, q)) < 1e-12 for q in q0)
    assert not v0.any()
    assert (np.abs(2 * np.arctan2(*laid(robot, 4, 0.3)[:, [4, 6]].T)) > 0.5).all()


def test_mujoco_has_our_points_and_nothing_else_touches():
    """Spheres where Pinocchio puts the points, which meet the plane and not one another."""
    robot = faller("hoap1", few=True).robot
    balls = [hs.Point(p.name, p.body, p.position, 0.01) for p in robot.points]
    robot = hs.load("hoap1", points=balls)

    def prepare(mj, spec):
        spec.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
        rigid_speed.only_points(robot, mj, spec)

    plain, _ = mujoco_model(find_file("hoap1"))
    model, data = mujoco_model(find_file("hoap1"), prepare)
    assert np.allclose(model.body_mass, plain.body_mass)
    assert np.allclose(model.body_inertia, plain.body_inertia)
    q = swaying(robot, 1, drop=0.0, speed=0.0)[0][0]
    data.qpos[:] = positions_of(model, robot, q)
    mujoco.mj_kinematics(model, data)
    placed = placements(robot, q)
    for point in robot.points:
        height = heights(np.asarray(point.position), placed[point.body])
        assert data.geom(f"point {point.name}").xpos[2] == pytest.approx(height, abs=1e-12)
    data.qpos[2] -= 1  # all of them below the plane
    mujoco.mj_forward(model, data)
    assert data.ncon == len(robot.points)
    assert np.allclose(data.contact.friction[:, 0], 0.6)
    assert rigid_speed.touching(robot, q) <= 8


def test_a_contender_of_several_calls_counts_all_their_work():
    made = []
    contender = rigid_speed.each([lambda: made.append(1), lambda: made.append(2)], 10)
    contender.call()
    assert (made, contender.work) == ([1, 2], 20)


def test_ends_of_worlds(cube):
    sim = hs.Simulator(hs.Scene(cube.robot, hs.Plane(hs.Rigid())), worlds=2)
    sim.reset(q0=[0, 0, 1, 0, 0, 0, 1], v0=[1, 2, 3, 0, 0, 0])
    assert rigid_speed.end(sim).tolist() == [[1, 1, 2, 3]] * 2


def test_the_page_of_figures_is_that_of_the_results():
    """docs/solver-figures.md is what tools/solver_figures.py writes."""
    spec = importlib.util.spec_from_file_location(
        "solver_figures", ROOT / "tools/solver_figures.py"
    )
    figures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(figures)
    assert figures.PAGE.read_text() == figures.page()


def test_tumbling_robots_start_with_their_bodies_apart():
    """A simulator of hoap1, whose shells collide, takes all starts."""
    robot = hs.load("hoap1")
    q0, _ = tumbling(robot, 8)
    scene = hs.Scene(robot, hs.Plane())
    assert scene.shape_contact.pairs
    for pose in q0:
        check_apart(scene, pose)
