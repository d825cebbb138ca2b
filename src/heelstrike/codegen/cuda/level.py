"""Blocks of a program by its loops, each under the guards around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heelstrike.codegen.cuda.called import CallBoundary, is_called
from heelstrike.codegen.cuda.units import guarded_code
from heelstrike.ir.code import Advance, Code, Guard, Item, Place, Repeat, flatten

MIN_GUARDED = 40
"""Operations under a guard, at least; fewer are done for every world, whether it needs them or not:
a branch costs as much."""


@dataclass(frozen=True)
class Loop:
    """A loop of a program."""

    loop: Repeat
    start: Code
    level: Level
    """Work of a round."""

    @property
    def end(self) -> Advance:
        end = self.loop.body[-1]
        assert isinstance(end, Advance)
        return end


Level = list[list[Code] | Loop]
"""Blocks before a loop, the loop, blocks after it, and so on."""


def by_loops(items: Sequence[Item], boundary: CallBoundary, needs: tuple[Place, ...] = ()) -> Level:
    """Return the items by loops; some are called (called.py).

    Blocks are under the guards of these needs, and under those of the items.
    """
    found: Level = [[]]
    for item in items:
        run = found[-1]
        assert isinstance(run, list)
        if isinstance(item, Code):
            run.append(guarded_code(item, needs))
            continue
        if is_called(item):
            own = (*needs, item.need) if isinstance(item, Guard) else needs
            inside = item.body if isinstance(item, Guard) else (item,)
            run.append(guarded_code(boundary.called(inside), own))
            continue
        if isinstance(item, Guard):
            own = (*needs, item.need) if _is_worth_a_branch(item) else needs
            first, *rest = by_loops(item.body, boundary, own)
            assert isinstance(first, list)
            run += first
            found += rest
            continue
        assert isinstance(item, Repeat)
        inner, start = by_loops(item.body[:-1], boundary), run.pop()
        found += [Loop(item, start, inner), []]
    return found


def _is_worth_a_branch(guard: Guard) -> bool:
    """Return whether blocks are skipped; those around a loop, which all warps make, are not."""
    inside = flatten(guard)
    loops = any(isinstance(item, Advance) for item in inside)
    return not loops and sum(item.size for item in inside) >= MIN_GUARDED


def positions(level: Level) -> dict[int, int]:
    """Return the number of each block in the order of the program, by the block's identity."""
    return {id(code): k for k, code in enumerate(all_codes(level))}


def all_codes(level: Level) -> Iterator[Code]:
    """Yield all blocks in the order of the program, with the starts of loops."""
    for part in level:
        if isinstance(part, Loop):
            yield part.start
            yield from all_codes(part.level)
        else:
            yield from part


def runs(level: Level) -> Iterator[list[Code]]:
    for part in level:
        if isinstance(part, Loop):
            yield from runs(part.level)
        else:
            yield part


def loops(level: Level) -> Iterator[Loop]:
    for part in level:
        if isinstance(part, Loop):
            yield part
            yield from loops(part.level)
