"""Units of work on a GPU: packed blocks, one for each member of a group, and their guards.

A guard does not divide the schedule. Each unit under it is placed like any other, and the warp that
computes it first asks whether one of its 32 worlds needs it. Limbs that stand under guards of their
own therefore run side by side, and every barrier is outside the branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from heelstrike.codegen.cuda.called import CalledCode
from heelstrike.codegen.passes.packing import pack_blocks
from heelstrike.ir.code import Code, PackedCode, Place

Places = tuple[Place, ...]
"""Location of a value of a group: one place for each member."""


@dataclass(frozen=True)
class GuardedCode(Code):
    """A block under guards; their needs are also the last of its reads."""

    needs: tuple[Place, ...]
    """Needs of the guards, that of the outermost first."""
    block: Code
    """The block alone."""

    @property
    def size(self) -> int:
        return self.block.size


@dataclass(frozen=True)
class Unit(PackedCode):
    """Packed blocks of the members of a group; the needs of guards are the last of `read`."""

    codes: tuple[Code, ...]
    """Blocks, one for each member."""
    needs: tuple[Places, ...]
    """Needs of the guards, those of the outermost first."""
    called: CalledCode | None = None
    """Items that are called in place of operations."""
    defaults: tuple[tuple[Places, tuple[Places, ...]], ...] = ()
    """Needs of guards outside which the unit stands, and inputs that are 0 where these are skipped
    (defaults.py)."""

    @property
    def size(self) -> int:
        return super().size if self.called is None else self.called.size


def guarded_code(code: Code, needs: tuple[Place, ...]) -> Code:
    """Return a block under guards."""
    if not needs:
        return code
    return GuardedCode(code.tag, code.graph, (*code.reads, *needs), code.writes, needs, code)


def needs_of(code: Code) -> tuple[Place, ...]:
    """Return the needs of the guards around a block, that of the outermost first."""
    return code.needs if isinstance(code, GuardedCode) else ()


def called_code(code: Code) -> CalledCode | None:
    """Return the items that are called in place of a block, under guards or not."""
    alone = code.block if isinstance(code, GuardedCode) else code
    return alone if isinstance(alone, CalledCode) else None


def pack_unit(codes: Sequence[Code]) -> Unit | None:
    """Return the blocks as a unit; None if their operations or the numbers of guards differ.

    Items that are called are alone in their unit.
    """
    needs = [needs_of(code) for code in codes]
    if len({(len(code.writes), len(own)) for code, own in zip(codes, needs, strict=True)}) > 1:
        return None
    shared = tuple(zip(*needs, strict=True))
    if any(found := [called_code(code) for code in codes]):
        if len(codes) > 1:
            return None
        read, written = (
            tuple((p,) for p in places) for places in (codes[0].reads, codes[0].writes)
        )
        return Unit(codes[0].graph, read, written, tuple(codes), shared, found[0])
    if (packed := pack_blocks(codes)) is None:
        return None
    return Unit(packed.graph, (*packed.read, *shared), packed.written, tuple(codes), shared)


def are_independent(codes: Sequence[Code]) -> bool:
    """Return whether no block reads or writes what another one writes."""
    writes = [set(code.writes) for code in codes]
    touched = [own.union(code.reads) for own, code in zip(writes, codes, strict=True)]
    return all(
        writes[a].isdisjoint(touched[b]) and writes[b].isdisjoint(touched[a])
        for a, b in combinations(range(len(codes)), 2)
    )
