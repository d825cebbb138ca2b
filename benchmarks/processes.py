"""Processes that a process started: what a benchmark or a test kills."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


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


def workers_of(process: subprocess.Popen[bytes]) -> list[int]:
    """Ray's, that have work in hand."""
    return [pid for pid in descendants(process.pid) if command_of(pid).startswith("ray::work")]


def command_of(pid: int) -> str:
    """The command line of a process; empty where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
