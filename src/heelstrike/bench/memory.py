"""Memory of a world: by the layout of its arrays, and as the system sees it.

    bytes of a world = (sum of sizes of memory + inputs that vary) x bytes of a number

Inputs that are the same for all worlds exist once. The system's figure is what the peak of a whole
process that steps 2 N worlds is above that of one that steps N, over N: passing copies included.
Nothing that a run without a recording keeps grows with its steps.

    python -m heelstrike.bench.memory FILE WORLDS       prints the peak of such a process [bytes]
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from typing import Any

from heelstrike.bench.standing import Case, case, first_pose, simulator
from heelstrike.errors import HeelstrikeError
from heelstrike.machine import module_command, peak_memory
from heelstrike.simulate.simulator import Simulator

WORLDS = 16_384
FEW, MANY = 1_000, 10_000
"""Steps after which resident memory is looked at."""
STEPPED = 64
"""Worlds that make them."""


def memory(of: Case, quick: bool = False) -> dict[str, Any]:
    """Bytes of a world, by layout and, if not quick, by measurement; growth with steps."""
    sim = simulator(of.robot, of.dt, worlds=STEPPED)
    return {
        "bytes_per_world": bytes_per_world(sim),
        "peak_per_world": None if quick else peak_per_world(of),
        "worlds": [WORLDS, 2 * WORLDS],
        "steps": [FEW, MANY],
        "growth_with_steps": _growth(sim),
    }


def bytes_per_world(sim: Simulator) -> int:
    """Return the bytes of memory and of inputs per world."""
    batch = sim.compiled.batch(())
    varying = [port for port in batch.layout.inputs if sim.parameters[port.name].ndim == 2]
    numbers = sum(port.size for port in (*batch.layout.memory, *varying))
    return numbers * batch.layout.real.bytes


def peak_per_world(of: Case, worlds: int = WORLDS) -> float:
    """Bytes, from N to 2 N worlds."""
    peak(of, 2)  # so that the others find their code in the cache: compiling takes memory too
    return (peak(of, 2 * worlds) - peak(of, worlds)) / worlds


def peak(of: Case, worlds: int) -> int:
    """Bytes of a process of its own at its largest."""
    command = module_command("heelstrike.bench.memory", str(of.source), str(worlds))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise HeelstrikeError(f"memory of {worlds} worlds was not measured: {done.stderr[-300:]}")
    return int(done.stdout.split()[-1])


def _growth(sim: Simulator) -> int | None:
    """Resident bytes that steps of which nothing is recorded add; None where no one can say."""
    found = []
    for steps in (FEW, MANY - FEW):
        sim.run(steps=steps, record="final", progress=False)
        found.append(_resident())
    return None if found[0] is None or found[1] is None else found[1] - found[0]


def _resident() -> int | None:
    """Bytes of this process in the machine's memory, where the system says."""
    gc.collect()
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


def main(source: str, worlds: str) -> None:
    of = case(source)
    sim = simulator(of.robot, of.dt)
    sim.run(steps=2, worlds=int(worlds), q0=first_pose(of.robot), record="final", progress=False)
    print(peak_memory())


if __name__ == "__main__":
    main(*sys.argv[1:])
