"""Guards: statements that are executed only if a lane needs them.

    count = p.variable("count", SX(0))            # in a block
    with guarded(p, "limb", need=touches):
        with p.block("limb"):
            force = p.let("force", ...)           # can be read inside the guard only
            p.assign(count, count + 1)            # in lanes whose need is not 0
    # here `count` is 1 in lanes that touch, 0 in others

A guard is skipped where no lane of the tile needs it. Its results leave it by `assign` alone, which
selects lane by lane, so a lane's bits do not depend on what its neighbours need. Guards may be
nested, stand in loops, and contain loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from heelstrike.errors import ProgramError
from heelstrike.ir.block import SX, GuardBlock
from heelstrike.ir.code import Place
from heelstrike.ir.program import Program
from heelstrike.ir.scope import Scope, both, first_block


class OpenGuard(Scope):
    """A guard under construction."""

    def __init__(self, p: Program, name: str, need: SX) -> None:
        super().__init__(p, name)
        p.check_no_block(f"guard '{name}'")
        if SX(need).numel() != 1:
            raise ProgramError(
                f"the need of guard '{name}' has {SX(need).numel()} entries",
                value=SX(need).numel(),
                allowed="one entry",
            )
        lanes = both(self.outer.active() if self.outer else None, SX(need))
        self._active, block = first_block(p, f"need of {name}", lanes)
        p.add(block)

    @property
    def need(self) -> Place:
        return self.p.place_of(self._active, self.name)

    def active(self) -> SX:
        return self._active


@contextmanager
def guarded(p: Program, name: str, need: SX) -> Iterator[None]:
    """Trace statements that are executed if a lane has need != 0; outside blocks."""
    guard = OpenGuard(p, name, need)
    with guard.collect():
        yield
    p.statements.append(GuardBlock(name, guard.need, guard.statements))
