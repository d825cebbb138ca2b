"""Routines against the same program written block by block: equal bits, fewer traces.

A copy gets the operations of a block that is traced for its own arguments, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
import pytest

import heelstrike as hs
from heelstrike.errors import ProgramError
from heelstrike.ir.arguments import LABEL
from heelstrike.ir.derivative import Derivative
from heelstrike.ir.guard import guarded
from heelstrike.ir.loop import repeated
from heelstrike.ir.routine import call
from heelstrike.ir.table import table
from heelstrike.runtime.export_casadi import export_casadi

COUNT = 5
LEVERS = np.array([[0, 1, 0.3], [0, -1, 0.7], [0, 1, -0.2], [0.5, 1, 0], [0, 1, 9.0]])
"""Rows 0, 2 and 4 have the same numbers that fold: 0 and 1."""


@dataclass(frozen=True)
class Spring:
    number: int = field(metadata=LABEL)
    place: ca.SX
    lever: ca.SX
    total: ca.SX


def push(p: hs.Program, spring: Spring, k: ca.SX, more: list[ca.SX]) -> tuple[Spring, ca.SX]:
    """Return the spring with its force in place of its lever, and its power."""
    x, v = spring.place[0], spring.place[1]
    reach = ca.cross(spring.lever, ca.vertcat(x, v, k))
    force = p.let("force", k * x + ca.sin(v) / 3 + reach + more[0])
    p.assign(spring.total, spring.total + ca.dot(force, force))
    return Spring(spring.number, spring.place, force, spring.total), p.let("power", force[0] * v)


def traced(p: hs.Program, kind: str, function: Callable[..., Any], *arguments: Any, member: int):
    with p.block(kind, member=member):
        return function(*arguments)


def springs(how: Callable[..., Any]) -> hs.Program:
    """Return a program with springs in guards in a loop; `how` puts each into a block."""
    p = hs.Program("springs")
    state, k = p.memory("state", 2 * COUNT, initial=0.1), p.input("k", 1)
    with p.block("start"):
        totals = [p.variable("total", ca.SX(0)) for _ in range(COUNT)]
        whole = p.variable("whole", ca.SX(0))
    found = []
    with repeated(p, "rounds", limit=3) as loop:
        for i in range(COUNT):
            with guarded(p, "near", state[2 * i] < 0.3):
                own = Spring(i, state[2 * i : 2 * i + 2], ca.SX(LEVERS[i]), totals[i])
                spring, power = how(p, "push", push, p, own, k, [k * k], member=i)
                found.append(spring.number)
                with p.block("sum", member=i):
                    p.assign(whole, whole + power + spring.lever[2] + spring.place[0])
        with p.block("end"):
            loop.until(whole > 1)
    assert found == list(range(COUNT))
    with p.block("step"):
        p.update("state", state + 1e-6 * ca.vertcat(*totals, *totals) * whole)
        p.output("whole", whole)
    return p


def run(p: hs.Program, width: int | None) -> tuple[np.ndarray, ...]:
    batch = hs.compile_program(p, width=width).batch(11)
    batch.set(k=[2.0], state=np.linspace(-0.4, 0.6, 22 * COUNT).reshape(11, -1))
    batch.run(steps=20, every=5)
    return batch.get("state"), batch.output("whole")


@pytest.mark.parametrize("width", [1, 8])
def test_copies_have_the_bits_of_blocks(width):
    """Guards, loops, variables and numbers of copies are those of blocks traced by themselves."""
    for one, other in zip(run(springs(call), width), run(springs(traced), width), strict=True):
        assert np.isfinite(one).all()
        assert np.array_equal(one, other)


def test_equal_forms_are_traced_once():
    """Levers whose 0, 1 and -1 stand in the same places share a trace."""
    assert len(springs(call).routines) == 3


def test_derivative_of_copies():
    """The derivative of a program with copies is that of the same program without them."""

    def tangent(p: hs.Program) -> np.ndarray:
        d = Derivative(p, "slope")
        d.seed("state", ca.SX(np.linspace(0, 1, 2 * COUNT)))
        d.trace()
        with d.program.block("out"):
            d.program.output("moved", d.next_tangent("state"))
        state = np.linspace(-0.4, 0.6, 2 * COUNT)
        at = {"state": state, "k": [2.0], "clock": [0.0], "failed": [-1.0]}
        return hs.compile_program(d.program)(**at)["moved"]

    one, other = tangent(springs(call)), tangent(springs(traced))
    assert np.abs(np.diff(one)).max() > 0.1
    assert np.array_equal(one, other)


def scaled(p: hs.Program, x: ca.SX, factor: float) -> ca.SX:
    return p.let("scaled", factor * x)


def test_form_of_expressions_and_numbers():
    """Other operations, other python numbers and equal symbols make another trace."""
    p = hs.Program("forms")
    x = p.input("x", 3)
    parts = [
        call(p, "a", scaled, p, x[0] * x[1], 2.0),
        call(p, "a", scaled, p, x[1] * x[2], 2.0),  # the same form
        call(p, "a", scaled, p, x[0] * x[0], 2.0),
        call(p, "a", scaled, p, x[0] + x[1], 2.0),
        call(p, "a", scaled, p, x[0] + x[1], 3.0),
        call(p, "a", scaled, p, x[:2], 2.0)[1],
    ]
    with p.block("out"):
        p.output("parts", ca.vertcat(*parts))
    assert len(p.routines) == 5
    expected = [12, 30, 8, 10, 15, 6]
    assert hs.compile_program(p)(x=[2.0, 3.0, 5.0])["parts"].ravel().tolist() == expected
    assert np.ravel(export_casadi(p)([2.0, 3.0, 5.0])).tolist() == expected


def looked_up(p: hs.Program, heights: Any, x: ca.SX) -> ca.SX:
    return p.let("height", 2 * heights.at(x)[0])


def test_tables_are_looked_up_in_each_call():
    """A function that looks up a table is traced again."""
    p = hs.Program("lookups")
    x, heights = p.input("x", 2), table(p, "heights", 4)
    values = [call(p, "height", looked_up, p, heights, x[i]) for i in range(2)]
    with p.block("out"):
        p.output("values", ca.vertcat(*values))
    found = hs.compile_program(p)(x=[0.5, 2.5], heights=np.array([[0.0], [1], [4], [9]]))
    assert found["values"].ravel().tolist() == [1.0, 13.0]


def weighed(p: hs.Program, weights: dict[str, ca.SX], x: ca.SX) -> ca.SX:
    return p.let("sum", weights["square"] * x * x + weights["line"] * x)


def test_mappings_are_arguments():
    """Values of a mapping are arguments, its keys belong to the form."""
    p = hs.Program("mappings")
    x = p.input("x", 4)
    pairs = [{"square": x[0], "line": x[1]}, {"square": x[1], "line": x[0]}]
    values = [call(p, "sum", weighed, p, pair, x[2]) for pair in pairs]
    values.append(call(p, "sum", weighed, p, {"line": x[0], "square": x[1]}, x[3]))
    assert len(p.routines) == 2
    with p.block("out"):
        p.output("values", ca.vertcat(*values))
    found = hs.compile_program(p)(x=[2.0, 3.0, 5.0, 7.0])
    assert found["values"].ravel().tolist() == [65.0, 85.0, 161.0]


def nothing(p: hs.Program, x: ca.SX) -> ca.SX:
    p.let("twice", 2 * x)
    return ca.SX(0, 1)


def test_results_may_be_empty():
    """A law without memory keeps none: the result is a column without entries."""
    p = hs.Program("empty")
    x = p.input("x", 2)
    for k in range(2):
        assert call(p, "none", nothing, p, x[k]).shape == (0, 1)


def unlet(x: ca.SX) -> ca.SX:
    return x + 1


def updated(p: hs.Program, x: ca.SX) -> None:
    p.update("m", x)


def test_errors():
    """Results that are no symbols, memory and closures are refused."""
    p = hs.Program("errors")
    m = p.memory("m", 1)
    with pytest.raises(ProgramError, match="returns an expression"):
        call(p, "a", unlet, m)
    with pytest.raises(ProgramError, match="sets memory"):
        call(p, "b", updated, p, m)
    with pytest.raises(ProgramError, match="pass them as arguments"):
        call(p, "c", lambda: p.let("m", m))
    with guarded(p, "guard", m > 0):
        inside = call(p, "d", scaled, p, m, 2.0)
    with pytest.raises(ProgramError, match="exists only inside guard 'guard'"):
        call(p, "e", scaled, p, inside, 2.0)
