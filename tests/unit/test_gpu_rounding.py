"""Reciprocals and square roots without a branch: the PTX sequences, interpreted in exact numbers.

The hardware's approximations are taken to be the nearest numbers. Theirs are compared on a GPU
itself, for all 2^32 numbers (benchmarks/gpu_rounding.py).
"""

from __future__ import annotations

import math
import operator
import re
from fractions import Fraction

import numpy as np
import pytest

from heelstrike.codegen.cuda.rounding import RECIPROCAL, ROOT, without_branches

F = np.float32
RNG = np.random.default_rng(5)
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan]
EDGES = [F(s) * F(2.0) ** F(k) for k in (-149, -128, -127, -126, -96, 0, 126, 127) for s in (-1, 1)]


def bits(x):
    return int(F(x).view(np.uint32))


def number(pattern):
    return np.uint32(pattern).view(F)


def sample(count):
    """Return float32 of all sizes, some at the ends of their range."""
    drawn = RNG.integers(0, 2**32, count, dtype=np.uint32).view(F)
    near = [np.nextafter(F(x), F(side)) for x in EDGES for side in (-math.inf, math.inf)]
    return [*drawn[np.isfinite(drawn)], *EDGES, *near, *SPECIAL]


def fma(a, b, c):
    """Return a b + c, rounded once."""
    if not all(math.isfinite(x) for x in (a, b, c)):
        with np.errstate(all="ignore"):
            return F(F(a) * F(b)) + F(c)
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    return F(float(exact)) if exact else F(a) * F(b) + F(c)


def approximate(function, x):
    """Return what the hardware makes of x: subnormal numbers are zero."""
    smallest = F(2.0) ** F(-126)
    x = x if abs(x) >= smallest or math.isnan(x) else np.copysign(F(0), x)
    with np.errstate(all="ignore"):
        y = F(function(np.float64(x)))
    return np.copysign(F(0), y) if abs(y) < smallest else y


def on_bits(operation):
    return lambda *given: bits(operation(*map(number, given)))


def on_numbers(operation):
    return lambda a, b, *rest: bool(operation(number(a), number(b))) or any(rest)


OPERATIONS = {
    "and.b32": operator.and_,
    "min.u32": min,
    "sub.u32": operator.sub,
    "neg.f32": lambda a: a ^ 0x80000000,
    "abs.f32": lambda a: a & 0x7FFFFFFF,
    "mul.rn.f32": on_bits(operator.mul),
    "fma.rn.f32": on_bits(fma),
    "rcp.approx.ftz.f32": on_bits(lambda x: approximate(np.reciprocal, x)),
    "rsqrt.approx.ftz.f32": on_bits(lambda x: approximate(lambda y: 1 / np.sqrt(y), x)),
    "setp.lt.f32": on_numbers(operator.lt),
    "setp.eq.f32": on_numbers(operator.eq),
    "setp.eq.or.f32": on_numbers(operator.eq),
    "selp.f32": lambda a, b, holds: a if holds else b,
}


def run(sequence, a):
    """Return what a sequence makes of a number."""
    values = {"A": bits(a)}
    text = sequence.format(a="A", to="TO")
    with np.errstate(all="ignore"):
        for name, listed in re.findall(r"^\s+([a-z][a-z.0-9]+) ([^;]+);", text, re.MULTILINE):
            to, *operands = listed.split(", ")
            given = [values[x] if x in values else int(x[2:], 16) for x in operands]
            values[to] = OPERATIONS[name](*given)
    return number(values["TO"])


@pytest.mark.parametrize(("sequence", "exact"), [(RECIPROCAL, np.reciprocal), (ROOT, np.sqrt)])
def test_sequences_round_as_the_cpu_does(sequence, exact):
    for a in sample(3000):
        with np.errstate(all="ignore"):
            expected = exact(F(a))
        ours = run(sequence, a)
        assert bits(ours) == bits(expected) or (np.isnan(ours) and np.isnan(expected)), a


def test_instructions_with_a_slow_path_are_replaced():
    text = "\trcp.rn.f32 \t%r1, %r2;\n\tsqrt.rn.f32 \t%r3, %r1;\n\trcp.rn.f64 \t%rd1, %rd2;\n"
    new = without_branches(text)
    assert re.findall(r"\w+\.rn\.f32\s+%\w+, %\w+;", new) == []
    assert "selp.f32 %r1, better, near, finite;" in new
    assert "rcp.rn.f64 \t%rd1, %rd2;" in new
