"""Blocks of a program under construction: straight-line code, and loops and guards of blocks.

A block's tag says as data what it computes and for which limb. The tag decides how blocks are
packed (codegen/passes/packing.py) and spread over a GPU's warps (codegen/cuda).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import casadi as ca

from heelstrike.ir.number import number

if TYPE_CHECKING:
    from heelstrike.ir.code import Advance, Lookup, Place
    from heelstrike.ir.program import Program

SX: TypeAlias = ca.SX


def dense(value: SX | float) -> SX:
    """Return a matrix as dense expressions; a dense one is returned itself."""
    value = value if isinstance(value, ca.SX) else SX(value)
    return value if value.is_dense() else ca.densify(value)


@dataclass(frozen=True)
class BlockTag:
    """Tag of a block: what it computes, and for which part of a robot."""

    kind: str
    """What is computed, such as "torque"."""
    limb: str | None = None
    """Name of the limb, or of another unit whose blocks belong together, such as a solver."""
    member: int | None = None
    """Number of the entry of a column, where every entry has a block of this kind."""
    unset: bool = False
    """Whether what it sets is assigned again before any lane needs it; a CPU leaves it out."""

    def __str__(self) -> str:
        """Return a label for messages; no code reads it."""
        number = None if self.member is None else str(self.member)
        return ": ".join(part for part in (self.limb, self.kind, number) if part)


@dataclass
class Block:
    """Expressions that are computed together, and where their values go."""

    tag: BlockTag
    results: list[tuple[Place, SX]] = field(default_factory=list)
    lets: list[tuple[SX, SX]] = field(default_factory=list)
    """Symbols that this block defines, and their expressions."""
    whole: tuple[SX, list[SX]] | None = None
    """Column of the results when the block was added to its program, and the symbols in it."""

    def resolve(self, expressions: SX, symbols: list[SX] | None = None) -> SX:
        """Return the expressions with this block's own symbols replaced by their meaning.

        `symbols` are those in the expressions, if they are known.
        """
        if not self.lets:
            return expressions
        own = {symbol.element_hash() for symbol, _ in self.lets}
        read = ca.symvar(expressions) if symbols is None else symbols
        if not any(symbol.element_hash() in own for symbol in read):
            return expressions
        symbols, meanings = (list(x) for x in zip(*self.lets, strict=True))
        return ca.substitute_inplace(symbols, meanings, [expressions])[1][0]


@dataclass
class BlockCopy:
    """A block that does to other values what a routine's block does (routine.py)."""

    tag: BlockTag
    original: Block
    """Block over symbols that stand for arguments."""
    places: dict[Place, Place]
    """Places of this copy, by those of the original; places that are missing are the same."""
    symbols: dict[Place, SX]
    """Symbols of the arguments, by places of the original."""
    numbers: dict[Place, float]
    """Numbers of the arguments, by places of the original."""

    def own(self, places: Iterable[Place]) -> tuple[Place, ...]:
        """Return the places that correspond to some of the original."""
        return tuple([self.places.get(place, place) for place in places])

    def expanded(self, p: Program) -> Block:
        """Return the block with expressions of its own."""
        whole = SX(ca.vertcat(*(e for _, e in self.original.results)))  # also of no results
        values = self.original.resolve(whole)
        numbers = {place: number(value) for place, value in self.numbers.items()}
        actual = self.symbols | numbers
        read, _ = p.places_of(ca.symvar(values), self.tag)
        known = [(symbol, actual[place]) for place, symbol in read if place in actual]
        if known:
            old, new = (ca.vertcat(*x) for x in zip(*known, strict=True))
            values = ca.substitute(values, old, new)
        places = self.own(place for place, _ in self.original.results)
        return Block(self.tag, list(zip(places, values.nonzeros(), strict=True)))


@dataclass
class LoopBlock:
    """A traced loop: its statements, and the end of its round."""

    name: str
    limit: int
    """Largest number of rounds."""
    statements: list[Statement]
    advance: Advance


@dataclass
class GuardBlock:
    """Traced statements that are executed only if a lane needs them."""

    name: str
    need: Place
    """Value that is not 0 in lanes that need the statements."""
    statements: list[Statement]


Statement: TypeAlias = "Block | BlockCopy | LoopBlock | GuardBlock | Lookup"
"""One entry of a program under construction."""
