"""Blocks that do the same to other numbers, such as a left and a right limb: one block of vectors.

Where a world has no neighbours to share its instructions with, a robot's own limbs have. Blocks are
twins if walking their graphs from their outputs side by side meets the same operations everywhere;
constants and inputs may differ. K twins of which none reads what another writes become one block
whose operations work on vectors of K. Each element gets the operations that its own block
prescribes, so its bits are those that it would have alone.

Where four limbs or more are twins, so are their joints, each joint with its like in the others:
what a joint's block and a limb's hand on to one another are then the same vectors.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from heelstrike.ir.code import Code, Item, PackedCode, Place, Repeat, flatten
from heelstrike.ir.graph import Graph, chosen
from heelstrike.ir.operations import CONST, INPUT, Operation

MOST = 8
"""PackedCode in a block at most."""
REACH = 100
"""Items among which a block's twins are sought."""
TEAM = 4
"""Limbs at least whose joints are not joined with one another."""
SLACK = 1.1
"""Operations of twins over those of one alone, at most: a value that two operations of one block
share, but not of the other, is computed twice.
"""


Teams = Mapping[str | None, int]
"""Parts that are limbs of a team, and its number."""


def twinned(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items with twins joined, where the first of them stood."""
    return _twinned(items, _teams(items))


def _twinned(items: Sequence[Item], teams: Teams) -> tuple[Item, ...]:
    left = list(items)
    result: list[Item] = []
    while left:
        item = left.pop(0)
        if isinstance(item, Repeat):
            result.append(Repeat(item.name, _twinned(item.body, teams), item.limit, item.until))
            continue
        found = _twins_of(item, left, teams) if isinstance(item, Code) else None
        if found is None:
            result.append(item)
            continue
        joined, places = found
        result.append(joined)
        left = [other for k, other in enumerate(left) if k not in places]
    return tuple(result)


def _teams(items: Sequence[Item]) -> Teams:
    """Judged by the first block of each limb that is there only once."""
    groups: list[list[Code]] = []
    known: set[str] = set()
    for code in (x for item in items for x in flatten(item) if isinstance(x, Code)):
        if code.limb is None or code.tag.member is not None or code.limb in known:
            continue
        known.add(code.limb)
        for group in groups:
            if _similar(group[0], code) and joined([group[0], code]) is not None:
                group.append(code)
                break
        else:
            groups.append([code])
    teams = [group for group in groups if len(group) >= TEAM]
    return {code.limb: k for k, team in enumerate(teams) for code in team}


def _twins_of(
    code: Code, others: Sequence[Item], teams: Teams
) -> tuple[PackedCode, list[int]] | None:
    """The code joined with twins among those that follow, and where those are."""
    codes, places = [code], []
    team, limbs = teams.get(code.limb), {code.limb}
    passed = _Touched()
    passed.add(code)
    for k, other in enumerate(others[:REACH]):
        if len(codes) == MOST:
            break
        if (
            isinstance(other, Code)
            and _similar(code, other)
            and teams.get(other.limb) == team
            and (team is None or other.limb not in limbs)
            and not passed.meets(other)
            and joined([code, other]) is not None
        ):
            codes.append(other)
            places.append(k)
            limbs.add(other.limb)
        passed.add(other)
    while len(codes) > 1:
        count = 1 << (len(codes).bit_length() - 1)
        codes, places = codes[:count], places[: count - 1]
        # limbs in the same order in every vector, so that it can be handed on whole
        if (twins := joined(sorted(codes, key=_order))) is not None:
            return twins, places
        codes.pop()
    return None


def _order(code: Code) -> tuple[str, str, int]:
    tag = code.tag
    return tag.limb or "", tag.kind, -1 if tag.member is None else tag.member


def joined(codes: Sequence[Code]) -> PackedCode | None:
    """The blocks as one; None if they are no twins."""
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
    """What a walk from the outputs meets, in the first graph's order; None where operations differ,
    or where too many are met.
    """
    met: set[Node] = set()
    waiting = list(outputs)
    while waiting:
        node = waiting.pop()
        if node in met:
            continue
        met.add(node)
        own = [graph.operations[i] for graph, i in zip(graphs, node, strict=True)]
        if len(met) > SLACK * len(graphs[0].operations):
            return None
        if len({_form(graph, op) for graph, op in zip(graphs, own, strict=True)}) > 1:
            return None
        if own[0].code != INPUT:
            waiting += zip(*(op.operands for op in own), strict=True)
    return sorted(met)


def _form(graph: Graph, operation: Operation) -> tuple[object, ...]:
    """What the emitter looks at beyond an operation's code."""
    code, operands, _ = operation
    if code == "ADD":
        return (code, chosen(graph.operations, *operands))
    if code == "CONSTPOW":
        return (code, graph.operations[operands[1]].value)
    return (code,)


def _similar(a: Code, b: Code) -> bool:
    """What twins have in common at a glance; loops' moving places are left alone."""
    fixed = not any(place.stride for code in (a, b) for place in (*code.reads, *code.writes))
    return fixed and len(a.writes) == len(b.writes) and abs(a.size - b.size) <= (SLACK - 1) * a.size


class _Touched:
    """Places that items read and write: what a later block must not meet to go before them."""

    def __init__(self) -> None:
        self.read: set[Place] = set()
        self.written: set[Place] = set()

    def add(self, item: Item) -> None:
        for part in flatten(item):
            self.read.update(part.reads)
            self.written.update(part.writes)

    def meets(self, code: Code) -> bool:
        """Whether the block reads what they write, or writes what they read or write."""
        return (
            not self.written.isdisjoint(code.reads)
            or not self.written.isdisjoint(code.writes)
            or not self.read.isdisjoint(code.writes)
        )
