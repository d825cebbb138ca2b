"""Numbers that tracing does not fold, compared with the same numbers folded into the code.

Factors of 1 and -1, and adding 0 or taking it away, are exact: the bits are those of the folded
code, signs of zeros among them.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from heelstrike.ir.derivative import Derivative
from heelstrike.ir.loop import repeated
from heelstrike.ir.number import number
from heelstrike.ir.program import Program
from heelstrike.runtime.compiler import compile_program
from heelstrike.runtime.export_casadi import export_casadi

X = np.array([1.5, -2.25, 0.0, -0.0, 1e-310, np.inf, np.pi])


def program(expression, constant):
    """expression(x, y, constant) as an output."""
    p = Program("numbers")
    x, y = p.input("x", 1), p.input("y", 1)
    with p.block("all"):
        p.output("z", expression(x, y, constant))
    return p


CASES = [
    (lambda x, y, c: c * x, 1.0),
    (lambda x, y, c: c * x, -1.0),
    (lambda x, y, c: y + x * c, -1.0),
    (lambda x, y, c: y - c * x, -1.0),
    (lambda x, y, c: x - c, 0.0),
    (lambda x, y, c: ca.fmin(x - c, 0), 0.0),
]


@pytest.mark.parametrize(("expression", "value"), CASES)
def test_the_bits_of_the_folded_code(expression, value):
    kept, folded = program(expression, number(value)), program(expression, value)
    assert kept.counts() != folded.counts()
    inputs = {"x": np.repeat(X, len(X))[:, None], "y": np.tile(X, len(X))[:, None]}
    z, expected = (compile_program(p)(**inputs)["z"] for p in (kept, folded))
    sound = ~np.isnan(expected)
    assert np.array_equal(np.isnan(z), ~sound)
    assert np.array_equal(z[sound].view(np.uint64), expected[sound].view(np.uint64))


def test_the_same_operations_whatever_the_value():
    """Folding would leave three different operations, or none."""

    def codes(value):
        p = program(lambda x, y, c: x * c + (y - number(0.5) * x), number(value))
        return [operation.code for operation in p.trace().record[0].graph.operations]

    assert codes(0.0) == codes(1.0) == codes(-1.0) == codes(0.25)


def test_numbers_among_themselves_cost_nothing():
    a, b = number(0.5), number(-0.125)
    p = program(lambda x, y, c: x * ((a * b + a) * c - b * b), number(3.0))
    assert p.counts().arithmetic == 1
    x = compile_program(p)(x=[2.0], y=[0.0])["z"]
    assert x == 2.0 * ((0.5 * -0.125 + 0.5) * 3.0 - 0.125**2)


def test_a_number_keeps_its_last_bit_and_sign():
    values = [0.1, -0.0, np.nextafter(1.0, 2.0), 5e-324, -1.7976931348623157e308]
    p = Program("values")
    with p.block("all"):
        p.output("z", ca.vertcat(*(number(value) for value in values)))
    found = compile_program(p)()["z"]
    assert np.array_equal(found.view(np.uint64), np.array(values).view(np.uint64))


def test_numbers_in_casadi_and_in_loops():
    p = program(lambda x, y, c: c * x + y, number(-1.0))
    assert float(export_casadi(p)(3.0, 5.0)) == 2.0
    p = Program("loop")
    with repeated(p, "once", limit=2) as loop:
        carried = loop.carry("carried", ca.SX(0))
        with p.block("next"):
            loop.next(carried, number(-1.0))
            loop.until(carried < 0)
    with p.block("all"):
        p.output("z", carried)
    assert compile_program(p)()["z"] == -1.0


def test_the_derivative_of_a_number_is_nothing():
    p = Program("step")
    x = p.memory("x", 1)
    with p.block("all"):
        p.update("x", number(-1.0) * x**2 + number(3.0))
    d = Derivative(p, "slope")
    d.seed("x", d.program.input("direction", 1))
    d.trace()
    with d.program.block("out"):
        d.program.output("change", d.next_tangent("x"))
    out = compile_program(d.program)(x=[5.0], direction=[2.0], clock=[0.0], failed=[-1.0])
    assert out["change"] == -2 * 5.0 * 2.0
