"""hs.sweep: a scene in many worlds over parameters.

found = hs.sweep("stand", grid={"ground.normal.k": "1e3:1e6:log:64"}, folder="stiff")
found.data["peak_force"].max("point")       # an xarray.Dataset over world
print(found.summary()); found.plot("stiff.png")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import numpy as np

from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.simulate.rollout import interruptible
from heelstrike.simulate.target import DEVICES
from heelstrike.sweeps.axes import GridLike, RandomLike
from heelstrike.sweeps.cluster import check_cluster, cluster, on_cluster
from heelstrike.sweeps.definition import Source, SweepDefinition, define_sweep
from heelstrike.sweeps.job import Worker, with_program
from heelstrike.sweeps.join import join
from heelstrike.sweeps.outcome import Sweep
from heelstrike.sweeps.plan import SweepPlan
from heelstrike.sweeps.progress import Meter, show_progress
from heelstrike.sweeps.store import Store, check_disk_space, locked, open_store

MAX_GPU_CHUNK = 65536
"""Largest number of worlds of a chunk on each GPU."""
MIN_CHUNK, MAX_CHUNK = 128, 4096
"""Smallest number of worlds of a chunk, and largest on a CPU."""
CHUNK_STEPS = 2**24
"""Steps of all worlds of a chunk on a CPU that are enough: some seconds."""
MIN_CLUSTER_CHUNKS = 64
"""Smallest number of chunks on a cluster."""

Chunks = Iterator[tuple[int, dict[str, np.ndarray]]]
"""Chunks by index, with the memory of their worlds at the end."""
Compute = Callable[[Store, Sequence[int], Callable[[int], None]], Chunks]
"""Computes chunks of a store; calls a function with the number of steps made, which may raise."""


def sweep(
    source: Source,
    grid: Mapping[str, GridLike] | None = None,
    random: Mapping[str, RandomLike] | None = None,
    worlds: int | None = None,
    seed: int = 0,
    duration: float | None = None,
    folder: str | os.PathLike[str] | None = None,
    *,
    device: str | None = None,
    math: str | None = None,
    dtype: str | None = None,
    threads: int | None = None,
    keep: Sequence[str] | None = None,
    chunk: int | None = None,
    ray: str | None = None,
    resume: bool = False,
    progress: bool | None = None,
) -> Sweep:
    """Simulate a scene in many worlds and return their final states.

    Args:
        source: Name of a bundled scene, a .toml file, a SceneFile, or a Simulator, which is
            simulated from its start.
        grid: Values by path, as "1e3:1e6:log:64" or numbers; several paths form a product.
        random: Distributions by path: (low, high), (low, high, "log") or (mean, sigma, "normal").
            A value is drawn for each world.
        worlds: Number of worlds, a multiple of the grid's points; by default one per point.
        seed: Seed of the random draws.
        duration: Simulated time [s]; by default the scene's.
        folder: Folder of the sweep, in which it can be resumed; by default nothing stays on disk.
        device: "cpu", "cuda", or GPUs by number, such as "cuda:1" or "cuda:0,1".
        math: "exact" or "fast".
        dtype: "float64" or "float32".
        threads: Number of threads on a CPU; by default all cores.
        keep: Variables that are kept per world in addition to `failed` and `steps`, such as
            ("fell", "peak_force"); by default all.
        chunk: Number of worlds that are computed and written together.
        ray: "local", or the address of a Ray cluster.
        resume: Whether to continue the sweep in the folder.
        progress: Whether to show progress; by default on a terminal only.

    docs/sweeps.md lists the paths.
    """
    for name, value in (("threads", threads), ("chunk", chunk)):
        if value is not None and not (isinstance(value, int | np.integer) and value > 0):
            raise ParameterError(name, value, "integers above 0")
    plan = SweepPlan.of(grid, random, worlds, seed)
    definition = define_sweep(source, plan, duration, device, math, dtype, keep)
    check_disk_space(Path(folder or gettempdir()), definition.bytes * plan.worlds)
    definition.check()
    if ray is not None:
        _check_device(definition.device)
        check_cluster(ray)  # before a folder is made
    threads = threads or os.cpu_count() or 1
    manifest = definition.manifest(chunk or chunk_size(definition, ray is not None))
    if folder is not None:
        with locked(Path(folder)):
            store = open_store(Path(folder), manifest, chunk, resume)
            return Sweep(store.result, _compute(definition, store, threads, ray, progress))
    with TemporaryDirectory(prefix="heelstrike-") as name, locked(Path(name)):
        store = open_store(Path(name), manifest, chunk, resume)
        meter = _compute(definition, store, threads, ray, progress)
        return Sweep(store.result, meter).in_memory()


def _check_device(device: str) -> None:
    """Raise if a sweep on a Ray cluster names GPUs by number, which Ray itself hands out."""
    if device not in DEVICES:
        allowed = '"cpu" or "cuda" on a Ray cluster, each of whose workers has one GPU'
        raise ParameterError("device", device, allowed)


def chunk_size(definition: SweepDefinition, shared: bool) -> int:
    """Return the default number of worlds of a chunk.

    Large chunks cost little overhead; small ones lose little when the sweep is killed, and give
    several workers their share if the work is `shared`.
    """
    worlds = definition.plan.worlds
    if definition.device == "cpu":
        size = min(MAX_CHUNK, CHUNK_STEPS // definition.steps)
    else:
        size = min(MAX_GPU_CHUNK * definition.parts, definition.max_chunk)
    if shared:
        size = min(size, worlds // MIN_CLUSTER_CHUNKS)
    size = max(MIN_CHUNK, size)
    return min(worlds, size - size % MIN_CHUNK)


def _compute(
    definition: SweepDefinition,
    store: Store,
    threads: int,
    ray: str | None,
    progress: bool | None,
) -> Meter:
    """Compute the missing chunks and join all."""
    if store.result.exists():
        store.finish()
        return Meter(store.worlds, definition.steps, store.worlds)
    missing = store.missing()
    remaining = sum(last - first for first, last in map(store.span, missing))
    check_disk_space(store.folder, definition.bytes * (remaining + store.worlds))
    with ExitStack() as stack:
        stopped = stack.enter_context(interruptible())
        compute = _here(definition, threads) if ray is None else _on_ray(definition, ray, stack)
        meter = Meter(store.worlds, definition.steps, store.worlds - remaining)
        advance = stack.enter_context(show_progress(meter, progress))

        def report(steps: int) -> None:
            advance(steps)
            if stopped.is_set():
                raise KeyboardInterrupt

        for index, memory in compute(store, missing, report):
            store.write(index, definition.finals(store.span(index), memory))
        meter.stop()
    _join(definition, store)
    return meter


def _here(definition: SweepDefinition, threads: int) -> Compute:
    """Return a function that computes chunks on this machine's CPU or GPU."""
    worker = Worker(definition.job, definition.kernel, threads)

    def compute(store: Store, missing: Sequence[int], report: Callable[[int], None]) -> Chunks:
        for index in missing:
            first, last = store.span(index)
            rows = definition.rows((first, last))
            yield index, worker.work(last - first, rows, report)

    return compute


def _on_ray(definition: SweepDefinition, address: str, stack: ExitStack) -> Compute:
    """Return a function that computes chunks on a Ray cluster."""
    ray = stack.enter_context(cluster(address))
    job = with_program(definition.job, definition.sim)

    def compute(store: Store, missing: Sequence[int], report: Callable[[int], None]) -> Chunks:
        def chunks() -> Iterator[tuple[int, int, dict[str, np.ndarray]]]:
            for index in missing:
                first, last = store.span(index)
                yield index, last - first, definition.rows((first, last))

        for index, memory in on_cluster(ray, job, chunks(), lambda: report(0)):
            first, last = store.span(index)
            report((last - first) * definition.steps)
            yield index, memory

    return compute


def _join(definition: SweepDefinition, store: Store) -> None:
    """Write all chunks as one file, and remove them."""

    def whole(index: int) -> dict[str, np.ndarray]:
        found = store.read(index)
        if found is None:
            raise HeelstrikeError(
                f"a chunk in '{store.folder}' was damaged while it was joined; use --resume to "
                "compute it again"
            )
        return found

    def chunks() -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        for index in range(store.chunks):
            first, last = store.span(index)
            yield first, {"world": np.arange(first, last), **whole(index)}

    join(store.result, definition.template(whole(0)), store.worlds, chunks())
    store.finish()
