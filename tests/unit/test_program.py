"""Programs: blocks, lets, outputs, counts and errors.

Oracle: numpy on the same formulas, and operations counted by hand.
"""

from __future__ import annotations

import gc
import threading

import casadi as ca
import numpy as np
import pytest

from heelstrike.codegen.lanes import Lanes
from heelstrike.codegen.operations import FUNCTIONS as EMITTED
from heelstrike.codegen.operations import BlockEmitter
from heelstrike.codegen.real import FLOAT64
from heelstrike.errors import HeelstrikeError, ProgramError, TraceError
from heelstrike.ir.graph import Graph
from heelstrike.ir.operations import CONST, FUNCTIONS, INPUT, SUPPORTED, Counts, Operation
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program


def two_blocks() -> Program:
    p = Program("two")
    x, y = p.input("x", 3), p.input("y", 1)
    with p.block("first"):
        length = p.let("length", ca.sqrt(ca.dot(x, x)))
        fixed = p.let("fixed", ca.vertcat(2.0, x[1], x[0] * y))
    with p.block("second"):
        p.output("unit", x / length)
        p.output("outer", fixed @ x.T)
    return p


def test_values_and_shapes():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(5, 3)), rng.normal(size=(5, 1))
    out = compile_program(two_blocks())(x=x, y=y)
    assert out["unit"].shape == (5, 3)
    assert out["outer"].shape == (5, 3, 3)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    assert np.allclose(out["unit"], unit, rtol=1e-15)
    fixed = np.stack([np.full(5, 2.0), x[:, 1], x[:, 0] * y[:, 0]], axis=1)
    assert np.allclose(out["outer"], np.einsum("wi,wj->wij", fixed, x), rtol=1e-15)


def test_one_world_in_one_world_out():
    out = compile_program(two_blocks())(x=[3.0, 0.0, 4.0], y=[1.0])
    assert out["unit"].shape == (3,)
    assert np.allclose(out["unit"], [0.6, 0.0, 0.8], rtol=4e-16)


def test_a_batch_outlives_its_kernel():
    """The code must stay in memory as long as something can call it."""
    batches = []
    for _ in range(5):
        batches.append(compile_program(two_blocks()).batch(1))
        gc.collect()
    for batch in batches:
        batch.set(x=[0.0, 3.0, 4.0], y=[1.0])
        batch.run()
        assert np.allclose(batch.get("unit"), [0.0, 0.6, 0.8], rtol=4e-16)


def test_constants_and_symbols_are_not_handed_over():
    codes = two_blocks().trace().record
    assert [str(code.tag) for code in codes] == ["first", "second"]
    # the length and x0 y; not 2.0, not x1
    assert len(codes[0].writes) == 2


def test_only_what_an_output_needs_is_compiled():
    codes = two_blocks().trace(["outer"]).record
    assert len(codes[0].writes) == 1
    # x0 y, then rows 2 x (three sums), x1 x and (x0 y) x
    assert two_blocks().counts(["outer"]) == Counts(additions=3, multiplications=7)


def test_counts_by_hand():
    """unit: 3 squares, 2 sums, a root, and 3 products with one shared reciprocal."""
    expected = Counts(additions=2, multiplications=6, divisions=1, functions=1)
    assert two_blocks().counts(["unit"]) == expected
    assert expected.arithmetic == 9


def test_equal_expressions_are_computed_once():
    p = Program("twice")
    x = p.input("x", 2)
    with p.block("only"):
        p.output("y", ca.vertcat(ca.sin(x[0] * x[1]) + 1, ca.sin(x[0] * x[1]) + 2))
    assert p.counts() == Counts(additions=2, multiplications=1, functions=1)


def test_every_operation_against_numpy():
    p = Program("operations")
    x, y = p.input("x", 1), p.input("y", 1)
    values = {
        "add": (x + y, np.add),
        "sub": (x - y, np.subtract),
        "mul": (x * y, np.multiply),
        "div": (x / y, np.divide),
        "neg": (-x, lambda a, b: -a),
        "twice": (x + x, lambda a, b: 2 * a),
        "sq": (x**2, lambda a, b: a**2),
        "cube": (x**3, lambda a, b: a**3),
        "half power": (ca.fabs(x) ** 1.5, lambda a, b: np.abs(a) ** 1.5),
        "odd power": (ca.fabs(x) ** 1.3, lambda a, b: np.abs(a) ** 1.3),
        "pow": (ca.fabs(x) ** y, lambda a, b: np.abs(a) ** b),
        "sqrt": (ca.sqrt(ca.fabs(x)), lambda a, b: np.sqrt(np.abs(a))),
        "sin": (ca.sin(x), lambda a, b: np.sin(a)),
        "cos": (ca.cos(x), lambda a, b: np.cos(a)),
        "tan": (ca.tan(x), lambda a, b: np.tan(a)),
        "asin": (ca.asin(ca.sin(x)), lambda a, b: np.arcsin(np.sin(a))),
        "acos": (ca.acos(ca.sin(x)), lambda a, b: np.arccos(np.sin(a))),
        "atan": (ca.atan(x), lambda a, b: np.arctan(a)),
        "atan2": (ca.atan2(x, y), np.arctan2),
        "exp": (ca.exp(x), lambda a, b: np.exp(a)),
        "log": (ca.log(ca.fabs(x)), lambda a, b: np.log(np.abs(a))),
        "tanh": (ca.tanh(x), lambda a, b: np.tanh(a)),
        "hypot": (ca.hypot(x, y), np.hypot),
        "fmod": (ca.fmod(x, y), np.fmod),
        "floor": (ca.floor(x), lambda a, b: np.floor(a)),
        "ceil": (ca.ceil(x), lambda a, b: np.ceil(a)),
        "abs": (ca.fabs(x), lambda a, b: np.abs(a)),
        "sign": (ca.sign(x), lambda a, b: np.sign(a)),
        "min": (ca.fmin(x, y), np.minimum),
        "max": (ca.fmax(x, y), np.maximum),
        "lt": (x < y, lambda a, b: (a < b) * 1.0),
        "le": (x <= y, lambda a, b: (a <= b) * 1.0),
        "eq": (ca.floor(x) == ca.floor(y), lambda a, b: (np.floor(a) == np.floor(b)) * 1.0),
        "ne": (ca.floor(x) != ca.floor(y), lambda a, b: (np.floor(a) != np.floor(b)) * 1.0),
        "and": (ca.logic_and(x > 0, y > 0), lambda a, b: ((a > 0) & (b > 0)) * 1.0),
        "or": (ca.logic_or(x > 0, y > 0), lambda a, b: ((a > 0) | (b > 0)) * 1.0),
        "not": (ca.logic_not(x > 0), lambda a, b: (~(a > 0)) * 1.0),
        "if": (ca.if_else(x > y, x, 2 * y), lambda a, b: np.where(a > b, a, 2 * b)),
        "if not": (ca.if_else(ca.logic_not(x > y), x, y), lambda a, b: np.where(a > b, b, a)),
        "fused": (x * y + x, lambda a, b: a * b + a),
        "fused minus": (x - y * y, lambda a, b: a - b * b),
        "minus fused": (x * x - y, lambda a, b: a * a - b),
    }
    with p.block("all"):
        for name, (expression, _) in values.items():
            p.output(name, expression)
    a, b = np.random.default_rng(1).normal(size=(2, 1000, 1)) * 3
    out = compile_program(p)(x=a, y=b)
    for name, (_, function) in values.items():
        # one rounding more or less than numpy, and cancellation in the three sums
        assert np.allclose(out[name], function(a, b), rtol=2e-15, atol=4e-15), name


def test_unsupported_operation_is_a_sentence():
    p = Program("erf")
    x = p.input("x", 1)
    with p.block("only"):
        p.output("y", ca.erf(x))
    with pytest.raises(TraceError, match="operation erf cannot be compiled; use"):
        compile_program(p)


TWO_OPERANDS = {"ADD", "SUB", "MUL", "DIV", "POW", "CONSTPOW", "ATAN2", "COPYSIGN", "FMOD", "HYPOT"}
TWO_OPERANDS |= {"LT", "LE", "EQ", "NE", "AND", "OR", "FMIN", "FMAX", "IF_ELSE_ZERO"}


@pytest.mark.parametrize("code", sorted(SUPPORTED))
def test_every_supported_operation_is_emitted(code):
    """CONSTPOW takes a constant exponent; every other operation takes inputs."""
    second = Operation(CONST, (), 2.5) if code == "CONSTPOW" else Operation(INPUT, (1,))
    operands = () if code == CONST else (0, 1) if code in TWO_OPERANDS else (0,)
    operations = (Operation(INPUT, (0,)), second, Operation(code, operands))
    lanes = Lanes(1, FLOAT64)
    block = BlockEmitter(lanes, Graph(operations, (2,)), ("%a", "%b"), lambda name: name)
    assert block.value(2)
    assert lanes.lines or code in (CONST, INPUT)


def test_the_emitter_has_no_other_functions():
    assert set(EMITTED) == set(FUNCTIONS)


def test_misuse_is_a_sentence():
    p = two_blocks()
    kernel = compile_program(p)
    with pytest.raises(ProgramError, match="no output z; outputs: unit, outer"):
        compile_program(p, outputs=["z"])
    with pytest.raises(ProgramError, match="needs more inputs: y"):
        kernel(x=[1.0, 2.0, 3.0])
    with pytest.raises(ProgramError, match=r"input 'x' has shape \(2,\); allowed: \(3,\)"):
        kernel(x=[1.0, 2.0], y=[1.0])
    with pytest.raises(ProgramError, match="different numbers of worlds"):
        kernel(x=np.ones((2, 3)), y=np.ones((3, 1)))
    with pytest.raises(ProgramError, match="no input 'z'; inputs: x, y"):
        kernel(x=np.ones(3), y=[1.0], z=[1.0])
    with pytest.raises(ProgramError, match="at least one world"):
        kernel.batch(0)
    with pytest.raises(ProgramError, match="dtype is 'float16'; allowed: float64, float32"):
        compile_program(p, dtype="float16")
    with pytest.raises(ProgramError, match="already has a port named 'x'"):
        p.input("x", 1)
    with pytest.raises(ProgramError, match="is outside a block"):
        p.let("a", ca.SX.sym("a"))
    with p.block("outer"), pytest.raises(ProgramError, match="inside block 'outer'"), p.block("in"):
        pass
    stranger = Program("stranger")
    with stranger.block("b"):
        stranger.output("y", ca.SX.sym("lost") + 1)
    with pytest.raises(ProgramError, match="uses symbol 'lost'; allowed: inputs"):
        compile_program(stranger)


def test_lets_may_be_used_in_their_own_block():
    p = Program("own")
    x = p.input("x", 1)
    with p.block("only"):
        y = p.let("y", 2 * x + 1)
        z = p.let("z", y**2)
        p.output("sum", y + z)
    assert np.array_equal(compile_program(p)(x=[3.0])["sum"], [56.0])


def test_a_symbol_of_an_input_is_never_mistaken_for_another():
    """CasADi reuses the address of a symbol without references."""
    p = Program("held")
    p.input("x", 1)
    with p.block("b"):
        p.output("z", ca.SX.sym("y"))
    with pytest.raises(ProgramError, match="uses symbol 'y'"):
        compile_program(p)


def test_a_block_that_fails_leaves_nothing_behind():
    p = two_blocks()

    def broken():
        with p.block("broken"):
            p.output("z", ca.SX(1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()
    with p.block("mended"):
        p.output("z", ca.SX(7))
    assert compile_program(p, outputs="z")(x=np.ones(3), y=[1.0])["z"] == 7.0


def test_more_misuse_is_a_sentence():
    p = two_blocks()
    for name in ("", "a b", 'a"b', "é", "llvm.x"):
        with pytest.raises(ProgramError, match="allowed: letters, digits"):
            Program(name)
    with pytest.raises(ProgramError, match="cannot be called 'threads'"):
        p.input("threads", 1)
    for width in (0, 3, 1.5):
        with pytest.raises(ProgramError, match="a power of two"):
            compile_program(p, width=width)
    with pytest.raises(ProgramError, match="optimisation level is 4; allowed: 0, 1, 2, 3"):
        compile_program(p, level=4)
    kernel = compile_program(p)
    for threads in (0, -1, 1.5, None):
        with pytest.raises(HeelstrikeError, match="allowed: an integer above 0"):
            kernel(x=np.ones((40, 3)), y=[1.0], threads=threads)
    for x in ("text", [[1.0], [2.0, 3.0]], None, [1j, 2, 3]):
        with pytest.raises(ProgramError, match="allowed: numbers in a rectangular array"):
            kernel(x=x, y=[1.0])


def test_two_threads_that_run_one_batch_wait_for_each_other():
    kernel = compile_program(two_blocks())
    batch = kernel.batch(4096)
    x = np.random.default_rng(0).normal(size=(4096, 3))
    batch.set(x=x, y=[1.0])
    batch.run()
    expected = batch.get("outer")
    workers = [threading.Thread(target=lambda: [batch.run() for _ in range(20)]) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert np.array_equal(batch.get("outer"), expected)
