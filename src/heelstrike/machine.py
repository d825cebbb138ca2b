"""What something was made or measured on: processor, system, and the versions that matter; and what
memory a process took of it.
"""

from __future__ import annotations

import platform
import resource
import sys
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("heelstrike", "casadi", "llvmlite", "pin", "mujoco", "numpy")
STATUS = "/proc/self/status"
"""Where Linux tells of this process."""


def machine() -> dict[str, str]:
    """CPU, Python, and the packages that matter, by name."""
    import llvmlite.binding as llvm

    return {
        "cpu": f"{llvm.get_host_cpu_name()}, {platform.machine()}",
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
    }


def peak_memory() -> int:
    """Most that this process has held so far [bytes]. Linux's ru_maxrss would count its parent's,
    too, and is the last resort.
    """
    try:
        with open(STATUS) as file:
            found = dict(line.split(":", 1) for line in file)
        return 1024 * int(found["VmHWM"].split()[0])
    except (OSError, KeyError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else 1024 * most  # in bytes there, else in kB


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
