"""Dead-code elimination: leave out what neither the outputs nor the next step need.

Work that only outputs need is kept apart from the step, and done in recorded steps alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import casadi as ca

from heelstrike.errors import ProgramError
from heelstrike.ir.block import Block, LoopBlock, Statement
from heelstrike.ir.code import (
    CLOCK,
    FAILED,
    Code,
    Commit,
    Item,
    Lookup,
    Place,
    Port,
    Repeat,
    TracedProgram,
    flatten,
    next_of,
    output_of,
)
from heelstrike.ir.graph import column, graph
from heelstrike.ir.number import split_numbers

if TYPE_CHECKING:
    from heelstrike.ir.program import Program


class Needs:
    """Places whose values are needed; an array is needed as a whole."""

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


def without_dead_code(p: Program, outputs: Sequence[str] | None) -> TracedProgram:
    """Return the program for the named outputs, all if None."""
    if isinstance(outputs, str):
        outputs = [outputs]
    wanted = list(p.outputs) if outputs is None else list(outputs)
    if unknown := sorted(set(wanted) - set(p.outputs)):
        raise ProgramError(
            f"program '{p.name}' has no output {', '.join(unknown)}",
            value=unknown,
            remedy=f"outputs: {', '.join(p.outputs)}",
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
    nexts = [Port(next_of(port.name), port.shape) for port in updated]
    return TracedProgram(
        name=p.name,
        step=step,
        record=record,
        commit=commit,
        inputs=tuple(p.inputs.values()),
        tables=tuple(p.tables.values()),
        memory=tuple(p.memories.values()),
        outputs=tuple(p.outputs[name] for name in wanted),
        arrays=(*p.arrays.values(), *nexts),
        constants=dict(p.constants),
        initial=dict(p.initial),
    )


def _step_and_record(
    p: Program, wanted: Sequence[str], commit: Commit | None, inside: set[Place]
) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Return the items of step and record; `inside`: what the record reads of the step's loops."""
    step: tuple[Item, ...] = ()
    if commit is not None:
        needs = Needs(next_of(port.name) for port in commit.memory)
        needs.add([commit.failure] if commit.failure else [])
        needs.add(inside)
        step = tuple(_live(p, p.statements, needs, set()))
    return step, tuple(_live(p, p.statements, Needs(map(output_of, wanted)), _written(step)))


def _lacking(step: Sequence[Item], record: Sequence[Item]) -> set[Place]:
    """Return values that the record reads and nothing computes.

    A loop of the step, which the record does not repeat, must compute them as well.
    """
    made = _written(step) | _written(record)
    read = {place for item in record for part in flatten(item) for place in part.reads}
    return {place for place in read - made if place.array is None}


def _live(
    p: Program, statements: Sequence[Statement], needs: Needs, computed: set[Place]
) -> list[Item]:
    """Return the needed items in order; `computed` places hold their values already."""
    kept: list[Item] = []
    for statement in reversed(statements):
        found: Item | None
        if isinstance(statement, Block):
            found = _code(p, statement, needs, computed)
        elif isinstance(statement, Lookup):
            found = _lookup(statement, needs, computed)
        else:
            found = _repeat(p, statement, needs, computed)
        if found is not None:
            kept.append(found)
    return kept[::-1]


def _code(p: Program, block: Block, needs: Needs, computed: set[Place]) -> Code | None:
    results = [(place, e) for place, e in block.results if place in needs and place not in computed]
    if not results:
        return None
    expressions = block.resolve(ca.vertcat(*(e for _, e in results)))
    symbols, numbers = split_numbers(ca.symvar(expressions))
    reads = tuple(p.place_of(symbol, block.tag) for symbol in symbols)
    needs.add(reads)
    operations = graph(column(symbols), expressions, numbers)
    return Code(block.tag, operations, reads, tuple(place for place, _ in results))


def _lookup(item: Lookup, needs: Needs, computed: set[Place]) -> Lookup | None:
    if not any(place in needs and place not in computed for place in item.writes):
        return None
    needs.add(item.reads)
    return item


def _repeat(p: Program, loop: LoopBlock, needs: Needs, computed: set[Place]) -> Repeat | None:
    """Keep a loop with all that it carries, and with only those of its other results in need."""
    ends, made = loop.advance.writes, _results(loop.statements)
    if computed.issuperset(ends):  # the step makes this loop
        made = [place for place in made if place.array is not None]
    if not any(place in needs and place not in computed for place in (*ends, *made)):
        return None
    needs.add(loop.advance.reads)
    computed.difference_update(_results(loop.statements), ends)  # it starts over
    body = _live(p, loop.statements, needs, computed)
    return Repeat(loop.name, (*body, loop.advance), loop.limit, loop.advance.done is not None)


def _results(statements: Sequence[Statement]) -> list[Place]:
    places: list[Place] = []
    for statement in statements:
        if isinstance(statement, Block):
            places += [place for place, _ in statement.results]
        elif isinstance(statement, Lookup):
            places += statement.writes
        else:
            places += [*_results(statement.statements), *statement.advance.writes]
    return places


def _written(items: Sequence[Item]) -> set[Place]:
    places: set[Place] = set()
    for item in items:
        places |= _written(item.body) if isinstance(item, Repeat) else set(item.writes)
    return places


def _is_updated(p: Program, port: Port) -> bool:
    """Return whether a memory gets next values; raise an error if only some entries do."""
    updated = {x.index for x in _results(p.statements) if x.array == next_of(port.name)}
    if updated and len(updated) < port.size:
        lacking = sorted(set(range(port.size)) - updated)
        raise ProgramError(
            f"memory '{port.name}' of program '{p.name}' gets no next value for entries "
            f"{', '.join(map(str, lacking[:8]))}{', ...' if len(lacking) > 8 else ''}",
            path=port.name,
            value=lacking,
            remedy="update them too, with their old values if they stay",
        )
    return bool(updated)
