"""Functions of a kernel that stand apart from the code which every step executes.

A multiprocessor caches about 128 kB of instructions and fetches ahead along the code, also into
what guards skip (benchmarks/gpu.md). So the work under a guard is a function outside the code of
the kernel, and so is the work of a strided group, which all warp groups then share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from heelstrike.codegen.cuda.registers import MAX_REGISTER_CELLS
from heelstrike.codegen.cuda.units import Unit

MIN_APART = 20
"""Operations under a guard, at least, that get a function; fewer take less than its call."""
IN_SPACE = ".in.space"
"""End of the name of a pointer that knows its address space, beside the generic one."""
GLOBAL, LOCAL = 1, 5
"""Address spaces."""


class Argument(NamedTuple):
    """What a function takes: its LLVM type, its name there and where it is called."""

    kind: str
    inside: str
    outside: str

    @classmethod
    def same(cls, kind: str, name: str) -> Argument:
        """Return an argument that has the same name on both sides."""
        return cls(kind, name, name)

    @classmethod
    def pointer(cls, space: int, name: str) -> Argument:
        """Return a pointer that is generic on both sides, and passed with its address space.

        Without that, loads would be generic, which are slower.
        """
        return cls.same(f"ptr addrspace({space})", name + IN_SPACE)

    def generic(self) -> list[str]:
        """Return the line that makes a pointer generic inside, if it is one of `pointer`."""
        name = self.inside.removesuffix(IN_SPACE)
        cast = f"  {name} = addrspacecast {self.kind} {self.inside} to ptr"
        return [] if name == self.inside else [cast]


class ApartFunctions:
    """Functions that return nothing: what they compute is in memory."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._names: dict[object, str] = {}

    def call(
        self,
        arguments: Sequence[Argument],
        code: Callable[[], Sequence[str]],
        key: object | None = None,
    ) -> str:
        """Return the call of a function of this code, which begins in the basic block "entry".

        Functions of one key are one function.
        """
        key = object() if key is None else key
        if key not in self._names:
            name = self._names[key] = f'@"apart{len(self._names)}"'
            listed = ", ".join(f"{own.kind} {own.inside}" for own in arguments)
            casts = [line for own in arguments for line in own.generic()]
            head = [f"define internal void {name}({listed}) #0 {{", "entry:", *casts]
            self.texts += [*head, *code(), "  ret void", "}"]
        passed = ", ".join(f"{own.kind} {own.outside}" for own in arguments)
        return f"  call void {self._names[key]}({passed})"


def allows_apart(cells: int) -> bool:
    """Return whether guards may get functions, with so many values that branches change.

    If these are in registers, each call would save them.
    """
    return not 0 < cells <= MAX_REGISTER_CELLS


def is_long(units: Sequence[Unit]) -> bool:
    """Return whether units under a guard are worth a function; what is called has its own."""
    return all(unit.called is None for unit in units) and sum(u.size for u in units) >= MIN_APART
