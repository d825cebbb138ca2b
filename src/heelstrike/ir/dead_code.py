"""Dead-code elimination: leave out what neither the outputs nor the next step need.

Work that only outputs need is kept apart from the step, and done in recorded steps alone: after the
step, when variables have their last values. What an output needs of an earlier value of a variable
is computed in the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import casadi as ca

from heelstrike.errors import ProgramError
from heelstrike.ir.block import SX, Block, BlockCopy, GuardBlock, LoopBlock, Statement
from heelstrike.ir.code import (
    CLOCK,
    FAILED,
    Code,
    Commit,
    Guard,
    Item,
    Lookup,
    Place,
    Port,
    Repeat,
    TracedProgram,
    next_of,
    output_of,
    reads_of,
    writes_of,
)
from heelstrike.ir.graph import column, graph, with_constants

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
    own = tuple(port for name, port in p.memories.items() if name not in (CLOCK, FAILED, *p.kept))
    results = set(_results(p.statements))
    updated = tuple(port for port in own if _is_updated(p, port, results))
    commit = Commit((p.memories[CLOCK], p.memories[FAILED], *updated), p.failure) if own else None
    step, record, late = _step_and_record(p, wanted, commit)
    kept = [p.memories[name] for name in p.kept]
    nexts = [Port(next_of(port.name), port.shape) for port in (*updated, *kept)]
    return TracedProgram(
        name=p.name,
        step=step,
        record=record,
        commit=commit,
        late=late,
        inputs=tuple(p.inputs.values()),
        tables=tuple(p.tables.values()),
        memory=tuple(p.memories.values()),
        outputs=tuple(p.outputs[name] for name in wanted),
        arrays=(*p.arrays.values(), *nexts),
        constants=dict(p.constants),
        initial=dict(p.initial),
    )


Codes = dict[tuple[int, tuple[Place, ...]], Code]
"""Code of a block that computes some of its results."""


def _step_and_record(
    p: Program, wanted: Sequence[str], commit: Commit | None
) -> tuple[tuple[Item, ...], tuple[Item, ...], tuple[Item, ...]]:
    """Return the items of step and record, and of what follows the commit."""
    codes: Codes = {}
    end = _Walk(p, Needs(p.kept), set(), codes)
    late = end.items([x for statements in p.kept.values() for x in statements])
    inside: set[Place] = set()  # what the record needs of the step besides what the step needs
    while True:
        step: tuple[Item, ...] = ()
        if commit is not None:
            needs = Needs(next_of(port.name) for port in commit.memory)
            needs.add([commit.failure] if commit.failure else [])
            needs.add(end.needs.places)
            needs.arrays |= end.needs.arrays
            needs.add(inside)
            step = _Walk(p, needs, set(), codes).items(p.statements)
        walk = _Walk(p, Needs(map(output_of, wanted)), _written(step), codes)
        record = walk.items(p.statements)
        lacking = _lacking(step, record) | walk.early
        missing = (lacking | walk.final) - inside
        if not missing:
            assert not lacking, lacking
            return step, record, late
        inside |= missing


def _lacking(step: Sequence[Item], record: Sequence[Item]) -> set[Place]:
    """Return values that the record reads and nothing computes.

    A loop of the step, which the record does not repeat, must compute them as well.
    """
    made = _written(step) | _written(record)
    read = {place for item in record for place in reads_of(item)}
    return {place for place in read - made if place.array is None}


class _Walk:
    """Walk through statements from the last to the first, which keeps those that are needed."""

    def __init__(self, p: Program, needs: Needs, computed: set[Place], codes: Codes) -> None:
        self.p = p
        self.needs = needs
        """Places whose values are needed after the statement that the walk has reached."""
        self.computed = computed
        """Places that the step computes; empty in the walk of the step."""
        self.codes = codes
        self.later: set[Place] = set()
        """Variables that the step computes and this statement or later ones assign."""
        self.early: set[Place] = set()
        """Values that the step must compute: they depend on values that variables lose later, or
        on a loop of the step.
        """
        self.final: set[Place] = set()
        """Variables whose last values the step must compute."""

    def items(self, statements: Sequence[Statement]) -> tuple[Item, ...]:
        """Return the needed items in order."""
        kept: list[Item] = []
        for statement in reversed(statements):
            found: Item | None
            if isinstance(statement, Block | BlockCopy):
                found = self._code(statement)
            elif isinstance(statement, LoopBlock):
                found = self._repeat(statement)
            elif isinstance(statement, GuardBlock):
                found = self._guard(statement)
            else:
                found = self._lookup(statement)
            if found is not None:
                kept.append(found)
        return tuple(kept[::-1])

    def _code(self, block: Block | BlockCopy) -> Code | None:
        places = _results([block])
        needed = [k for k, place in enumerate(places) if self._is_needed(place)]
        assigned = self.p.variables.intersection(places)
        self.later |= assigned & self.computed
        if not needed:
            return None
        code = self._computed(block, needed)
        writes = code.writes
        self.needs.places -= assigned.intersection(writes)
        self.needs.add(code.reads)
        read = self.p.variables.intersection(code.reads) & self.computed
        if read & self.later:
            self.early.update(place for place in writes if place.array is None)
        self.final |= read - self.later
        return code

    def _computed(self, block: Block | BlockCopy, needed: Sequence[int]) -> Code:
        """Return the code of some of a block's results."""
        if isinstance(block, BlockCopy):
            return _copied(block, self._computed(block.original, needed))
        results = [block.results[k] for k in needed]
        key = id(block), tuple(place for place, _ in results)
        if key not in self.codes:
            self.codes[key] = _code(self.p, block, results)
        return self.codes[key]

    def _lookup(self, item: Lookup) -> Lookup | None:
        if not any(self._is_needed(place) for place in item.writes):
            return None
        self.needs.add(item.reads)
        return item

    def _repeat(self, loop: LoopBlock) -> Repeat | None:
        """Keep a loop with all that it carries, and with only those of its other results in need.

        A round needs what the round after it reads of variables before it assigns them.
        """
        ends, made = loop.advance.writes, _results(loop.statements)
        self.later |= self.p.variables.intersection(made) & self.computed
        # the step makes this loop
        again = self.computed.issuperset(ends) and not self.computed.isdisjoint((*ends, *made))
        if again:
            self.early.update(x for x in made if x in self.p.variables and self._is_needed(x))
            made = [place for place in made if place.array is not None]
        if not any(map(self._is_needed, (*ends, *made))):
            return None
        self.needs.add(loop.advance.reads)
        starts_over = {*_results(loop.statements), *ends} - self.p.variables
        self.computed -= starts_over
        while True:
            end = self.p.variables & self.needs.places
            body = self.items(loop.statements)
            if self.p.variables & self.needs.places <= end:
                break
            self.needs.places |= end
        if again:
            _check_repeatable(self.p, loop.name, body)
        return Repeat(loop.name, (*body, loop.advance), loop.limit, loop.advance.done is not None)

    def _guard(self, guard: GuardBlock) -> Guard | None:
        # a guard that is skipped assigns nothing
        after = self.needs.places.intersection(_results(guard.statements)) & self.p.variables
        body = self.items(guard.statements)
        self.needs.places |= after
        if not body:
            return None
        self.needs.add([guard.need])
        return Guard(guard.name, guard.need, body)

    def _is_needed(self, place: Place) -> bool:
        return place in self.needs and place not in self.computed


def _code(p: Program, block: Block, results: Sequence[tuple[Place, SX]]) -> Code:
    if block.whole is not None and block.whole[0].numel() == len(results):
        whole, symbols = block.whole
    else:
        whole = ca.vertcat(*(e for _, e in results))
        symbols = ca.symvar(whole)
    expressions = block.resolve(whole, symbols)
    if expressions is not whole:
        symbols = ca.symvar(expressions)
    read, numbers = p.places_of(symbols, block.tag)
    operations = graph(column([symbol for _, symbol in read]), expressions, numbers)
    writes = tuple(place for place, _ in results)
    return Code(block.tag, operations, tuple(place for place, _ in read), writes)


def _copied(copy: BlockCopy, code: Code) -> Code:
    """Return the code of a copy, given that of the original."""
    graph, reads = code.graph, code.reads
    if copy.numbers:
        values = {k: copy.numbers[x] for k, x in enumerate(reads) if x in copy.numbers}
        graph = with_constants(graph, values)
        reads = tuple(x for x in reads if x not in copy.numbers)
    return Code(copy.tag, graph, copy.own(reads), copy.own(code.writes))


def _check_repeatable(p: Program, loop: str, body: Sequence[Item]) -> None:
    """Raise an error if a loop that the record repeats, for an output in it, uses variables."""
    if any(p.variables & (reads_of(item) | writes_of(item)) for item in body):
        raise ProgramError(
            f"loop '{loop}' of program '{p.name}' has outputs and uses variables",
            path=loop,
            remedy="assign to a variable in the loop, and write the output after it",
        )


def _results(statements: Sequence[Statement]) -> list[Place]:
    places: list[Place] = []
    for statement in statements:
        if isinstance(statement, Block):
            places += [place for place, _ in statement.results]
        elif isinstance(statement, BlockCopy):
            places += statement.own(place for place, _ in statement.original.results)
        elif isinstance(statement, Lookup):
            places += statement.writes
        else:
            places += _results(statement.statements)
            if isinstance(statement, LoopBlock):
                places += statement.advance.writes
    return places


def _written(items: Sequence[Item]) -> set[Place]:
    return {place for item in items for place in writes_of(item)}


def _is_updated(p: Program, port: Port, results: set[Place]) -> bool:
    """Return whether a memory gets next values; raise an error if only some entries do."""
    name = next_of(port.name)
    lacking = [i for i in range(port.size) if Place(name, i) not in results]
    if 0 < len(lacking) < port.size:
        raise ProgramError(
            f"memory '{port.name}' of program '{p.name}' gets no next value for entries "
            f"{', '.join(map(str, lacking[:8]))}{', ...' if len(lacking) > 8 else ''}",
            path=port.name,
            value=lacking,
            remedy="update them too, with their old values if they stay",
        )
    return len(lacking) < port.size
