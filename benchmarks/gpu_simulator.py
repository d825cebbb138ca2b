"""Whole simulators on a GPU: hs.Simulator(device="cuda"), each law, beside the CPU's bits.

    python -m benchmarks.gpu_simulator [--laws elastic,rigid] [--variants float32-exact,...]
                                       [--whole-body | --shapes] [--json FILE] [ROBOT ...]

Robots stand as in standing.py: servo, torque limits, joint stops, eight contact points, or the
points of whole_body.py (hoap1, g1, anymal_c), or all their shapes, which touch one another as well.
65,536 worlds make 1000 steps in one run that keeps
its end; the best of three counts. 256 worlds make 100 steps on both devices from one state: worlds
whose every bit agrees, and the largest difference of a normal force in one step, over the weight.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import heelstrike as hs
from benchmarks.whole_body import faller
from heelstrike.bench.standing import simulator
from heelstrike.machine import machine
from heelstrike.runtime.cuda.driver import current_device

WORLDS, STEPS, CHECKED, TURNS = 65_536, 1000, 256, 3
LAWS: dict[str, Any] = {
    "elastic": hs.Elastic(hs.LinearSpring(), hs.Bristle()),
    "rigid": hs.Rigid(friction=hs.Coulomb(0.8, 0.6)),
}
VARIANTS = {
    f"{dtype}-{math}": (dtype, math)
    for dtype, math in (("float32", "exact"), ("float32", "fast"), ("float64", "exact"))
}
DT = 1e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("robots", nargs="*")
    parser.add_argument("--laws", default=",".join(LAWS))
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--whole-body", action="store_true", help="contact points on all bodies")
    parser.add_argument("--shapes", action="store_true", help="all shapes, between bodies as well")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    data = os.environ.get("HEELSTRIKE_DATA")
    ours = [f"{data}/robots/{name}.xml" for name in ("g1", "anymal_c")] if data else []
    rows: dict[str, Any] = {}
    for source in options.robots or ["hoap1", *ours]:
        if options.whole_body:
            robot = faller(Path(source).stem).robot
        else:
            robot = hs.load(source, collide="all" if options.shapes else "feet")
        for law in options.laws.split(","):
            for dtype, math in (VARIANTS[x] for x in options.variants.split(",")):
                name = f"{robot.name}, {law}, {dtype}, {math}"
                rows[name] = measured(robot, law, dtype, math)
                print(name, json.dumps(rows[name]), flush=True)
    if options.json:
        result = {
            "machine": machine() | {"gpu": current_device().name},
            "worlds": WORLDS,
            "steps": STEPS,
            "rows": rows,
        }
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n")


def measured(robot: hs.Robot, law: str, dtype: str, math: str) -> dict[str, Any]:
    """Speed, what a thread takes, and how far from the CPU."""
    started = time.perf_counter()
    sim = simulator(robot, DT, LAWS[law], dtype=dtype, math=math, device="cuda", worlds=WORLDS)
    built = time.perf_counter() - started
    kernel = sim.compiled.kernel(())
    best = min(spent(sim) for _ in range(TURNS))
    row = {
        "million_steps_per_s": 1e-6 * WORLDS * STEPS / best,
        "built_s": built,
        "registers": kernel.registers,
        "local_bytes": kernel.local_bytes,
        "fell": int((np.abs(sim.state["q"][:, 2] - pose(robot)[2]) > 0.01).sum()),
    }
    return row | agreement(robot, law, dtype, math)


def spent(sim: hs.Simulator) -> float:
    started = time.perf_counter()
    sim.run(steps=STEPS, record="final", progress=False)
    return time.perf_counter() - started


def agreement(robot: hs.Robot, law: str, dtype: str, math: str) -> dict[str, Any]:
    """Of 256 worlds from one state."""
    cpu = simulator(robot, DT, LAWS[law], dtype=dtype, worlds=CHECKED)
    gpu = simulator(robot, DT, LAWS[law], dtype=dtype, math=math, device="cuda", worlds=CHECKED)
    gpu.state.update(cpu.state.copy())
    forces = [sim.observe("normal_force")["normal_force"] for sim in (cpu, gpu)]
    weight = 9.81 * robot.mass
    off = np.abs(forces[0] - forces[1]).max(axis=1) / weight
    for sim in (cpu, gpu):
        sim.step(100)
    ours, theirs = cpu.state.copy(), gpu.state.copy()
    same = np.ones(CHECKED, bool)
    for name, value in ours.items():
        bits = (value == theirs[name]) | (np.isnan(value) & np.isnan(theirs[name]))
        same &= bits.reshape(CHECKED, -1).all(axis=1)
    return {
        "same_bits": f"{same.sum()} of {CHECKED}",
        "force_error": {"median": float(np.median(off)), "largest": float(off.max())},
        "height_error_m": float(np.abs(ours["q"][:, 2] - theirs["q"][:, 2]).max()),
    }


def pose(robot: hs.Robot) -> np.ndarray:
    return next(iter(robot.poses.values()))


if __name__ == "__main__":
    main()
