"""Workers on a Ray cluster (extra heelstrike[ray]).

The job is sent to Ray's store once, its program as a traced graph of some 100 kB. A worker compiles
it for its own CPU or GPU, once per process, and through the cache once per node. It receives the
rows of a chunk and returns the memory at the end; only the driver writes files, so nodes need no
shared disk. The chunk of a killed worker is sent to another.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from itertools import islice
from types import ModuleType
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.sweeps.job import SweepJob, Worker

LOCAL = "local"
MAX_RETRIES = 5
"""Number of times that Ray sends a chunk to another worker before it gives up."""
CHUNKS_PER_CPU = 2
"""Chunks that are queued for each CPU, or GPU, of the cluster."""
POLL_PERIOD = 0.2
"""Time between checks for Ctrl-C [s]."""
CONNECT_TIMEOUT = 5.0
"""Time within which a cluster must accept a connection [s]."""
STORE_SIZE = 2**28
"""Size of a local cluster's object store [bytes]."""

Chunk = tuple[int, int, Mapping[str, np.ndarray]]
"""Index of a chunk, its number of worlds, and the inputs that vary in them."""

_workers: dict[str, Worker] = {}
"""The last worker of this process, by the identity of its job."""


def work(job: SweepJob, worlds: int, rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Simulate a chunk on a node and return the memory at its end."""
    name = job.identity
    if name not in _workers:
        _workers.clear()
        _workers[name] = Worker(job, job.kernel())
    return _workers[name].work(worlds, rows)


@contextmanager
def cluster(address: str) -> Iterator[ModuleType]:
    """Connect Ray to a cluster, or start a local one with a worker per core; stop at the end."""
    ray = check_cluster(address)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == LOCAL:
        here = {"include_dashboard": False, "object_store_memory": STORE_SIZE}
        options |= here | {"num_cpus": os.cpu_count() or 1, "address": LOCAL}
    else:
        options["address"] = address
    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise HeelstrikeError(
            f"cannot connect to the Ray cluster '{address}': {first}; check its token here "
            "(RAY_AUTH_MODE, RAY_AUTH_TOKEN) and that its version of Ray is the same"
        ) from error
    try:
        with redirect_stdout(sys.stderr):  # Ray reports killed workers on standard output
            yield ray
    finally:
        ray.shutdown()


def check_cluster(address: str) -> ModuleType:
    """Return Ray; raise if it is not installed, or if nothing is at its address."""
    try:
        import ray
    except ImportError as error:
        raise HeelstrikeError(
            "--ray needs Ray, which is not installed; run pip install heelstrike[ray], or omit "
            "--ray to use all cores of this machine"
        ) from error
    if address != LOCAL:
        _check_reachable(address)
    found: ModuleType = ray
    return found


def _check_reachable(address: str) -> None:
    """Raise if HOST:PORT accepts no connection; Ray itself would retry for many minutes."""
    found = re.fullmatch(r"(?:ray://)?(.+):(\d{1,5})", address)
    if found is None:
        return
    try:
        socket.create_connection((found[1], int(found[2])), timeout=CONNECT_TIMEOUT).close()
    except (OSError, OverflowError) as error:
        raise HeelstrikeError(
            f"no Ray cluster at '{address}' ({error}); start one there (ray start --head), or use "
            "--ray local"
        ) from error


def on_cluster(
    ray: ModuleType, job: SweepJob, chunks: Iterator[Chunk], poll: Callable[[], None]
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """Yield chunks as they are done; `poll` is called meanwhile, and may raise."""
    kind = "CPU" if job.target.device == "cpu" else "GPU"
    processors = int(ray.cluster_resources().get(kind, 0))
    if kind == "GPU" and not processors:
        raise HeelstrikeError(
            "no node of this Ray cluster has a GPU; omit --device to use its CPUs"
        )
    remote = ray.remote(**{f"num_{kind.lower()}s": 1}, max_retries=MAX_RETRIES)(work)
    shared = ray.put(job)
    most = CHUNKS_PER_CPU * max(1, processors)
    running: dict[Any, int] = {}
    while True:
        for index, worlds, rows in islice(chunks, most - len(running)):
            running[remote.remote(shared, worlds, rows)] = index
        if not running:
            return
        done, _ = ray.wait(list(running), num_returns=1, timeout=POLL_PERIOD)
        poll()
        for reference in done:
            index = running.pop(reference)
            try:
                found = ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                cause = error.cause
                if isinstance(cause, HeelstrikeError):
                    raise cause from error
                raise
            except ray.exceptions.RayError as error:
                raise HeelstrikeError(
                    f"the worker of chunk {index} was killed {MAX_RETRIES + 1} times, possibly "
                    "out of memory; start again with fewer worlds per chunk (--chunk)"
                ) from error
            yield index, found
