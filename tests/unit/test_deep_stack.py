"""Many loops in one program: LLVM calls itself for each, and must not run out of stack."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

PROGRAM = """
from heelstrike.codegen.cpu import compile_object
from heelstrike.ir.loop import repeated
from heelstrike.ir.program import Program

p = Program("loops")
x = p.input("x", 1)
for k in range(100):
    with repeated(p, "halve", limit=60) as loop:
        y = loop.carry("y", x + k)
        with p.block("half"):
            z = p.let("z", y / 2)
            loop.next(y, z)
            loop.until(z < 1)
    x = y
with p.block("out"):
    p.output("y", x)
print(len(compile_object(p, width=1)[1]) > 0)
"""


def small_stack() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (512 * 1024, hard))


@pytest.mark.skipif(sys.platform != "linux", reason="the stack of other systems does not grow")
def test_many_loops_compile_on_a_small_stack():
    """Without `deep_stack` the process ends with a segmentation fault."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], preexec_fn=small_stack, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr[-500:]
