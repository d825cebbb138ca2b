"""Numbers that tracing does not fold.

CasADi folds 0, 1 and -1 while an expression is built: x * 1 becomes x, x * -1 becomes -x. Where one
block has 1 and another, with which it is to be packed (codegen/passes/packing.py), has -1, neither
may be folded, or the blocks would differ in an operation. Such a number is a symbol whose name
holds its value; graph.py turns it into a constant. A zero of this kind also keeps a choice between
a value and zero in its place, which CasADi would move behind every product with the value.
"""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca

PREFIX = "number "
"""First part of the name of such a symbol; a number as written by hex() follows."""


def number(value: float) -> ca.SX:
    """Return a number that is not folded.

    Each call returns a new symbol, so that equal numbers do not cancel: in another block they may
    differ.
    """
    return ca.SX.sym(PREFIX + float(value).hex())


def is_number(symbol: ca.SX) -> bool:
    """Return whether a symbol stands for a number."""
    return bool(symbol.name().startswith((PREFIX + "0x", PREFIX + "-0x")))


def value_of(number: ca.SX) -> float:
    """Return the value that such a symbol stands for."""
    return float.fromhex(number.name().removeprefix(PREFIX))


def split_numbers(symbols: Iterable[ca.SX]) -> tuple[list[ca.SX], list[ca.SX]]:
    """Split symbols into those of a program and those that stand for numbers."""
    own: list[ca.SX] = []
    numbers: list[ca.SX] = []
    for symbol in symbols:
        (numbers if is_number(symbol) else own).append(symbol)
    return own, numbers
