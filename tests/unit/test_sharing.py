"""Sharing: blocks with the same operations become calls of one function.

Oracle: the same program without sharing, whose results must be equal bit by bit; for the size of
the code, the number of instructions in its text.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.codegen.llvm import emit
from heelstrike.codegen.passes import sharing
from heelstrike.codegen.passes.sharing import share
from heelstrike.codegen.real import FLOAT64
from heelstrike.ir.code import SharedCode, flatten
from heelstrike.ir.guard import guarded
from heelstrike.ir.loop import counted, repeated
from heelstrike.ir.number import number
from heelstrike.ir.program import Program
from heelstrike.ir.table import table
from heelstrike.runtime.compiler import compile_program
from heelstrike.step.step import step_program

WORLDS = 11
"""More than a tile, and no multiple of one."""


@pytest.fixture
def eager(monkeypatch):
    """Share all blocks that have a counterpart, however small."""
    monkeypatch.setattr(sharing, "MIN_SIZE", 1)
    share_from(monkeypatch, 1)


def share_from(patch, least):
    """Share blocks that shorten the code by so many operations, for any number of lanes."""
    patch.setattr(sharing, "MIN_SAVED", least)
    patch.setattr(sharing, "MIN_SAVED_ALONE", least)


def groups(program):
    """Return the number of blocks of each shared function."""
    traced = program.trace()
    arrays = {array.name for array in traced.arrays}
    items = [x for part in share([traced.step, traced.record], arrays, 8) for x in part]
    codes = [x for item in items for x in flatten(item) if isinstance(x, SharedCode)]
    return sorted(len(code.template.blocks) for code in codes if code.row == 0)


def results(program, width, dtype, inputs, steps):
    """Return all outputs and the memory after some steps."""
    batch = compile_program(program, width=width, dtype=dtype).batch(WORLDS)
    batch.set(**inputs)
    batch.run(steps=steps)
    found = {f"output {port.name}": batch.output(port.name) for port in batch.layout.outputs}
    return found | (batch.state() if batch.layout.memory else {})


def assert_same_bits(program, inputs, steps=1, widths=(1, 4, 8), dtypes=("float64", "float32")):
    """Compare shared code with code that is not shared."""
    for dtype in dtypes:
        for width in widths:
            found = results(program, width, dtype, inputs, steps)
            with pytest.MonkeyPatch.context() as patch:
                share_from(patch, np.inf)
                alone = results(program, width, dtype, inputs, steps)
            for name, value in alone.items():
                assert np.all(np.isfinite(value)), name
                same = np.array_equal(value.view(np.uint8), found[name].view(np.uint8))
                assert same, (name, width, dtype)


def random_inputs(program, seed=1):
    rng = np.random.default_rng(seed)
    inputs = {name: rng.normal(size=(WORLDS, x.size)) for name, x in program.inputs.items()}
    return inputs | {name: rng.normal(size=x.shape) for name, x in program.tables.items()}


def force(x, v, stiffness):
    """A contact of some kind, with most kinds of operations."""
    depth = ca.fmax(stiffness * ca.norm_2(x) - ca.sin(x[0]), 0)
    slip = ca.vertcat(v[0] - v[1] * x[2], v[1] / (1 + x[1] ** 2))
    return ca.if_else(depth > 0.3, depth**1.5 * slip, -0.5 * slip) + stiffness * ca.exp(-depth)


def points(count):
    """Contact points with memory: a force each, their sum, and an output of each."""
    rng = np.random.default_rng(7)
    p = Program("points")
    x, dt = p.input("x", 3 * count), p.input("dt", 1)
    v = p.memory("v", 2 * count, rng.normal(size=2 * count))
    forces = []
    for k in range(count):
        with p.block("point", member=k):
            own, rate = x[3 * k : 3 * k + 3], v[2 * k : 2 * k + 2]
            forces.append(p.let("force", force(own, rate, 1.1 + k / 7)))
            p.update_part("v", 2 * k, rate - 0.1 * dt * forces[k])
    with p.block("sum"):
        p.output("sum", sum(forces[1:], forces[0]))
    for k in range(count):
        with p.block("record", member=k):
            p.output(f"power {k}", ca.dot(forces[k], v[2 * k : 2 * k + 2]) * (2.5 + k))
    return p


def test_blocks_that_differ_in_constants_and_places(eager):
    """Slots, inputs, memory, next values and outputs of several names, in step and record."""
    p = points(6)
    assert groups(p) == [6, 6, 6]  # forces for the step and for the record, powers
    assert_same_bits(p, random_inputs(p), steps=3)


def test_blocks_that_differ_in_ports(eager):
    """Each block reads an input of its own name, so that each has a call of its own."""
    p = Program("ports")
    own, common = [p.input(f"x{k}", 3) for k in range(4)], p.input("common", 2)
    for k, x in enumerate(own):
        with p.block("part", member=k):
            p.output(f"y{k}", force(x, common, 0.6 + k))
    assert groups(p) == [4]
    assert_same_bits(p, random_inputs(p))


def test_blocks_that_read_one_port_or_two_stay_apart(eager):
    """What is written to one of two pointers may not be read through the other."""
    p = Program("ports")
    x, y = p.input("x", 2), p.input("y", 2)
    for k, (a, b) in enumerate([(x[0], y[0]), (x[0], x[1])]):
        with p.block("part", member=k):
            p.output(f"z{k}", ca.sin(a) * b + a)
    assert groups(p) == []


def test_a_zero_keeps_its_sign(eager):
    p = Program("zeros")
    x = p.input("x", 2)
    for k, zero in enumerate([0.0, -0.0]):
        with p.block("part", member=k):
            p.output(f"y{k}", ca.copysign(x[k] * 3 + ca.sin(x[k]), number(zero)))
    assert groups(p) == [2]
    found = compile_program(p, width=8)(x=[1.0, 1.0])
    assert found["y0"] > 0 > found["y1"]


def test_other_exponents_are_other_operations(eager):
    """A power is a root and products, whose number the exponent decides."""
    p = Program("powers")
    x = p.input("x", 2)
    for k, exponent in enumerate([1.5, 2.5]):
        with p.block("part", member=k):
            p.output(f"y{k}", ca.fabs(x[k]) ** exponent + 1)
    assert groups(p) == []


def test_blocks_of_loops_and_guards(eager):
    """Blocks inside and outside of loops and guards share, variables and chains included."""
    p = Program("loops")
    x = p.input("x", 6)
    with p.block("start"):
        worst = p.variable("worst", ca.SX.zeros(3))
    with counted(p, "rows", 3) as rows:
        scale = rows.constants(np.array([[1.0], [0.5], [0.25]]))
        total = rows.carry("total", ca.SX.zeros(3))
        for k in range(3):
            with p.block("row", member=k):
                value = force(x[k : k + 3], ca.vertcat(total[k], scale), 1.1 + k / 9)
                rows.next(total[k], total[k] * scale + ca.sum1(value) / 9)
    with repeated(p, "newton", limit=30) as loop:
        y = loop.carry("y", x[:3] ** 2 + 1)
        news = []
        for k in range(3):
            with p.block("newton", member=k):
                news.append(p.let("y", y[k] - (y[k] ** 3 - (k + 2.5)) / (3 * y[k] ** 2)))
                loop.next(y[k], news[k])
        with guarded(p, "far", ca.fabs(news[0] - y[0]) > 0.1):
            for k in range(3):
                with p.block("worst", member=k):
                    p.assign(worst[k], ca.fmax(worst[k], ca.fabs(news[k] - y[k])))
        with p.block("until"):
            loop.until(ca.mmax(ca.fabs(ca.vertcat(*news) - y)) < 1e-6)
    with p.block("out"):
        p.output("y", y)
        p.output("total", total)
        p.output("worst", worst)
    assert groups(p) == [2, 3, 3, 3]  # two blocks of zeros
    assert_same_bits(p, random_inputs(p))


def test_a_chain_of_shared_blocks(eager):
    """Each block reads what the one before it wrote, the first an input."""
    p = Program("chain")
    x = p.input("x", 5)
    value = x[0]
    for k in range(5):
        with p.block("link", member=k):
            value = p.let("value", ca.sin(value) * (k + 2.5) + x[k])
    with p.block("out"):
        p.output("y", value)
    assert groups(p) == [4]
    assert_same_bits(p, random_inputs(p))


def test_blocks_between_look_ups(eager):
    p = Program("tables")
    u = p.input("u", 3)
    for k in range(3):
        (value, slope) = table(p, f"heights {k}", 5, 1).at(u[k])
        with p.block("ground", member=k):
            p.output(f"y{k}", ca.sin(value) * slope + u[k] * (k + 2.5))
    assert groups(p) == [3, 3]  # arguments of the look-ups too
    assert_same_bits(p, random_inputs(p))


@pytest.mark.parametrize(
    ("law", "width", "dtype"),
    [(hs.Elastic(hs.LinearSpring(), hs.Bristle()), 1, "float64"), (hs.Rigid(), 8, "float32")],
)
def test_a_robot_has_the_same_bits(law, width, dtype, eager):
    """A whole step, in which nearly every block of hoap1 is shared with another."""
    robot = hs.load("hoap1", collide="feet")
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law, name="ground")), control=hs.Servo())
    program = step_program(sim.compiled.plan, ("q", "force", "torque"))
    inputs = dict(sim.parameters.items()) | {"q": robot.pose("stance")}
    assert_same_bits(program, inputs, 5, (width,), (dtype,))


def test_code_grows_by_tables_alone(monkeypatch):
    """Points add rows to the tables, and to the functions only the sum's and the commit's lines."""
    share_from(monkeypatch, 100)
    monkeypatch.setattr(sharing, "MIN_SIZE", 30)  # the block of a point is that small

    def instructions(count, width):
        text = emit(points(count).trace(["sum"]), width, FLOAT64).text
        names = [line.split('"')[1] for line in text.splitlines() if line.startswith("define")]
        return len(names), sum(line.startswith("  ") for line in text.splitlines())

    for width, counts in ((8, (8, 32, 128)), (1, (32, 64, 128))):
        (functions, first), (_, second), (last, third) = (instructions(n, width) for n in counts)
        assert functions == last
        own = (third - second) / (counts[2] - counts[1])
        assert abs(own - (second - first) / (counts[1] - counts[0])) < 0.5  # barriers
        # two sums, two checks, two selects with their loads and stores, and the loads and stores of
    # tiles in which no world fails
    assert own < 35
    with monkeypatch.context() as patch:
        share_from(patch, np.inf)
        alone = instructions(32, 8)[1] - instructions(8, 8)[1]
        assert alone > 24 * 60
