"""Lanes of W worlds with access to memory: loads, stores, gathers, and vectors of scalars."""

from __future__ import annotations

from collections.abc import Sequence

from heelstrike.codegen.arithmetic import Arithmetic
from heelstrike.codegen.real import FLOAT64


class Lanes(Arithmetic):
    """Straight-line code under construction that reads and writes arrays."""

    # memory

    def address(self, base: str, index: int, unit: str = "vector") -> str:
        """Return the address of element `index` of the array at `base`.

        `unit` is "vector" for arrays of the frame, "port", or "scalar" for constant tables.
        """
        index *= self._step(unit)
        return self.line(f"getelementptr {self._element(unit)}, ptr {base}, i64 {index}")

    def moving_address(self, base: str, index: int, stride: int, unit: str = "vector") -> str:
        """Return the address of element index + stride * %counter."""
        index, stride = index * self._step(unit), stride * self._step(unit)
        offset = self.line(f"mul i64 %counter, {stride}")
        start = self.line(f"add i64 {offset}, {index}")
        return self.line(f"getelementptr {self._element(unit)}, ptr {base}, i64 {start}")

    def _element(self, unit: str) -> str:
        return self.real.name if unit == "scalar" else self.values

    def _step(self, unit: str) -> int:
        return self.pitch if unit == "port" else 1

    def load_splat(self, address: str) -> str:
        """Load a scalar into every lane."""
        scalar = self.line(f"load {self.real.name}, ptr {address}, align {self.real.bytes}")
        return scalar if self.width == 1 else self._everywhere(scalar)

    def gather(self, base: str, indices: str) -> str:
        """Load each lane's own scalar of the array at `base`."""
        if self.width == 1:
            where = self.line(
                f"getelementptr {self.real.name}, ptr {base}, {self.real.integer} {indices}"
            )
            return self.line(f"load {self.real.name}, ptr {where}, align {self.real.bytes}")
        pointers = self._vector("ptr")
        where = self.line(f"getelementptr {self.real.name}, ptr {base}, {self.integers} {indices}")
        suffix = f"v{self.width}{self.real.suffix}.v{self.width}p0"
        function = f"{self.values} @llvm.masked.gather.{suffix}"
        self.intrinsics.add(f"declare {function}({pointers}, i32, {self.masks}, {self.values})")
        return self.line(
            f"call {function}({pointers} {where}, i32 {self.real.bytes}, "
            f"{self.masks} {self._splat('i1', 'true')}, {self.values} zeroinitializer)"
        )

    def load(self, address: str) -> str:
        return self.line(f"load {self.values}, ptr {address}, align {self.alignment}")

    def store(self, value: str, address: str) -> None:
        self.lines.append(f"  store {self.values} {value}, ptr {address}, align {self.alignment}")

    def barrier(self) -> None:
        """Let LLVM move no load or store across this line of a CPU's code; it costs no time."""
        if self.pitch == 1:
            self.lines.append('  fence syncscope("singlethread") acq_rel')

    def fetch(self, base: str, start: str, offsets: Sequence[int]) -> list[str]:
        """Load scalars start + offset of the array at `base`, each lane by its own start.

        Where all lanes agree there is one load for all, else a gather. The values are the same.
        """
        if self.width == 1:
            return [self._gather_at(base, start, offset) for offset in offsets]
        n = len(self.lines)
        scalar = self.real.integer
        first = self.line(f"extractelement {self.integers} {start}, i64 0")
        seed = self.line(f"insertelement {self.integers} poison, {scalar} {first}, i64 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        everywhere = self.line(
            f"shufflevector {self.integers} {seed}, {self.integers} poison, {zeros}"
        )
        apart = self.any(self.int_compare("ne", start, everywhere))
        self.lines += [f"  br i1 {apart}, label %apart{n}, label %alike{n}", f"alike{n}:"]
        alike = []
        for offset in offsets:
            index = self.line(f"add {scalar} {first}, {offset}")
            where = self.line(f"getelementptr {self.real.name}, ptr {base}, {scalar} {index}")
            alike.append(self.load_splat(where))
        self.lines += [f"  br label %joined{n}", f"apart{n}:"]
        gathered = [self._gather_at(base, start, offset) for offset in offsets]
        self.lines += [f"  br label %joined{n}", f"joined{n}:"]
        return [
            self.line(f"phi {self.values} [ {a}, %alike{n} ], [ {b}, %apart{n} ]")
            for a, b in zip(alike, gathered, strict=True)
        ]

    def _gather_at(self, base: str, start: str, offset: int) -> str:
        return self.gather(base, self.int_op("add", start, self.integer(offset)))

    # other lanes of the same code

    def beside(self, width: int) -> Lanes:
        """Return lanes of another width that emit into the same code."""
        other = Lanes(width, self.real, self.lines, self.pitch, self.flags, self.prefix)
        other.intrinsics = self.intrinsics
        return other

    def careful(self) -> Lanes:
        """Return the same lanes without fast-math flags, to detect NaN."""
        other = self.beside(self.width)
        other.flags = ""
        return other

    def widened(self) -> Lanes:
        """Return lanes of float64 that emit into the same code."""
        wide = Lanes(self.width, FLOAT64, self.lines, self.pitch, self.flags, self.prefix)
        wide.intrinsics = self.intrinsics
        return wide

    # vectors of scalars

    def choose(self, mask: str, a: str, b: str, size: int) -> str:
        """Select, for a single world, between vectors of `size` values."""
        if size == 1:
            return self.select(mask, a, b)
        values = self.beside(size).values
        return self.line(f"select i1 {mask}, {values} {a}, {values} {b}")

    def load_scalars(self, address: str) -> str:
        """Load neighbouring scalars, one for each lane."""
        return self.line(f"load {self.values}, ptr {address}, align {self.real.bytes}")

    def store_scalars(self, value: str, address: str) -> None:
        line = f"  store {self.values} {value}, ptr {address}, align {self.real.bytes}"
        self.lines.append(line)

    def join(self, scalars: Sequence[str]) -> str:
        """Return the vector of these scalars."""
        vector = "poison"
        for k, scalar in enumerate(scalars):
            vector = self.line(
                f"insertelement {self.values} {vector}, {self.real.name} {scalar}, i64 {k}"
            )
        return vector

    def spread(self, vector: str, lanes: Sequence[int]) -> str:
        """Return a vector of some of these lanes, in any order."""
        if self.width == 1:
            return self.beside(len(lanes))._everywhere(vector)
        picked = ", ".join(f"i32 {lane}" for lane in lanes)
        return self.line(
            f"shufflevector {self.values} {vector}, {self.values} poison, "
            f"<{len(lanes)} x i32> <{picked}>"
        )

    def part(self, vector: str, lane: int) -> str:
        """Return one lane of a vector as a scalar."""
        return self.line(f"extractelement {self.values} {vector}, i64 {lane}")

    def _everywhere(self, scalar: str) -> str:
        first = self.line(f"insertelement {self.values} poison, {self.real.name} {scalar}, i64 0")
        return self.line(
            f"shufflevector {self.values} {first}, {self.values} poison, "
            f"<{self.width} x i32> zeroinitializer"
        )
