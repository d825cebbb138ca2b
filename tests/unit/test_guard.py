"""Variables and guards.

Oracles: the same formulas in numpy, world by world; the same program without guards, with other
lane widths and with other neighbours, whose bits must be equal; central differences for the
derivative. Where work that only outputs need reads variables, the oracle is the program without
memory, which computes everything in the order in which it is written.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from heelstrike.codegen.cpu import object_code
from heelstrike.codegen.cuda.ptx import make_ptx
from heelstrike.codegen.layout import Layout
from heelstrike.codegen.llvm import emit
from heelstrike.codegen.passes.guards import without_guards
from heelstrike.codegen.passes.joining import join_guards
from heelstrike.codegen.passes.packing import pack
from heelstrike.codegen.real import FLOAT32, real_type
from heelstrike.errors import ProgramError
from heelstrike.ir.code import Guard, PackedCode, Repeat, flatten
from heelstrike.ir.derivative import Derivative
from heelstrike.ir.guard import guarded, left, reopened
from heelstrike.ir.loop import counted, repeated
from heelstrike.ir.program import Program
from heelstrike.ir.table import table
from heelstrike.runtime.compiler import compile_program
from heelstrike.runtime.export_casadi import export_casadi
from heelstrike.runtime.kernel import Kernel

SX = ca.SX
RNG = np.random.default_rng(3)
VARIANTS = [(1, True), (1, False), (4, True), (4, False), (8, True), (8, False)]
"""Lane widths, and whether guards are kept."""


def compiled(p, width=8, guards=True, dtype="float64"):
    """Return a kernel, with guards or without."""
    traced, real = p.trace(), real_type(dtype)
    module = emit(traced, width, real, guards=guards)
    layout = Layout.of(traced, module.width, real, module.frame_size)
    return Kernel(layout, object_code(module, 2))


def bits(array):
    return np.ascontiguousarray(array).view(np.uint8)


def call(p, **inputs):
    """Return the outputs, after checking that no variant has other bits."""
    found = {}
    for dtype in ("float32", "float64"):
        found = compiled(p, *VARIANTS[0], dtype)(**inputs)
        for width, guards in VARIANTS[1:]:
            other = compiled(p, width, guards, dtype)(**inputs)
            for name, value in found.items():
                assert np.array_equal(bits(value), bits(other[name])), (name, dtype, width, guards)
    return found


def codes(items):
    return [x for item in items for x in flatten(item)]


def guards_of(items):
    found = [item for item in items if isinstance(item, Guard)]
    inner = [item for item in items if isinstance(item, Guard | Repeat)]
    return found + [guard for item in inner for guard in guards_of(item.body)]


# variables


def test_blocks_read_the_value_of_their_start():
    """A swap in one block, a copy by `let`, and two assignments of which the last counts."""
    p = Program("swap")
    x = p.input("x", 2)
    with p.block("start"):
        v = p.variable("v", x)
        same = v[0] + 0  # its own block reads the value that it is given
        p.output("first", same)
    with p.block("swap"):
        old = p.let("old", v)
        p.assign(v, v * 7)
        p.assign(v, ca.vertcat(v[1], v[0]))
        p.output("during", v)
    with p.block("half"):
        p.assign(v[1], v[0] + v[1])
    with p.block("end"):
        p.output("old", old)
        p.output("after", v)
    x = RNG.normal(size=(11, 2))
    out = call(p, x=x)
    assert np.array_equal(out["first"], x[:, :1])
    assert np.array_equal(out["during"], x)
    assert np.array_equal(out["old"], x)
    assert np.array_equal(out["after"], np.stack([x[:, 1], x[:, 1] + x[:, 0]], axis=1))


def test_declared_and_assigned_in_one_block():
    p = Program("both")
    x = p.input("x", 1)
    with p.block("start"):
        v = p.variable("v", SX(2))
        p.assign(v, x * v)
        p.output("now", v)
    with p.block("end"):
        p.output("after", v)
    out = call(p, x=[[3.0], [-1.0]])
    assert np.array_equal(out["now"], [[2], [2]])
    assert np.array_equal(out["after"], [[6], [-2]])


def test_every_entry_of_a_variable_is_a_symbol():
    p = Program("dense")
    with p.block("start"):
        v = p.variable("v", ca.diag(ca.vertcat(1, p.input("x", 1))))
    assert v.shape == (2, 2)
    assert v.nnz() == 4
    assert all(entry.is_symbolic() for entry in v.nonzeros())


def test_a_loop_carries_a_copy_of_a_variable():
    """`next` takes the value at the block, not the one at the end of the round."""
    p = Program("carried")
    x = p.input("x", 1)
    with p.block("start"):
        v = p.variable("v", x)
    with counted(p, "loop", 3) as loop:
        carried = loop.carry("carried", v)
        with p.block("take"):
            loop.next(carried, v)
        with p.block("change"):
            p.assign(v, 2 * v)
    with p.block("end"):
        p.output("carried", carried)
        p.output("v", v)
    out = call(p, x=[[1.0], [3.0]])
    assert np.array_equal(out["carried"], [[4], [12]])
    assert np.array_equal(out["v"], [[8], [24]])


# guards


def limbs(names=("a", "b", "c"), size=3):
    """Each limb has a guard; in it lets, an assignment from old values, and a table."""
    p = Program("limbs")
    x = p.input("x", len(names))
    with p.block("start"):
        sums = p.variable("sums", ca.SX.zeros(size))
        counts = [p.variable(f"count {name}", SX(0)) for name in names]
    curve = table(p, "curve", 4)
    for i, name in enumerate(names):
        with guarded(p, name, x[i] > 0):
            value, _ = curve.at(x[i])
            with p.block("limb", limb=name):
                root = p.let("root", ca.sqrt(x[i]) + value)
                p.assign(counts[i], counts[i] + 1)
            with p.block("sums", limb=name):
                p.assign(sums, sums + root * ca.DM(range(1, size + 1)))
    with p.block("end"):
        p.output("sums", sums)
        p.output("counts", ca.vertcat(*counts))
    return p


CURVE = np.array([[0.0], [1.0], [-1.0], [4.0]])


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
def test_lanes_that_need_a_guard_and_lanes_that_do_not(chance):
    """None needs it, some do, all do; the square root of other lanes is NaN and stays inside."""
    x = np.where(RNG.uniform(size=(37, 3)) < chance, 1, -1) * RNG.uniform(0.1, 2.9, size=(37, 3))
    out = call(limbs(), x=x, curve=CURVE)
    needed = x > 0
    assert np.array_equal(out["counts"], needed)
    root = np.sqrt(np.abs(x)) + np.interp(x, range(4), CURVE[:, 0])
    total = np.where(needed, root, 0).sum(axis=1)
    # rounding of three additions
    assert np.allclose(out["sums"], total[:, None] * [1, 2, 3], rtol=1e-14, atol=1e-14)


def test_a_worlds_bits_do_not_depend_on_its_neighbours():
    p = limbs()
    kernel = compiled(p, 8)
    x = RNG.normal(size=(64, 3))
    together = kernel(x=x, curve=CURVE)
    for order in (RNG.permutation(64), [5], [7, 7, 3]):
        some = kernel(x=x[order], curve=CURVE)
        for name, value in some.items():
            assert np.array_equal(bits(value), bits(together[name][order])), name


def test_nested_guards():
    """The need of the inner guard counts only where the outer one is needed."""
    p = Program("nested")
    x = p.input("x", 2)
    with p.block("start"):
        v = p.variable("v", SX(0))
    with guarded(p, "outer", x[0]):
        with p.block("outer"):
            local = p.variable("local", x[1])
            p.assign(v, v + 1)
        with guarded(p, "inner", x[1] > 0), p.block("inner"):
            p.assign(v, v + 10)
            p.assign(local, -local)
        with p.block("outer again"):
            p.assign(v, v + 100 * local)
    with p.block("end"):
        p.output("v", v)
    # need != 0 holds for NaN
    x = np.array([[a, b] for a in (0, -2.0, np.nan) for b in (-1.0, 2.0)])
    expected = np.array([0, 0, 1 - 100, 11 - 200, 1 - 100, 11 - 200])
    for worlds in ([0, 1, 2, 3, 4, 5], [0, 1], [2, 3], [1]):
        assert np.array_equal(call(p, x=x[worlds])["v"][:, 0], expected[worlds])


def test_what_is_made_inside_is_known_again():
    """Lets and variables of a guard, in a loop around its reopening and in a guard within it."""
    p = Program("again")
    x = p.input("x", 2)
    with guarded(p, "touch", x[0] > 0) as touch, p.block("touch"):
        root = p.let("root", ca.sqrt(x[0]))
        count = p.variable("count", x[1])
        first = touch.leave("first", ca.vertcat(root, 7, 0), 7)
        same = touch.leave("same", SX(7), 7)
    with counted(p, "rounds", 3):
        with reopened(p, touch), p.block("again"):
            p.assign(count, count + root)
        with guarded(p, "some", x[1] > 0, within=touch), p.block("some"):
            p.assign(count, 2 * count)
    with reopened(p, touch) as again, p.block("end"):
        last = left(p, again, "last", count)
    with reopened(p, None) as none, p.block("out"):
        p.output("last", left(p, none, "copy", last))
        p.output("first", first)
    assert float(same) == 7  # the same in all lanes
    assert float(first[1]) == 7
    x = RNG.normal(size=(19, 2))
    root, count = np.sqrt(np.abs(x[:, 0])), x[:, 1]
    for _ in range(3):
        count = np.where(x[:, 1] > 0, 2, 1) * (count + root)
    out = call(p, x=x)
    needed = x[:, 0] > 0
    # rounding of six operations on numbers of size 10
    assert np.allclose(out["last"][:, 0], np.where(needed, count, 0), rtol=1e-13, atol=1e-13)
    expected = np.where(needed[:, None], np.stack([root, 0 * root + 7, 0 * root], axis=1), 7)
    assert np.allclose(out["first"], expected, rtol=1e-15)


def test_values_of_a_guard_within_another_do_not_exist_in_it():
    p = Program("within")
    x = p.input("x", 2)
    with guarded(p, "outer", x[0]) as outer, p.block("outer"):
        own = p.let("own", 2 * x[0])
    with guarded(p, "inner", x[1], within=outer), p.block("inner"):
        inner = p.let("inner", own + 1)
    message = "which exists only inside guard 'inner'"
    with pytest.raises(ProgramError, match=message), reopened(p, outer), p.block("outer"):
        p.let("more", inner + 1)


def newton(limit=40):
    """Cube roots by a loop that changes variables, half of them under a guard."""
    p = Program("newton")
    a = p.input("a", 1)
    with p.block("start"):
        rounds = p.variable("rounds", SX(0))
        far = p.variable("far", SX(0))
        path = p.variable("path", SX(0))
    with repeated(p, "newton", limit=limit) as loop:
        x = loop.carry("x", a)
        with p.block("newton"):
            new = p.let("new", x - (x**3 - a) / (3 * x**2))
            p.assign(rounds, rounds + 1)
        with guarded(p, "far", ca.fabs(new - x) > 0.1), p.block("far"):
            p.assign(far, far + 1)
            p.assign(path, path + ca.fabs(new - x))
        with p.block("end"):
            loop.next(x, new)
            loop.until(ca.fabs(new - x) <= 1e-3 * ca.fabs(new))
    with p.block("out"):
        p.output("x", x)
        p.output("counted", loop.rounds)
        p.output("rounds", rounds)
        p.output("far", far)
        p.output("path", path)
    return p


def test_a_finished_lane_keeps_its_variables():
    a = np.exp(RNG.uniform(0.1, 9, size=(29, 1)))
    out = call(newton(), a=a)
    assert np.array_equal(out["rounds"], out["counted"])
    assert len(np.unique(out["rounds"])) > 5
    for i, value in enumerate(a[:, 0]):
        x, far, path = value, 0, 0.0
        for _ in range(int(out["rounds"][i, 0])):
            new = x - (x**3 - value) / (3 * x**2)
            far, path = far + (abs(new - x) > 0.1), path + (abs(new - x) > 0.1) * abs(new - x)
            x = new
        assert far == out["far"][i, 0]
        # Newton's rounds end within 1e-3 of the root and amplify rounding by less than 100
        assert np.allclose([x, path], [out["x"][i, 0], out["path"][i, 0]], rtol=1e-13)


def test_a_loop_in_a_guard_in_a_loop():
    """Lanes that do not need the guard do not make its loop go on."""
    p = Program("deep")
    x = p.input("x", 1)
    with p.block("start"):
        v = p.variable("v", SX(0))
        most = p.variable("most", SX(0))
        unfinished = p.variable("unfinished", SX(0))
    with repeated(p, "outer", limit=9) as outer:
        n = outer.carry("n", SX(0))
        with guarded(p, "odd", ca.fmod(n, 2)):
            with repeated(p, "inner", limit=50) as inner:
                k = inner.carry("k", SX(0))
                with p.block("inner"):
                    p.assign(v, v + 1)
                    inner.next(k, k + 1)
                    inner.until(k + 1 >= x)
            with p.block("after"):
                p.assign(most, ca.fmax(most, inner.rounds))
                p.assign(unfinished, ca.fmax(unfinished, inner.unfinished))
        with p.block("outer"):
            outer.next(n, n + 1)
            outer.until(n + 1 >= x)
    with p.block("end"):
        p.output("v", v)
        p.output("most", most)
        p.output("unfinished", unfinished)
    x = np.array([[1.0], [2.0], [3.0], [5.0], [8.0], [9.0], [70.0]])
    out = call(p, x=x)
    outer = np.minimum(x, 9)
    assert np.array_equal(out["v"], outer // 2 * np.minimum(x, 50))
    assert np.array_equal(out["most"], np.where(x > 1, np.minimum(x, 50), 0))
    assert np.array_equal(out["unfinished"], x > 50)


@pytest.mark.parametrize("gpu", [False, True])
def test_each_guard_is_a_branch(gpu):
    traced = limbs().trace()
    width = 1 if gpu else 8
    assert emit(traced, width, FLOAT32, gpu=gpu).text.count("label %needed") == 3
    assert "label %needed" not in emit(traced, width, FLOAT32, gpu=gpu, guards=False).text


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ptx_of_a_kernel_with_a_thread_per_world(dtype):
    """LLVM verifies the kernel; its functions are three tests, three bodies and the end."""
    text = make_ptx(limbs(), dtype=dtype, mapping="world").text
    assert text[text.index(".entry") :].count("call.uni") == 7


def sine_step(v, w):
    """Return what the blocks `one` of the next test make of v and w."""
    return np.sin(v) + w, v


def test_packing_inside_guards():
    """Members of a guard's body are packed, with assignments that read what they overwrite."""
    p = Program("packed")
    x, need = p.input("x", 4), p.input("need", 1)
    with p.block("start"):
        v = p.variable("v", x)
        w = p.variable("w", 2 * x)
    with guarded(p, "all", need):
        for i in range(4):
            with p.block("one", member=i):
                p.assign(v[i], ca.sin(v[i]) + w[i])
                p.assign(w[i], v[i])
        for i in range(0, 4, 2):  # other vectors of the same variables
            with p.block("two", member=i):
                p.assign(ca.vertcat(v[i], v[i + 1]), ca.vertcat(v[i + 1] * w[i], v[i] + w[i]))
    for i in range(4):  # must stay behind the guard
        with p.block("one", member=i):
            p.assign(v[i], ca.sin(v[i]) + w[i])
            p.assign(w[i], v[i])
    with p.block("end"):
        p.output("v", v)
        p.output("w", w)
    found = codes(pack(p.trace().record))
    assert [c.width for c in found if isinstance(c, PackedCode)] == [4, 2, 4]
    x, need = RNG.normal(size=(9, 4)), RNG.integers(0, 2, size=(9, 1))
    out = call(p, x=x, need=need.astype(float))
    v, w = sine_step(x, 2 * x)
    a, b, c = v[:, 0::2], v[:, 1::2], w[:, 0::2]
    swapped = np.stack([b * c, a + c], axis=2).reshape(-1, 4)
    v, w = sine_step(np.where(need, swapped, x), np.where(need, w, 2 * x))
    # rounding of a few operations on numbers of size 1
    assert np.allclose(out["v"], v, rtol=1e-14, atol=1e-14)
    assert np.allclose(out["w"], w, rtol=1e-14, atol=1e-14)


def joints(shared):
    """Four similar guards in a loop; each also adds to one variable of all if `shared`."""
    p = Program("joints")
    x = p.input("x", 4)
    with p.block("start"):
        v = p.variable("v", x)
        total = p.variable("total", SX(0))
    with counted(p, "rounds", 3) as loop:
        n = loop.carry("n", SX(1))
        for i in range(4):
            with p.block("size", member=i):
                size = p.let("size", ca.fabs(v[i]) * n)
            with guarded(p, f"joint {i}", size > 1):
                with p.block("joint", member=i):
                    inner = p.let("inner", ca.sin(v[i]) + n)
                with p.block("joint again", member=i):
                    p.assign(v[i], inner / (2 + v[i] ** 2))
                if shared:
                    with p.block("total"):
                        p.assign(total, total + inner)
        with p.block("end"):
            loop.next(n, n + 0.3)
    with p.block("out"):
        p.output("v", v)
        p.output("total", total)
    return p


def test_similar_guards_are_joined_for_a_single_world():
    """Their blocks are packed; the bits are those of other lanes, whose guards stay apart."""
    items = pack(join_guards(joints(shared=False).trace().record))
    (guard,) = guards_of(items)
    assert [block.width for block in guard.body] == [4, 4]
    assert len(guards_of(join_guards(joints(shared=True).trace().record))) == 4
    x = RNG.normal(size=(23, 4))
    for shared in (False, True):
        out = call(joints(shared), x=x)
        v, total = x.copy(), np.zeros(23)
        for n in (1.0, 1.3, 1.6):
            for i in range(4):
                needed = np.abs(v[:, i]) * n > 1
                inner = np.sin(v[:, i]) + n
                v[:, i] = np.where(needed, inner / (2 + v[:, i] ** 2), v[:, i])
                total += np.where(needed, inner, 0)
        # rounding of a dozen operations on numbers of size 1
        assert np.allclose(out["v"], v, rtol=1e-13)
        assert np.allclose(out["total"][:, 0], total * shared, rtol=1e-13)


# dead code


def test_what_nobody_reads_disappears():
    p = Program("dead")
    x = p.input("x", 1)
    with p.block("start"):
        v, unused = p.variable("v", x), p.variable("unused", x)
    with guarded(p, "last", x > 0), p.block("last"):
        p.assign(unused, unused + 1)
    with p.block("read"):
        p.output("v", v)
    with guarded(p, "after", x > 0), p.block("after"):
        p.assign(v, ca.sin(v))
    with p.block("overwritten"):
        p.assign(v, ca.cos(v))
    with p.block("overwrites"):
        p.assign(v, x)
    with p.block("end"):
        p.output("end", v)
    assert not guards_of(p.trace().record)
    assert p.counts().functions == 0
    assert len(codes(p.trace(["v"]).record)) == 3  # declare, copy, write
    assert np.array_equal(call(p, x=[[2.0]])["end"], [[2.0]])


def test_a_round_needs_what_the_next_one_reads():
    """`a` is read in the loop only, before it is assigned there from `b`."""
    p = Program("rounds")
    x = p.input("x", 1)
    with p.block("start"):
        a, b, c = (p.variable(name, SX(0)) for name in "abc")
    with counted(p, "loop", 4):
        with p.block("first"):
            p.assign(c, a)
        with p.block("second"):
            p.assign(a, b)
        with p.block("third"):
            p.assign(b, x)
    with p.block("end"):
        p.output("c", c)
    assert np.array_equal(call(p, x=[[1.0], [5.0]])["c"], [[1], [5]])


def recorded(memory):
    """The same work with memory, whose outputs are a phase of their own, or with an input.

    Outputs read a variable that the step changes later: directly, through a let, through a variable
    that only outputs need, in a guard and in a loop. They also read last values.
    """
    p = Program("recorded")
    x = p.memory("x", 2) if memory else p.input("x", 2)
    with p.block("start"):
        v = p.variable("v", x)
        w = p.variable("w", SX(0))  # only outputs need it
        last = p.variable("last", SX(1))  # the step needs its first value only
    with p.block("step"):
        p.assign(v, v * ca.vertcat(2, last))
    with p.block("outputs"):
        p.output("early", v)
        through = p.let("through", ca.sin(v[0]))
        p.assign(w, w + v[1])
    with guarded(p, "guard", v[1] > 0):
        with p.block("guard"):
            inner = p.let("inner", ca.cos(v[0]))
        with p.block("more"):
            p.assign(w, w + inner)
    with repeated(p, "loop", limit=20) as loop:
        n = loop.carry("n", v[1])
        with p.block("loop"):
            loop.next(n, n / 2 + v[0] * 1e-3)
            loop.until(ca.fabs(n) < 0.1)
    with p.block("later"):
        p.output("same block", 2 * v)
        p.assign(last, last + v[0])
        p.assign(v, v + 1)
    with counted(p, "rounds", 3) as rounds:
        carried = rounds.carry("carried", v[0])
        with p.block("rounds"):
            p.assign(w, w + carried)  # in a loop of the step
            p.assign(v, v + carried)
            rounds.next(carried, carried / 2)
    with p.block("end"):
        if memory:
            p.update("x", v)
        p.output("through", through)
        p.output("w", w)
        p.output("n", n)
        p.output("v", v)
        p.output("last", last)
        p.output("rounds", loop.rounds)
    return p


@pytest.mark.parametrize("width", [1, 8])
def test_outputs_read_variables_as_they_were(width):
    x = RNG.normal(size=(21, 2))
    direct = compiled(recorded(memory=False), width)(x=x)
    for guards in (True, False):
        batch = compiled(recorded(memory=True), width, guards).batch(21)
        batch.set(x=x)
        batch.run(steps=3, every=3)
        for name, value in direct.items():
            assert np.array_equal(bits(batch.output(name)[:, 0]), bits(value)), name


@pytest.mark.parametrize("name", ["early", "same block", "through", "w", "n", "v", "last"])
def test_each_output_alone(name):
    x = RNG.normal(size=(5, 2))
    direct = compiled(recorded(memory=False))(x=x)
    batch = compile_program(recorded(memory=True), outputs=[name]).batch(5)
    batch.set(x=x)
    batch.run(steps=1)
    assert np.array_equal(bits(batch.output(name)[:, 0]), bits(direct[name]))


def test_an_output_reads_lets_of_a_loop_that_carries_nothing():
    """The step makes the loop for its variable; `more` of the last round is for the output."""
    p = Program("bare")
    x = p.memory("x", 1)
    with p.block("start"):
        v = p.variable("v", x)
    with counted(p, "loop", 3):
        with p.block("first"):
            inner = p.let("inner", 2 * v)
        with p.block("second"):
            more = p.let("more", inner + 1)
        with p.block("third"):
            p.assign(v, v + inner)
    with p.block("end"):
        p.update("x", v)
        p.output("more", more)
    batch = compiled(p).batch(2)
    batch.set(x=[[1.0], [2.0]])
    batch.run(steps=1)
    assert np.array_equal(batch.get("x"), [[27], [54]])
    assert np.array_equal(batch.output("more")[:, 0], [[19], [37]])


def test_work_for_outputs_stays_out_of_the_step():
    """A variable that only outputs need is computed in recorded steps alone."""
    p = Program("apart")
    x = p.memory("x", 1)
    with p.block("step"):
        p.update("x", x + 1)
        v = p.variable("v", x)
    with guarded(p, "guard", x > 0), p.block("guard"):
        p.assign(v, ca.sin(v))
    with p.block("end"):
        p.output("v", v)
    traced = p.trace()
    assert len(codes(traced.step)) == 1
    assert len(guards_of(traced.record)) == 1


def test_memory_after_many_steps():
    """Skipped and taken guards in turn: the same bits for all variants, and for a world alone."""
    p = Program("steps")
    x = p.memory("x", 2)
    with p.block("start"):
        v = p.variable("v", x)
    with guarded(p, "fast", x[1] > 1), p.block("fast"):
        p.assign(v, ca.vertcat(v[0] + 1, 0.5 * v[1]))
    with guarded(p, "slow", v[1] < 0.9), p.block("slow"):
        p.assign(v, ca.vertcat(v[0] * 0.9, v[1] + ca.sin(v[0]) ** 2))
    with p.block("end"):
        p.update("x", v)
        p.output("v", v)
    x = RNG.uniform(0, 3, size=(19, 2))
    found = []
    for width, guards in VARIANTS:
        batch = compiled(p, width, guards).batch(19)
        batch.set(x=x)
        batch.run(steps=50, every=7)
        found.append((batch.get("x").copy(), batch.output("v").copy()))
    for states, outputs in found[1:]:
        assert np.array_equal(bits(states), bits(found[0][0]))
        assert np.array_equal(bits(outputs), bits(found[0][1]))
    alone = compiled(p).batch(1)
    alone.set(x=x[[4]])
    alone.run(steps=50, every=7)
    assert np.array_equal(bits(alone.get("x")[0]), bits(found[0][0][4]))


def test_memory_that_a_guard_updates():
    """Lanes that need the guard update their memory, others and those that fail keep it: numpy."""
    p = Program("kept")
    x, seen = p.memory("x", 1), p.memory("seen", 2, 5.0)
    with p.block("step"):
        p.update("x", x + 0.5)
        p.fail_when(x > 3)
        p.output("before", seen)
    with guarded(p, "whole", ca.fmod(x, 1) == 0):
        with p.block("first"):
            p.update_within("seen", 0, ca.vertcat(seen[1] + x))
        with p.block("second"):
            p.update_within("seen", 1, 2 * x)
    start = np.arange(19) % 5 + RNG.integers(0, 2, 19) / 2
    expected, records = [], []
    for value in start:
        seen, own = np.full(2, 5.0), []
        for _ in range(12):
            own.append(seen)
            if value > 3:
                continue
            if value % 1 == 0:
                seen = np.array([seen[1] + value, 2 * value])
            value += 0.5
        expected.append(seen)
        records.append(own)
    for width, guards in VARIANTS:
        batch = compiled(p, width, guards).batch(19)
        batch.set(x=start[:, None])
        batch.run(steps=12, every=1)
        assert np.array_equal(batch.get("seen"), expected)
        assert np.array_equal(batch.output("before"), records)
    told = message(lambda p, x, v, y: (p.memory("m", 1), _within(p, x)))
    assert "'m' is updated within no guard" in told


def _within(p, x):
    with p.block("block"):
        p.update_within("m", 0, x)


# derivatives and exports


def smooth() -> Program:
    """Variables through guards, a loop until done, and a guard in it."""
    p = Program("smooth")
    x, k = p.memory("x", 2), p.input("k", 1)
    with p.block("start"):
        v = p.variable("v", ca.vertcat(x[0] * x[1], 1))
        total = p.variable("total", SX(0))
    with guarded(p, "positive", x[0] > 0):
        with p.block("positive"):
            inner = p.let("inner", ca.exp(-k * x[0]))
        with p.block("assign"):
            p.assign(v, ca.vertcat(v[1] * inner + x[1], v[0] ** 2))
    with repeated(p, "loop", limit=30) as loop:
        y = loop.carry("y", v[0])
        with p.block("loop"):
            new = p.let("new", y / 2 + ca.sin(x[1]) / 4)
            p.assign(total, total + new * x[0])
        with guarded(p, "large", y > 0.3), p.block("large"):
            p.assign(v, ca.vertcat(v[0], v[1] * y + k))
        with p.block("end"):
            loop.next(y, new)
            loop.until(ca.fabs(new - y) < 0.05)
    with p.block("step"):
        p.update("x", ca.vertcat(total + v[0], v[1] * y))
    return p


def test_derivative_against_differences():
    """Worlds with different branches and rounds, in one tile."""
    p = smooth()
    d = Derivative(p, "slope")
    d.seed("x", d.program.input("direction", 2))
    d.trace()
    with d.program.block("out"):
        d.program.output("next", d.next("x"))
        d.program.output("slope", d.next_tangent("x"))
    x, direction = RNG.normal(size=(40, 2)), RNG.normal(size=(40, 2))
    k = np.full((40, 1), 0.7)
    out = call(d.program, x=x, k=k, direction=direction, clock=[0.0], failed=[-1.0])

    def stepped(values):
        batch = compile_program(p).batch(40)
        batch.set(x=values, k=k)
        batch.run(steps=1)
        return batch.get("x").copy()

    h = 1e-6
    slope = (stepped(x + h * direction) - stepped(x - h * direction)) / (2 * h)
    assert np.array_equal(bits(out["next"]), bits(stepped(x)))
    # central differences: h^2 f'''/6 and eps/h, nine digits at best
    assert np.allclose(out["slope"], slope, rtol=1e-7, atol=1e-7)
    assert 3 < np.count_nonzero(x[:, 0] > 0) < 37


def test_a_casadi_function_has_the_kernels_values():
    p = Program("function")
    x = p.input("x", 2)
    with p.block("start"):
        v = p.variable("v", x)
    with guarded(p, "positive", x[0] > 0), p.block("positive"):
        p.assign(v, ca.vertcat(v[1], ca.sin(v[0])))
    with p.block("end"):
        p.output("v", v * x[0])
    function = export_casadi(p)
    for x in ([1.0, 2.0], [-1.0, 2.0]):
        # no sum of a product: rounding of sin alone
        assert np.allclose(np.array(function(x))[:, 0], compile_program(p)(x=x)["v"], rtol=1e-15)


def test_without_guards_leaves_none():
    items = newton().trace().record
    assert len(guards_of(items)) == 1
    assert not guards_of(without_guards(items))
    assert [x.writes for x in codes(without_guards(items))] == [x.writes for x in codes(items)]


# errors


def message(build):
    """Return the error of a program in which `v` is a variable, `x` an input, `y` a let."""
    p = Program("wrong")
    x = p.input("x", 1)
    with p.block("start"):
        v = p.variable("v", x)
        y = p.let("y", 2 * x)
    with pytest.raises(ProgramError) as error:
        build(p, x, v, y)
    return str(error.value)


def test_assignments_to_what_is_no_variable():
    def to(target):
        def build(p, x, v, y):
            with p.block("block"):
                p.assign(target(x, v, y), SX(1))

        return message(build)

    assert "block 'block' assigns to 'x', which is not a variable" in to(lambda x, v, y: x)
    assert "'y_0', which is not a variable" in to(lambda x, v, y: y)
    assert "'3', which is not a variable" in to(lambda x, v, y: SX(3))
    assert "which is not a variable" in to(lambda x, v, y: v + 1)
    assert "'0', which is not a variable" in to(lambda x, v, y: SX(1, 1))
    assert "shape (1, 1) to a variable of shape (2, 1)" in to(lambda x, v, y: ca.vertcat(v, v))


def test_a_let_of_a_guard_stays_inside():
    def inner(p, x):
        with guarded(p, "guard", x), p.block("inside"):
            return p.let("inner", x * x)

    def read(p, x, v, y):
        value = inner(p, x)
        with p.block("outside"):
            p.assign(v, value)

    def look_up(p, x, v, y):
        table(p, "curve", 4).at(inner(p, x))

    def start(p, x, v, y):
        value = inner(p, x)
        with counted(p, "loop", 2) as loop:
            loop.carry("carried", value)

    def carry(p, x, v, y):
        with repeated(p, "loop", 3) as loop:
            carried = loop.carry("carried", x)
            value = inner(p, x)
            with p.block("next"):
                loop.next(carried, value)

    assert "block 'outside' uses 'inner_0', which exists only inside guard 'guard'" in message(read)
    assert "assign it to a variable that is declared before the guard" in message(read)
    for build in (look_up, start, carry):
        assert "'inner_0', which exists only inside guard 'guard'" in message(build)


def test_a_variable_of_a_loop_stays_inside():
    def inner(p, x):
        with counted(p, "loop", 2), p.block("inside"):
            return p.variable("inner", x)

    def read(p, x, v, y):
        value = inner(p, x)
        with p.block("outside"):
            p.output("inner", value)

    def assign(p, x, v, y):
        value = inner(p, x)
        with p.block("outside"):
            p.assign(value, x)

    for build in (read, assign):
        assert "'inner_0', which exists only inside loop 'loop'" in message(build)


def test_a_guard_sets_neither_outputs_nor_memory_nor_the_ends_of_loops():
    def setting(what):
        def build(p, x, v, y):
            p.memory("m", 1)
            with guarded(p, "guard", x), p.block("block"):
                what(p, x)

        return message(build)

    assert "'o' is set inside guard 'guard'" in setting(lambda p, x: p.output("o", x))
    assert "'m' is set inside guard 'guard'" in setting(lambda p, x: p.update("m", x))
    assert "'m' is set inside guard 'guard'" in setting(lambda p, x: p.update_part("m", 0, x))
    assert "'fail_when' is set inside guard 'guard'" in setting(lambda p, x: p.fail_when(x))

    def end(what):
        def build(p, x, v, y):
            with repeated(p, "loop", 3) as loop:
                carried = loop.carry("carried", x)
                with guarded(p, "guard", x), p.block("block"):
                    what(loop, carried)

        return message(build)

    told = "loop 'loop' is used inside guard 'guard'; assign to a variable there"
    assert told in end(lambda loop, carried: loop.next(carried, carried + 1))
    assert told in end(lambda loop, carried: loop.until(carried > 1))


def test_a_need_is_one_value_outside_blocks():
    def wide(p, x, v, y):
        with guarded(p, "guard", ca.vertcat(x, x)):
            pass

    def inside(p, x, v, y):
        with p.block("block"), guarded(p, "guard", x):
            pass

    assert "the need of guard 'guard' has 2 entries; allowed: one entry" in message(wide)
    assert "guard 'guard' opened inside block 'block'" in message(inside)


def test_outputs_in_a_loop_of_variables():
    """The record would repeat the loop, whose variables have their last values by then."""

    def build(p, x, v, y):
        memory = p.memory("m", 1)
        with repeated(p, "loop", 3) as loop:
            with p.block("loop"):
                p.assign(v, v + memory)
                loop.until(v > 3)
            with p.block("out"):
                p.output("v", v)
        with p.block("end"):
            p.update("m", v)
        p.trace()

    assert "loop 'loop' of program 'wrong' has outputs and uses variables" in message(build)
