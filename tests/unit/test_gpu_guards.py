"""Variables and guards with a warp per limb: the kernel's own IR, run by threads.

Oracles: the CPU's bits, and orders of units that follow from the rule of variables: a block reads
what the last block before it in the program wrote.
"""

from __future__ import annotations

import re
from functools import partial

import casadi as ca
import numpy as np
import pytest

from heelstrike.codegen.cuda import groups, level, limb_kernel, planner
from heelstrike.codegen.cuda.module import WARP
from heelstrike.codegen.cuda.planner import schedule
from heelstrike.codegen.cuda.ptx import make_ptx
from heelstrike.codegen.cuda.schedule import Rounds, segments, work
from heelstrike.ir.guard import guarded
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from tests import gpu_threads
from tests.gpu_threads import LANES, same_bits
from tests.guarded import guarded_sweep, guarded_values

SX = ca.SX
RNG = np.random.default_rng(8)
LEGS = ("left", "right")


def votes(batch, taken):
    return sum(count for (_, found), count in batch.votes.items() if found == taken)


def long(x, count=20):
    """Return an expression that is worth a branch."""
    for _ in range(count):
        x = ca.sin(x) + 0.5 * x
    return x


def with_legs(inside, memory=2):
    """Return a program with two legs and a trunk; `inside(p, x, total)` adds to it.

    `total` is what the trunk makes of both legs, `x` the memory; the new values come from `inside`.
    """
    p = Program("legs")
    x, u = p.memory("x", memory, np.linspace(0.2, 0.9, memory)), p.input("u", 1)
    parts = []
    for k, leg in enumerate(LEGS):
        with p.block("inward", limb=leg):
            parts.append(p.let("part", long(x[k] * u, 3)))
    with p.block("all", limb="trunk"):
        total = p.let("total", parts[0] - parts[1])
    new = inside(p, x, total)
    with p.block("end"):
        p.update("x", new)
        p.output("new", new)
    return p


def kinds(segment):
    """Return the kinds of blocks by phase and group."""
    return [[[unit.codes[0].tag.kind for unit in own] for own in row] for row in segment.phases]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("slices", [1, 2])
def test_rounds_that_factor_the_limbs_that_changed(dtype, slices):
    """Limbs, the trunk and a strided group share variables; guards are taken, and skipped."""
    values = guarded_values(LANES)
    ours, _ = same_bits(guarded_sweep(), ["rounds", "a"], 5, dtype, slices, **values)
    assert ours.plan.sizes == [2, 2]
    assert ours.plan.members == [1, 18]
    rounds = ours.output("rounds")[:, :, 0]
    assert (rounds[0] != rounds[1]).all()
    assert rounds.max() < 40
    assert ours.get("count").ravel().tolist() == [60, 100]  # rounds that found a direction
    assert votes(ours, 1) > 1000
    assert votes(ours, 0) > 500


def test_limbs_under_guards_of_their_own_share_a_phase():
    """They run side by side, with the needs that they compute themselves."""
    plan = schedule(guarded_sweep().trace([]))
    assert plan is not None
    (loop,) = (part for part in plan.parts if isinstance(part, Rounds))
    rows = [row for segment in segments(loop.parts) for row in kinds(segment)]
    (factor,) = (row for row in rows if "factor" in row[0])
    for legs_or_arms in factor[:2]:
        assert legs_or_arms[0] == "need"
        assert legs_or_arms[2:] == ["factor", "inward"]
        assert legs_or_arms[1].startswith("need of factor")
    assert not any(factor[2:])


def test_cells_of_variables_become_registers():
    """LLVM keeps no cell in local memory, and a warp votes once for each branch."""
    program = guarded_sweep()
    plan = schedule(program.trace([]))
    assert plan is not None
    assert all(plan.cells[: len(plan.sizes)])
    ptx = make_ptx(program, [], mapping="part")
    assert "local_depot" not in ptx.text
    assert ptx.text.count("vote.sync.any") >= 6


def test_cells_in_memory(monkeypatch):
    """Where a warp group has more cells than registers, they stay in memory, with the same bits."""
    monkeypatch.setattr(limb_kernel, "MAX_REGISTER_CELLS", 4)
    same_bits(guarded_sweep(), ["rounds", "a"], 3, **guarded_values(LANES))
    ptx = make_ptx(guarded_sweep(), [], mapping="part").text
    (size,) = re.findall(r"local_depot\d+\[(\d+)\]", ptx)
    assert int(size) > 4 * 4


def test_root_block_with_its_values_in_local_memory(monkeypatch):
    """The tightest plan has no strided groups, and keeps in shared memory what others read."""
    program = guarded_sweep()
    traced = program.trace(["rounds", "a"])
    for values in range(20, 120, 4):
        monkeypatch.setattr(planner, "SHARED", values * WARP * 8)
        if schedule(traced, 8, planner.SHARED) is not None:
            break
    monkeypatch.setattr(gpu_threads, "schedule", partial(schedule, most=planner.SHARED))
    ours, _ = same_bits(program, ["rounds", "a"], 3, **guarded_values(LANES))
    assert ours.plan.values < 80  # 133 with strided groups
    assert ours.plan.members == [1]
    assert len(ours.plan.private[len(ours.plan.sizes)]) > 5


def test_a_variable_that_several_groups_write():
    """Each reads what the last one wrote, also where legs read it before the trunk changes it."""

    def inside(p, x, total):
        with p.block("start", limb="trunk"):
            v = p.variable("v", ca.vertcat(total, x[0]))
        seen = []
        for leg in LEGS:
            with p.block("read", limb=leg):
                seen.append(p.let("seen", ca.sin(v[0]) + v[1]))
        with p.block("change", limb="trunk"):
            p.assign(v, ca.vertcat(v[1], v[0]))  # a swap
        for k, leg in enumerate(LEGS):
            with p.block("write", limb=leg):
                p.assign(v[k], ca.cos(v[k]) * seen[k])
        with p.block("again", limb="trunk"):
            p.assign(v, v + ca.vertcat(seen[1], v[0]))
        return v

    same_bits(with_legs(inside), ["new"], 4, u=RNG.normal(size=(LANES, 1)))


def test_a_variable_of_legs_that_the_trunk_changes():
    """Legs alone read it, and must see what the trunk wrote; the trunk's own is kept in memory."""

    def inside(p, x, total):
        v, first, found = [], [], []
        for k, leg in enumerate(LEGS):
            with p.block("start", limb=leg):
                v.append(p.variable("v", ca.cos(x[k])))
            with p.block("first", limb=leg):
                first.append(p.let("first", 0.1 * v[k]))
        with p.block("sum", limb="trunk"):
            own = p.variable("own", total)
            for k in range(2):
                p.assign(v[k], total + k)
        for k, leg in enumerate(LEGS):
            with p.block("read", limb=leg):
                found.append(p.let("found", v[k] ** 2 - first[k]))
        with p.block("add", limb="trunk"):
            p.assign(own, own + found[0] * found[1])
        with p.block("end", limb="trunk"):
            result = p.let("result", ca.sin(own))
        return ca.vertcat(result, found[0])

    same_bits(with_legs(inside), ["new"], 4, u=RNG.normal(size=(LANES, 1)))


def test_a_variable_of_a_leg_that_a_tail_changes():
    """Two warp groups write it, and only the leg reads it."""

    def inside(p, x, total):
        v, first, found = [], [], []
        for k, leg in enumerate(LEGS):
            with p.block("start", limb=leg):
                v.append(p.variable("v", ca.cos(x[k] + total)))
                first.append(p.let("first", ca.sin(x[k])))
            with p.block("first", limb=leg):
                first[k] = p.let("first", v[k] * first[k])
        with p.block("wag", limb="tail"):
            p.assign(v[0], long(total))
        for k, leg in enumerate(LEGS):
            with p.block("read", limb=leg):
                found.append(p.let("found", v[k] ** 2 - first[k]))
        return ca.vertcat(*found)

    ours, _ = same_bits(with_legs(inside), ["new"], 4, u=RNG.normal(size=(LANES, 1)))
    assert sorted(ours.plan.sizes) == [1, 2]


def test_a_leg_reads_what_the_other_one_has_just_written():
    """The blocks of both legs are the same, but cannot be one unit."""

    def inside(p, x, total):
        v = []
        for k, leg in enumerate(LEGS):
            with p.block("start", limb=leg):
                v.append(p.variable("v", x[k] + total))
        for k, leg in enumerate(LEGS):
            with p.block("turn", limb=leg):
                p.assign(v[k], ca.cos(v[1 - k]) + 0.5 * v[k])
        return ca.vertcat(*v)

    same_bits(with_legs(inside), ["new"], 4, u=RNG.normal(size=(LANES, 1)))


def test_a_leg_reads_its_variable_before_and_after_a_branch():
    """All in one phase; products are computed late, and still of the values before the block."""

    def inside(p, x, total):
        found = []
        for k, leg in enumerate(LEGS):
            with p.block("start", limb=leg):
                v = p.variable("v", ca.vertcat(x[k], ca.cos(x[k])))
            with p.block("before", limb=leg):
                before = p.let("before", ca.sin(v[0] + total) * v[1])
            with guarded(p, "change", total > 0), p.block("change", limb=leg):
                p.assign(v[0], v[1] * long(before))
            with p.block("after", limb=leg):
                p.assign(v, ca.vertcat(x[0] * x[1], v[0] * x[1]))
            with p.block("end", limb=leg):
                found.append(p.let("end", before + v[0] + 0.1 * v[1]))
        return ca.vertcat(*found)

    ours, _ = same_bits(with_legs(inside), ["new"], 4, u=[[0.4], [-0.6]])
    assert votes(ours, 1)
    (segment,) = ours.plan.parts
    expected = ["before", "need of change", "change", "after", "end"]
    assert expected in [row[0] for row in kinds(segment)]


def test_guards_in_guards_and_in_all_groups():
    """Lets go from leg to trunk and back inside one guard, which only one of the worlds needs."""

    def inside(p, x, total):
        with p.block("start", limb="trunk"):
            v = p.variable("v", x)
            kept = p.variable("kept", total)
        with guarded(p, "outer", x[0] > 0.3):
            parts = []
            for k, leg in enumerate(LEGS):
                with p.block("out", limb=leg):
                    parts.append(p.let("part", long(x[k] + total)))
            with guarded(p, "inner", parts[0] > parts[1]):
                with p.block("sum", limb="trunk"):
                    both = p.let("both", long(parts[0] * parts[1]))
                    p.assign(kept, kept + both)
                for k, leg in enumerate(LEGS):
                    with p.block("back", limb=leg):
                        p.assign(v[k], 0.1 * long(both + parts[k]))
            with p.block("after", limb="trunk"):
                p.assign(kept, 0.5 * kept + v[0])
        return v + 0.01 * kept

    values = {"u": [[0.4], [-0.6]], "x": [[0.1, 0.4], [0.7, 0.2]]}
    ours, _ = same_bits(with_legs(inside), ["new"], 6, **values)
    assert votes(ours, 1)
    assert votes(ours, 0)


@pytest.mark.parametrize("limit", [6, 30])
def test_rounds_that_change_variables_do_not_repeat_what_is_before_them(limit):
    """With few rounds, work before a loop would be repeated in it: not where variables change."""

    def inside(p, x, total):
        with p.block("start", limb="trunk"):
            v = p.variable("v", total)
        with repeated(p, "rounds", limit) as loop:
            old = loop.carry("old", SX(0))
            with p.block("round", limb="trunk"):
                new = p.let("new", 0.5 * v + x[1])
                p.assign(v, new)
                loop.next(old, new)
                loop.until(ca.fabs(new - old) < 1e-2)
        return ca.vertcat(v, old)

    values = {"u": [[0.4], [3.0]]}
    ours, _ = same_bits(with_legs(inside), ["new"], 4, **values)
    assert np.ptp(ours.output("new")) > 0.1


def test_a_guard_around_a_loop():
    """All warps make the loop; worlds that do not need it are done before its first round."""

    def inside(p, x, total):
        with p.block("start", limb="trunk"):
            v = p.variable("v", x)
        with guarded(p, "some", total > 0), repeated(p, "rounds", 20) as loop:
            y = loop.carry("y", x[0])
            parts = []
            for leg in LEGS:
                with p.block("round", limb=leg):
                    parts.append(p.let("part", ca.cos(y)))
            with p.block("round", limb="trunk"):
                new = p.let("new", (parts[0] + parts[1]) / 2)
                loop.next(y, new)
                loop.until(ca.fabs(new - y) < 1e-3)
                p.assign(v[1], v[1] + 0.1 * new)
        return v

    values = {"u": [[0.4], [-0.6]]}
    ours, _ = same_bits(with_legs(inside), ["new"], 3, **values)
    assert not votes(ours, 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounds_that_call_functions_where_worlds_are_few(dtype):
    """What belongs to no limb is called in every round in which a world needs it."""

    def inside(p, x, total):
        with p.block("start", limb="trunk"):
            v = p.variable("v", x)
        with repeated(p, "rounds", 12) as loop:
            y = loop.carry("y", x[0])
            with guarded(p, "far", y * total > 0.2) as far, p.block("far"):
                pull = far.leave("pull", long(y, 200))
            with p.block("round", limb=LEGS[0]):
                part = p.let("part", ca.cos(y + 0.1 * pull))
            with p.block("round", limb="trunk"):
                loop.next(y, p.let("new", 0.6 * y + 0.3 * part))
                loop.until(ca.fabs(y) < 0.35)
                p.assign(v[1], v[1] + 0.1 * part)
        return v

    program, values = with_legs(inside), {"u": [[0.4], [-0.6]]}
    assert schedule(program.trace(["new"])) is None  # a thread per world
    ours, _ = same_bits(program, ["new"], 4, dtype, **values)
    assert sum("far" in str(unit.called) for _, _, unit in work(ours.plan.parts)) == 1
    assert votes(ours, 1) > 0
    assert np.ptp(ours.output("new")) > 0.1


def test_small_guards_have_no_branch(monkeypatch):
    """Their work is done for every world; the bits are the same."""

    def inside(p, x, total):
        with p.block("start", limb="trunk"):
            v = p.variable("v", x)
        with guarded(p, "some", total > 0), p.block("small", limb="trunk"):
            p.assign(v[0], v[0] + ca.sin(total))
        return v

    program, values = with_legs(inside), {"u": [[0.4], [-0.6]]}
    ours, _ = same_bits(program, ["new"], 4, **values)
    assert not ours.votes
    monkeypatch.setattr(level, "MIN_GUARDED", 0)
    ours, _ = same_bits(program, ["new"], 4, **values)
    assert votes(ours, 1)


def test_work_of_the_record_under_guards():
    """Outputs that only the record needs may stand under a guard as well."""

    def inside(p, x, total):
        with p.block("start", limb="trunk"):
            v = p.variable("v", x[0])
        with guarded(p, "some", total > 0), p.block("long", limb="trunk"):
            p.assign(v, long(total))
        with p.block("record"):
            p.output("v", v)
        return 0.9 * x + 0.1 * total

    same_bits(with_legs(inside), ["new", "v"], 4, u=[[0.4], [-0.6]])


def test_variables_keep_the_order_of_the_program(monkeypatch):
    """A variable's writers and readers are in order, behind barriers where groups differ."""
    monkeypatch.setattr(groups, "LITTLE_WORK", 0)
    plan = schedule(guarded_sweep().trace([]))
    assert plan is not None
    phase = {}
    for number, group, unit in work(plan.parts):
        for code in unit.codes:
            phase.setdefault((code.tag.kind, code.tag.limb), (number, group))
    leg = "left leg"
    assert phase["begin", leg] < phase["trial", leg] < phase["facts", leg]
    assert phase["trial", leg][0] < phase["inward", leg][0] < phase["solve", "trunk"][0]
    assert phase["solve", "trunk"][0] < phase["outward", leg][0] < phase["direction", leg][0]
