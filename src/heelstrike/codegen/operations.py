"""Emission of one block's operations on lanes.

Rules that make a world's bits independent of W, of the optimisation level and of what else is
computed:
- no fast-math flag;
- an addition that has a product as an operand is always one fused multiply-add (the second
  operand's product, else the first's), within its block; a value that crosses a block boundary is
  no longer a product;
- a division is a product with the reciprocal of its denominator, which is shared;
- if_else is a select, never a sum of products with masks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from heelstrike.codegen import functions
from heelstrike.codegen.lanes import Lanes
from heelstrike.ir.graph import Graph, if_else_operand
from heelstrike.ir.operations import CONST, INPUT, check_supported

COMPARISONS = {"LT": "olt", "LE": "ole", "EQ": "oeq", "NE": "une"}
LAZY = {CONST, INPUT, "MUL", "SQ", "DIV", "TWICE", "NOT", "AND", "OR", "IF_ELSE_ZERO", *COMPARISONS}

FUNCTIONS: dict[str, Callable[..., str]] = {
    "ACOS": functions.acos,
    "ASIN": functions.asin,
    "ATAN": functions.atan,
    "ATAN2": functions.atan2,
    "CEIL": Lanes.ceil,
    "COPYSIGN": Lanes.copysign,
    "EXP": functions.exp,
    "FABS": Lanes.abs,
    "FLOOR": Lanes.floor,
    "FMAX": Lanes.max,
    "FMIN": Lanes.min,
    "FMOD": functions.fmod,
    "HYPOT": functions.hypot,
    "LOG": functions.log,
    "POW": functions.pow,
    "SIGN": functions.sign,
    "SQRT": Lanes.sqrt,
    "TAN": functions.tan,
    "TANH": functions.tanh,
}

Where = TypeVar("Where")
"""Location of an input's value: a place, or the places of packed blocks."""


class BlockEmitter(Generic[Where]):
    """Emits one block's operations.

    Products, masks and choices are only emitted where their values are needed.
    """

    def __init__(
        self, lanes: Lanes, graph: Graph, reads: Sequence[Where], load: Callable[[Where], str]
    ) -> None:
        check_supported(graph.operations)
        self.lanes = lanes
        self.operations = graph.operations
        self.reads = reads
        self.load = load
        self.written: dict[int, str] = {}
        self.negated: dict[str, str] = {}
        self.factors: dict[int, tuple[str, str]] = {}
        self.reciprocals: dict[int, str] = {}
        self.mask_of: dict[int, str] = {}
        self.sincos: dict[int, tuple[str, str]] = {}

    def run(self) -> None:
        """Emit all operations in order, except those that wait until their value is needed."""
        for i, operation in enumerate(self.operations):
            if operation.code not in LAZY:
                self.value(i)

    def load_before_store(self, assigned: Iterable[bool]) -> None:
        """Load those inputs that the block's results overwrite."""
        wanted = list(assigned)
        for i, operation in enumerate(self.operations):
            if operation.code == INPUT and wanted[operation.operands[0]]:
                self.value(i)

    def value(self, i: int) -> str:
        """Return the name of the value of operation i, which is emitted if it was not before."""
        if i not in self.written:
            self.written[i] = self._write(i)
        return self.written[i]

    def _write(self, i: int) -> str:
        code, operands, _ = self.operations[i]
        if code == CONST:
            return self.lanes.const(self.operations[i].value)
        if code == INPUT:
            return self.load(self.reads[operands[0]])
        if (factors := self._product(i)) is not None:
            return self.lanes.mul(*factors)
        if code in ("ADD", "SUB"):
            return self._sum(code, *operands)
        if code == "TWICE":
            return self.lanes.add(self.value(operands[0]), self.value(operands[0]))
        if code == "NEG":
            return self._negative(self.value(operands[0]))
        if code == "INV":
            return self._reciprocal(operands[0])
        if code in ("SIN", "COS"):
            return self._sincos(operands[0])[code == "COS"]
        if code == "CONSTPOW":
            return self._constant_power(*operands)
        if code in COMPARISONS or code in ("NOT", "AND", "OR"):
            return self.lanes.select(self.mask(i), self.lanes.const(1.0), self.lanes.const(0.0))
        if code == "IF_ELSE_ZERO":
            return self.lanes.select(
                self.mask(operands[0]), self.value(operands[1]), self.lanes.const(0.0)
            )
        if code in FUNCTIONS:
            return FUNCTIONS[code](self.lanes, *(self.value(k) for k in operands))
        raise AssertionError(f"no code for {code}")  # check_supported has refused others

    def _product(self, i: int) -> tuple[str, str] | None:
        """Return the factors of operation i if it is a product."""
        if i not in self.factors:
            code, operands, _ = self.operations[i]
            if code == "MUL":
                self.factors[i] = self.value(operands[0]), self.value(operands[1])
            elif code == "SQ":
                self.factors[i] = self.value(operands[0]), self.value(operands[0])
            elif code == "DIV":
                self.factors[i] = self.value(operands[0]), self._reciprocal(operands[1])
            elif code == "TWICE" and (inner := self._product(operands[0])) is not None:
                self.factors[i] = self.lanes.add(inner[0], inner[0]), inner[1]
            else:
                return None
        return self.factors[i]

    def _sum(self, code: str, a: int, b: int) -> str:
        if code == "ADD" and (choice := self._if_else(a, b)) is not None:
            return choice
        if (factors := self._product(b)) is not None:
            x, y = factors
            return self.lanes.fma(self._negative(x) if code == "SUB" else x, y, self.value(a))
        if (factors := self._product(a)) is not None:
            addend = self.value(b)
            return self.lanes.fma(*factors, self._negative(addend) if code == "SUB" else addend)
        return (self.lanes.add if code == "ADD" else self.lanes.sub)(self.value(a), self.value(b))

    def _if_else(self, a: int, b: int) -> str | None:
        which = if_else_operand(self.operations, a, b)
        if which is None:
            return None
        condition, x = self.operations[(a, b)[which]].operands
        _, y = self.operations[(b, a)[which]].operands
        return self.lanes.select(self.mask(condition), self.value(x), self.value(y))

    def mask(self, i: int) -> str:
        """Return operation i as a mask: true where its value is not 0."""
        if i not in self.mask_of:
            code, operands, _ = self.operations[i]
            if code in COMPARISONS:
                self.mask_of[i] = self.lanes.compare(
                    COMPARISONS[code], *(self.value(k) for k in operands)
                )
            elif code == "NOT":
                self.mask_of[i] = self.lanes.invert(self.mask(operands[0]))
            elif code == "AND":
                self.mask_of[i] = self.lanes.both(*(self.mask(k) for k in operands))
            elif code == "OR":
                self.mask_of[i] = self.lanes.either(*(self.mask(k) for k in operands))
            else:
                self.mask_of[i] = self.lanes.compare("une", self.value(i), self.lanes.const(0.0))
        return self.mask_of[i]

    def _negative(self, x: str) -> str:
        if x not in self.negated:
            self.negated[x] = self.lanes.neg(x)
        return self.negated[x]

    def _reciprocal(self, i: int) -> str:
        if i not in self.reciprocals:
            self.reciprocals[i] = self.lanes.div(self.lanes.const(1.0), self.value(i))
        return self.reciprocals[i]

    def _sincos(self, i: int) -> tuple[str, str]:
        if i not in self.sincos:
            self.sincos[i] = functions.sincos(self.lanes, self.value(i))
        return self.sincos[i]

    def _constant_power(self, base: int, exponent: int) -> str:
        """Return a power: multiples of 1/2 up to 7/2 by a root and products, others by `pow`."""
        y = self.operations[exponent].value
        assert isinstance(y, float)  # packed blocks have the same
        x = self.value(base)
        if not (0 < y < 4 and 2 * y == int(2 * y)):
            return functions.pow(self.lanes, x, self.value(exponent))
        power = self.lanes.sqrt(x) if y != int(y) else x
        for _ in range(int(y) if y != int(y) else int(y) - 1):
            power = self.lanes.mul(power, x)
        return power
