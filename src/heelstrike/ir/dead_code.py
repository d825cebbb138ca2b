"""Which of a program's results are needed: the rest is left out before anything is emitted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import casadi as ca

from heelstrike.errors import ProgramError
from heelstrike.ir.code import (
    CLOCK,
    FAILED,
    Code,
    Commit,
    Item,
    Lookup,
    Place,
    Repeat,
    Traced,
    inner,
    next_of,
    output_of,
)
from heelstrike.ir.graph import column, graph
from heelstrike.ir.loop import LoopBlock
from heelstrike.ir.number import parted
from heelstrike.ir.program import SX, Block, Program

if TYPE_CHECKING:
    from heelstrike.ir.code import Port


class Needs:
    """Places whose values are wanted; an array is wanted as a whole."""

    def __init__(self, arrays: Iterable[str] = ()) -> None:
        self.places: set[Place] = set()
        self.arrays: set[str] = set(arrays)

    def add(self, places: Iterable[Place]) -> None:
        for place in places:
            if place.array is None:
                self.places.add(place)
            else:
                self.arrays.add(place.array)

    def __contains__(self, place: Place) -> bool:
        return place in self.places if place.array is None else place.array in self.arrays


def traced(p: Program, outputs: Sequence[str] | None) -> Traced:
    """The program for the named outputs; what only outputs need is kept apart from the step."""
    if isinstance(outputs, str):
        outputs = [outputs]
    wanted = list(p.outputs) if outputs is None else list(outputs)
    if unknown := sorted(set(wanted) - set(p.outputs)):
        raise ProgramError(
            f"program '{p.name}' has no output {', '.join(unknown)}; "
            f"outputs: {', '.join(p.outputs)}"
        )
    own = tuple(port for name, port in p.memories.items() if name not in (CLOCK, FAILED))
    updated = tuple(port for port in own if _is_updated(p, port))
    commit = Commit((p.memories[CLOCK], p.memories[FAILED], *updated), p.failure) if own else None
    inside: set[Place] = set()
    while True:
        step, record = _step_and_record(p, wanted, commit, inside)
        lacking = _lacking(step, record)
        if not lacking:
            break
        assert not lacking <= inside, lacking
        inside |= lacking
    arrays = [*p.arrays.values(), *(_next_port(port) for port in updated)]
    return Traced(
        name=p.name,
        step=step,
        record=record,
        commit=commit,
        inputs=tuple(p.inputs.values()),
        tables=tuple(p.tables.values()),
        memory=tuple(p.memories.values()),
        outputs=tuple(p.outputs[name] for name in wanted),
        arrays=tuple(arrays),
        constants=dict(p.constants),
        initial=dict(p.initial),
    )


def _step_and_record(
    p: Program, wanted: Sequence[str], commit: Commit | None, inside: set[Place]
) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """`inside`: what the record needs of the step's loops."""
    step: tuple[Item, ...] = ()
    if commit is not None:
        needs = Needs(next_of(port.name) for port in commit.memory)
        needs.add([commit.failure] if commit.failure else [])
        needs.add(inside)
        step = tuple(_items(p, p.items, needs, set()))
    return step, tuple(_items(p, p.items, Needs(map(output_of, wanted)), _written(step)))


def _lacking(step: Sequence[Item], record: Sequence[Item]) -> set[Place]:
    """Values that the record reads and nobody makes: those that a loop of the step, which the
    record does not repeat, should make as well.
    """
    made = _written(step) | _written(record)
    read = {place for item in record for part in inner(item) for place in part.reads}
    return {place for place in read - made if place.array is None}


def _items(p: Program, items: Sequence[object], needs: Needs, computed: set[Place]) -> list[Item]:
    """The needed items in order; `computed` are places that hold their values already."""
    kept: list[Item] = []
    for item in reversed(items):
        found: Item | None
        if isinstance(item, Block):
            found = _code(p, item, needs, computed)
        elif isinstance(item, Lookup):
            found = _lookup(item, needs, computed)
        else:
            assert isinstance(item, LoopBlock)
            found = _repeat(p, item, needs, computed)
        if found is not None:
            kept.append(found)
    return kept[::-1]


def _code(p: Program, block: Block, needs: Needs, computed: set[Place]) -> Code | None:
    results = [(place, e) for place, e in block.results if place in needs and place not in computed]
    if not results:
        return None
    expressions = resolved(block, ca.vertcat(*(e for _, e in results)))
    symbols, numbers = parted(ca.symvar(expressions))
    reads = tuple(p.place_of(symbol, block.tag) for symbol in symbols)
    needs.add(reads)
    operations = graph(column(symbols), expressions, numbers)
    return Code(block.tag, operations, reads, tuple(place for place, _ in results))


def resolved(block: Block, expressions: SX) -> SX:
    """The expressions with symbols that this very block defines replaced by what they stand for."""
    own = {symbol.element_hash() for symbol, _ in block.lets}
    if not any(symbol.element_hash() in own for symbol in ca.symvar(expressions)):
        return expressions
    symbols, meanings = (list(x) for x in zip(*block.lets, strict=True))
    return ca.substitute_inplace(symbols, meanings, [expressions])[1][0]


def _lookup(item: Lookup, needs: Needs, computed: set[Place]) -> Lookup | None:
    if not any(place in needs and place not in computed for place in item.writes):
        return None
    needs.add(item.reads)
    return item


def _repeat(p: Program, loop: LoopBlock, needs: Needs, computed: set[Place]) -> Repeat | None:
    """A loop is kept whole as to what it carries, and only what is needed as to what it puts."""
    ends, made = loop.advance.writes, _results(loop.items)
    if computed.issuperset(ends):  # the step makes this loop
        made = [place for place in made if place.array is not None]
    if not any(place in needs and place not in computed for place in (*ends, *made)):
        return None
    needs.add(loop.advance.reads)
    computed.difference_update(_results(loop.items), ends)  # it starts anew
    body = _items(p, loop.items, needs, computed)
    return Repeat(loop.name, (*body, loop.advance), loop.limit, loop.advance.done is not None)


def _results(items: Sequence[object]) -> list[Place]:
    places: list[Place] = []
    for item in items:
        if isinstance(item, Block):
            places += [place for place, _ in item.results]
        elif isinstance(item, Lookup):
            places += item.writes
        elif isinstance(item, LoopBlock):
            places += [*_results(item.items), *item.advance.writes]
    return places


def _written(items: Sequence[Item]) -> set[Place]:
    places: set[Place] = set()
    for item in items:
        places |= _written(item.body) if isinstance(item, Repeat) else set(item.writes)
    return places


def _is_updated(p: Program, port: Port) -> bool:
    """Whether a memory gets next values: all of them, or it is an error."""
    places = [place for place in _results(p.items) if place.array == next_of(port.name)]
    single = {place.index for place in places if place.stride == 0}
    by_rows = any(place.stride for place in places)
    if single and not by_rows and len(single) < port.size:
        lacking = sorted(set(range(port.size)) - single)
        raise ProgramError(
            f"memory '{port.name}' of program '{p.name}' gets no next value for entries "
            f"{', '.join(map(str, lacking[:8]))}{', ...' if len(lacking) > 8 else ''}; "
            "update them too, with their old values if they stay"
        )
    return bool(places)


def _next_port(port: Port) -> Port:
    return type(port)(next_of(port.name), port.shape)
