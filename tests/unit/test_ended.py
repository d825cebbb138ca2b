"""The criterion that ended a solve, beside what the step and the problem show of it."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.contact.solver.criteria import USUAL, Accuracy, Ended
from heelstrike.contact.solver.passes import Measured, Passes, Scales
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program
from tests.unit.test_swept import feet, solved, stacked

NAMES = ("solver_ended", "solver_unfinished", "touching")


def dropped(robot, law, dtype="float64", duration=0.3):
    """Return a recording of a robot that falls by a centimetre."""
    scene = hs.Scene(robot, hs.Plane(law=law))
    sim = hs.Simulator(scene, control=hs.Servo(), dtype=dtype)
    q0 = robot.pose("stance").copy()
    q0[2] += 0.01
    return sim.run(duration, q0=q0, record=NAMES, progress=False).data


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.nightly)])
def test_a_robot_that_lands(dtype):
    """Nothing touches in flight; rounding ends solves in float32 alone."""
    data = dropped(hs.load("hoap1", collide="feet"), hs.Rigid(), dtype)
    ended = data.solver_ended.values
    assert ((ended == Ended.NO_CONTACT) == ~data.touching.values.any(axis=-1)).all()
    assert ((ended == Ended.LIMIT) == data.solver_unfinished.values).all()
    assert {Ended.NO_CONTACT, Ended.SETTLED} <= set(ended.ravel())
    assert (Ended.ROUNDING in ended) == (dtype == "float32")


def test_literal_rules_settle_or_reach_their_limit():
    data = dropped(hs.load("hoap1", collide="feet"), hs.Rigid(rule="paper"), duration=0.1)
    assert set(data.solver_ended.values.ravel()) == {Ended.NO_CONTACT, Ended.SETTLED}


def landed(accuracy):
    rng = np.random.default_rng(4)
    p = stacked([feet(rng, 1, 4, 0.8, 0.5) for _ in range(60)])
    p["active"][:10] = 0
    return solved(p, accuracy=accuracy)


def test_few_rounds_reach_the_limit():
    enough, few = landed(Accuracy(rounds=1000)), landed(Accuracy(rounds=8))
    for out, most in ((enough, 1000), (few, 8)):
        assert (out["ended"][:10] == Ended.NO_CONTACT).all()
        assert ((out["ended"] == Ended.LIMIT) == (out["rounds"] == most)).all()
    assert (few["ended"] == Ended.LIMIT).sum() > 10
    assert (enough["ended"] == Ended.LIMIT).sum() < 5


PASSES = 4
"""One more than contacts need to rest."""


@cache
def judging(accuracy=USUAL):
    """Compile passes that change velocities by given speeds, of which the last one ends."""
    p = Program("passes")
    moved, held = p.input("moved", PASSES), p.input("held", PASSES)
    later, criterion = p.input("later", 1), p.input("criterion", 1)
    with p.block("scales"):
        scales = Scales(*(p.let("scale", ca.SX(x)) for x in (1e-6, 1e-4, later, 1e-3, 1e-3)))
    passes = Passes(p, scales, accuracy, thorough=False, firms=False)
    none = ca.SX(0)
    for k in range(PASSES):
        found = Measured(moved[k], held[k], none, none, none, none, none, none)
        passes.judge(ca.SX(1), found, none, criterion)
    with p.block("out"):
        p.output("ended", passes.ended)
    return compile_program(p)


@pytest.mark.parametrize(
    ("moved", "held", "later", "criterion", "expected"),
    [
        ([1, 1e-2, 1e-4, 1e-7], 1e-7, 1, 0, Ended.SETTLED),
        ([1, 1e-2, 1e-4, 1e-5], 1e-5, 100, 0, Ended.RESTS),
        ([1, 1e-2, 5e-5, 4.5e-5], 1e-7, 1, 0, Ended.CREEPS),
        ([1, 1e-2, 5e-5, 4.5e-5], 1e-5, 1, 0, Ended.LIMIT),  # not slips alone: it goes on
        ([1, 1e-2, 5e-5, 3.5e-5], 1e-7, 1, 0, Ended.LIMIT),  # passes still help
        ([1, 1e-2, 1e-4, 1e-7], 1e-7, 1, Ended.ROUNDING, Ended.ROUNDING),
    ],
)
def test_each_criterion_has_its_number(moved, held, later, criterion, expected):
    """Limits of 1e-6 m/s, 1e-4 m/s for slips, and `later` times both after three passes."""
    out = judging()(moved=moved, held=PASSES * [held], later=later, criterion=criterion)
    assert out["ended"] == expected


@pytest.mark.parametrize(
    ("moved", "expected"),
    [
        ([1e-4, 1e-4, 1.0005e-4, 1e-4], Ended.CREEPS),
        ([1e-4, 1e-4, 1.002e-4, 1e-4], Ended.LIMIT),  # one of the last two changed it
        ([2e-3, 2e-3, 2e-3, 2e-3], Ended.LIMIT),  # too large
    ],
)
def test_passes_that_change_nothing_end(moved, expected):
    """What is left stays the same within 1e-3, twice, and is below 1e-3 m/s; not slips alone."""
    out = judging(Accuracy(judged=1, lasts=2))(moved=moved, held=moved, later=1, criterion=0)
    assert out["ended"] == expected
