"""Arithmetic, comparisons and bits in LLVM IR, where every value is a vector of W worlds.

No operation carries a fast-math flag unless the caller passes one, so each lane gets the bits that
IEEE 754 prescribes for it, whatever W is. Minimum and maximum are comparisons and selects (LLVM's
own leave the sign of zero open), and no conversion from float to integer can overflow into poison:
but for whole numbers known to fit, integers are only ever reached by reinterpreting bits.
"""

from __future__ import annotations

import struct

from heelstrike.codegen.real import Real


class Arithmetic:
    """Straight-line code under construction: W lanes of one real type.

    Values, masks and integers are their names in LLVM IR. Each operation adds a line to `lines`.
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
        """LLVM's fast-math flags: none, or "fast "."""
        self.prefix = prefix
        """First part of the names of values."""
        self.lines: list[str] = [] if lines is None else lines
        self.values = self._vector(real.name)
        self.masks = self._vector("i1")
        self.integers = self._vector(real.integer)
        self.alignment = width * real.bytes
        self.intrinsics: set[str] = set()
        """Declarations of the LLVM intrinsics that were used."""

    def _vector(self, scalar: str) -> str:
        return scalar if self.width == 1 else f"<{self.width} x {scalar}>"

    def line(self, text: str) -> str:
        """Emit an instruction of LLVM, and return the name of its value."""
        name = f"%{self.prefix}{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def _splat(self, scalar: str, literal: str) -> str:
        return literal if self.width == 1 else f"splat ({scalar} {literal})"

    # constants

    def const(self, x: float | tuple[float, ...]) -> str:
        """Return the constant x rounded to the lanes' type, or a constant for each lane."""
        if isinstance(x, tuple):
            return f"<{', '.join(f'{self.real.name} {self._literal(y)}' for y in x)}>"
        return self._splat(self.real.name, self._literal(x))

    def _literal(self, x: float) -> str:
        pattern = struct.unpack("<Q", struct.pack("<d", float(self.real.dtype(x))))[0]
        return f"0x{pattern:016X}"

    def integer(self, i: int) -> str:
        """Return the integer constant i (two's complement, as wide as the real type)."""
        return self._splat(self.real.integer, str(i))

    # arithmetic

    def add(self, a: str, b: str) -> str:
        return self.line(f"fadd {self.flags}{self.values} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        return self.line(f"fsub {self.flags}{self.values} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        return self.line(f"fmul {self.flags}{self.values} {a}, {b}")

    def div(self, a: str, b: str) -> str:
        return self.line(f"fdiv {self.flags}{self.values} {a}, {b}")

    def neg(self, a: str) -> str:
        return self.line(f"fneg {self.flags}{self.values} {a}")

    def fma(self, a: str, b: str, c: str) -> str:
        """Return a b + c, rounded once."""
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
        return self.line(f"call {self.flags}{function}({arguments})")

    # comparisons and choices

    def compare(self, predicate: str, a: str, b: str) -> str:
        """Return a mask.

        Predicates are LLVM's: olt, ole, oeq, une, ... (o: false for NaN, u: true for NaN).
        """
        return self.line(f"fcmp {predicate} {self.values} {a}, {b}")

    def both(self, a: str, b: str) -> str:
        return self.line(f"and {self.masks} {a}, {b}")

    def either(self, a: str, b: str) -> str:
        return self.line(f"or {self.masks} {a}, {b}")

    def invert(self, a: str) -> str:
        return self.line(f"xor {self.masks} {a}, {self._splat('i1', 'true')}")

    def select(self, mask: str, a: str, b: str) -> str:
        return self.line(f"select {self.masks} {mask}, {self.values} {a}, {self.values} {b}")

    def max(self, a: str, b: str) -> str:
        """Return a if a > b else b, one instruction on x86; b where either is NaN."""
        return self.select(self.compare("ogt", a, b), a, b)

    def min(self, a: str, b: str) -> str:
        """Return a if a < b else b; b where either is NaN."""
        return self.select(self.compare("olt", a, b), a, b)

    def any(self, mask: str) -> str:
        """Return whether a mask holds in any lane, as an i1."""
        if self.width == 1:
            return mask
        function = f"i1 @llvm.vector.reduce.or.v{self.width}i1"
        self.intrinsics.add(f"declare {function}({self.masks})")
        return self.line(f"call {function}({self.masks} {mask})")

    # bits

    def to_bits(self, a: str) -> str:
        return self.line(f"bitcast {self.values} {a} to {self.integers}")

    def from_bits(self, i: str) -> str:
        return self.line(f"bitcast {self.integers} {i} to {self.values}")

    def int_op(self, operation: str, a: str, b: str) -> str:
        """Emit an integer operation of LLVM: add, sub, and, or, xor, shl, lshr, ashr."""
        return self.line(f"{operation} {self.integers} {a}, {b}")

    def int_compare(self, predicate: str, a: str, b: str) -> str:
        return self.line(f"icmp {predicate} {self.integers} {a}, {b}")

    # conversions

    def to_integer(self, a: str) -> str:
        """Convert a whole number that is known to fit to an integer."""
        return self.line(f"fptosi {self.values} {a} to {self.integers}")

    def extend(self, a: str) -> str:
        """Convert float32 to float64."""
        return self.line(f"fpext {self.values} {a} to {self._vector('double')}")

    def round(self, a: str) -> str:
        """Round float64 to float32."""
        return self.line(f"fptrunc {self._vector('double')} {a} to {self.values}")
