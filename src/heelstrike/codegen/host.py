"""This CPU as LLVM describes it."""

from __future__ import annotations

import os
from functools import cache

import llvmlite.binding as llvm

from heelstrike.errors import ProgramError


def default_level() -> int:
    """Return LLVM's optimisation level: 1, unless $HEELSTRIKE_LEVEL names another.

    Higher levels schedule instructions once more, after their registers are chosen: steps of robots
    take the same time within 2 %, compiling takes 15 % more of LLVM's time. Level 0 halves LLVM's
    time and makes steps 15 to 30 % slower.
    """
    named = os.environ.get("HEELSTRIKE_LEVEL", "1")
    if named not in ("0", "1", "2", "3"):
        raise ProgramError(
            f"HEELSTRIKE_LEVEL is '{named}'", path="level", value=named, allowed="0, 1, 2, 3"
        )
    return int(named)


LEVEL = default_level()


@cache
def host() -> tuple[str, str]:
    """Return name and features of this CPU."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def target_machine(level: int) -> llvm.TargetMachine:
    """Return LLVM's target machine for this CPU at an optimisation level."""
    name, features = host()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=name, features=features, opt=level, reloc="pic", codemodel="small", jit=True
    )
