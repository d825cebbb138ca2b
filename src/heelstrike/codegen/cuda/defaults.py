"""Values that are 0 unless a guard runs: a warp that skips the guard neither stores nor loads them.

Results of a guard start as 0, in case it is skipped, and are read after it. Where they are too many
for registers, most of the memory that a step touches would be zeros of bodies that touch nothing.
Instead a unit under the guard stores these zeros, and units outside ask whether the warp ran it.

A value qualifies if an unguarded unit makes it the constant 0 before any loop, all other units that
write it are under one guard, whose need is known before the first of them, and all that read or
write it belong to one warp group or to the root block. A guard within another one, or reopened in a
loop, has a need that is a conjunction with the other's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from heelstrike.codegen.cuda.units import Places, Unit, guarded_code, pack_unit
from heelstrike.ir.block import BlockTag
from heelstrike.ir.code import Code, Place
from heelstrike.ir.graph import Graph
from heelstrike.ir.operations import CONST, INPUT, Operation

Makers = Mapping[Places, tuple[Unit, int]]
"""The unit that makes each value that is made once, and its number among the unit's results."""


class Defaults:
    """Units of each group, whose results of guards are stored and loaded where the guards run."""

    def __init__(
        self,
        groups: Sequence[Sequence[Unit]],
        count: int,
        position: Mapping[int, int],
        before_loops: Collection[int],
        fixed: Collection[Place],
    ) -> None:
        """Change the first `count` groups.

        `position` is that of each block in the program, by identity; `before_loops` are the
        identities of the blocks outside loops, `fixed` values that are not for units alone.
        """
        self.position = dict(position)
        self.added: dict[int, list[Unit]] = {}
        """Units that store zeros, by the identity of the unit that makes the guard's need."""
        made = Counter(p for units in groups for unit in units for p in unit.writes)
        self._makers: Makers = {
            places: (unit, k)
            for units in groups
            for unit in units
            for k, places in enumerate(unit.written if unit.called is None else ())
            if all(made[place] == 1 for place in places)
        }
        self._before_loops = before_loops
        needs = self._needs(groups, count, fixed)
        self.units: list[list[Unit]] = []
        for k, units in enumerate(groups):
            own = {w: needs[w] for unit in units for w in unit.written if w in needs}
            changed = list(units)
            if k < count and own:
                changed = [self._asking(_without(unit, own), own) for unit in units]
                changed = [unit for unit in changed if unit.written] + self._zeros(own)
            self.units.append(changed)

    def _needs(
        self, groups: Sequence[Sequence[Unit]], count: int, fixed: Collection[Place]
    ) -> dict[Places, Places]:
        """Return the need of each value that qualifies."""
        uses: dict[Place, set[tuple[int, Places]]] = {}
        readers: dict[Places, list[Unit]] = {}
        writers: dict[Places, list[Unit]] = {}
        for k, units in enumerate(groups):
            for unit in units:
                for values, found in ((unit.read, readers), (unit.written, writers)):
                    for places in values:
                        found.setdefault(places, []).append(unit)
                        for place in places:
                            uses.setdefault(place, set()).add((k, places))
        needs: dict[Places, Places] = {}
        for places, own in writers.items():
            free = all(
                place.array is None
                and place not in fixed
                and len(uses[place]) == 1
                and next(iter(uses[place]))[0] < count
                for place in places
            )
            start, inside = own[0], [unit for unit in own if unit.needs]
            if free and len(inside) == len(own) - 1 > 0 and self._starts(start, places):
                need = self._need_of(places, inside, readers.get(places, []))
                needs |= {} if need is None else {places: need}
        return needs

    def _starts(self, unit: Unit, places: Places) -> bool:
        """Return whether a unit outside guards and loops makes a value 0, and not -0."""
        if unit.needs or unit.called is not None or not self._is_before_loops(unit):
            return False
        operation = unit.graph.operations[unit.graph.outputs[unit.written.index(places)]]
        return operation.code == CONST and str(operation.value) in ("0", "0.0")

    def _is_before_loops(self, unit: Unit) -> bool:
        return all(id(code) in self._before_loops for code in unit.codes)

    def _need_of(
        self, places: Places, inside: Sequence[Unit], readers: Sequence[Unit]
    ) -> Places | None:
        """Return the last need that holds in all units `inside` and is known before these and
        `readers`."""
        users = [self._positions(unit) for unit in (*inside, *readers)]
        first = [min(own) for own in zip(*users, strict=True)]  # by member
        shared = set.intersection(*(self._implied(unit.needs) for unit in inside))
        known = {}
        for need in shared & self._makers.keys():
            maker, _ = self._makers[need]
            made = self._positions(maker)
            early = len(made) == len(first) and all(a < b for a, b in zip(made, first, strict=True))
            if early and self._is_before_loops(maker):
                known[need] = max(made)
        return max(known, key=lambda need: (known[need], repr(need)), default=None)

    def _positions(self, unit: Unit) -> list[int]:
        """Return the positions of a unit's blocks in the program."""
        return [self.position[id(code)] for code in unit.codes]

    def _implied(self, needs: Sequence[Places]) -> set[Places]:
        """Return the needs that hold where these do, with those they are conjunctions of."""
        found = set(needs)
        for need in needs:
            if need not in self._makers:
                continue
            unit, k = self._makers[need]
            left = [unit.graph.outputs[k]]
            while left:
                operation = unit.graph.operations[left.pop()]
                if operation.code == "AND":
                    left += operation.operands
                elif operation.code == INPUT:
                    found |= self._implied([unit.read[operation.operands[0]]])
        return found

    def _zeros(self, needs: Mapping[Places, Places]) -> list[Unit]:
        """Return units that store zeros, one under each guard."""
        found = []
        for need in dict.fromkeys(needs.values()):
            maker, _ = self._makers[need]
            values = [places for places, own in needs.items() if own == need]
            graph = Graph((Operation(CONST, (), 0.0),), (0,) * len(values))
            codes = []
            for k, place in enumerate(need):
                code = Code(BlockTag("defaults"), graph, (), tuple(w[k] for w in values))
                codes.append(guarded_code(code, (place,)))
                self.position[id(codes[-1])] = self.position[id(maker.codes[k])]
            unit = pack_unit(codes)
            assert unit is not None
            self.added.setdefault(id(maker.codes[0]), []).append(unit)
            found.append(unit)
        return found

    def _asking(self, unit: Unit, needs: Mapping[Places, Places]) -> Unit:
        """Return a unit that asks whether the guards ran, if it stands outside them."""
        inside = self._implied(unit.needs)
        asked: dict[Places, list[Places]] = {}
        for places in unit.read:
            if places in needs and needs[places] not in inside:
                asked.setdefault(needs[places], []).append(places)
        if not asked:
            return unit
        read = (*unit.read, *(need for need in asked if need not in unit.read))
        defaults = tuple((need, tuple(own)) for need, own in asked.items())
        return replace(unit, read=read, defaults=defaults)


def _without(unit: Unit, values: Collection[Places]) -> Unit:
    """Return a unit outside guards that does not make these values."""
    kept = [k for k, places in enumerate(unit.written) if unit.needs or places not in values]
    if len(kept) == len(unit.written):
        return unit
    graph = Graph(unit.graph.operations, tuple(unit.graph.outputs[k] for k in kept))
    return replace(unit, graph=graph, written=tuple(unit.written[k] for k in kept))
