"""Loops and guards under construction: their statements, and the lanes that they work for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import casadi as ca

from heelstrike.ir.block import SX, Block, BlockTag, Statement

if TYPE_CHECKING:
    from heelstrike.ir.code import Place
    from heelstrike.ir.program import Program


class Scope:
    """A loop or a guard whose `with` statement may be open."""

    def __init__(self, p: Program, name: str) -> None:
        self.p = p
        self.name = name
        self.statements: list[Statement] = []
        self.outer: Scope | None = p.scopes[-1] if p.scopes else None
        """Scope around this one."""

    @property
    def need(self) -> Place | None:
        """Place of a guard's need; None in a loop."""
        return None

    def active(self) -> SX | None:
        """Return which lanes the statements work for, not 0 in those; None for all lanes."""
        raise NotImplementedError

    def guard(self) -> Scope | None:
        """Return the innermost guard: this scope, or one around it."""
        scope: Scope | None = self
        while scope is not None and scope.need is None:
            scope = scope.outer
        return scope

    def home(self) -> Scope:
        """Return the scope outside which values that are made here do not exist."""
        return self

    def knows(self, home: Scope) -> bool:
        """Return whether values that exist only inside `home` can be read here."""
        return home is self

    def around(self) -> Iterator[Scope]:
        """Yield the scopes around this one, the innermost first."""
        scope = self.outer
        while scope is not None:
            yield scope
            scope = scope.outer

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Collect the statements that are made inside the `with` statement."""
        p = self.p
        outer, p.statements = p.statements, self.statements
        p.scopes.append(self)
        try:
            yield
        finally:
            p.statements = outer
            p.scopes.pop()


def both(a: SX | None, b: SX) -> SX:
    """Return the lanes for which both hold; None holds for all."""
    return b if a is None else ca.logic_and(a, b)


def first_block(p: Program, kind: str, value: SX) -> tuple[SX, Block]:
    """Return a symbol for a scalar, and the block that computes it."""
    symbol, place = p.new_value(kind)
    return symbol, Block(BlockTag(kind), [(place, value)])
