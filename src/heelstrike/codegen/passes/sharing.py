"""Sharing: blocks with the same operations become calls of one function.

The contact points of a robot and its limbs are traced one by one, and many of their blocks differ
only in the places that they read and write and in their constants. Such blocks share an LLVM
function (codegen/shared_function.py), which takes both from a table with a row for each block. So
the time of compiling grows with the number of different blocks, not with that of blocks. Each
block gets the same operations in the same order as by itself, so its bits stay the same.

A shared block exchanges all values with others through memory, where the blocks of one function
keep them in registers. So only those are shared that shorten the code by much.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from heelstrike.ir.code import Code, Guard, Item, PackedCode, Repeat, SharedCode, Template, flatten
from heelstrike.ir.graph import Graph, in_order_of_use
from heelstrike.ir.operations import CONST

MIN_SIZE = 60
"""Operations of a shared block, inputs and constants included, at least: a call fetches the place
of each value. The joints' blocks have 20 to 50. With a least size of 30, a step of G1 on springs
takes a fifth more instructions."""
MIN_SAVED, MIN_SAVED_ALONE = 300, 1500
"""Operations by which sharing a block must shorten the code, at least, for several lanes and for
one: a single world waits for the memory through which shared blocks exchange their values."""

Block = Code | PackedCode
Signature = tuple[object, ...]
"""All that blocks must have in common to share a function."""


def share(
    phases: Sequence[Sequence[Item]], arrays: Collection[str], width: int
) -> list[tuple[Item, ...]]:
    """Return the items of each phase, with shared blocks in place of those that are worth it.

    `arrays` are the names of the arrays of the frame, `width` is the number of lanes.
    """
    least = MIN_SAVED if width > 1 else MIN_SAVED_ALONE
    blocks = [
        item
        for phase in phases
        for part in phase
        for item in flatten(part)
        if isinstance(item, Block) and item.size >= MIN_SIZE
    ]
    shared: dict[int, SharedCode] = {}
    ordered = _Ordered()
    for similar in _worthwhile(blocks, _outline, least):
        own = {id(ordered.block(block)): block for block in similar}
        found = map(ordered.block, similar)
        for same in _worthwhile(found, lambda block: _signature(block, arrays), least):
            template = Template(tuple(same))
            for row, block in enumerate(same):
                ports = tuple(_ports(block, arrays))
                shared[id(own[id(block)])] = SharedCode(template, row, ports)
    return [_replaced(phase, shared) for phase in phases]


def _replaced(items: Iterable[Item], shared: Mapping[int, SharedCode]) -> tuple[Item, ...]:
    """Return the items with shared blocks in place of those with their ids."""
    result: list[Item] = []
    for item in items:
        if isinstance(item, Repeat | Guard):
            result.append(replace(item, body=_replaced(item.body, shared)))
        else:
            result.append(shared.get(id(item), item))
    return tuple(result)


def _worthwhile(
    blocks: Iterable[Block], key: Callable[[Block], Signature], least: int
) -> Iterator[list[Block]]:
    """Return the groups of blocks with equal keys that shorten the code by `least` operations."""
    groups: dict[Signature, list[Block]] = {}
    for block in blocks:
        groups.setdefault(key(block), []).append(block)
    for group in groups.values():
        if (len(group) - 1) * group[0].size >= least:
            yield group


class _Ordered:
    """Blocks with their operations in the order of their use, in which equal ones are the same."""

    def __init__(self) -> None:
        self._blocks: dict[int, Block] = {}
        self._graphs: dict[int, tuple[Graph, list[int]]] = {}  # copies have one graph

    def block(self, block: Block) -> Block:
        """Return a block in this order, always the same object."""
        if id(block) not in self._blocks:
            graph = block.graph
            if id(graph) not in self._graphs:
                self._graphs[id(graph)] = in_order_of_use(graph)
            new, inputs = self._graphs[id(graph)]
            if isinstance(block, PackedCode):
                read = tuple(block.read[i] for i in inputs)
                found: Block = replace(block, graph=new, read=read)
            else:
                found = replace(block, graph=new, reads=tuple(block.reads[i] for i in inputs))
            self._blocks[id(block)] = found
        return self._blocks[id(block)]


def _outline(block: Block) -> Signature:
    """Return what is quickly compared."""
    fixed = not any(place.stride for place in block.reads)
    codes = [operation.code for operation in block.graph.operations]
    return (
        len(codes) - codes.count(CONST),
        len(block.reads),
        len(block.graph.outputs),
        fixed or id(block),
    )


def _signature(block: Block, arrays: Collection[str]) -> Signature:
    """Return operations without constants, and which places are the same or of the same port."""
    operations = block.graph.operations
    exponents = {op.operands[1] for op in operations if op.code == "CONSTPOW"}
    ports = _ports(block, arrays)
    numbers: dict[object, int] = {}
    return (
        block.width if isinstance(block, PackedCode) else 0,
        tuple((op.code, op.operands) for op in operations),
        tuple(operations[i].value for i in sorted(exponents)),
        tuple(numbers.setdefault(place, len(numbers)) for place in (*block.reads, *block.writes)),
        tuple(ports.get(place.array or "", -1) for place in (*block.reads, *block.writes)),
    )


def _ports(block: Block, arrays: Collection[str]) -> dict[str, int]:
    """Return the ports that a block reads and writes, numbered as they appear."""
    names = (place.array for place in (*block.reads, *block.writes))
    ports = dict.fromkeys(name for name in names if name is not None and name not in arrays)
    return {name: k for k, name in enumerate(ports)}
