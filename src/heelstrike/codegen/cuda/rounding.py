"""Reciprocals and square roots of float32 on a GPU, correctly rounded and without a branch.

ptxas makes a branch to a slow path of each `rcp.rn` and `sqrt.rn`, for numbers that are very small
or very large. At a branch its schedule ends and registers are saved. Here such numbers are scaled
by a power of two instead. The results have the same bits for every float32
(`python -m benchmarks.gpu_rounding`).
"""

from __future__ import annotations

import re
from functools import partial

RECIPROCAL = """{{
	.reg .b32 scale, shrunk, near, minus, error, size, better;
	.reg .pred finite;
	and.b32 scale, {a}, 0x7F800000;
	min.u32 scale, scale, 0x7E800000;
	sub.u32 scale, 0x7F000000, scale;
	mul.rn.f32 shrunk, {a}, scale;
	rcp.approx.ftz.f32 near, shrunk;
	mul.rn.f32 near, near, scale;
	neg.f32 minus, {a};
	fma.rn.f32 error, minus, near, 0f3F800000;
	fma.rn.f32 better, error, error, error;
	fma.rn.f32 better, near, better, near;
	abs.f32 size, error;
	setp.lt.f32 finite, size, 0f3F800000;
	selp.f32 {to}, better, near, finite;
	}}"""
"""1 / a: near (1 + error + error^2), from the hardware's approximation; the square counts where
1 / a is subnormal. `scale` brings a near 1. The error is not below 1 where a or 1 / a is zero or
infinite."""
ROOT = """{{
	.reg .b32 scale, grown, near, root, minus, half, error, better, back;
	.reg .pred small, itself;
	setp.lt.f32 small, {a}, 0f0F800000;
	selp.f32 scale, 0f5F800000, 0f3F800000, small;
	selp.f32 back, 0f2F800000, 0f3F800000, small;
	mul.rn.f32 grown, {a}, scale;
	rsqrt.approx.ftz.f32 near, grown;
	mul.rn.f32 root, grown, near;
	mul.rn.f32 half, near, 0f3F000000;
	neg.f32 minus, root;
	fma.rn.f32 error, minus, root, grown;
	fma.rn.f32 better, error, half, root;
	mul.rn.f32 better, better, back;
	setp.eq.f32 itself, {a}, 0f00000000;
	setp.eq.or.f32 itself, {a}, 0f7F800000, itself;
	selp.f32 {to}, {a}, better, itself;
	}}"""
"""sqrt a: below 2^-96, a is scaled by 2^64; zero and infinity are their own roots."""


def without_branches(ptx: str) -> str:
    """Return PTX with sequences in place of reciprocals and square roots of float32."""
    ptx = re.sub(r"rcp\.rn\.f32\s+(%\w+), (%\w+);", partial(_written, RECIPROCAL), ptx)
    return re.sub(r"sqrt\.rn\.f32\s+(%\w+), (%\w+);", partial(_written, ROOT), ptx)


def _written(sequence: str, found: re.Match[str]) -> str:
    return sequence.format(to=found[1], a=found[2])
