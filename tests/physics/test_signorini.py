"""The reference law on blocks and balls, against closed forms, conservation and the other laws.

Oracles: v - mu g t of a sliding block; a slope of atan(mu); two planes that wedge a ball carry
m g / (2 cos) each, so that it is braked by mu g / cos; the weight at rest; energy, which nothing
may win; Rigid, which solves the same problem less far.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import heelstrike as hs
from tests.boxes import grid

G, DT, MU = 9.81, 1e-3, 0.5
RECORD = ("q", "v", "normal_force", "force", "kinetic", "potential", "work_contact")
RECORD += ("com_velocity", "work_friction", "solver_residual", "solver_unfinished")


@cache
def box(n=2, law=hs.Signorini):
    """5 kg on n x n coplanar points, or on all its corners."""
    robot = hs.load("box", points=grid(n)) if n else hs.load("box")
    return hs.Simulator(hs.Scene(robot, hs.Plane(law=law(friction=hs.Coulomb(MU, MU)))), dt=DT)


def ran(sim, duration, v0, depth=1e-9, gravity=None, mu=MU):
    """Worlds that start with velocities v0 at a depth, record by name."""
    v0 = np.atleast_2d(np.asarray(v0, dtype=float))
    worlds = len(v0)
    q0 = np.zeros((worlds, 7))
    q0[:, 2], q0[:, 6] = 0.05 - depth, 1
    gravity = np.tile([0, 0, -G], (worlds, 1)) if gravity is None else gravity
    same = {path: np.full(worlds, mu) for path in ("ground.friction.mu_s", "ground.friction.mu_k")}
    vary = {"gravity": gravity} | same
    start = {"q0": q0, "v0": v0, "worlds": worlds, "vary": vary}
    return sim.run(duration, record=RECORD, progress=False, **start).data


def test_sliding_block_brakes_by_mu_g():
    """In a straight line, in every step, without a hop; then it stands."""
    data = ran(box(), 0.3, [[1, 0, 0, 0, 0, 0], [0.6, 0.8, 0, 0, 0, 0]])
    ahead = np.array([[1, 0], [0.6, 0.8]])
    speed = np.einsum("wtx,wx->wt", data.v.values[..., :2], ahead)
    t = np.arange(speed.shape[1]) * DT
    # EXACT: 1e-9 of the slip of 1 m/s is what friction may be off by in a step
    assert np.abs(speed - np.maximum(1 - MU * G * t, 0)).max() < 1e-8
    aside = np.einsum("wtx,wx->wt", data.v.values[..., :2], ahead[:, ::-1] * [1, -1])
    assert np.abs(aside).max() < 1e-8
    assert np.ptp(data.q.values[..., 2], axis=1).max() < 1e-11
    assert data.solver_unfinished.values.sum() == 0
    assert data.solver_residual.values.max() < 1e-8


def test_slope():
    """Holds 0.01 degrees below atan(mu) and slides 0.01 above."""
    angle = np.arctan(MU) + np.radians([-0.01, 0.01])
    gravity = G * np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], axis=-1)
    data = ran(box(), 0.2, np.zeros((2, 6)), gravity=gravity)
    speed = data.v.values[:, -1, 0]
    wanted = G * (np.sin(angle[1]) - MU * np.cos(angle[1])) * 0.2
    assert abs(speed[0]) < 1e-11
    assert speed[1] == pytest.approx(wanted, rel=1e-5)  # 1e-9 of the slip against 3e-4 m/s


def test_wedge():
    """A ball that slides along a groove of two planes at 45 degrees."""
    law = hs.Signorini(hs.Coulomb(0.3, 0.3))
    planes = [hs.Plane(law, name, normal=(0, y, 1)) for name, y in (("left", -1), ("right", 1))]
    sim = hs.Simulator(hs.Scene(hs.load("ball"), *planes), dt=DT)
    mass = float(sim.robot.bodies[0].mass)
    height = 0.05 * np.sqrt(2) - 1e-9
    v0 = np.array([1, 0, 0, 0, 0, 0.0])
    data = sim.run(steps=2, q0=[0, 0, height, 0, 0, 0, 1], v0=v0, record=RECORD).data
    loads = data.normal_force.values[0, 0]
    assert np.allclose(loads, mass * G / np.sqrt(2), rtol=1e-7)
    # the ball begins to turn: only the first step brakes along the groove alone
    speed = data.com_velocity.values[0, 1, 0]
    assert speed == pytest.approx(1 - 0.3 * np.sqrt(2) * G * DT, abs=1e-8)


def tumbling(worlds):
    """Velocities of a box that is thrown down, turning."""
    thrown = np.random.default_rng(0).normal(size=(worlds, 6)) * [1, 1, 1, 5, 5, 5]
    return thrown - [0, 0, 1, 0, 0, 0]


def test_tumbling_box_gains_no_energy():
    """Not in sum, and in no step more than gravity gives back: m g dt met by a speed of g dt."""
    data = ran(box(0), 0.5, tumbling(40))
    energy = (data.kinetic + data.potential).values
    assert (energy - energy[:, :1]).max() <= 0
    work = np.diff((data.work_contact + data.work_friction).values, axis=1)
    assert work.max() < 5 * G**2 * DT**2
    assert data.solver_unfinished.values.mean() < 1e-2


def test_rigid_is_near():
    """Rigid ends its passes at 1e-6, turning at 1e-3 of the friction: a way of 0.1 m to 1e-3."""
    v0 = [[1, 0.3, 0, 0, 0, 2], [0.5, 0, -0.1, 0, 0, 1]]
    exact, near = (ran(box(law=law), 0.4, v0).q.values[:, -1] for law in (hs.Signorini, hs.Rigid))
    assert 1e-9 < np.abs(exact - near).max() < 1e-3


@pytest.mark.parametrize("n", [2, 4, pytest.param(10, marks=pytest.mark.nightly)])
def test_coplanar_points_carry_the_weight(n):
    """Whatever shares them; at depth 0 it falls for a step first."""
    data = ran(box(n), 0.1, np.zeros((2, 6)), depth=np.array([1e-9, 0]))
    assert np.isfinite(data.force.values).all()
    total = data.normal_force.values.sum(axis=-1)
    assert total[1, 0] == 0
    assert np.allclose(total[:, 2:], 5 * G, rtol=1e-9)


def test_without_friction():
    """It slides on for ever, and nothing is done to it sideways."""
    data = ran(box(), 0.2, [[1, 0.2, 0, 0, 0, 1]], mu=0.0)
    speed = data.com_velocity.values[0, :, :2]
    assert np.abs(speed[-1] - speed[0]).max() < 1e-9
    assert np.abs(data.force.values[..., :2]).max() < 1e-12


def test_rebound():
    law = hs.Signorini(restitution=0.4)
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(law=law)), dt=DT)
    sim.run(steps=1, q0=[0, 0, 0.05 - 1e-6, 0, 0, 0, 1], v0=[0, 0, -1.3, 0, 0, 0])
    assert sim.state["v"][2] == pytest.approx(0.4 * 1.3, rel=1e-9)
