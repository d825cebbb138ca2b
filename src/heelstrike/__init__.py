"""Heelstrike: a contact laboratory and simulator for legged and humanoid robots."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heelstrike.compile.cpu import compile_program
    from heelstrike.compile.program import Program
    from heelstrike.errors import (
        HeelstrikeError,
        HeelstrikeWarning,
        LoadError,
        ProgramError,
        TraceError,
    )
    from heelstrike.robot import Point, Robot, bundled, combine, load

__version__ = "0.1.0"

_HOMES = {
    "HeelstrikeError": "heelstrike.errors",
    "HeelstrikeWarning": "heelstrike.errors",
    "LoadError": "heelstrike.errors",
    "ProgramError": "heelstrike.errors",
    "TraceError": "heelstrike.errors",
    "Point": "heelstrike.robot",
    "Program": "heelstrike.compile.program",
    "Robot": "heelstrike.robot",
    "bundled": "heelstrike.robot",
    "combine": "heelstrike.robot",
    "compile_program": "heelstrike.compile.cpu",
    "load": "heelstrike.robot",
}

__all__ = [
    "HeelstrikeError",
    "HeelstrikeWarning",
    "LoadError",
    "Point",
    "Program",
    "ProgramError",
    "Robot",
    "TraceError",
    "bundled",
    "combine",
    "compile_program",
    "load",
]


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used: CasADi and Pinocchio are large."""
    if name not in _HOMES:
        raise AttributeError(f"module 'heelstrike' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
