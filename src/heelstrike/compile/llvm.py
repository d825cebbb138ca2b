"""The emitter: a traced program as an LLVM module for W lanes.

Items are gathered into LLVM functions of a size that compiles fast; the entry calls them in order,
tile by tile, round by round and step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heelstrike.compile.code import Item, Port, Repeat, Traced
from heelstrike.compile.frame import Frame, Group, layout
from heelstrike.compile.lanes import Lanes, Real
from heelstrike.compile.straight import FunctionEmitter

FUNCTION_SIZE = 1500
"""Operations after which a new LLVM function begins: LLVM's time grows faster than the function."""

PASS = 2
"""Tiles that go through one function before the next is fetched: a robot's code is larger than the
instruction cache. Fewer, if their frames would take more than PASS_BYTES.
"""
PASS_BYTES = 2**20


@dataclass(frozen=True)
class Module:
    """LLVM IR of a program, and how it wants to be called:

    void NAME(ptr ports, ptr strides, ptr records, ptr frames,
              i64 first, i64 last, i64 steps, i64 every, i64 phase)

    works through the tiles first..last-1, each for a number of steps. A tile is W worlds; element i
    of port p of a tile is a vector of W values at ports[p] + tile * strides[p] + record *
    records[p] + i * W * size of a value. A stride of 0 makes a port the same for all tiles; tables
    are plain arrays. Outputs are written in steps s with (phase + s) divisible by `every`, to
    records 0, 1, ... The frames are scratch memory of one thread, for the tiles of one pass.
    """

    name: str
    text: str
    ports: tuple[Port, ...]
    frame_size: int
    """Values (of W lanes) that the frames must hold."""
    width: int
    real: Real


@dataclass(frozen=True)
class Call:
    """A function of the module and the ports that it takes, in the order of its arguments."""

    function: int
    ports: tuple[str, ...]


@dataclass(frozen=True)
class Cycle:
    """Calls that a loop repeats."""

    limit: int
    until: bool
    calls: tuple[Call | Cycle, ...]


Plan = tuple[Call | Cycle, ...]


def emit(program: Traced, width: int, real: Real) -> Module:
    """LLVM IR of a program."""
    phases = [_grouped(items) for items in (program.step, program.record)]
    phases.append([(program.commit,)] if program.commit else [])
    frame = layout([_functions(entry) for phase in phases for entry in phase], program.arrays)
    emitter = _ModuleEmitter(program, frame, width, real)
    plans = [emitter.plan(phase) for phase in phases]
    frame_bytes = frame.size * width * real.bytes
    tiles = max(1, min(PASS, PASS_BYTES // max(frame_bytes, 1)))
    ports = (*program.inputs, *program.tables, *program.memory, *program.outputs)
    entry = Entry(program.name, [port.name for port in ports], frame_bytes, tiles).text(*plans)
    constants = [_constant(name, table, real) for name, table in program.constants.items()]
    parts = [*constants, *sorted(emitter.intrinsics), *emitter.texts, entry]
    text = "\n".join([*parts, _attributes(width, real)])
    return Module(program.name, text, ports, frame.size * tiles, width, real)


Grouped = list["Group | tuple[Repeat, Grouped]"]


def _grouped(items: Sequence[Item]) -> Grouped:
    """Consecutive items that share an LLVM function; loops apart, with groups of their own."""
    entries: Grouped = []
    size = FUNCTION_SIZE + 1
    for item in items:
        if isinstance(item, Repeat):
            entries.append((item, _grouped(item.body)))
            size = FUNCTION_SIZE + 1
        elif size + item.size > FUNCTION_SIZE:
            entries.append((item,))
            size = item.size
        else:
            entries[-1] = (*entries[-1], item)  # type: ignore[arg-type]
            size += item.size
    return entries


def _functions(entry: object) -> list[Group]:
    """The groups of an entry: one, or all of a loop."""
    assert isinstance(entry, tuple)
    if isinstance(entry[0], Repeat):
        return [group for inner in entry[1] for group in _functions(inner)]
    return [entry]


class _ModuleEmitter:
    """Writes the functions and remembers in which order they are called."""

    def __init__(self, program: Traced, frame: Frame, width: int, real: Real) -> None:
        self.program = program
        self.frame = frame
        self.width = width
        self.real = real
        self.texts: list[str] = []
        self.intrinsics: set[str] = set()

    def plan(self, entries: Grouped) -> Plan:
        return tuple(self._entry(entry) for entry in entries)

    def _entry(self, entry: object) -> Call | Cycle:
        assert isinstance(entry, tuple)
        if isinstance(entry[0], Repeat):
            return Cycle(entry[0].limit, entry[0].until, self.plan(entry[1]))
        lanes = Lanes(self.width, self.real)
        emitter = FunctionEmitter(lanes, self.frame, self.program.constants)
        emitter.emit(entry)
        self.intrinsics |= lanes.intrinsics
        number = len(self.texts)
        pointers = ", ".join(f"ptr noalias {name}" for name in ("%frame", *emitter.ports.values()))
        body = "\n".join(lanes.lines)
        self.texts.append(
            f'define internal i1 @"{self.program.name}.{number}"(i64 %counter, {pointers}) #0 {{\n'
            f"{body}\n  ret i1 {emitter.goes_on}\n}}"
        )
        return Call(number, tuple(emitter.ports))


class Entry:
    """Writes the entry: passes of tiles, steps, functions, and the rounds of loops."""

    def __init__(self, name: str, ports: list[str], frame_bytes: int, tiles: int) -> None:
        self.name = name
        self.ports = {port: k for k, port in enumerate(ports)}
        self.frame_bytes = frame_bytes
        self.tiles = tiles
        self.lines: list[str] = []
        self.labels = 0

    def text(self, step: Plan, record: Plan, commit: Plan) -> str:
        self.lines = [
            f'define void @"{self.name}"(ptr %ports, ptr %strides, ptr %records,',
            "  ptr noalias %frames, i64 %first, i64 %last,",
            "  i64 %steps, i64 %every, i64 %phase) #0 {",
            "  br label %check",
            "check:",
            "  %start = phi i64 [ %first, %0 ], [ %stop, %stepped ]",
            "  %more = icmp slt i64 %start, %last",
            "  br i1 %more, label %pass, label %done",
            "pass:",
            f"  %full = add i64 %start, {self.tiles}",
            "  %fits = icmp slt i64 %full, %last",
            "  %stop = select i1 %fits, i64 %full, i64 %last",
            "  br label %stepping",
            "stepping:",
            "  %s = phi i64 [ 0, %pass ], [ %s.next, %step.end ]",
            "  %record = phi i64 [ 0, %pass ], [ %record.next, %step.end ]",
            "  %goes = icmp slt i64 %s, %steps",
            "  br i1 %goes, label %step, label %stepped",
            "step:",
        ]
        self._calls(step)
        self.lines += [
            "  br label %decide",
            "decide:",
            "  %at = add i64 %s, %phase",
            "  %rest = srem i64 %at, %every",
            "  %hit = icmp eq i64 %rest, 0",
            "  br i1 %hit, label %recording, label %recorded",
            "recording:",
        ]
        self._calls(record)
        self.lines += [
            "  %record.up = add i64 %record, 1",
            "  br label %record.end",
            "record.end:",
            "  br label %recorded",
            "recorded:",
            "  %record.next = phi i64 [ %record, %decide ], [ %record.up, %record.end ]",
        ]
        self._calls(commit)
        self.lines += [
            "  br label %step.end",
            "step.end:",
            "  %s.next = add i64 %s, 1",
            "  br label %stepping",
            "stepped:",
            "  br label %check",
            "done:",
            "  ret void",
            "}",
        ]
        return "\n".join(self.lines)

    def _new(self) -> int:
        self.labels += 1
        return self.labels

    def _calls(self, plan: Plan) -> None:
        """Each call, or loop, for all tiles of the pass before the next."""
        for entry in plan:
            n = self._new()
            before = self._current_label()
            self.lines += [
                f"  br label %tiles{n}",
                f"tiles{n}:",
                f"  %tile{n} = phi i64 [ %start, %{before} ], [ %tile.up{n}, %tile.end{n} ]",
                f"  %number{n} = sub i64 %tile{n}, %start",
                f"  %offset{n} = mul i64 %number{n}, {self.frame_bytes}",
                f"  %frame{n} = getelementptr i8, ptr %frames, i64 %offset{n}",
            ]
            self._work(entry, f"%tile{n}", f"%frame{n}", "0")
            self.lines += [
                f"  br label %tile.end{n}",
                f"tile.end{n}:",
                f"  %tile.up{n} = add i64 %tile{n}, 1",
                f"  %again{n} = icmp slt i64 %tile.up{n}, %stop",
                f"  br i1 %again{n}, label %tiles{n}, label %after{n}",
                f"after{n}:",
            ]

    def _current_label(self) -> str:
        return next(line for line in reversed(self.lines) if line.endswith(":"))[:-1]

    def _work(self, entry: Call | Cycle, tile: str, frame: str, counter: str) -> str:
        """One tile's call or loop; returns the last call's answer."""
        if isinstance(entry, Call):
            return self._call(entry, tile, frame, counter)
        n = self._new()
        before = self._current_label()
        self.lines += [
            f"  br label %round{n}",
            f"round{n}:",
            f"  %k{n} = phi i64 [ 0, %{before} ], [ %k.up{n}, %round.end{n} ]",
        ]
        answer = "false"
        for inner in entry.calls:
            answer = self._work(inner, tile, frame, f"%k{n}")
        self.lines += [
            f"  br label %round.end{n}",
            f"round.end{n}:",
            f"  %k.up{n} = add i64 %k{n}, 1",
            f"  %in.limit{n} = icmp slt i64 %k.up{n}, {entry.limit}",
            f"  %goes.on{n} = and i1 %in.limit{n}, {answer if entry.until else 'true'}",
            f"  br i1 %goes.on{n}, label %round{n}, label %rounds.over{n}",
            f"rounds.over{n}:",
        ]
        return "false"

    def _call(self, call: Call, tile: str, frame: str, counter: str) -> str:
        n = self._new()
        pointers = [f"ptr {frame}"]
        for name in call.ports:
            p, x = self.ports[name], f"{n}.{self.ports[name]}"
            self.lines += [
                f"  %a{x} = getelementptr ptr, ptr %ports, i64 {p}",
                f"  %b{x} = load ptr, ptr %a{x}",
                f"  %c{x} = getelementptr i64, ptr %strides, i64 {p}",
                f"  %d{x} = load i64, ptr %c{x}",
                f"  %e{x} = mul i64 {tile}, %d{x}",
                f"  %f{x} = getelementptr i64, ptr %records, i64 {p}",
                f"  %g{x} = load i64, ptr %f{x}",
                f"  %h{x} = mul i64 %record, %g{x}",
                f"  %i{x} = add i64 %e{x}, %h{x}",
                f"  %j{x} = getelementptr i8, ptr %b{x}, i64 %i{x}",
            ]
            pointers.append(f"ptr %j{x}")
        arguments = ", ".join(pointers)
        self.lines.append(
            f'  %r{n} = call i1 @"{self.name}.{call.function}"(i64 {counter}, {arguments})'
        )
        return f"%r{n}"


def _constant(name: str, table: np.ndarray, real: Real) -> str:
    values = ", ".join(f"{real.name} {Lanes(1, real).const(x)}" for x in table.ravel())
    return f'@"{name}" = private unnamed_addr constant [{table.size} x {real.name}] [{values}]'


def _attributes(width: int, real: Real) -> str:
    bits = max(128, width * real.bits)
    widths = f'"prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'
    return f"attributes #0 = {{ noinline nounwind {widths} }}"
