"""Closed loops on a GPU: Cassie, beside the CPU's bits.

    python -m benchmarks.gpu_loops [--json FILE] [--worlds N]

Cassie (HEELSTRIKE_DATA/robots/cassie.xml) stands under servos at its motors on the capsules of its
feet, or hangs in the air, in steps of 0.5 ms. 64 worlds whose feet start up to 1 mm above the
ground make 200 steps on both devices: worlds whose every bit of q and v agrees count. Speed is that
of the best of three runs of 200 steps.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import heelstrike as hs
from benchmarks.command import keep, parser
from heelstrike.robot.placement import lowest_height

LAWS = {"Rigid": hs.Rigid(friction=hs.Coulomb(0.8, 0.6)), "in the air": None}
KP = {"hip-roll": 3000.0, "hip-yaw": 3000.0, "hip-pitch": 3000.0, "knee": 3000.0, "foot": 1000.0}
DT, CHECKED, STEPS, TURNS = 5e-4, 64, 200, 3


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--worlds", type=int, default=16_384)
    options = made.parse_args()
    data = os.environ.get("HEELSTRIKE_DATA")
    if not data:
        raise SystemExit("set HEELSTRIKE_DATA to the folder that has robots/cassie.xml")
    robot = hs.load(Path(data) / "robots/cassie.xml", collide="feet")
    rows = {}
    for law in LAWS:
        for dtype in ("float32", "float64"):
            rows[f"{law}, {dtype}"] = row = measured(robot, law, dtype, options.worlds)
            print(f"{law}, {dtype}:", row, flush=True)
    keep({"worlds": options.worlds, "rows": rows}, options.json)


def measured(robot: hs.Robot, law: str, dtype: str, worlds: int) -> dict[str, Any]:
    """Return the speed, what compiling took, and how many worlds have the CPU's bits."""
    q = robot.close(robot.pose("home"), hold=(robot.joints[0].name,))
    q[2] -= lowest_height(robot, q)
    starts = np.tile(q, (CHECKED, 1))
    starts[:, 2] += np.linspace(0, 1e-3, CHECKED)
    ends = []
    for device in ("cpu", "cuda"):
        began = time.perf_counter()
        sim = simulator(robot, q, law, dtype, device, CHECKED)
        sim.reset(q0=starts)
        sim.step(STEPS)
        built = time.perf_counter() - began
        ends.append([np.asarray(sim.state[name]).copy() for name in ("q", "v")])
    same = np.all([(a == b).all(axis=1) for a, b in zip(*ends, strict=True)], axis=0)
    sim = simulator(robot, q, law, dtype, "cuda", worlds)
    sim.reset(q0=q)
    sim.step(STEPS)
    best = np.inf
    for _ in range(TURNS):
        began = time.perf_counter()
        sim.step(STEPS)
        float(sim.state["q"][0, 0])  # waits for the device
        best = min(best, time.perf_counter() - began)
    kernel = sim.compiled.kernel(())
    return {
        "million_steps_per_s": 1e-6 * worlds * STEPS / best,
        "same_bits": f"{int(same.sum())} of {CHECKED}",
        "largest_difference": max(float(np.abs(a - b).max()) for a, b in zip(*ends, strict=True)),
        "built_s": built,
        "registers": kernel.registers,
        "local_bytes": kernel.local_bytes,
    }


def simulator(
    robot: hs.Robot, q: np.ndarray, law: str, dtype: str, device: str, worlds: int
) -> hs.Simulator:
    """Return Cassie under servos at its motors."""
    kp = {f"{side}-{name}": k for side in ("left", "right") for name, k in KP.items()}
    kd = {name: 40.0 if name.endswith("foot") else 60.0 for name in kp}
    own = LAWS[law]
    scene = hs.Scene(robot) if own is None else hs.Scene(robot, hs.Plane(own, "ground"))
    control = hs.Servo(kp=kp, kd=kd, reference=q)
    return hs.Simulator(scene, DT, control, worlds, dtype=dtype, device=device)


if __name__ == "__main__":
    main()
