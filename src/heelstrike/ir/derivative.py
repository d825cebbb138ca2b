"""The directional derivative of a program's step: the same blocks, with their tangents beside them.

    d = Derivative(program, "slope")
    d.seed("x", direction)                    # of a memory or an input
    d.trace()
    d.next("x"), d.next_tangent("x")          # symbols: the memory after the step, its tangent

A direction is a world: the lanes carry W directions at once. Loops are differentiated round by
round, tables by their slopes. What branches on a comparison has the derivative of its branch.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from heelstrike.errors import ProgramError
from heelstrike.ir.code import CLOCK, FAILED, Advance, BlockTag, Lookup, Place, Port, next_of
from heelstrike.ir.dead_code import resolved
from heelstrike.ir.loop import LoopBlock
from heelstrike.ir.number import parted
from heelstrike.ir.program import SX, Block, Program


class Derivative:
    """A program under construction that computes a step of `source` and its derivative."""

    def __init__(self, source: Program, name: str) -> None:
        self.source = source
        self.program = Program(name)
        for port in (*source.inputs.values(), *source.memories.values()):
            self.program.inputs[port.name] = port
        self.program.tables = dict(source.tables)
        self.program.constants = dict(source.constants)
        self.program._places = dict(source._places)
        self.program._lets = source._lets
        self.updated = [m for m in source.memories if m not in (CLOCK, FAILED)]
        for port in (*source.arrays.values(), *(self._next(m) for m in self.updated)):
            self.program.arrays[port.name] = port
            tangent = tangent_of(port.name)
            self.program.arrays[tangent] = Port(tangent, port.shape)
        self._symbols: dict[Place, SX] = {}  # place -> its tangent
        self._carried = _carried(source.items)

    def symbol(self, name: str) -> SX:
        """A memory or an input of the source, as the derivative program's input."""
        if name not in self.program.inputs:
            raise ProgramError(f"no memory or input '{name}' of '{self.source.name}'")
        return self.program._symbols(name, self.program.inputs[name].size)

    def seed(self, name: str, direction: SX) -> None:
        """Sets the direction of a memory or an input; all others do not move."""
        size = self.program.inputs[name].size if name in self.program.inputs else 0
        entries = ca.densify(ca.vec(SX(direction))).nonzeros()
        if len(entries) != size:
            raise ProgramError(f"'{name}' has {size} values; its direction has {len(entries)}")
        moved = tangent_of(name)
        self.program.arrays[moved] = Port(moved, (size,))
        results = [(Place(moved, i), entry) for i, entry in enumerate(entries)]
        self.program.items.append(Block(BlockTag(f"direction of {name}"), results))

    def trace(self) -> None:
        """Traces the step with its tangents."""
        self.program.items += [x for item in self.source.items for x in self._item(item)]

    def next(self, memory: str) -> SX:
        """A memory after the step."""
        return self.program._symbols(next_of(memory), self.source.memories[memory].size)

    def next_tangent(self, memory: str) -> SX:
        """Its tangent."""
        array = tangent_of(next_of(memory))
        return self.program._symbols(array, self.source.memories[memory].size)

    def _next(self, memory: str) -> Port:
        return Port(next_of(memory), self.source.memories[memory].shape)

    def _item(self, item: object) -> list[object]:
        if isinstance(item, Block):
            return [self._block(item)]
        if isinstance(item, Lookup):
            return [item, self._lookup(item)]
        assert isinstance(item, LoopBlock)
        body = [x for inner in item.items for x in self._item(inner)]
        pairs = [(self._tangent_place(a), self._tangent_place(b)) for a, b in item.advance.carried]
        old = item.advance
        advance = Advance((*old.carried, *pairs), old.done, old.rounds)
        return [LoopBlock(item.name, item.limit, body, advance)]

    def _block(self, block: Block) -> Block:
        """The block's results and their tangents; outputs of the source are left out."""
        outputs = {port.array for port in self.source.outputs.values()}
        kept = [(p, e) for p, e in block.results if p.array not in outputs]
        if not kept:
            return Block(block.tag)
        values = resolved(block, ca.vertcat(*(e for _, e in kept)))
        rates = self._rates(values)
        results = [(p, values[i]) for i, (p, _) in enumerate(kept)]
        for i, (place, _) in enumerate(kept):
            if place.array is None and place not in self._carried and rates[i].is_zero():
                self._symbols[place] = SX(0)
                continue
            results.append((self._tangent_place(place), rates[i]))
        return Block(block.tag, results)

    def _rates(self, values: SX) -> SX:
        symbols, _ = parted(ca.symvar(values))
        moves = [self._tangent(self.program.place_of(s, "derivative")) for s in symbols]
        if all(move.is_zero() for move in moves):
            return SX.zeros(values.numel())
        return ca.densify(ca.jtimes(values, ca.vertcat(*symbols), ca.vertcat(*moves)))

    def _lookup(self, item: Lookup) -> Block:
        """Value: slope times the argument's tangent. Slopes of a 2-D table change by the twist."""
        moves = [self._tangent(place) for place in item.reads]
        read = {place: self._reading(place) for place in item.writes}
        writes = item.writes
        results = []
        if len(moves) == 1:
            n = item.table.shape[1]
            for k in range(n):
                results.append((self._tangent_place(writes[k]), read[writes[n + k]] * moves[0]))
                self._symbols[writes[n + k]] = SX(0)
        else:
            value, along, across, twist = writes
            du, dv = moves
            rise = read[along] * du + read[across] * dv
            results.append((self._tangent_place(value), rise))
            results.append((self._tangent_place(along), read[twist] * dv))
            results.append((self._tangent_place(across), read[twist] * du))
            self._symbols[twist] = SX(0)
        return Block(BlockTag(f"tangent of {item.table.name}"), results)

    def _tangent(self, place: Place) -> SX:
        """The tangent of the value at a place: 0 where nothing moves it."""
        if place in self._symbols:
            return self._symbols[place]
        if place.array is not None and tangent_of(place.array) in self.program.arrays:
            tangent = Place(tangent_of(place.array), place.index, place.stride)
            self._symbols[place] = self._reading(tangent)
            return self._symbols[place]
        if place in self._carried:
            self._tangent_place(place)
            return self._symbols[place]
        return SX(0)

    def _tangent_place(self, place: Place) -> Place:
        """Where the tangent of a place is kept."""
        if place.array is not None:
            return Place(tangent_of(place.array), place.index, place.stride)
        if place not in self._symbols or self._symbols[place].is_zero():
            self._symbols[place], _ = self.program._slot("tangent")
        return self.program.place_of(self._symbols[place], "derivative")

    def _reading(self, place: Place) -> SX:
        symbol = SX.sym(str(place.array))
        self.program._places[symbol.element_hash()] = place, symbol
        return symbol


def tangent_of(name: str) -> str:
    """The array that holds another array's tangents."""
    return f"d {name}"


def _carried(items: Sequence[object]) -> set[Place]:
    """Places that loops carry from round to round, and their next values."""
    places: set[Place] = set()
    for item in items:
        if isinstance(item, LoopBlock):
            places |= {place for pair in item.advance.carried for place in pair}
            places |= _carried(item.items)
    return places
