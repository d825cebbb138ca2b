"""Planning of a GPU's warps, where a block slice computes 32 worlds and each limb has a warp.

Work is done in phases with a barrier after each. In a phase a warp works on its limb, and on its
share of the strided groups' members. All warps make the rounds of a loop together: each starts it
by itself, and the group that computes a carried value's next value also carries it. Blocks under
guards are spread like any others (units.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from graphlib import CycleError

from heelstrike.codegen.cuda.called import CallBoundary, CalledCode
from heelstrike.codegen.cuda.defaults import Defaults
from heelstrike.codegen.cuda.groups import Groups, strided_groups
from heelstrike.codegen.cuda.level import Level, Loop, all_codes, by_loops, loops, positions, runs
from heelstrike.codegen.cuda.limbs import ROOT, limbs, warp_groups
from heelstrike.codegen.cuda.module import WARP
from heelstrike.codegen.cuda.registers import MAX_REGISTER_CELLS
from heelstrike.codegen.cuda.schedule import (
    TOGETHER,
    Part,
    Rounds,
    Schedule,
    Segment,
    assign_phases,
)
from heelstrike.codegen.cuda.shared_memory import (
    ALWAYS,
    Private,
    assign_slots,
    lifetimes,
    lives,
    private_values,
    recorded,
    taken_early,
)
from heelstrike.codegen.cuda.units import Places, Unit, called_code, pack_unit
from heelstrike.codegen.cuda.variables import changing_values
from heelstrike.ir.code import (
    Advance,
    Code,
    TracedProgram,
    flatten,
    next_of,
)
from heelstrike.ir.graph import Graph

MANY_CELLS = 64
"""Values of a warp group that branches change, from which on registers are scarce: the addresses of
ports are then in shared memory."""
SHARED = 113 * 1024 + 512
"""Shared memory for 32 worlds [bytes] of which a block may have two."""
MAX_SHARED = 227 * 1024
"""Shared memory of a multiprocessor [bytes], from Hopper on."""
LONG_LIVED = 64
"""Values of the root block that go to local memory first where shared memory is scarce."""
HOPPER = 90
"""Number of Hopper's architecture, sm_90."""


def schedule(
    program: TracedProgram, size: int = 4, most: int = MAX_SHARED, few: bool = False
) -> Schedule | None:
    """Return a schedule, or None if the program has no limbs, or calls (called.py) in a loop.

    Args:
        program: The traced program.
        size: Size of a value [bytes].
        most: Largest shared memory of a block slice [bytes]; None is returned where it is too
            small.
        few: Whether loops may call: all warps then wait for the one that does. That is faster than
            a thread per world where the GPU has few worlds for each multiprocessor.
    """
    nexts = {next_of(port.name) for port in program.memory}
    simple = all(isinstance(x, Code) for item in program.record for x in flatten(item))
    if not simple or program.commit is None:
        return None
    boundary = CallBoundary(program)
    arrays = {array.name for array in program.arrays} - nexts
    if any(place.array in arrays for place in boundary.read | boundary.written):
        return None
    level = by_loops(program.step, boundary)
    in_loops = [code for loop in loops(level) for code in all_codes(loop.level)]
    if not few and any(called_code(code) is not None for code in in_loops):
        return None
    late = boundary.called(program.late) if program.late else None
    planners: dict[Strided, _Planner | None] = {}
    for strided, local, limit in (
        *((Strided.LONG, local, SHARED) for local in Local),
        *((Strided.ALL, local, SHARED) for local in Local),
        (Strided.NONE, Local.STRIDED, SHARED),
        (Strided.ALL, Local.STRIDED, most),
        (Strided.NONE, Local.STRIDED_AND_ROOT, SHARED),
        (Strided.NONE, Local.STRIDED_AND_ROOT, most),
    ):
        if strided not in planners:
            planners[strided] = _planner(program, level, late, nexts, strided)
        planner = planners[strided]
        if planner is not None:
            plan = planner.plan(local)
            if plan.values * WARP * size <= limit:
                return plan
    return None


def _planner(
    program: TracedProgram,
    level: Level,
    late: CalledCode | None,
    nexts: set[str],
    strided: Strided,
    sparse: bool = False,
) -> _Planner | None:
    """Return a planner with some strided groups; None if the blocks cannot be spread.

    A `sparse` one leaves zeros of guards alone that are skipped, as planners of programs with more
    such values than registers do.
    """
    codes = [code for run in runs(level) for code in run]
    tree = list(loops(level))
    carried = {old: new for loop in tree for old, new in loop.end.carried}
    found = [] if strided is Strided.NONE else strided_groups(codes, strided is Strided.LONG)
    taken = {id(code) for group in found for unit in group for code in unit.codes}
    own = [code for code in codes if id(code) not in taken]
    limb_of = limbs(own, carried, nexts)
    if ROOT not in limb_of.values() or len(set(limb_of.values())) < 3:
        return None
    blocks: dict[int, list[Code]] = {}
    for code in own:
        blocks.setdefault(limb_of[id(code)], []).append(code)
    ends = [loop.end for loop in tree]
    own_groups, position = warp_groups(blocks), positions(level)
    added: dict[int, list[Unit]] = {}
    if sparse:
        alone = {id(code) for run in level if not isinstance(run, Loop) for code in run}
        fixed = recorded(program, late) | {place for end in ends for place in end.reads}
        changed = Defaults([*own_groups, *found], len(own_groups), position, alone, fixed)
        own_groups = changed.units[: len(own_groups)]
        position, added = changed.position, changed.added
    groups = Groups(program, own_groups, found, ends, position, late)
    try:
        planner = _Planner(groups, level, added)
    except (CycleError, _Unfit):
        return None
    if not sparse and planner.most_cells > MAX_REGISTER_CELLS:
        return _planner(program, level, late, nexts, strided, sparse=True) or planner
    return planner


class Strided(Enum):
    """Work that strided groups do."""

    NONE = auto()
    LONG = auto()
    """Long work: little work is faster in the limbs, but may take more shared memory there."""
    ALL = auto()


class Local(Enum):
    """Groups whose private values are in local memory, so that they take no shared memory.

    They are tried in this order.
    """

    NOTHING = auto()
    STRIDED = auto()
    STRIDED_AND_LONG_LIVED = auto()
    """Also those of the root block that take their slots the longest."""
    STRIDED_AND_ROOT = auto()


class _Unfit(Exception):
    """A loop whose work or carried values groups cannot take."""


class _Planner:
    """A schedule under construction."""

    def __init__(self, groups: Groups, level: Level, added: Mapping[int, list[Unit]]) -> None:
        """`added` are units that follow others, by the identity of the latter's first block."""
        self.groups = groups
        self.unit_of = {
            id(code): unit for own in groups.units for unit in own for code in unit.codes
        }
        self.added = added
        self.parts = self._parts(level)
        self.early = taken_early(groups, self.parts)
        changing = changing_values(groups, self.parts)
        self.needed = lifetimes(groups, self.parts, self.early, changing)
        """Values in memory, and when they are needed."""
        near = [
            [w for w in own if group < groups.root and self.needed.keys().isdisjoint(w)]
            for group, own in enumerate(changing)
        ]
        self.cells = [
            _local_indices(lives(groups, self.parts, own), units)
            for own, units in zip(near, groups.units, strict=True)
        ]

    @property
    def most_cells(self) -> int:
        """Largest number of cells of a warp group."""
        return max(k + 1 for own in self.cells for k in (-1, *own.values()))

    def plan(self, local: Local) -> Schedule:
        """Return the schedule; private values of the groups that it names are in local memory.

        Then inputs have no copy in shared memory.
        """
        groups, parts, needed = self.groups, self.parts, dict(self.needed)
        program = groups.program
        ports = len(program.inputs) + len(program.tables) + len(program.memory)
        private: list[Private] = [{} for _ in groups.units]
        inputs = groups.inputs
        if local is not Local.NOTHING:
            first = groups.root + (local is Local.STRIDED)
            private = private_values(groups, parts, needed, first)
            if local is Local.STRIDED_AND_LONG_LIVED:
                private[groups.root] = _longest_lived(private[groups.root])
            inputs = [[] for _ in groups.units]
        for places in (places for values in private for places in values):
            for place in places:
                del needed[place]
        for places in (places for values in inputs for places in values):
            needed |= dict.fromkeys(places, ALWAYS)
        rows = [
            places
            for units in reversed(groups.units)
            for unit in units
            for places in (*unit.written, *unit.read)
        ]
        return Schedule(
            groups.sizes[: groups.root],
            groups.sizes[groups.root :],
            groups.host,
            parts,
            assign_slots(needed, rows),
            [
                _local_indices(values, units)
                for values, units in zip(private, groups.units, strict=True)
            ],
            self.cells,
            self.early,
            groups.memory,
            inputs,
            groups.late,
            ports if self.most_cells > MANY_CELLS else 0,
        )

    def _parts(self, level: Level) -> list[Part]:
        """Return the parts of a level."""
        parts: list[Part] = []
        units: list[Unit] = []
        for part in level:
            if not isinstance(part, Loop):
                found = {id(unit): unit for code in part if (unit := self.unit_of.get(id(code)))}
                if sum(len(unit.codes) for unit in found.values()) > len(part):
                    raise _Unfit  # packed with blocks of another loop
                for unit in found.values():
                    units += [unit, *self.added.get(id(unit.codes[0]), ())]
                continue
            carried = self.groups.carried(part.end)
            starts = self._starts(part.end, carried, part.start)
            rounds = Rounds(part.loop, carried, self._parts(part.level))
            parts += [self._segment([*units, *starts]), rounds]
            units = []
        return [*parts, self._segment(units)] if units else parts

    def _segment(self, units: list[Unit]) -> Segment:
        return Segment(assign_phases(self.groups, units))

    def _starts(
        self, end: Advance, carried: Sequence[Sequence[tuple[Places, Places]]], start: Code
    ) -> list[Unit]:
        """Return a loop's start for each group: what it carries.

        Warp groups also start with whether a world is done.
        """
        groups = self.groups
        assert end.done is not None
        made = sum(size * len(own) for size, own in zip(groups.sizes, carried, strict=True))
        if made != len(end.carried):
            raise _Unfit
        where = {place: k for k, place in enumerate(start.writes)}
        found = []
        for group, pairs in enumerate(carried):
            own = [old for old, _ in pairs]
            if group < groups.root:
                own.append((end.done[0],) * groups.sizes[group])
            if group == groups.host and end.rounds is not None:
                own.append((end.rounds,) * groups.sizes[group])
            if not own:
                continue
            codes = []
            for member in range(groups.sizes[group]):
                writes = tuple(old[member] for old in own)
                outputs = tuple(start.graph.outputs[where[place]] for place in writes)
                graph = Graph(start.graph.operations, outputs)
                codes.append(Code(start.tag, graph, start.reads, writes))
            if (unit := pack_unit(codes)) is None:
                raise _Unfit
            found.append(unit)
            groups.add(unit, group, groups.position[id(start)])
        return found


def _longest_lived(private: Private) -> Private:
    """Return the values that are needed over most phases."""
    found = sorted(private.items(), key=lambda item: item[1].first - item[1].last)
    return dict(found[:LONG_LIVED])


def _local_indices(private: Private, units: Sequence[Unit]) -> dict[Places, int]:
    """Return the index of each private value in its member's local memory.

    What a unit writes lies side by side where possible.
    """
    rows = [tuple(w[0] for w in unit.written if w in private) for unit in units]
    found = assign_slots({places[0]: life for places, life in private.items()}, rows, TOGETHER)
    return {places: found[places[0]] for places in private}
