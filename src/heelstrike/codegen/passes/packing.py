"""Packing: blocks that do the same to different numbers become one block of vectors.

A single world has no neighbours that could fill a vector register, but a robot's left limb has the
right one. Blocks can be packed if walking their graphs from their outputs side by side meets the
same operations everywhere; constants and inputs may differ. K blocks of which none reads what
another writes become one block whose operations work on vectors of K. Each element gets the
operations of its own block, so its bits are those that it would have alone.

Where four limbs or more can be packed, so can their joints, each joint with its counterparts in the
other limbs: then the block of a joint and the block of a limb exchange the same vectors.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from heelstrike.ir.code import (
    Code,
    Guard,
    Item,
    PackedCode,
    Place,
    Repeat,
    flatten,
    reads_of,
    writes_of,
)
from heelstrike.ir.graph import Graph, if_else_operand
from heelstrike.ir.operations import CONST, INPUT, Operation

MAX_WIDTH = 8
"""Blocks in a packed block, at most."""
MAX_DISTANCE = 100
"""Items after a block among which its counterparts are sought."""
MIN_LIMBS = 4
"""Limbs in a set of similar limbs, at least; their joints are packed across limbs only."""
MAX_GROWTH = 1.1
"""Operations of a packed block over those of one block, at most: a value that two operations share
in one block, but not in the other, is computed twice.
"""


LimbSets = Mapping[str | None, int]
"""Number of the set of similar limbs that a limb belongs to."""
KnownPlaces = dict[int, tuple[Item, set[Place], set[Place]]]
"""Items by id, with the places that each reads and writes."""


def pack(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items with blocks packed; a packed block stands at the place of its first."""
    return _pack(items, limb_sets(items), {})


def _pack(items: Sequence[Item], sets: LimbSets, known: KnownPlaces) -> tuple[Item, ...]:
    left = list(items)
    result: list[Item] = []
    while left:
        item = left.pop(0)
        if isinstance(item, Repeat):
            result.append(Repeat(item.name, _pack(item.body, sets, known), item.limit, item.until))
            continue
        if isinstance(item, Guard):
            result.append(Guard(item.name, item.need, _pack(item.body, sets, known)))
            continue
        found = _pack_with_later(item, left, sets, known) if isinstance(item, Code) else None
        if found is None:
            result.append(item)
            continue
        packed, places = found
        result.append(packed)
        left = [other for k, other in enumerate(left) if k not in places]
    return tuple(result)


def limb_sets(items: Sequence[Item]) -> LimbSets:
    """Return the sets of similar limbs, judged by each limb's first block without a member."""
    groups: list[list[Code]] = []
    known: set[str] = set()
    for code in (x for item in items for x in flatten(item) if isinstance(x, Code)):
        if code.limb is None or code.tag.member is not None or code.limb in known:
            continue
        known.add(code.limb)
        for group in groups:
            if similar(group[0], code) and can_be_packed(group[0], code):
                group.append(code)
                break
        else:
            groups.append([code])
    sets = [group for group in groups if len(group) >= MIN_LIMBS]
    return {code.limb: k for k, group in enumerate(sets) for code in group}


def _pack_with_later(
    code: Code, others: Sequence[Item], sets: LimbSets, known: KnownPlaces
) -> tuple[PackedCode, list[int]] | None:
    """Return the code packed with some of those that follow, and the indices of those."""
    codes, places = [code], []
    own_set, limbs = sets.get(code.limb), {code.limb}
    passed = Touched(known)
    passed.add(code)
    for k, other in enumerate(others[:MAX_DISTANCE]):
        if len(codes) == MAX_WIDTH:
            break
        if (
            isinstance(other, Code)
            and similar(code, other)
            and sets.get(other.limb) == own_set
            and (own_set is None or other.limb not in limbs)
            and not passed.conflicts(other)
            and can_be_packed(code, other)
        ):
            codes.append(other)
            places.append(k)
            limbs.add(other.limb)
        passed.add(other)
    while len(codes) > 1:
        count = 1 << (len(codes).bit_length() - 1)
        codes, places = codes[:count], places[: count - 1]
        # limbs in the same order in every vector, so that other packed blocks read it whole
        if (packed := pack_blocks(sorted(codes, key=_order))) is not None:
            return packed, places
        codes.pop()
    return None


def _order(code: Code) -> tuple[str, str, int]:
    tag = code.tag
    return tag.limb or "", tag.kind, -1 if tag.member is None else tag.member


def can_be_packed(a: Code, b: Code) -> bool:
    """Return whether two blocks with as many results have the same operations."""
    if a.graph is b.graph:
        return True
    outputs = list(zip(a.graph.outputs, b.graph.outputs, strict=True))
    return _side_by_side([a.graph, b.graph], outputs) is not None


def pack_blocks(codes: Sequence[Code]) -> PackedCode | None:
    """Return the blocks as one packed block; None if their operations differ."""
    graphs = [code.graph for code in codes]
    outputs = list(zip(*(graph.outputs for graph in graphs), strict=True))
    nodes = _side_by_side(graphs, outputs)
    if nodes is None:
        return None
    number = {node: k for k, node in enumerate(nodes)}
    read: dict[tuple[Place, ...], int] = {}
    operations: list[Operation] = []
    for node in nodes:
        own = [graph.operations[i] for graph, i in zip(graphs, node, strict=True)]
        code = own[0].code
        if code == INPUT:
            places = tuple(c.reads[op.operands[0]] for c, op in zip(codes, own, strict=True))
            operations.append(Operation(INPUT, (read.setdefault(places, len(read)),)))
        elif code == CONST:
            values = tuple(op.value for op in own if isinstance(op.value, float))
            alike = len({struct.pack("<d", value) for value in values}) == 1
            operations.append(Operation(CONST, (), values[0] if alike else values))
        else:
            operands = zip(*(op.operands for op in own), strict=True)
            operations.append(Operation(code, tuple(number[pair] for pair in operands)))
    graph = Graph(tuple(operations), tuple(number[node] for node in outputs))
    return PackedCode(graph, tuple(read), tuple(zip(*(code.writes for code in codes), strict=True)))


Node = tuple[int, ...]
"""An operation of each graph."""


def _side_by_side(graphs: Sequence[Graph], outputs: Sequence[Node]) -> list[Node] | None:
    """Return the nodes that a walk from the outputs meets, in the first graph's order.

    Return None where operations differ, or where too many nodes are met.
    """
    met: set[Node] = set()
    waiting = list(outputs)
    while waiting:
        node = waiting.pop()
        if node in met:
            continue
        met.add(node)
        own = [graph.operations[i] for graph, i in zip(graphs, node, strict=True)]
        if len(met) > MAX_GROWTH * len(graphs[0].operations):
            return None
        code = own[0].code
        if any(op.code != code for op in own):
            return None
        if code in FORMS and len(set(map(_form, graphs, own))) > 1:
            return None
        if code != INPUT:
            waiting += zip(*(op.operands for op in own), strict=True)
    return sorted(met)


FORMS = "ADD", "CONSTPOW"
"""Operations whose operands decide their instructions."""


def _form(graph: Graph, operation: Operation) -> tuple[object, ...]:
    """Return what decides the instructions of one of the operations FORMS."""
    code, operands, _ = operation
    if code == "ADD":
        return (if_else_operand(graph.operations, *operands),)
    return (graph.operations[operands[1]].value,)


def similar(a: Code, b: Code) -> bool:
    """Return whether two blocks may be packed at all; those that read constant tables may not."""
    fixed = not any(place.stride for code in (a, b) for place in (*code.reads, *code.writes))
    growth = (MAX_GROWTH - 1) * a.size
    return fixed and len(a.writes) == len(b.writes) and abs(a.size - b.size) <= growth


class Touched:
    """Places that items read and write; a later block that touches them must stay behind them."""

    def __init__(self, known: KnownPlaces) -> None:
        self.read: set[Place] = set()
        self.written: set[Place] = set()
        self.known = known

    def add(self, item: Item) -> None:
        _, reads, writes = self._places(item)
        self.read |= reads
        self.written |= writes

    def conflicts(self, item: Item) -> bool:
        """Return whether the item reads what they write, or writes what they read or write."""
        _, reads, writes = self._places(item)
        return (
            not self.written.isdisjoint(reads)
            or not self.written.isdisjoint(writes)
            or not self.read.isdisjoint(writes)
        )

    def _places(self, item: Item) -> tuple[Item, set[Place], set[Place]]:
        if id(item) not in self.known:
            self.known[id(item)] = item, reads_of(item), writes_of(item)
        return self.known[id(item)]
