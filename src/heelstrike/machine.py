"""This machine: processor, free memory, versions of packages; processes of ours, their memory."""

from __future__ import annotations

import os
import platform
import resource
import sys
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("heelstrike", "casadi", "llvmlite", "pin", "mujoco-core", "numpy")
STATUS = "/proc/self/status"
"""File in which Linux reports on this process."""


def machine() -> dict[str, str]:
    """Return the CPU and the versions of Python and of the packages that affect results."""
    import llvmlite.binding as llvm

    return {
        "cpu": f"{llvm.get_host_cpu_name()}, {platform.machine()}",
        "python": platform.python_version(),
        **{name.removesuffix("-core"): _version(name) for name in PACKAGES},
    }


def module_command(module: str, *words: str) -> list[str]:
    """Return the command that runs a module of ours in a process of its own.

    Nothing is imported from the present folder, which may be a stranger's (-P).
    """
    return [sys.executable, "-P", "-m", module, *words]


def peak_memory() -> int:
    """Return the peak memory of this process so far [bytes].

    On Linux, ru_maxrss includes that of the parent process, so it is only the fallback.
    """
    try:
        with open(STATUS) as file:
            found = dict(line.split(":", 1) for line in file)
        return 1024 * int(found["VmHWM"].split()[0])
    except (OSError, KeyError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else 1024 * peak  # bytes on macOS, else kB


def free_memory() -> int:
    """Return the free memory [bytes], or all of the machine's if the system does not report it."""
    try:
        with open("/proc/meminfo") as file:  # includes caches that the system would free
            found = dict(line.split(":", 1) for line in file)
        return int(found["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pages = "SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in os.sysconf_names else "SC_PHYS_PAGES"
        return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
