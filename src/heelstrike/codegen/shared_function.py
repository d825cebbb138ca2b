"""Functions of shared blocks: the operations of one block, with places and constants from tables.

Row k of the tables belongs to block k. Places that lie at the same distance from each other in all
blocks share a column, which holds how far they are from those of the first block. A constant that
differs between blocks has a column of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from heelstrike.codegen.frame import ScratchFrame
from heelstrike.codegen.function import FunctionEmitter
from heelstrike.codegen.lanes import Lanes
from heelstrike.ir.code import Code, PackedCode, Place, Template
from heelstrike.ir.graph import Graph
from heelstrike.ir.operations import CONST, INPUT, Operation

FRAME = "%frame"
VALUES = "values"
"""Array of a row's constants."""


class SharedFunction:
    """Emits the body of `i1 f(i64 counter, ptr frame, ptr port, ...)`; the counter is the row.

    The places of the code that is emitted are in arrays that move from row to row.
    """

    def __init__(self, template: Template, frame: ScratchFrame) -> None:
        self.blocks: Sequence[Code | PackedCode] = template.blocks
        self.frame = frame
        self.ports: dict[str, int] = {}
        """Ports of the first block, and their place among the arguments."""
        self.arrays: dict[tuple[str, tuple[int, ...]], str] = {}
        """Arrays by the argument that they are part of, and their distances from the first row."""
        self.values: list[tuple[float, ...]] = []
        """Constants that differ, one for each row."""
        self.code = self._moving_code()

    def emit(self, name: str, lanes: Lanes) -> str:
        """Emit the operations; return the text of the tables."""
        distances = [(base, moves) for base, moves in self.arrays if any(moves)]
        tables = []
        row = values = ""
        if distances:
            units = {base: _unit(lanes, base) for base, _ in distances}
            columns = [[str(units[base] * move) for move in moves] for base, moves in distances]
            tables.append(_table(f"{name}.distances", "i32", columns))
            row = _row(lanes, f"{name}.distances", "i32", len(distances))
        if self.values:
            scalar = Lanes(1, lanes.real)
            columns = [[scalar.const(value) for value in column] for column in self.values]
            tables.append(_table(f"{name}.values", lanes.real.name, columns))
            values = _row(lanes, f"{name}.values", lanes.real.name, len(self.values))
        emitter = FunctionEmitter(lanes, ScratchFrame({}, {}, 0), {VALUES: values})
        column = 0
        for (base, moves), array in self.arrays.items():
            pointer = base
            if any(moves):
                where = lanes.line(f"getelementptr i32, ptr {row}, i64 {column}")
                short = lanes.line(f"load i32, ptr {where}")
                distance = lanes.line(f"sext i32 {short} to i64")
                pointer = lanes.line(f"getelementptr i8, ptr {base}, i64 {distance}")
                column += 1
            (emitter.moving if base == FRAME else emitter.ports)[array] = pointer
        emitter.emit((self.code,))
        return "\n".join(tables)

    def _moving_code(self) -> Code | PackedCode:
        """Return the first block, with its places in arrays that move, and its constants too."""
        first = self.blocks[0]
        reads = [
            self._place(places) for places in zip(*(b.reads for b in self.blocks), strict=True)
        ]
        writes = [
            self._place(places) for places in zip(*(b.writes for b in self.blocks), strict=True)
        ]
        width = first.width if isinstance(first, PackedCode) else 1
        operations: list[Operation] = []
        known: dict[tuple[bytes, ...], Operation] = {}
        for own in zip(*(b.graph.operations for b in self.blocks), strict=True):
            operation = own[0]
            if operation.code == CONST:
                values = tuple([_bits(x) for x in own])
                if len(set(values)) > 1:
                    if values not in known:
                        known[values] = Operation(INPUT, (len(reads) // width,))
                        reads += self._constants(own, width)
                    operation = known[values]
            operations.append(operation)
        graph = Graph(tuple(operations), first.graph.outputs)
        if isinstance(first, Code):
            return Code(first.tag, graph, tuple(reads), tuple(writes))
        return PackedCode(graph, _chunks(reads, width), _chunks(writes, width))

    def _place(self, places: Sequence[Place]) -> Place:
        """Return the moving place for corresponding places of all blocks."""
        array = places[0].array
        base = FRAME
        if array is not None and array not in self.frame.arrays:
            base = f"%port{self.ports.setdefault(array, len(self.ports))}"
        offsets = [self.frame.offset(place) for place in places]
        moves = tuple(offset - offsets[0] for offset in offsets)
        array = self.arrays.setdefault((base, moves), f"moving {len(self.arrays)}")
        return Place(array, offsets[0])

    def _constants(self, operations: Sequence[Operation], width: int) -> list[Place]:
        """Return the places of constants in a row; packed blocks have one for each lane."""
        rows = [
            op.value if isinstance(op.value, tuple) else (op.value,) * width for op in operations
        ]
        start = len(self.values)
        self.values += zip(*rows, strict=True)
        return [Place(VALUES, start + k) for k in range(width)]


def _unit(lanes: Lanes, base: str) -> int:
    """Return how far neighbouring values are apart, in the frame or in a port [bytes]."""
    return lanes.width * lanes.real.bytes * (1 if base == FRAME else lanes.pitch)


def _bits(operation: Operation) -> bytes:
    """Return a constant's bits, which tell 0 from -0."""
    values = operation.value if isinstance(operation.value, tuple) else (operation.value,)
    return struct.pack(f"<{len(values)}d", *values)


def _chunks(places: Sequence[Place], size: int) -> tuple[tuple[Place, ...], ...]:
    return tuple(tuple(places[k : k + size]) for k in range(0, len(places), size))


def _table(name: str, kind: str, columns: Sequence[Sequence[str]]) -> str:
    """Return the text of a constant table, row by row."""
    numbers = [number for row in zip(*columns, strict=True) for number in row]
    values = ", ".join(f"{kind} {number}" for number in numbers)
    return f'@"{name}" = private unnamed_addr constant [{len(numbers)} x {kind}] [{values}]'


def _row(lanes: Lanes, name: str, kind: str, columns: int) -> str:
    """Emit the address of the counter's row of a table."""
    return lanes.line(f'getelementptr [{columns} x {kind}], ptr @"{name}", i64 %counter')
