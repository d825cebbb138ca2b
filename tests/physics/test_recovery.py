"""Depth that impacts leave, and how rigid laws push it out.

Oracles: the recurrence d+ = d - dt min(correction (d - allowance), g / correction); the rebound of
an impact, e times its speed; the weight of what is lifted.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import heelstrike as hs

G, DT, MASS = 9.81, 1e-3, 5.0
LAWS = {"rigid": hs.Rigid(), "signorini": hs.Signorini()}


@cache
def box(law):
    return hs.Simulator(hs.Scene(hs.load("box"), hs.Plane(LAWS[law])), dt=DT)


@pytest.mark.parametrize("law", LAWS)
def test_deep_points_come_back_to_the_allowance(law):
    """As the recurrence says: never faster than gravity stops them, so that none leaves."""
    depths, correction = np.array([5e-4, 1e-3, 2e-3, 9e-3, 9e-3]), np.array([10, 10, 10, 10, 200.0])
    q0 = np.tile([0, 0, 0.05, 0, 0, 0, 1.0], (len(depths), 1))
    q0[:, 2] -= depths
    start = {"q0": q0, "worlds": len(depths), "vary": {"ground.correction": correction}}
    record = ("depth", "v", "normal_force")
    data = box(law).run(3.0, **start, record=record, progress=False).data
    found, expected = data.depth.values[..., 0].T, depths.copy()
    for row in found:
        # passes end at 7e-7 of the largest velocity, up to 0.1 m/s
        assert np.abs(row - expected).max() < 2e-7
        speed = np.minimum(correction * np.maximum(expected - 1e-3, 0), G / correction)
        expected = expected - DT * speed
    assert (data.normal_force.values[:, 1:].sum(axis=2) > 0).all()
    assert np.abs(data.v.values[:, -1]).max() < 1e-9


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_impacts_rebound_as_without_recovery(restitution):
    """A sphere that enters by up to 4 mm in a step leaves at e times its speed, and with e = 0
    stops, before it comes back to the allowance.
    """
    law = hs.Rigid(restitution=restitution)
    sim = hs.Simulator(hs.Scene(hs.load("ball"), hs.Plane(law)), dt=DT, worlds=3)
    q0 = np.tile([0, 0, 0.05 + 1e-6, 0, 0, 0, 1.0], (3, 1))
    speed = np.array([1.5, 2.5, 4.0])
    v0 = np.zeros((3, 6))
    v0[:, 2] = -speed
    data = sim.run(1.0, q0=q0, v0=v0, record=("v", "depth"), progress=False).data
    hit = np.argmax(data.depth.values[..., 0] > 0, axis=1)
    before, after = (data.v.values[np.arange(3), hit + k, 2] for k in (0, 1))
    assert after == pytest.approx(-restitution * before, abs=1e-5)
    assert (data.depth.values[np.arange(3), hit, 0] > 1.4e-3).all()
    if not restitution:
        assert data.depth.values[:, -1, 0] == pytest.approx(1e-3, abs=1e-6)


def test_recovery_adds_no_more_than_it_lifts():
    """Of a box that falls flat, on an edge and on a corner: what its energy rises by is the work
    against gravity, and never comes near to what the impact lost.
    """
    turns = np.repeat([[0, 0, 0, 1], [0.3, 0, 0, 1], [0.3, 0.25, 0.1, 1]], 4, axis=0)
    q0 = np.zeros((12, 7))
    q0[:, 2], q0[:, 3:] = 0.9, turns / np.linalg.norm(turns, axis=1, keepdims=True)
    q0[:, 2] += np.tile([0, 1e-3, 2e-3, 3e-3], 3)  # of 4 mm a step: in one of them it enters deep
    names = ("kinetic", "potential", "depth", "work_contact", "work_friction", "v")
    runs = []
    for correction in (10.0, 0.0):
        vary = {"ground.correction": np.full(12, correction)}
        run = box("rigid").run(3.0, q0=q0, worlds=12, vary=vary, record=names, progress=False)
        runs.append(run.data)
    pushed, left = runs
    energy = (pushed.kinetic + pushed.potential).values
    works = (pushed.work_contact + pushed.work_friction).values
    # the ledger at rest: a symplectic step is off by m g dt v / 2 while it falls; 2.6e-4 measured
    assert np.abs(energy[:, -1] - energy[:, 0] - works[:, -1]).max() < 1e-3
    deepest = pushed.depth.values.max(axis=(1, 2))
    rises = (energy - np.minimum.accumulate(energy, axis=1)).max(axis=1)
    assert (rises < MASS * G * deepest).all()
    assert pushed.depth.values[:, -1].max() < 1.001e-3 < left.depth.values[:, -1].max()
    assert np.abs(pushed.v.values[:, -1]).max() < 1e-6
