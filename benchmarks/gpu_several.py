"""Worlds shared out over several GPUs, beside one GPU and the CPU, bit by bit.

    python -m benchmarks.gpu_several [--quick] [--json FILE]

"cuda:0,0" makes two batches with streams of their own on the first GPU, so that one GPU is enough;
on a machine of several, all of them together are measured as well. hoap1 and a cube, with starts,
friction and pushes that differ by world, are run, stepped, reset by a mask, pushed and observed on
every device; each line says how many worlds have the same bits in all arrays of each part. Exit
code 1 if any world differs. Speed: 65,536 worlds of hoap1 for 500 steps, the devices by turns.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import heelstrike as hs
from benchmarks.command import keep, parser
from heelstrike.runtime.cuda.driver import current_device, device_count

ROBOTS = "hoap1", "cube"
LAWS = {"springs": hs.Elastic(hs.HuntCrossley(), hs.Bristle()), "Rigid": hs.Rigid()}
CHECKED = 1001
"""Worlds whose bits are compared: of two parts neither has whole tiles of 32 worlds alone."""
WORLDS, STEPS, TURNS = 65_536, 500, 5
Parts = dict[str, dict[str, np.ndarray]]
"""Arrays with a row per world, by name, of each part of what is compared."""


def main() -> None:
    options = parser(__doc__, quick="float32 alone, and no speed").parse_args()
    count = device_count()
    names = [str(current_device(number).name) for number in range(count)]
    print(f"GPUs of this machine: {count} ({', '.join(names)})")
    split = ["cuda:0,0"]
    if count > 1:
        split.append("cuda:" + ",".join(map(str, range(count))))
    else:
        print("one GPU: two batches on it stand for two GPUs; several were not tested")
    rows: dict[str, Any] = {}
    for name in ROBOTS:
        for law in LAWS:
            for dtype in ("float32",) if options.quick else ("float32", "float64"):
                rows[f"{name}, {law}, {dtype}"] = compared(name, law, dtype, split)
    different = sum(n for row in rows.values() for part in row.values() for n in part.values())
    speed = {} if options.quick else speeds(["cuda", *split])
    keep({"gpus": names, "different": rows, "million_steps_per_s": speed}, options.json)
    print(f"FAILED: {different} worlds differ" if different else "PASSED: all bits agree")
    sys.exit(different > 0)


def compared(name: str, law: str, dtype: str, split: list[str]) -> dict[str, dict[str, int]]:
    """Return the worlds that differ, by device and part, and print what was compared."""
    found = {each: worked(name, law, dtype, each) for each in ("cpu", "cuda", *split)}
    different: dict[str, dict[str, int]] = {}
    pairs = [("cuda", "cpu"), *((each, other) for each in split for other in ("cuda", "cpu"))]
    for device, other in pairs:
        row = different[f"{device} beside {other}"] = {}
        for part, arrays in found[device].items():
            same = np.ones(CHECKED, bool)
            for array, value in arrays.items():
                reference = found[other][part][array]
                bits = (value == reference) | ((value != value) & (reference != reference))
                same &= bits.reshape(CHECKED, -1).all(axis=1)
            row[part] = int((~same).sum())
        said = ", ".join(f"{part} {CHECKED - count}" for part, count in row.items())
        print(f"{name}, {law}, {dtype}, {device} beside {other}: same bits of {CHECKED}: {said}")
    force = float(found["cpu"]["run"]["normal_force"].max())
    print(f"{name}, {law}, {dtype}: the largest normal force was {force:.0f} N", flush=True)
    return different


def worked(name: str, law: str, dtype: str, device: str) -> Parts:
    """Return what is compared: records of a run, and states after a number of actions."""
    sim = simulator(name, law, dtype, device, CHECKED)
    robot, rng = sim.robot, np.random.default_rng(1)
    q = np.tile(next(iter(robot.poses.values())), (CHECKED, 1))
    q[:, 2] += rng.uniform(0, 2e-3, CHECKED)
    friction = {"ground.friction.mu_k": np.linspace(0.2, 0.6, CHECKED)}
    record = ["q", "v", "normal_force"]
    run = sim.run(steps=60, q0=q, vary=friction, every=3, record=record, progress=False)
    found: Parts = {"run": {key: np.asarray(x) for key, x in by_world(run.data).items()}}
    sim.step(25)
    found["step"] = sim.state.copy()
    sim.reset(worlds=rng.random(CHECKED) < 0.3)
    sim.step(10)
    found["reset by a mask"] = sim.state.copy()
    body, force = robot.bodies[0].name, rng.normal(0, 20, (CHECKED, 3))
    sim.push(body, force, 0.01, worlds=rng.random(CHECKED) < 0.6)
    sim.step(20)
    found["push"] = sim.state.copy()
    found["observe"] = sim.observe("normal_force", "com") | {"time": sim.time}
    return found


def by_world(data: Any) -> dict[str, Any]:
    """Return the variables of a recording that have a row per world."""
    return {name: x for name, x in data.data_vars.items() if x.dims[:1] == ("world",)}


def speeds(devices: list[str]) -> dict[str, float]:
    """Return million steps per second, the best of some turns, and print them."""
    sims = {each: simulator("hoap1", "springs", "float32", each, WORLDS) for each in devices}
    best = dict.fromkeys(devices, np.inf)
    for _ in range(TURNS + 1):  # the first turn compiles
        for each, sim in sims.items():
            started = time.perf_counter()
            sim.run(steps=STEPS, record="final", progress=False)
            best[each] = min(best[each], time.perf_counter() - started)
    found = {each: 1e-6 * WORLDS * STEPS / spent for each, spent in best.items()}
    for each, rate in found.items():
        print(f"speed on {each}: {rate:.0f} million steps/s, {rate / found['cuda']:.2f} of one GPU")
    return found


def simulator(name: str, law: str, dtype: str, device: str, worlds: int) -> hs.Simulator:
    """Return worlds of a robot, with a servo if it has joints."""
    robot = hs.load(name, collide="feet" if name == "hoap1" else "all")
    control = hs.Servo() if robot.nv > 6 else None
    scene = hs.Scene(robot, hs.Plane(name="ground", law=LAWS[law]))
    return hs.Simulator(scene, 1e-3, control, worlds, dtype=dtype, device=device)


if __name__ == "__main__":
    main()
