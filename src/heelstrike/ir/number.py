"""Numbers that tracing leaves as they are.

CasADi folds 0, 1 and -1 while an expression is built: x * 1 becomes x, x * -1 becomes -x. Where one
block has 1 and its twin -1 (twins.py), neither may be folded, or they would differ in an operation.
Such a number is a symbol whose name tells its value; graph.py makes a constant of it.
"""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca

PREFIX = "number "
"""How the name of such a symbol starts; a number as hex() writes it follows."""


def number(value: float) -> ca.SX:
    """A number that is not folded. Each is a symbol of its own, so that equal ones do not cancel:
    their like in a twin may differ.
    """
    return ca.SX.sym(PREFIX + float(value).hex())


def is_number(symbol: ca.SX) -> bool:
    return bool(symbol.name().startswith((PREFIX + "0x", PREFIX + "-0x")))


def value_of(number: ca.SX) -> float:
    """What such a symbol stands for."""
    return float.fromhex(number.name().removeprefix(PREFIX))


def parted(symbols: Iterable[ca.SX]) -> tuple[list[ca.SX], list[ca.SX]]:
    """Symbols of a program, and numbers."""
    own: list[ca.SX] = []
    numbers: list[ca.SX] = []
    for symbol in symbols:
        (numbers if is_number(symbol) else own).append(symbol)
    return own, numbers
