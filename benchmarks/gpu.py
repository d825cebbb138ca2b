"""Speed and bits on a GPU, beside the CPU's own.

    python -m benchmarks.gpu prepare FOLDER             where the robot can be traced
    python -m benchmarks.gpu run FOLDER [--json FILE] [--loads 7] [--only rigid]
                                                        where the GPU is; needs cuda-core and numpy

`prepare` writes PTX, inputs and the CPU's results; `run` loads them, so the machine with the GPU
needs neither CasADi nor Pinocchio. The load is G1 of HEELSTRIKE_DATA (else hoap1) on a
spring-damper floor, and by the simulator's own step on springs and on hs.Rigid, on two feet and
with points on its whole body (whole_body.py), 65,536 worlds that have stood for three seconds; and
one small program for each kind:
memory, failure, loops, counted loops, tables, and variables under guards. The place of a large code
in memory changes its speed by some per cent: with --loads the median over as many loads counts.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from heelstrike.runtime.cuda.kernel import CudaBatch, CudaKernel, Ptx

WORLDS = 65_536
CHECKED = 256
STEPS = 100
LIMBS = ("standing", "guards", "springs", "rigid")
"""Cases with limbs, which also run with a warp per limb and are timed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("prepare", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--loads", type=int, default=1, help="loads of each program that is timed")
    parser.add_argument("--only", default="", help="programs whose names begin so")
    options = parser.parse_args()
    if options.what == "prepare":
        prepare(options.folder)
    else:
        result = run(options.folder, options.loads, options.only)
        if options.json:
            Path(options.json).write_text(json.dumps(result, indent=1) + "\n")


def prepare(folder: Path) -> None:
    from benchmarks.ground import inputs, standing
    from benchmarks.whole_body import faller
    from heelstrike.codegen.cuda.ptx import make_ptx
    from heelstrike.robot import load
    from tests.guarded import guarded_sweep, guarded_values
    from tests.unit.test_rollout import oscillator, points, roots, runaway, tables

    folder.mkdir(parents=True, exist_ok=True)
    data = os.environ.get("HEELSTRIKE_DATA")
    robot = load(f"{data}/robots/g1.xml" if data else "hoap1", collide="feet")
    rng = np.random.default_rng(0)
    stiffness = {"k": rng.uniform(1, 100, (CHECKED, 1)), "dt": np.array([0.01])}
    looked_up = {
        "u": rng.uniform(-1, 8, (CHECKED, 1)),
        "w": rng.uniform(-1, 7, (CHECKED, 1)),
        "motion": rng.normal(size=(7, 3)),
        "field": rng.normal(size=(5, 6)),
    }
    cases: dict[str, tuple[Any, dict[str, np.ndarray], int]] = {
        "standing": (standing(robot), settled(standing(robot), inputs(robot, CHECKED)), STEPS),
        "memory": (oscillator(), stiffness, 200),
        "failure": (runaway(), {"rate": rng.uniform(0.5, 3, (CHECKED, 1))}, 50),
        "loop": (roots(), {"a": rng.uniform(0.5, 1e4, (CHECKED, 1))}, 1),
        "counted loop": (points(), {"x": rng.normal(size=(CHECKED, 3))}, 3),
        "tables": (tables(), looked_up, 1),
        "guards": (guarded_sweep(), guarded_values(CHECKED), STEPS),
    }
    for name, (program, values, steps) in cases.items():
        for dtype, math in (("float32", "exact"), ("float32", "fast"), ("float64", "exact")):
            for mapping in ("world", "part") if name in LIMBS else ("world",):
                ptx = make_ptx(program, dtype=dtype, math=math, mapping=mapping)
                write_case(folder / f"{name}-{mapping}-{dtype}-{math}", ptx, program, values, steps)
    for law in ("springs", "rigid"):
        for dtype, math in (("float32", "exact"), ("float32", "fast"), ("float64", "exact")):
            program, values = simulated(robot, law, dtype)
            for mapping in ("world", "part"):
                ptx = make_ptx(program, dtype=dtype, math=math, mapping=mapping)
                write_case(folder / f"{law}-{mapping}-{dtype}-{math}", ptx, program, values, STEPS)
    program, values = simulated(faller("g1" if data else "hoap1").robot, "rigid", "float32")
    ptx = make_ptx(program, dtype="float32")
    write_case(folder / "rigid-whole-part-float32-exact", ptx, program, values, STEPS)
    print(f"{folder}: {len(list(folder.glob('*.ptx')))} programs")


def settled(program: Any, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the values with the program's memory after three seconds in steps of 1 ms."""
    from heelstrike.runtime.compiler import compile_program

    batch = compile_program(program, dtype="float32").batch(CHECKED)
    batch.set(**values)
    batch.run(steps=3000)
    return values | batch.state()


def simulated(robot: Any, law: str, dtype: str) -> tuple[Any, dict[str, np.ndarray]]:
    """The step of a simulator, with the values of its inputs, and of its memory after three seconds
    of standing."""
    import heelstrike as hs
    from heelstrike.bench.standing import DEFAULT, first_pose
    from heelstrike.step.step import step_program

    pose = first_pose(robot)
    laws = {"springs": DEFAULT, "rigid": hs.Rigid(friction=hs.Coulomb(0.8, 0.6))}
    control = hs.Servo(reference=pose)
    scene = hs.Scene(robot, hs.Plane(laws[law], name="ground"))
    sim = hs.Simulator(scene, dt=2e-3, control=control, dtype=dtype, worlds=CHECKED)
    q = np.tile(pose, (CHECKED, 1))
    q[:, 7:] += 0.01 * np.random.default_rng(0).normal(size=(CHECKED, robot.nq - 7))
    sim.run(3.0, q0=q, record="final", progress=False)
    values = {name: np.asarray(x) for name, x in sim.compiled.parameters.of_world(0).items()}
    return step_program(sim.plan), values | sim.compiled.batch().state()


def write_case(
    path: Path, ptx: Ptx, program: Any, values: dict[str, np.ndarray], steps: int
) -> None:
    from heelstrike.runtime.compiler import compile_program

    dtype = "float32" if ptx.layout.real.bytes == 4 else "float64"
    batch = compile_program(program, dtype=dtype).batch(CHECKED)
    batch.set(**values)
    batch.run(steps=steps)
    names = [port.name for port in ptx.layout.memory + ptx.layout.outputs]
    results = {f"result {name}": batch.get(name) for name in names}
    ptx.save(path.with_suffix(".ptx"))
    np.savez(path.with_suffix(".npz"), steps=steps, **values, **results)


def run(folder: Path, loads: int = 1, only: str = "") -> dict[str, Any]:
    kernel = None
    rows: dict[str, Any] = {}
    for path in sorted(folder.glob(f"{only}*.ptx")):
        values = dict(np.load(path.with_suffix(".npz")))
        steps = int(values.pop("steps"))
        started = time.perf_counter()
        kernel = CudaKernel(Ptx.load(path))
        row: dict[str, Any] = {"load_s": time.perf_counter() - started}
        row |= {"registers": kernel.registers, "local_bytes": kernel.local_bytes}
        row |= compare(kernel, values, steps)
        row |= shared_with_others(kernel, values) if path.stem.startswith("memory") else {}
        if path.stem.startswith(LIMBS):
            kernels = [kernel, *(CudaKernel(Ptx.load(path)) for _ in range(loads - 1))]
            speeds = [speed(own, values) for own in kernels]
            row |= {"million_steps_per_s": float(np.median(speeds)), "loads": speeds}
        rows[path.stem] = row
        print(path.stem, json.dumps(row), flush=True)
    assert kernel is not None, f"{folder} holds no prepared program"
    device = {"device": kernel.device.name, "python": platform.python_version()}
    return {"machine": device, "date": time.strftime("%Y-%m-%d"), "worlds": WORLDS, "rows": rows}


def compare(kernel: CudaKernel, values: dict[str, np.ndarray], steps: int) -> dict[str, Any]:
    """Worlds whose every bit is the CPU's, and the largest relative difference."""
    batch = kernel.batch(CHECKED)
    batch.set(**{name: x for name, x in values.items() if not name.startswith("result ")})
    batch.run(steps=steps)
    same = np.ones(CHECKED, bool)
    worst = 0.0
    for name in (x.removeprefix("result ") for x in values if x.startswith("result ")):
        ours, theirs = batch.get(name), values[f"result {name}"]
        bits = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
        same &= bits.reshape(CHECKED, -1).all(axis=1)
        finite = np.isfinite(theirs) & np.isfinite(ours)
        scale = max(np.abs(theirs[finite]).max(initial=0.0), 1e-30)
        worst = max(worst, float(np.abs(ours - theirs)[finite].max(initial=0.0) / scale))
    return {"same_bits": f"{same.sum()} of {CHECKED}", "difference": worst}


def shared_with_others(kernel: CudaKernel, values: dict[str, np.ndarray]) -> dict[str, bool]:
    """Whether torch, cupy and jax, where they are, see the GPU's own memory."""
    batch = kernel.batch(CHECKED)
    batch.set(k=values["k"], dt=values["dt"])
    batch.run(steps=3)
    expected = batch.get("z").ravel()
    views: dict[str, Any] = {}
    with suppress(ImportError):
        import cupy

        views["cupy"] = cupy.asarray(batch.device_array("z")).get()
        views["cupy dlpack"] = cupy.from_dlpack(batch.device_array("z")).get()
    with suppress(ImportError):
        import torch

        views["torch"] = torch.as_tensor(batch.device_array("z"), device="cuda").cpu().numpy()
        views["torch dlpack"] = torch.from_dlpack(batch.device_array("z")).cpu().numpy()
    with suppress(ImportError):
        import jax

        if batch.layout.real.bytes == 4:  # jax is in float32 unless told otherwise
            views["jax dlpack"] = np.asarray(jax.numpy.from_dlpack(batch.device_array("z")))
    return {name: bool(np.array_equal(x.ravel(), expected)) for name, x in views.items()}


def speed(kernel: CudaKernel, values: dict[str, np.ndarray]) -> float:
    """Million world-steps a second of whole rollouts, nothing recorded but the first step."""
    batch = kernel.batch(WORLDS)
    given = {name: x for name, x in values.items() if not name.startswith("result ")}
    repeat = WORLDS // CHECKED
    batch.set(**{k: np.tile(x, (repeat, 1)) if x.ndim == 2 else x for k, x in given.items()})
    return 1e-6 * WORLDS * STEPS / best_time(batch)


def best_time(batch: CudaBatch) -> float:
    best = float("inf")
    for _ in range(4):
        batch.sync()
        started = time.perf_counter()
        batch.run(steps=STEPS, every=10**9)
        batch.sync()
        best = min(best, time.perf_counter() - started)
    return best


if __name__ == "__main__":
    main()
