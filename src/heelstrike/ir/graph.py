"""A block's expressions as a list of operations, each distinct one once.

CasADi orders the scalar operations behind a set of expressions; here equal ones (same operation,
same operands) become one, and what is done to constants alone is done now, as CasADi does it.
Nothing is reordered inside a sum or a product, so what an operation computes does not depend on
which other expressions were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import NamedTuple

import casadi as ca

from heelstrike.ir.number import value_of

CONST, INPUT = "CONST", "INPUT"
ADDITIONS = {"ADD", "SUB", "TWICE"}
MULTIPLICATIONS = {"MUL", "SQ", "DIV"}
COMPARISONS = {"LT", "LE", "EQ", "NE", "NOT", "AND", "OR", "FMIN", "FMAX"}
CHOICES = COMPARISONS | {"IF_ELSE_ZERO", "NEG", "FABS", "SIGN", "COPYSIGN"}

FOLDED: dict[str, Callable[..., float]] = {
    "ADD": lambda x, y: x + y,
    "SUB": lambda x, y: x - y,
    "MUL": lambda x, y: x * y,
    "SQ": lambda x: x * x,
    "NEG": lambda x: -x,
    "TWICE": lambda x: x + x,
}
"""What numbers (number.py) may meet one another in."""


class Operation(NamedTuple):
    """One scalar operation."""

    code: str
    """CasADi's name without OP_."""
    operands: tuple[int, ...]
    """Indices of earlier operations; of an INPUT its place among the inputs."""
    value: float | tuple[float, ...] = 0.0
    """Of a CONST; several where twins differ (twins.py)."""


@dataclass(frozen=True)
class Graph:
    """Operations in an order in which they can be carried out, and which are the outputs."""

    operations: tuple[Operation, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class Counts:
    """How many operations a program really has.

    Divisions by the same value share one reciprocal: the first counts as a division and a
    multiplication, the others as multiplications. `choices` are comparisons, selects and changes of
    sign, `functions` sin, sqrt, exp, ...
    """

    additions: int = 0
    multiplications: int = 0
    divisions: int = 0
    functions: int = 0
    choices: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Counts)))

    @property
    def arithmetic(self) -> int:
        """Additions, multiplications and divisions: what papers count."""
        return self.additions + self.multiplications + self.divisions


def graph(inputs: ca.SX, outputs: ca.SX, numbers: Sequence[ca.SX] = ()) -> Graph:
    """The operations from a column of symbols to a column of expressions; `numbers` are those of
    number.py in them.
    """
    function = ca.Function("block", [inputs, column(numbers)], [outputs])
    names = _operation_names()
    operations: list[Operation] = []
    known: dict[Operation, int] = {}
    register: dict[int, int] = {}  # CasADi's work vector -> operation
    results = [-1] * outputs.numel()
    for k in range(function.n_instructions()):
        code = names[function.instruction_id(k)]
        target = function.instruction_output(k)
        operands = function.instruction_input(k)
        if code == "OUTPUT":
            results[target[1]] = register[operands[0]]
            continue
        if code == CONST:
            operation = Operation(CONST, (), function.instruction_constant(k))
        elif code == INPUT and operands[0] == 1:
            operation = Operation(CONST, (), value_of(numbers[operands[1]]))
        elif code == INPUT:
            operation = Operation(INPUT, (operands[1],))
        else:
            operation = _folded(operations, code, tuple(register[i] for i in operands))
        if operation not in known:
            known[operation] = len(operations)
            operations.append(operation)
        register[target[0]] = known[operation]
    return Graph(tuple(operations), tuple(results))


def _folded(operations: Sequence[Operation], code: str, operands: tuple[int, ...]) -> Operation:
    """The operation, or the constant that comes of constants."""
    given = [operations[i] for i in operands]
    if code not in FOLDED or any(operand.code != CONST for operand in given):
        return Operation(code, operands)
    return Operation(CONST, (), FOLDED[code](*(operand.value for operand in given)))


def chosen(operations: Sequence[Operation], a: int, b: int) -> int | None:
    """Which of the operands of a + b holds where a condition does, if the sum is a choice.

    CasADi writes if_else(c, x, y) as if_else_zero(c, x) + if_else_zero(not c, y).
    """
    first, second = operations[a], operations[b]
    if first.code != "IF_ELSE_ZERO" or second.code != "IF_ELSE_ZERO":
        return None
    c, d = first.operands[0], second.operands[0]
    if operations[d] == Operation("NOT", (c,)):
        return 0
    return 1 if operations[c] == Operation("NOT", (d,)) else None


def count(operations: tuple[Operation, ...]) -> Counts:
    """Operations by kind; a*b + c is one multiplication and one addition, however it is carried
    out.
    """
    tally = dict.fromkeys((f.name for f in fields(Counts)), 0)
    denominators = {op.operands[-1] for op in operations if op.code in ("DIV", "INV")}
    tally["divisions"] = len(denominators)
    for operation in operations:
        if operation.code in ADDITIONS:
            tally["additions"] += 1
        elif operation.code in MULTIPLICATIONS:
            tally["multiplications"] += 1
        elif operation.code in CHOICES:
            tally["choices"] += 1
        elif operation.code not in (CONST, INPUT, "INV"):
            tally["functions"] += 1
    return Counts(**tally)


def column(symbols: Sequence[ca.SX]) -> ca.SX:
    """One below the other."""
    return ca.vertcat(*symbols) if symbols else ca.SX(0, 1)


@cache
def _operation_names() -> dict[int, str]:
    return {
        getattr(ca, name): name.removeprefix("OP_") for name in dir(ca) if name.startswith("OP_")
    }
