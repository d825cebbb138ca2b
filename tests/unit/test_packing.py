"""Packing: blocks that do the same to different numbers become one block of vectors.

Oracle: the same program with 8 lanes, whose blocks are never packed, and with 1 lane without
packing. Results must be equal bit by bit, so there is no tolerance.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.codegen import llvm
from heelstrike.codegen.passes.packing import MAX_WIDTH, pack, pack_blocks
from heelstrike.ir.block import BlockTag
from heelstrike.ir.code import Code, PackedCode, Place, Repeat, flatten, output_of
from heelstrike.ir.graph import graph
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program
from heelstrike.step.step import step_program

SX = ca.SX


def widths(program):
    """Return the number of blocks in each packed block of a program."""
    traced = program.trace()
    items = [x for item in pack((*traced.step, *traced.record)) for x in flatten(item)]
    return [item.width for item in items if isinstance(item, PackedCode)]


def assert_same_bits(program, monkeypatch, **inputs):
    """Compare packed code with one without packing, and with 8 lanes."""
    found = compile_program(program, width=1)(**inputs)
    others = [compile_program(program, width=8)(**inputs)]
    monkeypatch.setattr(llvm, "pack", lambda items: items)
    others.append(compile_program(program, width=1)(**inputs))
    for other in others:
        for name, value in found.items():
            assert np.array_equal(value.view(np.uint8), other[name].view(np.uint8)), name


def random_expressions(seed, symbols, constants):
    """Return the same operations for a seed; only `constants` differ between blocks."""
    rng = np.random.default_rng(seed)
    values = ca.vertsplit(symbols)
    values += [values[0] * c for c in constants]
    operations = [
        lambda a, b, c: a + b * c,
        lambda a, b, c: a * b - c,
        lambda a, b, c: a - b,
        lambda a, b, c: a / (1 + b**2),
        lambda a, b, c: ca.if_else(a < b, c, a),
        lambda a, b, c: ca.if_else(ca.logic_and(a <= b, c != 0), b, -c),
        lambda a, b, c: ca.fmax(a, ca.fmin(b, c)),
        lambda a, b, c: ca.sin(a) * ca.cos(a) + b,
        lambda a, b, c: ca.sqrt(ca.fabs(a)) + ca.sign(b),
        lambda a, b, c: ca.fabs(a) ** 1.5 - 2 * b,
        lambda a, b, c: ca.atan2(a, b) + ca.exp(-ca.fabs(c)),
    ]
    for _ in range(60):
        a, b, c = (values[rng.integers(len(values))] for _ in range(3))
        values.append(operations[rng.integers(len(operations))](a, b, c))
    return ca.vertcat(*values[-8:])


def similar_blocks(seed, count):
    """`count` blocks that read their own column and a shared one; a sum of their results."""
    rng = np.random.default_rng(seed)
    p = Program("similar")
    own = [p.input(f"x{k}", 3) for k in range(count)]
    common = p.input("common", 2)
    made = []
    for k, x in enumerate(own):
        with p.block("part", member=k):
            column = ca.vertcat(x, common)
            made.append(p.let("made", random_expressions(seed, column, rng.normal(size=3))))
    for k, x in enumerate(made):
        with p.block("outward", member=k):
            p.output(f"y{k}", p.let("y", x * x[0] - ca.sin(x[1])))
    with p.block("sum"):
        p.output("sum", sum(made[1:], made[0]) * made[-1][0])
    inputs = {name: rng.normal(size=port.size) for name, port in p.inputs.items()}
    return p, inputs


@pytest.mark.parametrize("count", [2, 3, 5, 8, 11])
def test_random_blocks_have_the_bits_they_have_alone(count, monkeypatch):
    program, inputs = similar_blocks(seed=count, count=count)
    expected = {2: [2], 3: [2], 5: [4], 8: [8], 11: [8, 2]}[count]
    assert sorted(widths(program)) == sorted(2 * expected)  # both rounds of blocks
    assert_same_bits(program, monkeypatch, **inputs)


def test_one_block_may_share_a_constant_that_another_does_not():
    """As where a left limb has +c and -c, and the right one c twice: one more operation."""
    p = Program("limbs")
    x = p.input("x", 4)
    for k, (c, d) in enumerate([(0.25, 0.25), (0.25, -0.25)]):
        with p.block("limb", member=k):
            value = (
                ca.sin(x[2 * k]) * c + ca.cos(x[2 * k + 1]) * d + x[2 * k] ** 2 * ca.exp(x[2 * k])
            )
            p.output(f"y{k}", value)
    sizes = [code.size for code in p.trace().record]
    assert sizes[1] == sizes[0] + 1
    assert widths(p) == [2]


def test_a_constant_zero_keeps_its_sign(monkeypatch):
    p = Program("zeros")
    x = p.input("x", 2)
    for k, zero in enumerate([0.0, -0.0]):
        with p.block("limb", member=k):
            p.output(f"y{k}", ca.copysign(x[k] * 3 + ca.sin(x[k]), SX(zero) + p.let("n", x[k] * 0)))
    assert_same_bits(p, monkeypatch, x=[-1.0, -2.0])


@pytest.mark.parametrize(
    "second",
    [
        lambda x: ca.sin(x) * 2 - 3,  # another operation
        lambda x: ca.sin(x) * 2 + x,  # a value where the other has a constant
        lambda x: (ca.sin(x) * 2 + 3) ** 2.5,  # more
    ],
)
def test_blocks_that_differ_stay_apart(second):
    p = Program("others")
    x = p.input("x", 2)
    with p.block("a"):
        p.output("a", ca.sin(x[0]) * 2 + 3)
    with p.block("b"):
        p.output("b", second(x[1]))
    assert widths(p) == []


def test_exponents_that_differ_keep_blocks_apart():
    p = Program("powers")
    x = p.input("x", 2)
    for k, exponent in enumerate([2.25, 1.75]):
        with p.block("power", member=k):
            p.output(f"y{k}", ca.fabs(x[k]) ** exponent)
    assert widths(p) == []


def test_a_block_that_reads_its_counterpart_stays_behind_it(monkeypatch):
    p = Program("chain")
    x = p.input("x", 1)
    for k in range(4):
        with p.block("link", member=k):
            x = p.let("x", ca.sin(x) * 1.5 + 0.25 * k + 1)
    with p.block("end"):
        p.output("y", x)
    assert widths(p) == []
    assert_same_bits(p, monkeypatch, x=[0.3])


def test_a_block_is_not_moved_before_what_it_reads(monkeypatch):
    """The second block reads a result of a block between; the third does not."""
    p = Program("between")
    x = p.input("x", 3)
    with p.block("sine", member=0):
        p.output("a", ca.sin(x[0]) * 2 + 3)
    with p.block("between"):
        z = p.let("z", ca.exp(x[1]) + x[0])
    with p.block("sine", member=1):
        p.output("b", ca.sin(z) * 2 + 3)
    with p.block("sine", member=2):
        p.output("c", ca.sin(x[2]) * 2 + 3)
    traced = p.trace()
    first = pack(traced.record)[0]
    assert isinstance(first, PackedCode)
    assert {place.array for place in first.writes} == {output_of("a"), output_of("c")}
    assert_same_bits(p, monkeypatch, x=[0.1, 0.2, 0.3])


def test_a_block_is_not_moved_before_what_reads_its_place():
    """A loop overwrites its carried values: blocks that read the old ones come first."""
    x = SX.sym("x", 2)
    made = graph(x[:1], ca.sin(x[0]) * 2 + 3)
    a, b, c, d = (Place(None, k) for k in range(4))
    first = Code(BlockTag("sine", member=0), made, (a,), (b,))
    second = Code(BlockTag("sine", member=1), made, (a,), (c,))
    reader = Code(BlockTag("reader"), graph(x[:1], x[0] + 1), (c,), (d,))
    assert [type(x) for x in pack((first, second, reader))] == [PackedCode, Code]
    assert [type(x) for x in pack((first, reader, second))] == [Code, Code, Code]
    assert pack_blocks([first, second]).written == ((b, c),)


def looping_program():
    """Newton's method for two cubic equations side by side, and a table of memory behind it."""
    p = Program("newton")
    x, v = p.memory("x", 20, initial=np.linspace(-1, 1, 20)), p.memory("v", 3, initial=0.5)
    target = p.input("target", 2)
    with repeated(p, "root", limit=40) as loop:
        roots = loop.carry("root", ca.vertcat(1.0, 2.0))
        rest = SX(0)
        for k in range(2):
            with p.block("newton", member=k):
                r = roots[k]
                new = p.let("new", r - (r**3 + r - target[k]) / (3 * r**2 + 1))
                loop.next(roots[k], new)
                rest = rest + p.let("rest", ca.fabs(new - r))
        with p.block("end"):
            loop.until(rest < 1e-14)
    for k in range(20):
        with p.block("move", member=k):
            p.update_part("x", k, x[k] + 0.01 * ca.sin(x[k]) * roots[0])
    with p.block("rest"):
        p.update("v", v * roots[1])
        p.output("root", ca.vertcat(roots, loop.rounds))
    return p


def test_a_loop_with_packed_blocks_and_memory_behind_it():
    """One world alone and beside others, over steps until it fails: v grows beyond all numbers."""
    program = looping_program()
    assert sorted(widths(program)) == [2, 4, 8, 8]
    assert any(isinstance(item, Repeat) for item in pack(program.trace().step))
    alone = compile_program(program, width=1).batch(1)
    many = compile_program(program, width=8).batch(8)
    alone.set(target=[5.0, 1e5])
    many.set(target=np.array([[5.0 + k, 1e5 * (k + 1)] for k in range(8)]))
    for steps in (1, 3, 500):
        alone.run(steps)
        many.run(steps)
        for name in ("x", "v", "clock", "failed", "root"):
            assert np.array_equal(alone.get(name)[0], many.get(name)[0], equal_nan=True), name
    assert alone.get("failed")[0, 0] > 0
    assert np.isfinite(alone.get("v")).all()


def test_a_robot_alone_and_beside_others():
    """hoap1 dropped on a floor: every recorded bit of a world alone is that of two worlds'."""
    robot = hs.load("hoap1", collide="feet")
    floor = hs.Plane(law=hs.Elastic(hs.LinearSpring(), hs.Bristle()))
    q0 = np.array(robot.pose("stance"))
    q0[2] += 0.002
    runs = []
    for worlds in (1, 2):
        sim = hs.Simulator(hs.Scene(robot, floor), dt=1e-3, control=hs.Servo(), worlds=worlds)
        runs.append(sim.run(steps=60, q0=np.tile(q0, (worlds, 1)), record="standard").data)
    packed_widths = widths(step_program(sim.plan))
    assert packed_widths.count(2) >= 8
    assert max(packed_widths) == MAX_WIDTH
    for name, variable in runs[0].data_vars.items():
        assert np.array_equal(variable[0], runs[1][name][0], equal_nan=variable.dtype.kind == "f")


@pytest.mark.parametrize(("limbs", "expected"), [(4, [4, 4, 4]), (3, [4, 2, 2])])
def test_joints_of_four_limbs_are_packed_across_limbs(limbs, expected, monkeypatch):
    """With four limbs, the values from joint to limb are one vector; with fewer, joints are packed
    in order: of six four, then two.
    """
    p = Program("limbs")
    x = p.input("x", 2 * limbs)
    made = [SX(0)] * (2 * limbs)
    for k in range(limbs):
        for i in (2 * k, 2 * k + 1):
            with p.block("joint", limb=f"limb {k}", member=i):
                made[i] = p.let("made", ca.sin(x[i]) * (1.5 + i) + 0.25)
    for k in range(limbs):
        with p.block("sum", limb=f"limb {k}"):
            p.output(f"y{k}", made[2 * k] + made[2 * k + 1] * ca.exp(made[2 * k]))
    assert sorted(widths(p)) == sorted(expected)
    assert_same_bits(p, monkeypatch, x=np.linspace(-1, 2, 2 * limbs))
