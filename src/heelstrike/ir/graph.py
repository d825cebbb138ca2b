"""A block's expressions as a list of operations, each distinct one once.

CasADi orders the scalar operations behind a set of expressions. Here equal ones (same operation,
same operands) become one, and operations on constants alone are carried out, as CasADi does it.
Nothing is reordered inside a sum or a product, so the bits of an operation do not depend on which
other expressions are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import casadi as ca

from heelstrike.ir.number import value_of
from heelstrike.ir.operations import CONST, INPUT, Operation

FOLDED: dict[str, Callable[..., float]] = {
    "ADD": lambda x, y: x + y,
    "SUB": lambda x, y: x - y,
    "MUL": lambda x, y: x * y,
    "SQ": lambda x: x * x,
    "NEG": lambda x: -x,
    "TWICE": lambda x: x + x,
}
"""Operations on constants that are carried out; numbers of number.py meet in no others."""


@dataclass(frozen=True)
class Graph:
    """Operations in an order in which they can be carried out, and indices of the outputs."""

    operations: tuple[Operation, ...]
    outputs: tuple[int, ...]


def graph(inputs: ca.SX, outputs: ca.SX, numbers: Sequence[ca.SX] = ()) -> Graph:
    """Return the operations from a column of symbols to a column of expressions.

    `numbers` are the symbols of number.py in the expressions.
    """
    # each operation has an element of its own in the work vector, in the order of operations
    options = {"live_variables": False}
    function = ca.Function("block", [inputs, column(numbers)], [outputs], options)
    names = _operation_names()
    operations: list[Operation] = []
    known: dict[Operation, int] = {}
    register: list[int] = []  # CasADi's work vector -> operation
    results = [-1] * outputs.numel()
    code_of, source = function.instruction_id, function.instruction_input
    for k in range(function.n_instructions()):
        code = names[code_of(k)]
        operands = source(k)
        if code == "OUTPUT":
            results[function.instruction_output(k)[1]] = register[operands[0]]
            continue
        if code == CONST:
            operation = Operation(CONST, (), function.instruction_constant(k))
        elif code == INPUT:
            which, place = operands
            operation = (
                Operation(CONST, (), value_of(numbers[place]))
                if which == 1
                else Operation(INPUT, (place,))
            )
        else:
            operation = _folded(operations, code, tuple([register[i] for i in operands]))
        number = known.setdefault(operation, len(operations))
        if number == len(operations):
            operations.append(operation)
        register.append(number)
    return Graph(tuple(operations), tuple(results))


def _folded(operations: Sequence[Operation], code: str, operands: tuple[int, ...]) -> Operation:
    """Return the operation, or a constant if all its operands are constants."""
    if code not in FOLDED or operations[operands[0]].code != CONST:  # the usual case, fast
        return Operation(code, operands)
    values = [operations[i] for i in operands]
    if any(value.code != CONST for value in values):
        return Operation(code, operands)
    return Operation(CONST, (), FOLDED[code](*(value.value for value in values)))


def with_constants(old: Graph, values: Mapping[int, float]) -> Graph:
    """Return a graph with constants in place of some inputs, which are given by number.

    The other inputs keep their order.
    """
    operations: list[Operation] = []
    known: dict[Operation, int] = {}
    new: list[int] = []  # number of each old operation
    for code, operands, value in old.operations:
        if code == INPUT:
            (place,) = operands
            if place in values:
                operation = Operation(CONST, (), values[place])
            else:
                operation = Operation(INPUT, (place - sum(k < place for k in values),))
        elif code == CONST:
            operation = Operation(CONST, (), value)
        else:
            operation = _folded(operations, code, tuple([new[i] for i in operands]))
        number = known.setdefault(operation, len(operations))
        if number == len(operations):
            operations.append(operation)
        new.append(number)
    return Graph(tuple(operations), tuple(new[i] for i in old.outputs))


def in_order_of_use(old: Graph) -> tuple[Graph, list[int]]:
    """Return the graph with its operations in the order in which a walk from the outputs ends them.

    Each use of a constant is an operation of its own. So graphs become the same that differ only in
    the order of their operations and in which constants are equal. Inputs are numbered as they are
    met; their old numbers are returned too.
    """
    operations: list[Operation] = []
    inputs: list[int] = []
    given = old.operations
    new: dict[int, int] = {k: -1 for k, x in enumerate(given) if x.code == CONST}
    """Number of each old operation; a constant has none."""

    def use(k: int) -> int:
        number = new[k]
        if number >= 0:
            return number
        operations.append(given[k])
        return len(operations) - 1

    for output in old.outputs:
        waiting = [output]
        while waiting:
            k = waiting[-1]
            if k in new:
                waiting.pop()
                continue
            code, operands, _ = given[k]
            if code == INPUT:
                inputs.append(operands[0])
                operation = Operation(INPUT, (len(inputs) - 1,))
            elif left := [i for i in operands if i not in new]:
                waiting += left[::-1]
                continue
            else:
                operation = Operation(code, tuple([use(i) for i in operands]))
            waiting.pop()
            new[k] = len(operations)
            operations.append(operation)
    outputs = tuple([use(k) for k in old.outputs])
    return Graph(tuple(operations), outputs), inputs


def if_else_operand(operations: Sequence[Operation], a: int, b: int) -> int | None:
    """Return which operand of a + b, 0 or 1, holds where a condition does; None for a plain sum.

    CasADi writes if_else(c, x, y) as if_else_zero(c, x) + if_else_zero(not c, y).
    """
    first, second = operations[a], operations[b]
    if first.code != "IF_ELSE_ZERO" or second.code != "IF_ELSE_ZERO":
        return None
    c, d = first.operands[0], second.operands[0]
    if operations[d] == Operation("NOT", (c,)):
        return 0
    return 1 if operations[c] == Operation("NOT", (d,)) else None


def column(symbols: Sequence[ca.SX]) -> ca.SX:
    """Return the symbols as a column, which may be empty."""
    return ca.vertcat(*symbols) if symbols else ca.SX(0, 1)


@cache
def _operation_names() -> dict[int, str]:
    return {
        getattr(ca, name): name.removeprefix("OP_") for name in dir(ca) if name.startswith("OP_")
    }
