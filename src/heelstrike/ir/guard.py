"""Guards: statements that are executed only if a lane needs them.

    count = p.variable("count", SX(0))            # in a block
    with guarded(p, "limb", need=touches) as limb:
        with p.block("limb"):
            force = p.let("force", ...)           # can be read inside the guard only
            p.assign(count, count + 1)            # in lanes whose need is not 0
            push = limb.leave("push", force)      # for use outside: force there, 0 in other lanes
    # here `count` is 1 in lanes that touch, 0 in others
    with reopened(p, limb):
        with p.block("later"):
            ...                                   # may read `force`

A guard is skipped where no lane of the tile needs it. Its results leave it by `assign` and `leave`,
which select lane by lane, so a lane's bits do not depend on what its neighbours need. Guards may be
nested, stand in loops, and contain loops. What is made inside one is known again where it is
reopened, and in guards `within` it: their lanes are among its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import casadi as ca

from heelstrike.errors import ProgramError
from heelstrike.ir.block import SX, Block, BlockTag, GuardBlock, dense
from heelstrike.ir.code import Place
from heelstrike.ir.program import Program
from heelstrike.ir.scope import Scope, both, first_block


class OpenGuard(Scope):
    """A guard under construction, or one that may be reopened."""

    def __init__(
        self, p: Program, name: str, need: SX | None, within: OpenGuard | None = None
    ) -> None:
        """`need` is None where `within` is reopened."""
        super().__init__(p, name)
        p.check_no_block(f"guard '{name}'")
        self.within = within
        self.first: OpenGuard = self if need is not None or within is None else within.first
        """Guard that this one reopens; itself if it is new."""
        self.start = Block(BlockTag(f"start of {name}"))
        """Block before the guard with the values that results have in lanes that do not need it."""
        lanes = self.outer.active() if self.outer else None
        for own in (None if within is None else within.active(), need):
            lanes = lanes if own is None else both(lanes, self._scalar(own))
        assert lanes is not None
        self._active = lanes
        if not self._stays(lanes):
            self._active, block = first_block(p, f"need of {name}", lanes)
            p.add(block)

    def _stays(self, lanes: SX) -> bool:
        """Return whether lanes are a value of a block, which no later one changes."""
        place = self.p.known_place(lanes) if lanes.is_symbolic() else None
        return place is not None and place.array is None and place not in self.p.variables

    def _scalar(self, need: SX) -> SX:
        need = dense(need)
        if need.numel() != 1:
            raise ProgramError(
                f"the need of guard '{self.name}' has {need.numel()} entries",
                value=need.numel(),
                allowed="one entry",
            )
        return need

    @property
    def need(self) -> Place:
        return self.p.place_of(self._active, self.name)

    def active(self) -> SX:
        return self._active

    def home(self) -> Scope:
        return self.first

    def knows(self, home: Scope) -> bool:
        if home in (self, self.first):
            return True
        outer = self.within
        while outer is not None:
            if outer.knows(home) or any(scope.knows(home) for scope in outer.around()):
                return True
            outer = outer.within
        return False

    def leave(self, name: str, value: SX, otherwise: float = 0.0) -> SX:
        """Return symbols for use outside: `value` in lanes that need the guard, else `otherwise`.

        Inside a block of the guard. Entries that are that constant anyway stay constants.
        """
        value = dense(value)
        entries = value.nonzeros()
        new = [k for k, entry in enumerate(entries) if not _is(entry, otherwise)]
        if not new:
            return value
        symbols, places = self.p.new_values(name, len(new))
        self.p.declare_outside(places, self)
        self.start.results += [(place, SX(otherwise)) for place in places]
        self.p.assign(symbols, ca.vertcat(*(entries[k] for k in new)))
        if len(new) == len(entries):
            return symbols if value.is_column() else ca.reshape(symbols, value.shape)
        left = SX(value)  # a copy
        left.nz[new] = symbols
        return left

    def trace(self) -> Iterator[OpenGuard]:
        """Collect the statements of the guard, and add it to the program.

        What follows a guard of the same need at once is added to that, so that it is tested once.
        """
        with self.collect():
            yield self
        statements = self.p.statements
        last = statements.pop() if statements else None
        if not isinstance(last, GuardBlock) or last.need != self.need:
            statements += [] if last is None else [last]
            last = GuardBlock(self.name, self.need, [])
        if self.start.results:
            self.p.add(self.start)
        last.statements += self.statements
        statements.append(last)


def _is(entry: SX, number: float) -> bool:
    return bool(entry.is_constant()) and float(entry) == number


@contextmanager
def guarded(
    p: Program, name: str, need: SX, within: OpenGuard | None = None
) -> Iterator[OpenGuard]:
    """Trace statements that are executed if a lane has need != 0; outside blocks.

    With `within`, only lanes that need that guard too; what was made inside it can be read.
    """
    yield from OpenGuard(p, name, need, within).trace()


def left(p: Program, guard: OpenGuard | None, name: str, value: SX) -> SX:
    """Return a value for use outside a guard, 0 in other lanes; of no guard, as a let."""
    return p.let(name, value) if guard is None else guard.leave(name, value)


@contextmanager
def reopened(p: Program, guard: OpenGuard | None) -> Iterator[OpenGuard | None]:
    """Trace further statements of a guard that was closed; of no guard if it is None."""
    if guard is None:
        yield None
    else:
        yield from OpenGuard(p, guard.name, None, guard).trace()
