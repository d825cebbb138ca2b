"""Falling robots on a GPU, whose bodies touch one another, beside the CPU's bits.

    python -m benchmarks.gpu_falls [--quick] [--robot NAME] [--json FILE]

The humanoid of the package gymnasium, of capsules, is pushed over in 64 directions, on springs and
on `Rigid`, and falls for 1.2 s on both devices. All that is recorded
every 20 ms is compared, bit by bit: state, forces of bodies and contacts between shapes; sensors
with noise and latency as well. Contacts between shapes are counted, so that the comparison says how
much it covers. Speed is that of 16,384 worlds over the whole fall, one run after a first one.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.pushed_over import models, starts
from heelstrike.runtime.cuda.driver import current_device

DT = {"springs": 5e-4, "Rigid": 1e-3}
"""Time step on each ground [s]."""
SECONDS, EVERY, CHECKED, WORLDS = 1.2, 0.02, 64, 16_384
RECORDED = ("q", "v", "force", "self_pair", "self_force")


def main() -> None:
    made = parser(__doc__, quick="float32 alone")
    made.add_argument("--robot", default="humanoid", help="a model of benchmarks.pushed_over")
    options = made.parse_args()
    dtypes = ("float32",) if options.quick else ("float32", "float64")
    robot, rows = hs.load(dict(models())[options.robot]), {}
    for ground in DT:
        for dtype in dtypes:
            rows[f"{ground}, {dtype}"] = row = measured(robot, ground, dtype)
            print(f"{ground}, {dtype}:", row, flush=True)
    figures = {"robot": options.robot, "gpu": current_device().name, "checked": CHECKED}
    figures |= {"worlds": WORLDS, "rows": rows}
    keep(figures, options.json)


def measured(robot: hs.Robot, ground: str, dtype: str) -> dict[str, Any]:
    """Return how many worlds have the CPU's bits, what touched in them, and the speed."""
    ends = [fall(simulator(robot, ground, dtype, device, CHECKED)) for device in ("cpu", "cuda")]
    cpu, gpu = (end.data for end in ends)
    same = np.ones(CHECKED, bool)
    names = [x for x in cpu.data_vars if cpu[x].dims[:1] == ("world",) and x in gpu]
    for name in names:
        same &= equal(cpu[name].values, gpu[name].values)
    began = time.perf_counter()
    sim = simulator(robot, ground, dtype, "cuda", WORLDS)
    fall(sim, keep_all=False)
    built = time.perf_counter() - began
    began = time.perf_counter()
    run = fall(sim, keep_all=False)
    took = time.perf_counter() - began
    return {
        "same bits": f"{same.sum()} of {CHECKED}",
        "variables": len(names),
        "contacts between shapes": int((cpu["self_pair"] >= 0).sum()),
        "worlds with such contacts": int((cpu["self_pair"] >= 0).any(("time", "slot")).sum()),
        "built [s]": built,
        "diverged": int((run.data["failed"] >= 0).sum()),
        "million steps per s": 1e-6 * WORLDS * SECONDS / DT[ground] / took,
    }


def simulator(robot: hs.Robot, ground: str, dtype: str, device: str, worlds: int) -> hs.Simulator:
    """Return the robot on a plane, with its servo if it has one, and noisy sensors."""
    stiffness = robot.mass * robot.gravity / (4 * 2e-3)  # four points carry it at 2 mm [N/m]
    laws = {
        "springs": hs.Elastic(hs.HuntCrossley(k=stiffness, alpha=1.0), hs.Kinetic(mu=0.6)),
        "Rigid": hs.Rigid(friction=hs.Coulomb(0.6, 0.6)),
    }
    q, _ = starts(robot, 1)
    return hs.Simulator(
        hs.Scene(robot, hs.Plane(laws[ground], name="ground")),
        dt=DT[ground],
        control=hs.Servo(reference=q) if np.any(robot.kp) else None,
        worlds=worlds,
        dtype=dtype,
        device=device,
        sensors=[hs.Sensor("com", label="noisy", noise=0.01, latency=5e-3), "zmp"],
    )


def fall(sim: hs.Simulator, keep_all: bool = True) -> hs.Recording:
    """Return the recording of a fall of every world in a direction of its own."""
    q, v = starts(sim.robot, CHECKED)
    dt = float(sim.dt[0])
    v0 = np.resize(v, (sim.worlds, sim.robot.nv))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # losses and failures are counted
        return sim.run(
            steps=round(SECONDS / dt),
            q0=q,
            v0=v0,
            record=(*RECORDED, "com:noisy", "zmp") if keep_all else "final",
            every=round(EVERY / dt) if keep_all else 1,
            progress=False,
        )


def equal(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return the worlds in which all numbers are the same, NaN as well."""
    same = (ours == theirs) | ((ours != ours) & (theirs != theirs))
    return same.reshape(len(same), -1).all(axis=1)


if __name__ == "__main__":
    main()
