"""Workers on a Ray cluster (extra heelstrike[ray]).

The job goes to Ray's store once, its program as a traced graph of some 100 kB. A worker compiles it
for its own CPU or GPU, once a process and through the cache once a node. It gets the rows of a
chunk and returns memory at the end; the driver alone writes, so nodes need no common disk. What a
killed worker had in hand is given to another.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from itertools import islice
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.sweeps.job import Job, Worker

LOCAL = "local"
RETRIES = 5
"""How often Ray gives a chunk to another worker before it gives up."""
AHEAD = 2
"""Chunks given out for each CPU of the cluster."""
PATIENCE = 0.2
"""Between looks at Ctrl-C [s]."""
ANSWER = 5.0
"""That a cluster may take to be reached [s]."""
ROOM = 2**28
"""Of a local cluster's object store [bytes]."""

Chunk = tuple[int, int, Mapping[str, np.ndarray]]
"""Its index, its worlds, and what varies in them."""

_workers: dict[str, Worker] = {}
"""Of this process, by the job: the last one."""


def work(job: Job, worlds: int, rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """On a node: memory at the end of a chunk."""
    name = job.identity
    if name not in _workers:
        _workers.clear()
        _workers[name] = Worker(job, job.kernel())
    return _workers[name].work(worlds, rows)


@contextmanager
def cluster(address: str) -> Iterator[Any]:
    """Ray, joined at an address, or started here with a worker a core and stopped at the end."""
    try:
        import ray
    except ImportError as error:
        raise HeelstrikeError(
            "--ray needs Ray: pip install heelstrike[ray]; without --ray all cores of this machine "
            "work anyway"
        ) from error
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == LOCAL:
        here = {"include_dashboard": False, "object_store_memory": ROOM}
        options |= here | {"num_cpus": os.cpu_count() or 1, "address": LOCAL}
    else:
        _knock(address)
        options["address"] = address
    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise HeelstrikeError(
            f"cannot join the Ray cluster '{address}': {first}; is its token known here "
            "(RAY_AUTH_MODE, RAY_AUTH_TOKEN), and its version of Ray the same?"
        ) from error
    try:
        with redirect_stdout(sys.stderr):  # Ray tells of killed workers where results go
            yield ray
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Refuses HOST:PORT where nobody answers: Ray itself would ask again for many minutes."""
    found = re.fullmatch(r"(?:ray://)?(.+):(\d{1,5})", address)
    if found is None:
        return
    try:
        socket.create_connection((found[1], int(found[2])), timeout=ANSWER).close()
    except (OSError, OverflowError) as error:
        raise HeelstrikeError(
            f"nobody answers at '{address}' ({error}); start a Ray cluster there (ray start "
            "--head), or take --ray local"
        ) from error


def on_cluster(
    ray: Any, job: Job, chunks: Iterator[Chunk], look: Callable[[], None]
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """Chunks as they are done; `look` may raise."""
    kind = "CPU" if job.target.device == "cpu" else "GPU"
    there = int(ray.cluster_resources().get(kind, 0))
    if kind == "GPU" and not there:
        raise HeelstrikeError(
            "no node of this Ray cluster has a GPU; leave out --device, and its CPUs work"
        )
    remote = ray.remote(**{f"num_{kind.lower()}s": 1}, max_retries=RETRIES)(work)
    shared = ray.put(job)
    most = AHEAD * max(1, there)
    running: dict[Any, int] = {}
    while True:
        for index, worlds, rows in islice(chunks, most - len(running)):
            running[remote.remote(shared, worlds, rows)] = index
        if not running:
            return
        done, _ = ray.wait(list(running), num_returns=1, timeout=PATIENCE)
        look()
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
                    f"chunk {index} was lost {RETRIES + 1} times with its worker: is there too "
                    "little memory on a node? Begin anew with fewer worlds a chunk (--chunk)"
                ) from error
            yield index, found
