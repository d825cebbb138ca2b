"""Graphs put in order of use against the values of the graphs that they come from."""

from __future__ import annotations

import operator

import casadi as ca
import pytest

from heelstrike.ir.graph import Graph, graph, in_order_of_use, with_constants
from heelstrike.ir.operations import CONST, INPUT

BINARY = {"ADD": operator.add, "SUB": operator.sub, "MUL": operator.mul}


def value(found: Graph, inputs: list[float]) -> list[float]:
    """Return the outputs of a graph of sums, products and numbers."""
    values: list[float] = []
    for code, operands, number in found.operations:
        if code == INPUT:
            values.append(inputs[operands[0]])
        elif code == CONST:
            values.append(number)
        else:
            values.append(BINARY[code](*(values[i] for i in operands)))
    return [values[i] for i in found.outputs]


def weighted(x: ca.SX, a: float, b: float) -> Graph:
    return graph(x, ca.vertcat(a * x[1] + b * x[0], (a * x[1] - x[2]) * x[0], x[2] + b, a))


def test_order_of_use_keeps_values_and_joins_equal_graphs():
    """Graphs whose constants are equal or not get the same operations, and keep their values."""
    x = ca.SX.sym("x", 3)
    graphs = [in_order_of_use(weighted(x, *numbers)) for numbers in ((4.0, 3.0), (5.0, 5.0))]
    forms = [[(op.code, op.operands) for op in found.operations] for found, _ in graphs]
    assert forms[0] == forms[1]
    for (found, inputs), old in zip(graphs, (weighted(x, 4, 3), weighted(x, 5, 5)), strict=True):
        at = [0.5, 7.0, -1.5]
        assert value(found, [at[i] for i in inputs]) == value(old, at)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_constants_in_place_of_inputs(which):
    """An input that becomes a constant keeps the value of the graph."""
    x = ca.SX.sym("x", 3)
    at = [0.5, 7.0, -1.5]
    found = with_constants(weighted(x, 4.0, 3.0), {which: at[which]})
    rest = [number for k, number in enumerate(at) if k != which]
    assert value(found, rest) == value(weighted(x, 4.0, 3.0), at)
