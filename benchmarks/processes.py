"""Processes that a process started: what a benchmark or a test kills."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE = 300.0
"""Longest wait for the end of a process, by the clock [s]."""


def descendants(pid: int) -> list[int]:
    """Of a process, on Linux."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # ended meanwhile
            continue
    found, new = [], [pid]
    while new:
        new = [child for child, parent in parents.items() if parent in new]
        found += new
    return found


def waited(
    process: subprocess.Popen[bytes], look: Callable[[], list[T]], limit: float, every: float = 0.05
) -> list[T]:
    """What `look` finds, as soon as it is something; a process that ends before, or in which there
    is nothing for so long [s], is an error.
    """
    until = time.monotonic() + limit
    while not (found := look()):
        if process.poll() is not None:
            raise SystemExit(f"the process ended before: exit code {process.returncode}")
        if time.monotonic() > until:
            raise SystemExit(f"nothing was found for {limit:g} s")
        time.sleep(every)
    return found


def time_to_end(process: subprocess.Popen[Any]) -> tuple[float, float]:
    """Wait for the end of a process; return the time until then [s]: by the clock, and without that
    in which its main thread was ready to run and other processes had the cores.

    Where the kernel does not say the latter (other than Linux), both are by the clock.
    """
    begun, ready = time.monotonic(), _ready(process.pid)
    if ready is None:
        process.wait(timeout=PATIENCE)
        spent = time.monotonic() - begun
        return spent, spent
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() > begun + PATIENCE:
            raise TimeoutError(f"the process did not end within {PATIENCE:g} s")
        time.sleep(0.005)
    spent = time.monotonic() - begun
    return spent, spent - ((_ready(process.pid) or ready) - ready)


def _ready(pid: int) -> float | None:
    """Return how long the main thread of a process, or of one that has ended and was not waited
    for, was ready to run and had no core [s]; None where the kernel does not say.
    """
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return None


def workers_of(process: subprocess.Popen[bytes]) -> list[int]:
    """Ray's, that have work in hand."""
    return [pid for pid in descendants(process.pid) if command_of(pid).startswith("ray::work")]


def command_of(pid: int) -> str:
    """The command line of a process; empty where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
