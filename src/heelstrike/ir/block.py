"""Blocks of a program under construction: straight-line code, and loops and guards of blocks.

A block's tag says as data what it computes and for which limb. The tag decides how blocks are
packed (codegen/passes/packing.py) and spread over a GPU's warps (codegen/cuda).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import casadi as ca

if TYPE_CHECKING:
    from heelstrike.ir.code import Advance, Lookup, Place

SX: TypeAlias = ca.SX


@dataclass(frozen=True)
class BlockTag:
    """Tag of a block: what it computes, and for which part of a robot."""

    kind: str
    """What is computed, such as "torque"."""
    limb: str | None = None
    """Name of the limb, or of another unit whose blocks belong together, such as a solver."""
    member: int | None = None
    """Number of the entry of a column, where every entry has a block of this kind."""

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

    def resolve(self, expressions: SX) -> SX:
        """Return the expressions with this block's own symbols replaced by their meaning."""
        own = {symbol.element_hash() for symbol, _ in self.lets}
        if not any(symbol.element_hash() in own for symbol in ca.symvar(expressions)):
            return expressions
        symbols, meanings = (list(x) for x in zip(*self.lets, strict=True))
        return ca.substitute_inplace(symbols, meanings, [expressions])[1][0]


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


Statement: TypeAlias = "Block | LoopBlock | GuardBlock | Lookup"
"""One entry of a program under construction."""
