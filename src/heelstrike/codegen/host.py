"""This CPU as LLVM describes it."""

from __future__ import annotations

from functools import cache

import llvmlite.binding as llvm


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
