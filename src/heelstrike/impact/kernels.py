"""Compiled hits on CPU lanes: how they run, and their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.impact.krylov import krylov_key, krylov_program
from heelstrike.impact.simplified import Plan, simplified_program
from heelstrike.ir.program import Program
from heelstrike.runtime.cache import cached_kernel

SPARSE = 10
"""Steps between two checks of the torques in the Krylov form."""


@dataclass(frozen=True, eq=False)
class HitResult:
    """Results of hits, one entry per hit."""

    peak: np.ndarray
    impulse: np.ndarray
    duration: np.ndarray
    touching: np.ndarray
    load: np.ndarray
    """Largest torque as a share of its limit."""
    records: dict[str, np.ndarray]
    """(hits, records, ...) by output."""

    def replaced(self, where: np.ndarray, other: HitResult) -> HitResult:
        """Return a copy with the other's values where the mask holds."""
        names = ("peak", "impulse", "duration", "touching", "load")
        own = {name: getattr(self, name).copy() for name in names}
        for name, value in own.items():
            value[where] = getattr(other, name)
        records = {name: value.copy() for name, value in self.records.items()}
        for name in records.keys() & other.records.keys():
            if records[name].shape[1:] == other.records[name].shape[1:]:
                records[name][where] = other.records[name]
        return HitResult(**own, records=records)


@dataclass(frozen=True, eq=False)
class KernelRun:
    """A run of a compiled hit: inputs, start, duration, and recorded outputs."""

    inputs: Mapping[str, ArrayLike]
    """Inputs of a compiled step: numbers, or one row per hit."""
    start: Mapping[str, ArrayLike]
    """Initial values of its memory, where they are not zero."""
    hits: int
    steps: int
    every: int
    """Steps between two records."""
    outputs: tuple[str, ...] = ()
    """Outputs that are recorded beside the force."""
    threads: int = 1
    dtype: str = "float64"

    def run(self, key: object, program: Callable[[], Program], *more: str) -> HitResult:
        """Run a compiled hit from its start to its end; `key` is the key of the kernel cache."""
        names = ("force", *self.outputs, *more)
        kernel = cached_kernel(key, program, names, dtype=self.dtype)
        batch = kernel.batch(self.hits)
        sizes = {port.name: port.size for port in kernel.layout.inputs}
        batch.set(**{k: rows(self.inputs[k], self.hits, size) for k, size in sizes.items()})
        memories = {port.name: port.size for port in kernel.layout.memory}
        batch.set(**{k: _full(x, self.hits, memories[k]) for k, x in self.start.items()})
        batch.run(self.steps, every=self.every, threads=self.threads)
        records = {port.name: batch.get(port.name) for port in kernel.layout.outputs}
        end = {name: batch.get(name)[:, 0] for name in memories if memories[name] == 1}
        load = records.pop("load")[..., 0].max(axis=1) if "load" in records else end["load"]
        touching = (end["touched"] > 0) & (end["separated"] < 0)
        peak = np.maximum(end["peak"], 0.0)
        return HitResult(peak, end["impulse"], end["duration"], touching, load, records)


def kept(plan: Plan, run: KernelRun) -> HitResult:
    """Run steps 3b to 7b with constant inertia, A and j as inputs."""
    return run.run(plan.key(), lambda: simplified_program(plan))


def quick(plan: Plan, modes: int, run: KernelRun) -> HitResult:
    """Run steps 3b to 7b in the Krylov basis."""
    ran = run.run(krylov_key(plan, modes), lambda: krylov_program(plan, modes), "load")
    if "amounts" in run.outputs:
        shapes = np.asarray(run.inputs["shapes"]).reshape(run.hits, modes, plan.n)
        for name, source in (("deviation", "amounts"), ("acceleration", "rates")):
            moved = -np.einsum("htm,hmn->htn", ran.records.pop(source), shapes)
            ran.records[name] = moved
    return ran


def rows(value: ArrayLike, hits: int, size: int) -> np.ndarray:
    """Return an array (size,) if all hits share the value, else (hits, size)."""
    array = np.asarray(value, dtype=float)
    if array.ndim == 0:
        return np.full(size, float(array))
    if array.shape == (hits,) and size == 1:
        return array[:, None]
    return array if array.shape == (size,) else array.reshape(hits, size)


def _full(value: ArrayLike, hits: int, size: int) -> np.ndarray:
    return np.array(np.broadcast_to(rows(value, hits, size), (hits, size)))
