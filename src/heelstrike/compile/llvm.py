"""The emitter: a program's blocks as an LLVM module for W lanes.

Blocks are gathered into LLVM functions of a size that compiles fast; values that cross from one
function to the next live in a frame of scratch memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heelstrike.compile.lanes import Lanes, Real
from heelstrike.compile.operations import BlockEmitter
from heelstrike.compile.program import Code, Place, Port

FUNCTION_SIZE = 1500
"""Operations after which a new LLVM function begins: LLVM's time grows faster than the function."""

PASS = 2
"""Tiles that go through one function before the next is fetched: a robot's code is larger than the
instruction cache. Fewer, if their frames would take more than PASS_BYTES.
"""
PASS_BYTES = 2**20


@dataclass(frozen=True)
class Module:
    """LLVM IR of a program, and how it wants to be called.

    `void NAME(ptr ports, ptr strides, ptr frame, i64 first, i64 last)` works through the tiles
    first..last-1. A tile is W worlds; element i of port p of a tile is a vector of W values at
    ports[p] + tile * strides[p] + i * W * size of a value. A stride of 0 makes a port the same for
    all tiles. The frame is scratch memory of one thread, for the tiles of one pass.
    """

    name: str
    text: str
    ports: tuple[Port, ...]
    frame_size: int
    """Values (of W lanes) that the frame must hold."""
    width: int
    real: Real


def emit(name: str, codes: Sequence[Code], ports: Sequence[Port], width: int, real: Real) -> Module:
    """LLVM IR that carries out the blocks in order, for every tile of a range."""
    groups = _groups(codes)
    slots, frame_size = _frame_slots(groups)
    port_index = {port.name: k for k, port in enumerate(ports)}
    intrinsics: set[str] = set()
    texts: list[str] = []
    ports_used: list[list[int]] = []
    for k, group in enumerate(groups):
        lanes = Lanes(width, real)
        text, used = _function(f"{name}.{k}", group, slots, port_index, lanes)
        intrinsics |= lanes.intrinsics
        texts.append(text)
        ports_used.append(used)
    frame_bytes = frame_size * width * real.bytes
    tiles = max(1, min(PASS, PASS_BYTES // max(frame_bytes, 1)))
    entry = _entry(name, ports_used, frame_bytes, tiles)
    text = "\n".join([*sorted(intrinsics), *texts, entry, _attributes(width, real)])
    return Module(name, text, tuple(ports), frame_size * tiles, width, real)


def _groups(codes: Sequence[Code]) -> list[list[Code]]:
    """Consecutive blocks that share an LLVM function."""
    groups: list[list[Code]] = []
    size = 0
    for code in codes:
        if not groups or size + len(code.graph.operations) > FUNCTION_SIZE:
            groups.append([])
            size = 0
        groups[-1].append(code)
        size += len(code.graph.operations)
    return groups


def _frame_slots(groups: Sequence[Sequence[Code]]) -> tuple[dict[Place, int], int]:
    """A place in the frame for each value that crosses from one function to a later one; a place is
    free again after its last reader.
    """
    born = {place: k for k, group in enumerate(groups) for code in group for place in code.writes}
    last = {place: k for k, group in enumerate(groups) for code in group for place in code.reads}
    slots: dict[Place, int] = {}
    free: list[int] = []
    size = 0
    for k, group in enumerate(groups):
        for code in group:
            for place in code.writes:
                if place.port is None and last.get(place, k) > k:
                    if free:
                        slots[place] = free.pop()
                    else:
                        slots[place] = size
                        size += 1
        free += [
            slots[place]
            for place, end in last.items()
            if end == k and born.get(place, k) < k and place in slots
        ]
        free.sort(reverse=True)  # the lowest first: neighbours in time are neighbours in memory
    return slots, size


def _function(
    name: str,
    group: Sequence[Code],
    slots: dict[Place, int],
    port_index: dict[str, int],
    lanes: Lanes,
) -> tuple[str, list[int]]:
    """One LLVM function for a group of blocks, and the ports that it takes."""
    here: dict[Place, str] = {}
    used: dict[str, None] = {}

    def address(place: Place) -> str:
        if place.port is None:
            base, index = "%frame", slots[place]
        else:
            used[place.port] = None
            base, index = f"%tile{port_index[place.port]}", place.index
        return lanes.address(base, index)

    def load(place: Place) -> str:
        if place not in here:
            here[place] = lanes.load(address(place))
        return here[place]

    for code in group:
        block = BlockEmitter(lanes, code, load)
        block.run()
        for place, operation in zip(code.writes, code.graph.outputs, strict=True):
            value = block.value(operation)
            if place.port is None:
                here[place] = value
            if place.port is not None or place in slots:
                lanes.store(value, address(place))
    order = sorted(port_index[port] for port in used)
    arguments = ", ".join(f"ptr noalias {p}" for p in ["%frame", *(f"%tile{p}" for p in order)])
    body = "\n".join(lanes.lines)
    return f'define internal void @"{name}"({arguments}) #0 {{\n{body}\n  ret void\n}}', order


def _entry(name: str, ports_used: Sequence[Sequence[int]], frame_bytes: int, tiles: int) -> str:
    """The loop over tiles: a pass of a few tiles goes through the first function, then through the
    second, ...
    """
    lines = [
        f'define void @"{name}"(ptr %ports, ptr %strides, ptr noalias %frames, '
        "i64 %first, i64 %last) #0 {",
        "  br label %check",
        "check:",
        "  %start = phi i64 [ %first, %0 ], [ %stop, %next ]",
        "  %more = icmp slt i64 %start, %last",
        "  br i1 %more, label %pass, label %done",
        "pass:",
        f"  %full = add i64 %start, {tiles}",
        "  %fits = icmp slt i64 %full, %last",
        "  %stop = select i1 %fits, i64 %full, i64 %last",
        "  br label %f0" if ports_used else "  br label %next",
    ]
    for k, used in enumerate(ports_used):
        before = "pass" if k == 0 else f"f{k - 1}"
        after = f"f{k + 1}" if k + 1 < len(ports_used) else "next"
        lines += [
            f"f{k}:",
            f"  %tile{k} = phi i64 [ %start, %{before} ], [ %up{k}, %f{k} ]",
            f"  %n{k} = sub i64 %tile{k}, %start",
            f"  %o{k} = mul i64 %n{k}, {frame_bytes}",
            f"  %frame{k} = getelementptr i8, ptr %frames, i64 %o{k}",
        ]
        for p in used:
            lines += [
                f"  %slot{k}.{p} = getelementptr ptr, ptr %ports, i64 {p}",
                f"  %base{k}.{p} = load ptr, ptr %slot{k}.{p}",
                f"  %where{k}.{p} = getelementptr i64, ptr %strides, i64 {p}",
                f"  %stride{k}.{p} = load i64, ptr %where{k}.{p}",
                f"  %offset{k}.{p} = mul i64 %tile{k}, %stride{k}.{p}",
                f"  %p{k}.{p} = getelementptr i8, ptr %base{k}.{p}, i64 %offset{k}.{p}",
            ]
        arguments = ", ".join([f"ptr %frame{k}", *(f"ptr %p{k}.{p}" for p in used)])
        lines += [
            f'  call void @"{name}.{k}"({arguments})',
            f"  %up{k} = add i64 %tile{k}, 1",
            f"  %again{k} = icmp slt i64 %up{k}, %stop",
            f"  br i1 %again{k}, label %f{k}, label %{after}",
        ]
    lines += ["next:", "  br label %check", "done:", "  ret void", "}"]
    return "\n".join(lines)


def _attributes(width: int, real: Real) -> str:
    bits = max(128, width * real.bits)
    widths = f'"prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'
    return f"attributes #0 = {{ noinline nounwind {widths} }}"
