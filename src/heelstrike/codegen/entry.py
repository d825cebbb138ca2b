"""Entry of a compiled program: calls of its functions by tile, round and step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Call:
    """A call of a function of the module, with ports in the order of its arguments."""

    function: int
    ports: tuple[str, ...]


@dataclass(frozen=True)
class Cycle:
    """Calls that a loop repeats while its counter is below the limit."""

    limit: int
    until: bool
    calls: Plan
    first: int = 0
    """Where the counter begins."""


@dataclass(frozen=True)
class Branch:
    """Calls that are made if the function of `test` answers that a lane needs them."""

    test: Call
    calls: Plan


Plan = tuple[Call | Cycle | Branch, ...]


class Entry:
    """Emits the entry: passes of tiles, steps, functions, rounds of loops, and guards."""

    def __init__(
        self, name: str, ports: list[str], recorded: set[str], frame_bytes: int, tiles: int
    ) -> None:
        self.name = name
        self.recorded = recorded
        """Ports that have a row for each record."""
        self.ports = {port: k for k, port in enumerate(ports)}
        self.frame_bytes = frame_bytes
        self.tiles = tiles
        self.lines: list[str] = []
        self.labels = 0

    def text(self, step: Plan, record: Plan, commit: Plan) -> str:
        self._begin()
        self._steps(step, record, commit)
        self._end()
        return "\n".join(self.lines)

    def _begin(self) -> None:
        """Begin a pass, which takes a few tiles."""
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
        ]

    def _end(self) -> None:
        self.lines += ["stepped:", "  br label %check", "done:", "  ret void", "}"]
        types = ["ptr"] * 4 + ["i64"] * 5
        self.lines.append(f'define void @"{self.name}_packed"(ptr %arguments) #0 {{')
        for k, kind in enumerate(types):
            self.lines += [
                f"  %where{k} = getelementptr i64, ptr %arguments, i64 {k}",
                f"  %argument{k} = load {kind}, ptr %where{k}",
            ]
        arguments = ", ".join(f"{kind} %argument{k}" for k, kind in enumerate(types))
        self.lines += [f'  call void @"{self.name}"({arguments})', "  ret void", "}"]

    def _steps(self, step: Plan, record: Plan, commit: Plan) -> None:
        self.lines += [
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
        ]

    def _new(self) -> str:
        self.labels += 1
        return str(self.labels)

    def _calls(self, plan: Plan) -> None:
        """Each call, loop or guard, for all tiles of the pass before the next."""
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

    def _work(self, entry: Call | Cycle | Branch, tile: str, frame: str, counter: str) -> str:
        """One tile's call, loop or guard; returns the last call's answer."""
        if isinstance(entry, Call):
            return self._call(entry, tile, frame, counter)
        if isinstance(entry, Branch):
            return self._branch(entry, tile, frame, counter)
        n = self._new()
        before = self._current_label()
        self.lines += [
            f"  br label %round{n}",
            f"round{n}:",
            f"  %k{n} = phi i64 [ {entry.first}, %{before} ], [ %k.up{n}, %round.end{n} ]",
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

    def _branch(self, entry: Branch, tile: str, frame: str, counter: str) -> str:
        needed = self._call(entry.test, tile, frame, counter)
        n = self._new()
        self.lines += [
            f"  br i1 {needed}, label %needed{n}, label %skipped{n}",
            f"needed{n}:",
        ]
        for inner in entry.calls:
            self._work(inner, tile, frame, counter)
        self.lines += [f"  br label %skipped{n}", f"skipped{n}:"]
        return "false"

    def _call(self, call: Call, tile: str, frame: str, counter: str) -> str:
        n = self._new()
        pointers = [f"ptr {frame}"]
        for name in call.ports:
            p, x = self.ports[name], f"{n}.{self.ports[name]}"
            offset = f"%e{x}"
            self.lines += [
                f"  %a{x} = getelementptr ptr, ptr %ports, i64 {p}",
                f"  %b{x} = load ptr, ptr %a{x}",
                f"  %c{x} = getelementptr i64, ptr %strides, i64 {p}",
                f"  %d{x} = load i64, ptr %c{x}",
                f"  %e{x} = mul i64 {tile}, %d{x}",
            ]
            if name in self.recorded:
                self.lines += [
                    f"  %f{x} = getelementptr i64, ptr %records, i64 {p}",
                    f"  %g{x} = load i64, ptr %f{x}",
                    f"  %h{x} = mul i64 %record, %g{x}",
                    f"  %i{x} = add i64 %e{x}, %h{x}",
                ]
                offset = f"%i{x}"
            own = self._own(name, offset)
            self.lines.append(f"  %j{x} = getelementptr i8, ptr %b{x}, i64 {own}")
            pointers.append(f"ptr %j{x}")
        arguments = ", ".join(pointers)
        self.lines.append(
            f'  %r{n} = call i1 @"{self.name}.{call.function}"(i64 {counter}, {arguments})'
        )
        return f"%r{n}"

    def _own(self, port: str, offset: str) -> str:
        """The offset of this thread's share of a tile: all of it."""
        return offset
