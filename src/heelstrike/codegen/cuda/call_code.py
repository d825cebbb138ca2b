"""Code of what is called with a warp per limb (called.py): functions, their frame, their calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from heelstrike.codegen.calls import CallEmitter, functions_of, grouped
from heelstrike.codegen.cuda.called import CalledCode
from heelstrike.codegen.cuda.module import WARP
from heelstrike.codegen.cuda.schedule import Rounds, Schedule, segments
from heelstrike.codegen.entry import Branch, Call, Cycle, Entry, Plan
from heelstrike.codegen.frame import Group, GuardTest, scratch_frame
from heelstrike.codegen.lanes import Lanes
from heelstrike.codegen.passes.sharing import share
from heelstrike.codegen.real import Real
from heelstrike.ir.code import TracedProgram, flatten

FRAME = "%called"
"""Frame of a thread, in local memory."""


class CalledFunctions:
    """Functions of all that is called, and where their values are in the frame."""

    def __init__(self, program: TracedProgram, plan: Schedule, real: Real, fast: bool) -> None:
        parts = list(_parts(plan))
        codes = [code for part in parts for code in part]
        self.real = real
        self.tables = {port.array for port in program.tables}
        """Ports that all worlds share."""
        items = [x for code in codes for item in code.items for x in flatten(item)]
        used = {place.array for x in items for place in (*x.reads, *x.writes)}
        arrays = [array for array in program.arrays if array.name in used]
        names = {array.name for array in program.arrays}
        shared = share([code.items for code in codes], names, WARP)
        groups = {id(code): grouped(own) for code, own in zip(codes, shared, strict=True)}
        lives = [
            [group for code in part for group in (*_functions(groups[id(code)]), _copied(code))]
            for part in parts
        ]
        self.frame = scratch_frame(lives, arrays)
        emitter = CallEmitter(
            program.name,
            program.constants,
            self.frame,
            lambda: Lanes(1, real, None, WARP, "fast " if fast else ""),
        )
        self._plans = {id(code): emitter.plan(groups[id(code)]) for code in codes}
        self._numbers = {id(code): k for k, code in enumerate(codes)}
        self._name = program.name
        self.texts = [*emitter.tables, *emitter.texts]
        self.intrinsics = emitter.intrinsics

    def alloca(self) -> list[str]:
        """Return the allocation of the frame, if there is one."""
        if not self._plans:
            return []
        return [f"  {FRAME} = alloca [{max(self.frame.size, 1)} x {self.real.name}], align 16"]

    def ports(self, code: CalledCode) -> list[str]:
        """Return the ports that the functions of a call take."""
        return list(dict.fromkeys(_ports(self._plans[id(code)])))

    def lines(self, code: CalledCode, label: str, pointers: Mapping[str, str]) -> list[str]:
        """Return the calls, after the basic block `label`; the last label is the one to go on."""
        number = self._numbers[id(code)]
        return _Sequence(self._name, f"c{number}.", pointers).text_after(
            label, self._plans[id(code)]
        )


class _Sequence(Entry):
    """Emits calls in the middle of a kernel."""

    def __init__(self, name: str, prefix: str, pointers: Mapping[str, str]) -> None:
        super().__init__(name, [], set(), 0, 1)
        self.prefix, self.pointers = prefix, pointers

    def text_after(self, label: str, plan: Plan) -> list[str]:
        self.lines = [f"{label}:"]
        for entry in plan:
            self._work(entry, "0", FRAME, "0")
        return self.lines[1:]

    def _new(self) -> str:
        return self.prefix + super()._new()

    def _call(self, call: Call, tile: str, frame: str, counter: str) -> str:
        n = self._new()
        arguments = ", ".join(f"ptr {p}" for p in (frame, *(self.pointers[x] for x in call.ports)))
        self.lines.append(
            f'  %r{n} = call i1 @"{self.name}.{call.function}"(i64 {counter}, {arguments})'
        )
        return f"%r{n}"


def _parts(plan: Schedule) -> Iterator[list[CalledCode]]:
    """Yield what is called, by parts whose values must not share places of the frame."""
    for part in plan.parts:
        rows = [row for segment in segments([part]) for row in segment.phases]
        found = [u.called for row in rows for units in row for u in units if u.called is not None]
        if isinstance(part, Rounds):
            yield found
        else:
            yield from ([code] for code in found)
    if plan.late is not None:
        yield [plan.late]


def _functions(entries: Sequence[object]) -> list[Group]:
    return [group for entry in entries for group in functions_of(entry)]


def _copied(code: CalledCode) -> Group:
    """Return uses of what is copied, so that the frame has places for it."""
    places = dict.fromkeys((*code.reads, *code.writes))
    return tuple(GuardTest(place) for place in places)


def _ports(plan: Plan) -> Iterator[str]:
    for entry in plan:
        if isinstance(entry, Call):
            yield from entry.ports
        elif isinstance(entry, Branch):
            yield from entry.test.ports
            yield from _ports(entry.calls)
        else:
            assert isinstance(entry, Cycle)
            yield from _ports(entry.calls)
