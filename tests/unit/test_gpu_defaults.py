"""Results of guards that warps neither store nor load where they skip the guard.

Oracle: the bits of the CPU, where such results are stored as 0 in every step.
"""

import casadi as ca
import numpy as np
import pytest

from heelstrike.codegen.cuda import limb_kernel, planner
from heelstrike.codegen.cuda.schedule import segments, work
from heelstrike.ir.guard import guarded, reopened
from heelstrike.ir.loop import repeated
from tests.gpu_threads import LANES, same_bits
from tests.unit.test_gpu_guards import LEGS, long, votes, with_legs

SX = ca.SX


@pytest.fixture(autouse=True)
def without_registers(monkeypatch):
    """Plan as for a program whose results are too many for registers."""
    monkeypatch.setattr(planner, "MAX_REGISTER_CELLS", 0)
    monkeypatch.setattr(limb_kernel, "MAX_REGISTER_CELLS", 0)


def legs_that_touch(p, x, total):
    """Feet touch at x > 0.5; forces and stiffness leave the guard, and change in a loop."""
    pushes = []
    for k, leg in enumerate(LEGS):
        with p.block("outside", limb=leg):
            stiffness = p.variable("stiffness", ca.vertcat(0, 0, 0, 2))
        with guarded(p, "touch", x[k] > 0.5) as touch, p.block("touch", limb=leg):
            force = touch.leave("force", ca.vertcat(long(x[k]), total * x[k]))
            p.assign(stiffness, long(ca.vertcat(x[k], total, x[k] * total, 1)))
        with p.block("sum", limb=leg):
            pushes.append((touch, stiffness, p.let("push", ca.sum1(force) + ca.sum1(stiffness))))
    with p.block("begin", limb="trunk"):
        shift = p.variable("shift", SX(1))
    with repeated(p, "rounds", 4) as loop:
        parts = []
        for leg, (touch, stiffness, push) in zip(LEGS, pushes, strict=True):
            with reopened(p, touch), p.block("stiffer", limb=leg):
                p.assign(stiffness[:2], long(stiffness[:2] * shift))
            with p.block("part", limb=leg):
                parts.append(p.let("part", push + ca.dot(stiffness, stiffness)))
        with p.block("shift", limb="trunk"):
            p.assign(shift, 0.5 * shift + 0.01 * ca.sin(parts[0] - parts[1]))
            loop.until(shift < 0.2)
    for k, leg in enumerate(LEGS):
        with p.block("after", limb=leg):
            stiffness = pushes[k][1]
            pushes[k] = p.let("after", ca.sin(ca.sum1(stiffness)) + pushes[k][2] * 0.1)
    return ca.vertcat(*pushes)


def run(start, dtype="float32"):
    return same_bits(with_legs(legs_that_touch), ["new"], 3, dtype, u=np.full((LANES, 1), start))[0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("start", [-0.5, 0.3, 2.0])
def test_bits_where_no_leg_one_leg_or_both_touch(dtype, start):
    ours = run(start, dtype)
    assert votes(ours, 0)


def test_zeros_are_stored_inside_the_guard():
    """Of six results of a leg five start as 0, and one as 2, which stays outside."""
    plan = run(0.3).plan
    zeros = [unit for _, _, unit in work(plan.parts) if unit.codes[0].tag.kind == "defaults"]
    assert [len(unit.written) for unit in zeros] == [5]  # two forces and three entries, both legs
    assert all(unit.needs for unit in zeros)
    outside = [u for _, _, u in work(plan.parts) if u.codes[0].tag.kind == "outside"]
    assert [len(unit.written) for unit in outside] == [1]
    asking = {u.codes[0].tag.kind for _, _, u in work(plan.parts) if u.defaults}
    assert asking == {"sum", "part", "after"}
    assert len(list(segments(plan.parts))) > 1


def test_what_is_read_before_the_guard_starts_outside():
    """It is 0 before the need is known."""

    def inside(p, x, total):
        found = []
        for k, leg in enumerate(LEGS):
            with p.block("start", limb=leg):
                v = p.variable("v", SX(0))
            with p.block("before", limb=leg):
                before = p.let("before", v + x[k])
            with guarded(p, "touch", before > 0.5), p.block("touch", limb=leg):
                p.assign(v, long(before * total))
            with p.block("end", limb=leg):
                found.append(p.let("end", v + before))
        return ca.vertcat(*found)

    u = np.array([[0.4], [-0.6]])
    ours, _ = same_bits(with_legs(inside), ["new"], 3, u=u)
    assert not any(unit.defaults for _, _, unit in work(ours.plan.parts))
