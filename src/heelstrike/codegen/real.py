"""Floating-point types that programs are compiled for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heelstrike.errors import ProgramError


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


def real_type(dtype: str) -> Real:
    """Return the type named "float64" or "float32"."""
    if dtype not in list(REALS):
        raise ProgramError(
            f"dtype is {dtype!r}", path="dtype", value=dtype, allowed=", ".join(REALS)
        )
    return REALS[dtype]
