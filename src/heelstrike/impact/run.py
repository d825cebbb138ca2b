"""Compiled hits on the lanes: run, and what is left when they end."""

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
"""Steps between two looks at the torques in the faster form."""


@dataclass(frozen=True, eq=False)
class Ran:
    """One entry a hit."""

    peak: np.ndarray
    impulse: np.ndarray
    duration: np.ndarray
    touching: np.ndarray
    load: np.ndarray
    """Largest torque over its limit."""
    records: dict[str, np.ndarray]
    """(hits, records, ...) by output."""

    def replaced(self, where: np.ndarray, other: Ran) -> Ran:
        """The other's values where the mask holds."""
        names = ("peak", "impulse", "duration", "touching", "load")
        own = {name: getattr(self, name).copy() for name in names}
        for name, value in own.items():
            value[where] = getattr(other, name)
        records = {name: value.copy() for name, value in self.records.items()}
        for name in records.keys() & other.records.keys():
            if records[name].shape[1:] == other.records[name].shape[1:]:
                records[name][where] = other.records[name]
        return Ran(**own, records=records)


@dataclass(frozen=True, eq=False)
class Lot:
    """Hits that run together: from where, for how long, and what is recorded."""

    inputs: Mapping[str, ArrayLike]
    """Of a compiled step; numbers, or one row a hit."""
    start: Mapping[str, ArrayLike]
    """Of its memory, where it is not zero."""
    hits: int
    steps: int
    every: int
    """Steps between two records."""
    outputs: tuple[str, ...] = ()
    """That are recorded beside the force."""
    threads: int = 1
    dtype: str = "float64"

    def run(self, key: object, program: Callable[[], Program], *more: str) -> Ran:
        """A compiled hit from its start to its end; the key is the cache's."""
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
        return Ran(peak, end["impulse"], end["duration"], touching, load, records)


def kept(plan: Plan, lot: Lot) -> Ran:
    """Steps 3b to 7b, with A and j as inputs."""
    return lot.run(plan.key(), lambda: simplified_program(plan))


def quick(plan: Plan, modes: int, lot: Lot) -> Ran:
    """The same in a basis of its own."""
    ran = lot.run(krylov_key(plan, modes), lambda: krylov_program(plan, modes), "load")
    if "amounts" in lot.outputs:
        shapes = np.asarray(lot.inputs["shapes"]).reshape(lot.hits, modes, plan.n)
        for name, source in (("deviation", "amounts"), ("acceleration", "rates")):
            moved = -np.einsum("htm,hmn->htn", ran.records.pop(source), shapes)
            ran.records[name] = moved
    return ran


def rows(value: ArrayLike, hits: int, size: int) -> np.ndarray:
    """(size,) where all hits share it, else (hits, size)."""
    array = np.asarray(value, dtype=float)
    if array.ndim == 0:
        return np.full(size, float(array))
    if array.shape == (hits,) and size == 1:
        return array[:, None]
    return array if array.shape == (size,) else array.reshape(hits, size)


def _full(value: ArrayLike, hits: int, size: int) -> np.ndarray:
    return np.array(np.broadcast_to(rows(value, hits, size), (hits, size)))
