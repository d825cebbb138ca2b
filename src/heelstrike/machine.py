"""What something was made or measured on: processor, system, and the versions that matter."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("heelstrike", "casadi", "llvmlite", "pin", "mujoco", "numpy")


def machine() -> dict[str, str]:
    """CPU, Python, and the packages that matter, by name."""
    import llvmlite.binding as llvm

    return {
        "cpu": f"{llvm.get_host_cpu_name()}, {platform.machine()}",
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
