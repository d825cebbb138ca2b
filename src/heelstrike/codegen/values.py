"""Values of a function under construction: their addresses, and their names in LLVM IR.

A value is loaded once, by itself or, for a single world, as a lane of a vector with its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from heelstrike.codegen.frame import ScratchFrame
from heelstrike.codegen.lanes import Lanes
from heelstrike.ir.code import Place

REGION_SIZE = 400
"""Lines between barriers: LLVM's schedulers compare each store with every load and store."""

Places = tuple[Place, ...]


class VectorLane(NamedTuple):
    """A scalar that is a lane of a vector."""

    vector: str
    lane: int
    width: int


class Values:
    """Emits loads and stores of places of the frame, of ports and of constant tables."""

    def __init__(self, lanes: Lanes, frame: ScratchFrame, constants: Mapping[str, str]) -> None:
        self.lanes = lanes
        self.frame = frame
        self.constants = constants
        """Names of the pointers to constant tables."""
        self.here: dict[Place, str | VectorLane] = {}
        self.scalars: dict[VectorLane, str] = {}
        self.vectors: dict[tuple[str, ...], str] = {}
        self.ports: dict[str, str] = {}
        """Names of the pointers to the ports that are used."""
        self.moving: dict[str, str] = {}
        """Names of the pointers to arrays of the frame that move from row to row."""
        self._region = 0
        """First line after the last barrier."""

    def load(self, place: Place) -> str:
        if place not in self.here:
            if place.array in self.constants:
                self.here[place] = self.lanes.load_splat(self._address(place))
            else:
                self.here[place] = self.lanes.load(self._address(place))
        known = self.here[place]
        if isinstance(known, str):
            return known
        if known not in self.scalars:
            self.scalars[known] = self.lanes.beside(known.width).part(known.vector, known.lane)
        return self.scalars[known]

    def store(self, value: str, place: Place) -> None:
        self.here[place] = value
        if place.array is not None or place in self.frame.slots:
            self._end_region()
            self.lanes.store(value, self._address(place))

    def load_all(self, places: Places) -> str:
        """Return the values of several places as one vector."""
        if len(places) == 1:
            return self.load(places[0])
        own = tuple(dict.fromkeys(places))
        if len(own) < len(places):
            picked = [own.index(place) for place in places]
            return self.lanes.beside(len(own)).spread(self.load_all(own), picked)
        if not any(place in self.here for place in places) and self._adjacent(places):
            lanes = self.lanes.beside(len(places))
            self._hold(lanes.load_scalars(self._address(places[0])), places)
        if (vector := self._held(places)) is not None:
            return vector
        scalars = tuple(self.load(place) for place in places)
        if scalars not in self.vectors:
            self.vectors[scalars] = self.lanes.beside(len(places)).join(scalars)
        return self.vectors[scalars]

    def store_all(self, vector: str, places: Places) -> None:
        if len(places) == 1:
            self.store(vector, places[0])
            return
        self._hold(vector, places)
        kept = [p for p in places if p.array is not None or p in self.frame.slots]
        if len(kept) == len(places) and self._adjacent(places):
            self._end_region()
            self.lanes.beside(len(places)).store_scalars(vector, self._address(places[0]))
            return
        for place in kept:
            self.lanes.store(self.load(place), self._address(place))

    def _end_region(self) -> None:
        """Emit a barrier if many lines have been emitted since the last one."""
        if len(self.lanes.lines) - self._region > REGION_SIZE:
            self.lanes.barrier()
            self._region = len(self.lanes.lines)

    def forget(self) -> None:
        """Load all values again when they are next needed; a GPU has registers to keep them."""
        if self.lanes.pitch == 1:
            self.here.clear()

    def lanes_of(self, size: int) -> Lanes:
        """Return the lanes for chunks of `size` values."""
        return self.lanes if size == 1 else self.lanes.beside(size)

    def _hold(self, vector: str, places: Places) -> None:
        for k, place in enumerate(places):
            self.here[place] = VectorLane(vector, k, len(places))

    def _held(self, places: Places) -> str | None:
        """Return the vector whose lanes are the places, if there is one."""
        first = self.here.get(places[0])
        if isinstance(first, VectorLane) and first.width == len(places):
            parts = [VectorLane(first.vector, k, first.width) for k in range(first.width)]
            if [self.here.get(place) for place in places] == parts:
                return first.vector
        return None

    def _adjacent(self, places: Places) -> bool:
        """Return whether the places are neighbours in memory."""
        found = [(p.array, self._index(p)) for p in places]
        array, first = found[0]
        return first is not None and found == [(array, first + k) for k in range(len(found))]

    def _index(self, place: Place) -> int | None:
        return self.frame.slots.get(place) if place.array is None else place.index

    def _address(self, place: Place) -> str:
        if place.array is None:
            return self.lanes.address("%frame", self.frame.slots[place])
        index = place.index
        if place.array in self.frame.arrays:
            base, unit = "%frame", "vector"
            index += self.frame.arrays[place.array]
        elif place.array in self.moving:
            base, unit = self.moving[place.array], "vector"
        elif place.array in self.constants:
            base, unit = self.constants[place.array], "scalar"
        else:
            base, unit = self.port(place.array), "port"
        if place.stride:
            return self.lanes.moving_address(base, index, place.stride, unit)
        return self.lanes.address(base, index, unit)

    def port(self, name: str) -> str:
        return self.ports.setdefault(name, f"%port{len(self.ports)}")

    def chunks(self, pairs: Sequence[tuple[Place, Place]]) -> list[tuple[Places, Places]]:
        """Return pairs (to, from) in chunks; a single world copies several neighbours at a time."""
        alone = self.lanes.width == self.lanes.pitch == 1
        chunks = []
        start = 0
        while start < len(pairs):
            for size in (8, 4, 2, 1):
                to, source = zip(*pairs[start : start + size], strict=True)
                whole = alone and self._adjacent(to) and self._is_whole(source)
                if size == 1 or (len(to) == size and whole):
                    break
            chunks.append((to, source))
            start += size
        return chunks

    def _is_whole(self, places: Places) -> bool:
        """Return whether several places can be loaded at once, or have been."""
        if any(place in self.here for place in places):
            return self._held(places) is not None
        return self._adjacent(places)
