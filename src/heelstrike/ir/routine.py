"""Routines: blocks that are traced once, and copied for other values.

    for i, point in enumerate(points):
        force = call(p, "force", spring, point, k, member=i)

traces `spring(point, k)` in a block. Each call whose arguments have the same form (arguments.py)
adds a copy of that block, which reads and writes values of its own; nothing is traced again.
Contact points and joints do the same work, and tracing it again and again would take most of the
time of compiling.

Arguments and results are numbers, matrices of expressions, and dataclasses, tuples, lists and
mappings of these; results are symbols and constants. The function may use `let`, `variable` and
`assign`. It may be a method of an object: what it reads there must be the same in all calls. A
function that looks up a table is traced in each call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import casadi as ca

from heelstrike.errors import ProgramError
from heelstrike.ir.arguments import Parts, Tree, with_symbols
from heelstrike.ir.block import SX, Block, BlockCopy, BlockTag
from heelstrike.ir.code import Place
from heelstrike.ir.graph import column
from heelstrike.ir.number import is_number
from heelstrike.ir.program import Program
from heelstrike.ir.scope import Scope

Result = TypeVar("Result")
Source: TypeAlias = "slice | list[Place | SX]"
"""Entries of a matrix: a run of the routine's own lets and variables, or places, and constants and
symbols of others themselves."""


def call(
    p: Program,
    kind: str,
    function: Callable[..., Result],
    *arguments: Any,
    limb: str | None = None,
    member: int | None = None,
) -> Result:
    """Return the result of a function of the arguments, in a block of its own."""
    tag = BlockTag(kind, limb, member)
    p.check_no_block(f"block '{tag}'")
    lanes = p.scopes[-1].active() if p.scopes else None
    parts = Parts(p, tag)
    form = parts.add((arguments, lanes)), parts.form_of_expressions()
    same, symbols = parts.form_of_symbols()
    key = function, form, same
    if key not in p.routines:
        p.routines[key] = _traced(p, tag, function, (arguments, lanes), parts)
    routine = p.routines[key]
    if routine is None:
        with p.block(kind, limb=limb, member=member):
            return function(*arguments)
    p.check_exist(symbols.items(), tag)
    result: Result = routine.copied(p, tag, symbols, parts)
    return result


@dataclass
class Routine:
    """A traced function: its block, in which symbols of its own stand for arguments."""

    block: Block
    parameters: list[Place]
    """Places of the symbols that stand for symbols of the arguments."""
    numbers: list[Place]
    """Places of the symbols that stand for numbers of the arguments."""
    made: list[Place]
    """Places of lets and variables."""
    others: list[tuple[Place, SX]]
    """What the block reads besides: places and symbols."""
    result: Tree
    sources: list[Source]
    """Where the entries of the result's matrices are."""

    def copied(self, p: Program, tag: BlockTag, symbols: dict[Place, SX], parts: Parts) -> Any:
        """Add a copy of the block for other arguments to the program; return its result."""
        p.check_exist(self.others, tag)
        new, places = p.new_values(tag.kind, len(self.made))
        made = dict(zip(self.made, places, strict=True))
        p.declare([place for old, place in made.items() if old in p.variables])
        own = dict(zip(self.parameters, symbols, strict=True)) | made
        read = dict(zip(self.parameters, symbols.values(), strict=True))
        numbers = dict(zip(self.numbers, parts.numbers, strict=True))
        p.statements.append(BlockCopy(tag, self.block, own, read, numbers))
        values: dict[Place, SX] | None = None
        columns = []
        for source in self.sources:
            if isinstance(source, slice):
                columns.append(new if source == slice(0, len(self.made)) else new[source])
                continue
            if values is None:
                values = read | dict(zip(self.made, new.nonzeros(), strict=True))
                values |= {place: SX(value) for place, value in numbers.items()}
            entries = [values[x] if isinstance(x, Place) else x for x in source]
            columns.append(column(entries))
        return self.result.filled(columns, parts.labels)


class _RoutineScope(Scope):
    """Scope in which a function is traced; the lanes that it works for are an argument."""

    def __init__(self, p: Program, lanes: SX | None) -> None:
        super().__init__(p, "routine")
        self._lanes = lanes

    def active(self) -> SX | None:
        return self._lanes


def _traced(
    p: Program, tag: BlockTag, function: Callable[..., Any], arguments: Any, parts: Parts
) -> Routine | None:
    """Return the routine of a function; None if it looks up a table."""
    if getattr(function, "__closure__", None):
        raise ProgramError(
            f"the function of block '{tag}' uses variables of the function around it",
            remedy="pass them as arguments",
        )
    outer = p.scopes, p.statements
    p.scopes, p.statements = [], []
    try:
        symbols = parts.form_of_symbols()[1]
        new, parameters = p.new_values("argument", len(symbols))
        numbers, number_places = p.new_values("number", len(parts.numbers))
        pairs = zip(parameters, symbols, strict=True)
        p.variables.update(own for own, place in pairs if place in p.variables)
        by_place = dict(zip(symbols, new.nonzeros(), strict=True))
        own, lanes = with_symbols(arguments, parts, by_place, numbers)
        if outer[0]:
            p.scopes.append(_RoutineScope(p, lanes))
        block, first = Block(tag), p.value_count
        with p.trace_into(block):
            result = Tree(function(*own))
        if p.statements:
            return None
    finally:
        p.scopes, p.statements = outer
    if any(place.array is not None for place, _ in block.results):
        raise ProgramError(
            f"the function of block '{tag}' sets memory or outputs", remedy="use p.block"
        )
    made = [Place(None, i) for i in range(first, p.value_count)]
    known = {*parameters, *number_places, *made}
    read, _ = p.places_of(ca.symvar(column([entry for _, entry in block.results])), tag)
    others = [(place, symbol) for place, symbol in read if place not in known]
    sources = [
        _run([_source(p, tag, entry, known) for entry in entries], made) for entries in result.parts
    ]
    return Routine(block, parameters, number_places, made, others, result, sources)


def _run(entries: list[Place | SX], made: list[Place]) -> Source:
    """Return which lets of a routine the entries of a matrix are, if they follow one another."""
    places = [x for x in entries if isinstance(x, Place)]
    if made and places and len(places) == len(entries):
        start = places[0].index - made[0].index
        if start >= 0 and places == made[start : start + len(places)]:
            return slice(start, start + len(places))
    return entries


def _source(p: Program, tag: BlockTag, entry: SX, known: set[Place]) -> Place | SX:
    """Return the place of a result of a routine's own; others and constants as they are."""
    if entry.is_constant() or (entry.is_symbolic() and is_number(entry)):
        return entry
    if not entry.is_symbolic():
        raise ProgramError(
            f"the function of block '{tag}' returns an expression", remedy="use p.let"
        )
    place = p.place_of(entry, tag)
    return place if place in known else entry
