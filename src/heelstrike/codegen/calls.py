"""Functions of a list of items, and the order in which they are called.

Items are grouped into LLVM functions of a size that compiles fast. Loops, guards and shared blocks
have functions of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from heelstrike.codegen.entry import Branch, Call, Cycle, Plan
from heelstrike.codegen.frame import Group, GuardTest, ScratchFrame
from heelstrike.codegen.function import FunctionEmitter
from heelstrike.codegen.lanes import Lanes
from heelstrike.codegen.shared_function import SharedFunction
from heelstrike.ir.code import Guard, Item, Repeat, SharedCode, Template

FUNCTION_SIZE = 1500
"""Operations after which a new LLVM function begins: LLVM's time grows faster than the function."""

Grouped = list["Group | tuple[Repeat, Grouped] | tuple[Guard, Group, Grouped]"]


def grouped(items: Sequence[Item]) -> Grouped:
    """Group consecutive items that share an LLVM function; loops have groups of their own.

    A guard has groups of its own too. The group before it ends with its test.
    """
    entries: Grouped = []
    size = FUNCTION_SIZE + 1
    for item in items:
        if isinstance(item, Repeat):
            entries.append((item, grouped(item.body)))
            size = FUNCTION_SIZE + 1
        elif isinstance(item, Guard):
            before = entries.pop() if size <= FUNCTION_SIZE else ()
            entries.append((item, (*before, GuardTest(item.need)), grouped(item.body)))
            size = FUNCTION_SIZE + 1
        elif isinstance(item, SharedCode):
            if entries and _continues(entries[-1], item):
                entries[-1] = (*entries[-1], item)
            else:
                entries.append((item,))
            size = FUNCTION_SIZE + 1
        elif size + item.size > FUNCTION_SIZE:
            entries.append((item,))
            size = item.size
        else:
            entries[-1] = (*entries[-1], item)  # type: ignore[arg-type]
            size += item.size
    return entries


def _continues(entry: object, item: SharedCode) -> bool:
    """Return whether a shared block may be called in one loop with those before it."""
    last = entry[-1] if isinstance(entry, tuple) else None
    if not isinstance(last, SharedCode):
        return False
    next_row = last.template is item.template and last.row + 1 == item.row
    return next_row and last.ports == item.ports


def functions_of(entry: object) -> list[Group]:
    """Return the groups of an entry: one, all of a loop or guard, or one for each shared block."""
    assert isinstance(entry, tuple)
    if isinstance(entry[0], Repeat):
        return [group for inner in entry[1] for group in functions_of(inner)]
    if isinstance(entry[0], Guard):
        return [entry[1], *(group for inner in entry[2] for group in functions_of(inner))]
    if isinstance(entry[0], SharedCode):
        return [(item,) for item in entry]
    return [entry]


class CallEmitter:
    """Emits the functions, and returns in which order they are called."""

    def __init__(
        self,
        name: str,
        constants: Iterable[str],
        frame: ScratchFrame,
        lanes: Callable[[], Lanes],
    ) -> None:
        """Prepare a module; `name` is the program's, `constants` are the names of its tables."""
        self.name = name
        self.frame = frame
        self.lanes = lanes
        self.constants = {name: f'@"{name}"' for name in constants}
        self.texts: list[str] = []
        self.tables: list[str] = []
        """Tables of shared functions."""
        self.shared: dict[Template, int] = {}
        """Functions of templates."""
        self.intrinsics: set[str] = set()

    def plan(self, entries: Grouped) -> Plan:
        return tuple(self._entry(entry) for entry in entries)

    def _entry(self, entry: object) -> Call | Cycle | Branch:
        assert isinstance(entry, tuple)
        if isinstance(entry[0], Repeat):
            return Cycle(entry[0].limit, entry[0].until, self.plan(entry[1]))
        if isinstance(entry[0], Guard):
            return Branch(self._call(entry[1]), self.plan(entry[2]))
        if isinstance(entry[0], SharedCode):
            first, last = entry[0], entry[-1]
            call = Call(self._shared(first), first.ports)
            return Cycle(last.row + 1, False, (call,), first.row)
        return self._call(entry)

    def _call(self, group: Group) -> Call:
        lanes = self.lanes()
        emitter = FunctionEmitter(lanes, self.frame, self.constants)
        emitter.emit(group)
        number = self._function(lanes, emitter.ports.values(), emitter.answer)
        return Call(number, tuple(emitter.ports))

    def _shared(self, code: SharedCode) -> int:
        """Return the function of a shared block's template, which is emitted if it was not yet."""
        if code.template not in self.shared:
            lanes = self.lanes()
            function = SharedFunction(code.template, self.frame)
            name = f"{self.name}.{len(self.texts)}"
            self.tables.append(function.emit(name, lanes))
            ports = [f"%port{k}" for k in range(len(code.ports))]
            self.shared[code.template] = self._function(lanes, ports, "false")
        return self.shared[code.template]

    def _function(self, lanes: Lanes, ports: Iterable[str], result: str) -> int:
        """Add a function to the module, and return its number."""
        self.intrinsics |= lanes.intrinsics
        number = len(self.texts)
        pointers = ", ".join(f"ptr noalias {name}" for name in ("%frame", *ports))
        body = "\n".join(lanes.lines)
        self.texts.append(
            f'define internal i1 @"{self.name}.{number}"(i64 %counter, {pointers}) #0 {{\n'
            f"{body}\n  ret i1 {result}\n}}"
        )
        return number
