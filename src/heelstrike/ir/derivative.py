"""Directional derivative of a program's step: the same blocks, with their tangents beside them.

    d = Derivative(program, "slope")
    d.seed("x", direction)                    # of a memory or an input
    d.trace()
    d.next("x"), d.next_tangent("x")          # symbols: the memory after the step, its tangent

A direction is a world: the lanes carry W directions at once. Loops are differentiated round by
round, tables by their slopes. Tangents of variables are variables. A choice by a comparison has the
derivative of the branch taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.errors import ProgramError
from heelstrike.ir.block import SX, Block, BlockCopy, BlockTag, GuardBlock, LoopBlock, Statement
from heelstrike.ir.code import CLOCK, FAILED, Advance, Lookup, Place, Port, next_of
from heelstrike.ir.number import split_numbers
from heelstrike.ir.program import Program


class Derivative:
    """A program under construction that computes a step of `source` and its derivative."""

    def __init__(self, source: Program, name: str) -> None:
        self.source = source
        self.program = source.derived(name)
        self.updated = [m for m in source.memories if m not in (CLOCK, FAILED)]
        for port in (*source.arrays.values(), *(self._next(m) for m in self.updated)):
            self.program.arrays[port.name] = port
            tangent = tangent_of(port.name)
            self.program.arrays[tangent] = Port(tangent, port.shape)
        self._tangents: dict[Place, SX] = {}
        self._kept = _carried(source.statements) | source.variables
        """Places that change: their tangents have places too, even where they are zero."""

    def symbol(self, name: str) -> SX:
        """Return a memory or an input of the source as an input of the derivative program."""
        if name not in self.program.inputs:
            raise ProgramError(
                f"program '{self.source.name}' has no memory or input '{name}'",
                value=name,
                remedy=f"memory and inputs: {', '.join(self.program.inputs)}",
            )
        return self.program.symbols_of(name, self.program.inputs[name].size)

    def seed(self, name: str, direction: SX) -> None:
        """Set the direction of a memory or an input; the direction of all others is zero."""
        size = self.program.inputs[name].size if name in self.program.inputs else 0
        entries = ca.densify(ca.vec(SX(direction))).nonzeros()
        if len(entries) != size:
            raise ProgramError(
                f"the direction of '{name}' has {len(entries)} values",
                path=name,
                value=len(entries),
                allowed=f"{size} values",
            )
        moved = tangent_of(name)
        self.program.arrays[moved] = Port(moved, (size,))
        results = [(Place(moved, i), entry) for i, entry in enumerate(entries)]
        self.program.statements.append(Block(BlockTag(f"direction of {name}"), results))

    def trace(self) -> None:
        """Trace the step with its tangents."""
        self.program.statements += [
            x for statement in self.source.statements for x in self._statements(statement)
        ]

    def next(self, memory: str) -> SX:
        """Return the values of a memory after the step."""
        return self.program.symbols_of(next_of(memory), self.source.memories[memory].size)

    def next_tangent(self, memory: str) -> SX:
        """Return the tangent of a memory after the step."""
        array = tangent_of(next_of(memory))
        return self.program.symbols_of(array, self.source.memories[memory].size)

    def _next(self, memory: str) -> Port:
        return Port(next_of(memory), self.source.memories[memory].shape)

    def _statements(self, statement: Statement) -> list[Statement]:
        if isinstance(statement, BlockCopy):
            statement = statement.expanded(self.program)
        if isinstance(statement, Block):
            return [self._block(statement)]
        if isinstance(statement, Lookup):
            if statement.is_row:
                self._tangents |= dict.fromkeys(statement.writes, SX(0))
                return [statement]
            return [statement, self._lookup(statement)]
        body = [x for inner in statement.statements for x in self._statements(inner)]
        if isinstance(statement, GuardBlock):
            return [GuardBlock(statement.name, statement.need, body)]
        old = statement.advance
        pairs = [(self._tangent_place(a), self._tangent_place(b)) for a, b in old.carried]
        advance = Advance((*old.carried, *pairs), old.done, old.rounds)
        return [LoopBlock(statement.name, statement.limit, body, advance)]

    def _block(self, block: Block) -> Block:
        """Return a block's results and their tangents, without outputs of the source."""
        outputs = {port.array for port in self.source.outputs.values()}
        kept = [(p, e) for p, e in block.results if p.array not in outputs]
        if not kept:
            return Block(block.tag)
        values = block.resolve(ca.vertcat(*(e for _, e in kept)))
        rates = self._rates(values)
        results = [(p, values[i]) for i, (p, _) in enumerate(kept)]
        for i, (place, _) in enumerate(kept):
            if place.array is None and place not in self._kept and rates[i].is_zero():
                self._tangents[place] = SX(0)
                continue
            results.append((self._tangent_place(place), rates[i]))
        return Block(block.tag, results)

    def _rates(self, values: SX) -> SX:
        symbols, _ = split_numbers(ca.symvar(values))
        moves = [self._tangent(self.program.place_of(s, "derivative")) for s in symbols]
        if all(move.is_zero() for move in moves):
            return SX.zeros(values.numel())
        return ca.densify(ca.jtimes(values, ca.vertcat(*symbols), ca.vertcat(*moves)))

    def _lookup(self, item: Lookup) -> Block:
        """Return the tangent of a look-up: slope times the argument's tangent.

        Slopes of a 2-D table change by the twist.
        """
        moves = [self._tangent(place) for place in item.reads]
        read = {place: self._reading(place) for place in item.writes}
        writes = item.writes
        results = []
        if len(moves) == 1:
            n = item.table.shape[1]
            for k in range(n):
                results.append((self._tangent_place(writes[k]), read[writes[n + k]] * moves[0]))
                self._tangents[writes[n + k]] = SX(0)
        else:
            value, along, across, twist = writes
            du, dv = moves
            rise = read[along] * du + read[across] * dv
            results.append((self._tangent_place(value), rise))
            results.append((self._tangent_place(along), read[twist] * dv))
            results.append((self._tangent_place(across), read[twist] * du))
            self._tangents[twist] = SX(0)
        return Block(BlockTag(f"tangent of {item.table.name}"), results)

    def _tangent(self, place: Place) -> SX:
        """Return the tangent of the value at a place: 0 where it does not change."""
        if place in self._tangents:
            return self._tangents[place]
        if place.array is not None and tangent_of(place.array) in self.program.arrays:
            tangent = Place(tangent_of(place.array), place.index)
            self._tangents[place] = self._reading(tangent)
            return self._tangents[place]
        if place in self._kept:
            self._tangent_place(place)
            return self._tangents[place]
        return SX(0)

    def _tangent_place(self, place: Place) -> Place:
        """Return where the tangent of a place is kept."""
        if place.array is not None:
            return Place(tangent_of(place.array), place.index)
        if place not in self._tangents or self._tangents[place].is_zero():
            self._tangents[place], tangent = self.program.new_value("tangent")
            if place in self.source.variables:
                self.program.variables.add(tangent)
        return self.program.place_of(self._tangents[place], "derivative")

    def _reading(self, place: Place) -> SX:
        return self.program.symbol_at(place, str(place.array))


def tangent_of(name: str) -> str:
    """Return the name of the array that holds another array's tangents."""
    return f"d {name}"


def _carried(statements: Sequence[Statement]) -> set[Place]:
    """Return places that loops carry from round to round, and their next values."""
    places: set[Place] = set()
    for statement in statements:
        if isinstance(statement, LoopBlock):
            places |= {place for pair in statement.advance.carried for place in pair}
        if isinstance(statement, LoopBlock | GuardBlock):
            places |= _carried(statement.statements)
    return places
