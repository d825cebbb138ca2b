"""Room on the stack for LLVM, whose passes call themselves once for each loop of a function.

A program with 100 loops in a row takes more than 0.5 MB of stack and one with 300 more than 1 MB,
and LLVM does not check: the process would end with a segmentation fault. A robot with many points
on hs.Mesh has a loop for each. Linux lets the stack of the main thread grow as far as
its limit of the moment allows, and leaves at least 128 MB below it. Other threads, and macOS, keep
the stack that they have.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager

STACK = 96 * 2**20
"""Stack that LLVM may use [bytes]: twelve times the usual limit."""


@contextmanager
def deep_stack() -> Iterator[None]:
    """Let the stack of the main thread grow to STACK, where the system allows it."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    unlimited = resource.RLIM_INFINITY
    wanted = STACK if hard == unlimited else min(STACK, hard)
    if soft == unlimited or soft >= wanted:
        yield
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
