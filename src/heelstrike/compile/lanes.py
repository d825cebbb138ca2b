"""Writes LLVM IR in which every value is a vector of W worlds.

No operation carries a fast-math flag, so each lane gets the bits that IEEE 754 prescribes for it,
whatever W is. Minimum and maximum are comparisons and selects (LLVM's own leave the sign of zero
open), and no conversion from float to integer can overflow into poison: integers are only ever
reached by reinterpreting bits.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Real:
    """A floating-point type: its names in LLVM, numpy and C, and the integer of its size."""

    name: str
    suffix: str
    integer: str
    bytes: int
    dtype: type

    @property
    def bits(self) -> int:
        return 8 * self.bytes


FLOAT64 = Real("double", "f64", "i64", 8, np.float64)
FLOAT32 = Real("float", "f32", "i32", 4, np.float32)
REALS = {"float64": FLOAT64, "float32": FLOAT32}


class Lanes:
    """A straight-line piece of code under construction: W lanes of one real type.

    Values, masks and integers are the text by which LLVM knows them. `lines` grows by one line an
    operation.
    """

    def __init__(
        self,
        width: int,
        real: Real,
        lines: list[str] | None = None,
        pitch: int = 1,
        flags: str = "",
        prefix: str = "v",
    ) -> None:
        self.width = width
        self.real = real
        self.pitch = pitch
        """Values between neighbours of a port: 1, or on a GPU the threads that share a tile."""
        self.flags = flags
        """LLVM's fast-math flags: none, or "fast " where the caller asked for them."""
        self.prefix = prefix
        """What the names of values begin with."""
        self.lines: list[str] = [] if lines is None else lines
        self.values = self._vector(real.name)
        self.masks = self._vector("i1")
        self.integers = self._vector(real.integer)
        self.alignment = width * real.bytes
        self.intrinsics: set[str] = set()
        """Declarations of the LLVM intrinsics that were used."""

    def _vector(self, scalar: str) -> str:
        return scalar if self.width == 1 else f"<{self.width} x {scalar}>"

    def _new(self, text: str) -> str:
        name = f"%{self.prefix}{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> str:
        """Any instruction of LLVM's; returns its value."""
        return self._new(text)

    def _splat(self, scalar: str, literal: str) -> str:
        return literal if self.width == 1 else f"splat ({scalar} {literal})"

    # constants

    def const(self, x: float | tuple[float, ...]) -> str:
        """The constant x, rounded to the lanes' type, or a constant for each lane."""
        if isinstance(x, tuple):
            return f"<{', '.join(f'{self.real.name} {self._literal(y)}' for y in x)}>"
        return self._splat(self.real.name, self._literal(x))

    def _literal(self, x: float) -> str:
        pattern = struct.unpack("<Q", struct.pack("<d", float(self.real.dtype(x))))[0]
        return f"0x{pattern:016X}"

    def integer(self, i: int) -> str:
        """The integer constant i (two's complement, as wide as the real type)."""
        return self._splat(self.real.integer, str(i))

    # arithmetic

    def add(self, a: str, b: str) -> str:
        return self._new(f"fadd {self.flags}{self.values} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        return self._new(f"fsub {self.flags}{self.values} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        return self._new(f"fmul {self.flags}{self.values} {a}, {b}")

    def div(self, a: str, b: str) -> str:
        return self._new(f"fdiv {self.flags}{self.values} {a}, {b}")

    def neg(self, a: str) -> str:
        return self._new(f"fneg {self.flags}{self.values} {a}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once."""
        return self._intrinsic("fma", a, b, c)

    def sqrt(self, a: str) -> str:
        return self._intrinsic("sqrt", a)

    def abs(self, a: str) -> str:
        return self._intrinsic("fabs", a)

    def copysign(self, magnitude: str, sign: str) -> str:
        return self._intrinsic("copysign", magnitude, sign)

    def floor(self, a: str) -> str:
        return self._intrinsic("floor", a)

    def ceil(self, a: str) -> str:
        return self._intrinsic("ceil", a)

    def trunc(self, a: str) -> str:
        return self._intrinsic("trunc", a)

    def _intrinsic(self, name: str, *operands: str) -> str:
        suffix = self.real.suffix if self.width == 1 else f"v{self.width}{self.real.suffix}"
        function = f"{self.values} @llvm.{name}.{suffix}"
        self.intrinsics.add(f"declare {function}({', '.join([self.values] * len(operands))})")
        arguments = ", ".join(f"{self.values} {x}" for x in operands)
        return self._new(f"call {self.flags}{function}({arguments})")

    # comparisons and choices

    def compare(self, predicate: str, a: str, b: str) -> str:
        """A mask; predicates are LLVM's: olt, ole, oeq, une, ... (o: false for NaN, u: true for
        NaN).
        """
        return self._new(f"fcmp {predicate} {self.values} {a}, {b}")

    def both(self, a: str, b: str) -> str:
        return self._new(f"and {self.masks} {a}, {b}")

    def either(self, a: str, b: str) -> str:
        return self._new(f"or {self.masks} {a}, {b}")

    def invert(self, a: str) -> str:
        return self._new(f"xor {self.masks} {a}, {self._splat('i1', 'true')}")

    def select(self, mask: str, a: str, b: str) -> str:
        return self._new(f"select {self.masks} {mask}, {self.values} {a}, {self.values} {b}")

    def choose(self, mask: str, a: str, b: str, size: int) -> str:
        """`select` for a world alone between vectors of `size` values of its own."""
        if size == 1:
            return self.select(mask, a, b)
        values = self.beside(size).values
        return self._new(f"select i1 {mask}, {values} {a}, {values} {b}")

    def max(self, a: str, b: str) -> str:
        """a if a > b else b: a single instruction on x86; b where either is NaN."""
        return self.select(self.compare("ogt", a, b), a, b)

    def min(self, a: str, b: str) -> str:
        """a if a < b else b; b where either is NaN."""
        return self.select(self.compare("olt", a, b), a, b)

    # bits

    def to_bits(self, a: str) -> str:
        return self._new(f"bitcast {self.values} {a} to {self.integers}")

    def from_bits(self, i: str) -> str:
        return self._new(f"bitcast {self.integers} {i} to {self.values}")

    def int_op(self, operation: str, a: str, b: str) -> str:
        """LLVM's integer operation (add, sub, and, or, xor, shl, lshr, ashr) on integers."""
        return self._new(f"{operation} {self.integers} {a}, {b}")

    def int_compare(self, predicate: str, a: str, b: str) -> str:
        return self._new(f"icmp {predicate} {self.integers} {a}, {b}")

    # memory

    def address(self, base: str, index: int, unit: str = "vector") -> str:
        """Where element `index` of the array at `base` is: of a "vector" array of the frame, of a
        "port", or of an array of "scalar"s.
        """
        index *= self._step(unit)
        return self._new(f"getelementptr {self._element(unit)}, ptr {base}, i64 {index}")

    def moving_address(self, base: str, index: int, stride: int, unit: str = "vector") -> str:
        """Where element index + stride * %counter is."""
        index, stride = index * self._step(unit), stride * self._step(unit)
        offset = self._new(f"mul i64 %counter, {stride}")
        start = self._new(f"add i64 {offset}, {index}")
        return self._new(f"getelementptr {self._element(unit)}, ptr {base}, i64 {start}")

    def _element(self, unit: str) -> str:
        return self.real.name if unit == "scalar" else self.values

    def _step(self, unit: str) -> int:
        return self.pitch if unit == "port" else 1

    def load_splat(self, address: str) -> str:
        """A scalar from memory, in every lane."""
        scalar = self._new(f"load {self.real.name}, ptr {address}, align {self.real.bytes}")
        return scalar if self.width == 1 else self._everywhere(scalar)

    def gather(self, base: str, indices: str) -> str:
        """Each lane's own scalar of the array at `base`."""
        if self.width == 1:
            where = self._new(
                f"getelementptr {self.real.name}, ptr {base}, {self.real.integer} {indices}"
            )
            return self._new(f"load {self.real.name}, ptr {where}, align {self.real.bytes}")
        pointers = self._vector("ptr")
        where = self._new(f"getelementptr {self.real.name}, ptr {base}, {self.integers} {indices}")
        suffix = f"v{self.width}{self.real.suffix}.v{self.width}p0"
        function = f"{self.values} @llvm.masked.gather.{suffix}"
        self.intrinsics.add(f"declare {function}({pointers}, i32, {self.masks}, {self.values})")
        return self._new(
            f"call {function}({pointers} {where}, i32 {self.real.bytes}, "
            f"{self.masks} {self._splat('i1', 'true')}, {self.values} zeroinitializer)"
        )

    def load(self, address: str) -> str:
        return self._new(f"load {self.values}, ptr {address}, align {self.alignment}")

    def store(self, value: str, address: str) -> None:
        self.lines.append(f"  store {self.values} {value}, ptr {address}, align {self.alignment}")

    def fetch(self, base: str, start: str, offsets: Sequence[int]) -> list[str]:
        """Scalars start + offset of the array at `base`, each lane by its own start: where all
        lanes agree, one load for all, else a gather. The values are the same either way.
        """
        if self.width == 1:
            return [self._gather_at(base, start, offset) for offset in offsets]
        n = len(self.lines)
        scalar = self.real.integer
        first = self._new(f"extractelement {self.integers} {start}, i64 0")
        seed = self._new(f"insertelement {self.integers} poison, {scalar} {first}, i64 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        everywhere = self._new(
            f"shufflevector {self.integers} {seed}, {self.integers} poison, {zeros}"
        )
        apart = self.any(self.int_compare("ne", start, everywhere))
        self.lines += [f"  br i1 {apart}, label %apart{n}, label %alike{n}", f"alike{n}:"]
        alike = []
        for offset in offsets:
            index = self._new(f"add {scalar} {first}, {offset}")
            where = self._new(f"getelementptr {self.real.name}, ptr {base}, {scalar} {index}")
            alike.append(self.load_splat(where))
        self.lines += [f"  br label %joined{n}", f"apart{n}:"]
        gathered = [self._gather_at(base, start, offset) for offset in offsets]
        self.lines += [f"  br label %joined{n}", f"joined{n}:"]
        return [
            self._new(f"phi {self.values} [ {a}, %alike{n} ], [ {b}, %apart{n} ]")
            for a, b in zip(alike, gathered, strict=True)
        ]

    def _gather_at(self, base: str, start: str, offset: int) -> str:
        return self.gather(base, self.int_op("add", start, self.integer(offset)))

    def to_integer(self, a: str) -> str:
        """A whole number, known to fit, as an integer."""
        return self._new(f"fptosi {self.values} {a} to {self.integers}")

    def any(self, mask: str) -> str:
        """Whether a mask holds in any lane, as an i1."""
        if self.width == 1:
            return mask
        function = f"i1 @llvm.vector.reduce.or.v{self.width}i1"
        self.intrinsics.add(f"declare {function}({self.masks})")
        return self._new(f"call {function}({self.masks} {mask})")

    # vectors of scalars

    def beside(self, width: int) -> Lanes:
        """Lanes of another width that write into the same code."""
        other = Lanes(width, self.real, self.lines, self.pitch, self.flags, self.prefix)
        other.intrinsics = self.intrinsics
        return other

    def careful(self) -> Lanes:
        """The same without fast-math flags: for what looks for NaN."""
        other = self.beside(self.width)
        other.flags = ""
        return other

    def load_scalars(self, address: str) -> str:
        """As many neighbouring scalars as there are lanes."""
        return self._new(f"load {self.values}, ptr {address}, align {self.real.bytes}")

    def store_scalars(self, value: str, address: str) -> None:
        line = f"  store {self.values} {value}, ptr {address}, align {self.real.bytes}"
        self.lines.append(line)

    def join(self, scalars: Sequence[str]) -> str:
        """The vector of these scalars."""
        vector = "poison"
        for k, scalar in enumerate(scalars):
            vector = self._new(
                f"insertelement {self.values} {vector}, {self.real.name} {scalar}, i64 {k}"
            )
        return vector

    def spread(self, vector: str, lanes: Sequence[int]) -> str:
        """A vector of some of these lanes, in any order."""
        if self.width == 1:
            return self.beside(len(lanes))._everywhere(vector)
        picked = ", ".join(f"i32 {lane}" for lane in lanes)
        return self._new(
            f"shufflevector {self.values} {vector}, {self.values} poison, "
            f"<{len(lanes)} x i32> <{picked}>"
        )

    def part(self, vector: str, lane: int) -> str:
        """One lane of a vector, as a scalar."""
        return self._new(f"extractelement {self.values} {vector}, i64 {lane}")

    def _everywhere(self, scalar: str) -> str:
        first = self._new(f"insertelement {self.values} poison, {self.real.name} {scalar}, i64 0")
        return self._new(
            f"shufflevector {self.values} {first}, {self.values} poison, "
            f"<{self.width} x i32> zeroinitializer"
        )

    # precision

    def widened(self) -> Lanes:
        """Lanes of float64 that write into the same code."""
        wide = Lanes(self.width, FLOAT64, self.lines, self.pitch, self.flags, self.prefix)
        wide.intrinsics = self.intrinsics
        return wide

    def extend(self, a: str) -> str:
        """A float32 value as float64."""
        return self._new(f"fpext {self.values} {a} to {self._vector('double')}")

    def round(self, a: str) -> str:
        """A float64 value rounded to float32."""
        return self._new(f"fptrunc {self._vector('double')} {a} to {self.values}")
