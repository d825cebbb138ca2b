"""Functions of a kernel that stand apart: the work under guards and that of strided groups.

Oracles: the CPU's bits, and counts in the PTX of functions and of their calls.
"""

from __future__ import annotations

import re

import casadi as ca
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.codegen.cuda import apart, groups, limb_kernel
from heelstrike.codegen.cuda.planner import schedule
from heelstrike.codegen.cuda.ptx import make_ptx
from heelstrike.codegen.cuda.schedule import Rounds, segments
from heelstrike.ir.guard import guarded
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.robot import load
from tests.gpu_threads import LANES, same_bits
from tests.guarded import guarded_sweep, guarded_values
from tests.unit.test_gpu_guards import LEGS, long, votes, with_legs


def calls(ptx):
    """Return the name of the function of each call, in the order of the code."""
    return re.findall(r"call\.uni\s+(apart\d+)", ptx)


def functions(ptx):
    return re.findall(r"\.func (apart\d+)", ptx)


def of_legs(p, x, total):
    """Write a guard for each leg, whose results pass through memory of the trunk."""
    with p.block("start", limb="trunk"):
        v = p.variable("v", ca.vertcat(total, x[0]))
    for k, leg in enumerate(LEGS):
        with p.block("before", limb=leg):
            held = p.let("held", long(x[k], 2))
        with guarded(p, f"of {leg}", held - x[1 - k] > 0), p.block("rare", limb=leg):
            p.assign(v[k], long(held + v[k]))
    return v


@pytest.mark.parametrize("u", [[[0.4], [-0.6]], [[0.4], [0.5]], [[-3.0], [2.0]]])
def test_the_work_under_a_guard_is_a_function(u, monkeypatch):
    """It takes the value that its leg has in a register; small work has none."""
    program = with_legs(of_legs)
    ours, _ = same_bits(program, ["new"], 4, u=u)
    assert votes(ours, 1) > 0
    assert votes(ours, 0) > 0
    ptx = make_ptx(program, [], mapping="part").text
    assert len(functions(ptx)) == len(calls(ptx)) > 0
    assert ptx.index(".func") < ptx.index(".entry")
    monkeypatch.setattr(apart, "MIN_APART", 10**6)
    assert not functions(make_ptx(program, [], mapping="part").text)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("slices", [1, 2])
def test_bits_where_every_guard_has_a_function(dtype, slices, monkeypatch):
    """Also if what branches change is in registers otherwise."""
    text = make_ptx(guarded_sweep(), [], mapping="part").text
    few = len(calls(text))
    monkeypatch.setattr(apart, "MIN_APART", 0)
    for module in (apart, limb_kernel):
        monkeypatch.setattr(module, "MAX_REGISTER_CELLS", 0)
    assert len(calls(make_ptx(guarded_sweep(), [], mapping="part").text)) > few
    ours, _ = same_bits(guarded_sweep(), ["rounds", "a"], 5, dtype, slices, **guarded_values(LANES))
    assert votes(ours, 1) > 500
    assert votes(ours, 0) > 500


def test_values_in_registers_keep_guards_in_the_code():
    """A call would save the values that branches change: only the strided group has functions."""
    program = guarded_sweep()
    plan = schedule(program.trace([]))
    assert plan is not None
    assert 0 < plan.most_cells < apart.MAX_REGISTER_CELLS
    assert shared_phases(plan) == len(functions(make_ptx(program, [], mapping="part").text)) > 0
    assert apart.allows_apart(0)
    assert not apart.allows_apart(apart.MAX_REGISTER_CELLS)
    assert apart.allows_apart(apart.MAX_REGISTER_CELLS + 1)


def shared_phases(plan):
    """Return in how many phases strided groups work."""
    rows = [row for segment in segments(plan.parts) for row in segment.phases]
    return sum(bool(units) for row in rows for units in row[len(plan.sizes) + 1 :])


def members_that_carry():
    """Return a program whose members carry values through a loop, under a guard in some rounds."""
    p = Program("members")
    x, u = p.memory("x", 18, np.linspace(0.2, 0.9, 18)), p.input("u", 1)
    parts = []
    for k, leg in enumerate(LEGS):
        with p.block("begin", limb=leg):
            parts.append(p.let("part", long(x[9 * k] * u, 3)))
    with repeated(p, "rounds", 6) as loop:
        own = [loop.carry("own", x[i]) for i in range(18)]
        kept = []
        for i in range(18):
            with p.block("before", limb=LEGS[i // 9], member=i):
                kept.append(p.variable("kept", own[i]))
        with p.block("judge", limb="trunk"):
            total = p.let("total", sum(own) + 0.1 * sum(parts))
        with guarded(p, "some", total > 9 * u):
            for i in range(18):
                with p.block("rare", limb=LEGS[i // 9], member=i):
                    p.assign(kept[i], long(kept[i] - 0.1 * total))
        for i in range(18):
            with p.block("next", limb=LEGS[i // 9], member=i):
                loop.next(own[i], p.let("new", ca.sin(kept[i]) + 0.5 * kept[i]))
        with p.block("end of round", limb="trunk"):
            loop.until(total < 4 * u)
    with p.block("end"):
        p.update("x", ca.vertcat(*own))
        p.output("own", ca.vertcat(*own))
    return p


@pytest.mark.parametrize(
    ("u", "taken"), [([[1.0], [0.7]], 1), ([[0.3], [2.0]], 1), ([[2.0], [5.0]], 0)]
)
def test_members_that_carry_values_through_a_loop(u, taken, monkeypatch):
    """They take their next values in the function, which has a guard inside."""
    monkeypatch.setattr(groups, "LITTLE_WORK", 0)
    program = members_that_carry()
    ours, _ = same_bits(program, ["own"], 3, u=u)
    plan = ours.plan
    assert plan.members == [1, 18]
    (rounds,) = (part for part in plan.parts if isinstance(part, Rounds))
    carried = {new for _, new in rounds.carried[-1]}
    assert len(carried) == 1
    assert carried <= plan.early
    assert votes(ours, taken) > 0


def test_warp_groups_share_the_work_of_joints():
    """A function for each phase of a strided group, which legs and arms call alike."""
    scene = hs.Scene(load("hoap1", collide="feet"), hs.Plane())
    traced = hs.Simulator(scene, control=hs.Servo()).program.trace([])
    plan = schedule(traced)
    assert plan is not None
    strided = shared_phases(plan)
    assert strided >= 5
    called = calls(make_ptx(traced, mapping="part").text)
    assert sum(called.count(name) == len(plan.sizes) for name in set(called)) == strided
