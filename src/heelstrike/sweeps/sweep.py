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
from tempfile import TemporaryDirectory

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.simulate.rollout import interruptible
from heelstrike.sweeps.axes import GridLike, RandomLike
from heelstrike.sweeps.cluster import cluster, on_cluster
from heelstrike.sweeps.job import Worker, shipped
from heelstrike.sweeps.join import join
from heelstrike.sweeps.outcome import Sweep
from heelstrike.sweeps.plan import Plan
from heelstrike.sweeps.progress import Meter, shown
from heelstrike.sweeps.store import Store, locked, open_store
from heelstrike.sweeps.study import Source, Study, study_of

ON_GPU = 65536
"""Worlds of a chunk on a GPU, or fewer where they would not fit."""
LEAST, MOST, WORK = 128, 4096, 2**24
"""Worlds of a chunk on a CPU, and steps of all its worlds that are enough: some seconds."""
SHARES = 64
"""Chunks that a cluster gets at least."""

Done = Iterator[tuple[int, dict[str, np.ndarray]]]
"""Chunks by index, with their worlds' memory at the end."""


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
    """Simulates a scene in many worlds and returns what came of them.

    `source` is a bundled scene, a .toml file, a SceneFile, or a Simulator from its start. `grid`
    multiplies: {path: "1e3:1e6:log:64", or numbers}; `random` is drawn for each world: {path:
    (low, high), (low, high, "log"), (mean, sigma, "normal")}. With a folder a sweep that was killed
    goes on by resume=True; without one nothing is left on disk. `keep` names what is kept of each
    world beside `failed` and `steps`, such as ("fell", "peak_force"); all, if not given. `ray` is
    "local" or the address of a cluster. docs/sweeps.md tells the paths.
    """
    for word, value in (("threads", threads), ("chunk", chunk)):
        if value is not None and not (isinstance(value, int | np.integer) and value > 0):
            raise HeelstrikeError(f"{word} is a whole number above 0, not {value!r}")
    plan = Plan.of(grid, random, worlds, seed)
    study = study_of(source, plan, duration, device, math, dtype, keep)
    study.check()
    threads = threads or os.cpu_count() or 1
    manifest = study.manifest(chunk or _chunk(study, ray is not None))
    if folder is not None:
        with locked(Path(folder)):
            store = open_store(Path(folder), manifest, chunk, resume)
            return Sweep(store.result, _fill(study, store, threads, ray, progress))
    with TemporaryDirectory(prefix="heelstrike-") as made, locked(Path(made)):
        store = open_store(Path(made), manifest, chunk, resume)
        return Sweep(store.result, _fill(study, store, threads, ray, progress)).in_memory()


def _chunk(study: Study, shared: bool) -> int:
    """Worlds of a chunk, unless the user says: enough to cost little, few enough that a kill loses
    little, and that several workers have their share.
    """
    worlds = study.plan.worlds
    if study.device == "cpu":
        most = min(MOST, worlds // SHARES) if shared else MOST
        size = max(LEAST, min(most, WORK // study.steps))
    else:
        most = min(ON_GPU, worlds // SHARES) if shared else ON_GPU
        size = max(LEAST, min(most, study.fitting))
    return min(worlds, size - size % LEAST)


def _fill(
    study: Study, store: Store, threads: int, ray: str | None, progress: bool | None
) -> Meter:
    """Computes what is missing and joins all."""
    if store.result.exists():
        store.finish()
        return Meter(store.worlds, study.steps, store.worlds)
    missing = store.missing()
    lacking = sum(last - first for first, last in map(store.span, missing))
    store.check_room(study.bytes * (lacking + store.worlds))
    with ExitStack() as stack:
        stopped = stack.enter_context(interruptible())
        begin = _on_ray(study, ray, stack) if ray is not None else _here(study, threads)
        meter = Meter(store.worlds, study.steps, store.worlds - lacking)
        tell = stack.enter_context(shown(meter, progress))

        def look(made: int) -> None:
            tell(made)
            if stopped.is_set():
                raise KeyboardInterrupt

        for index, memory in begin(store, missing, look):
            store.write(index, study.finals(store.span(index), memory))
        meter.stop()
    _join(study, store)
    return meter


Begin = Callable[[Store, Sequence[int], Callable[[int], None]], Done]


def _here(study: Study, threads: int) -> Begin:
    """On the lanes and threads of this CPU, or on its GPU."""
    worker = Worker(study.job, study.kernel, threads)

    def begin(store: Store, missing: Sequence[int], look: Callable[[int], None]) -> Done:
        for index in missing:
            first, last = store.span(index)
            worlds = last - first
            rows = study.rows((first, last))
            yield index, worker.work(worlds, rows, look)

    return begin


def _on_ray(study: Study, address: str, stack: ExitStack) -> Begin:
    """On a Ray cluster."""
    ray = stack.enter_context(cluster(address))
    job = shipped(study.job, study.sim)

    def begin(store: Store, missing: Sequence[int], look: Callable[[int], None]) -> Done:
        def asked() -> Iterator[tuple[int, int, dict[str, np.ndarray]]]:
            for index in missing:
                first, last = store.span(index)
                yield index, last - first, study.rows((first, last))

        for index, memory in on_cluster(ray, job, asked(), lambda: look(0)):
            first, last = store.span(index)
            look((last - first) * study.steps)
            yield index, memory

    return begin


def _join(study: Study, store: Store) -> None:
    def whole(index: int) -> dict[str, np.ndarray]:
        found = store.read(index)
        if found is None:
            raise HeelstrikeError(
                f"a chunk in '{store.folder}' was damaged while it was joined; --resume goes on"
            )
        return found

    def chunks() -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        for index in range(store.chunks):
            first, last = store.span(index)
            yield first, {"world": np.arange(first, last), **whole(index)}

    join(store.result, study.template(whole(0)), store.worlds, chunks())
    store.finish()
