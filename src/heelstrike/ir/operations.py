"""Scalar operations: which ones a program may have, and how many of each kind it has.

An operation is named as in CasADi, without the prefix OP_. `codegen/operations.py` emits exactly
those of SUPPORTED.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

from heelstrike.errors import TraceError

CONST, INPUT = "CONST", "INPUT"
ADDITIONS = {"ADD", "SUB", "TWICE"}
MULTIPLICATIONS = {"MUL", "SQ", "DIV"}
COMPARISONS = {"LT", "LE", "EQ", "NE", "NOT", "AND", "OR", "FMIN", "FMAX"}
CHOICES = COMPARISONS | {"IF_ELSE_ZERO", "NEG", "FABS", "SIGN", "COPYSIGN"}
FUNCTIONS = (
    *("ACOS", "ASIN", "ATAN", "ATAN2", "CEIL", "COPYSIGN", "EXP", "FABS", "FLOOR", "FMAX", "FMIN"),
    *("FMOD", "HYPOT", "LOG", "POW", "SIGN", "SQRT", "TAN", "TANH"),
)
"""Operations that are called by name, besides sin and cos."""
SUPPORTED = frozenset(
    {CONST, INPUT, "INV", "SIN", "COS", "CONSTPOW"}
    | ADDITIONS
    | MULTIPLICATIONS
    | CHOICES
    | set(FUNCTIONS)
)
"""Operations that can be compiled."""


class Operation(NamedTuple):
    """One scalar operation."""

    code: str
    """CasADi's name without OP_."""
    operands: tuple[int, ...]
    """Indices of earlier operations; of an INPUT, its place among the inputs."""
    value: float | tuple[float, ...] = 0.0
    """Value of a CONST; several where packed blocks differ (codegen/passes/packing.py)."""


def check_supported(operations: Sequence[Operation]) -> None:
    """Raise TraceError if an operation cannot be compiled."""
    for operation in operations:
        if operation.code not in SUPPORTED:
            raise TraceError(
                f"the operation {operation.code.lower()} cannot be compiled",
                value=operation.code.lower(),
                remedy="use + - * /, comparisons, if_else, sin, cos, "
                f"{', '.join(name.lower() for name in FUNCTIONS)}",
            )


@dataclass(frozen=True)
class Counts:
    """Exact number of operations of a program.

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
        """Additions, multiplications and divisions, which papers count."""
        return self.additions + self.multiplications + self.divisions


def count(operations: Sequence[Operation]) -> Counts:
    """Count operations by kind; a*b + c is one multiplication and one addition, fused or not."""
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
