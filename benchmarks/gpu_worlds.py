"""Many worlds on a real GPU: a sweep of a million, the CPU's bits, what is copied back.

    python -m benchmarks.gpu_worlds [agreement million reductions bench] [--json FILE]

million: hs.sweep of hoap1 on the floor (scene "stand", as benchmarks.sweep), 0.5 s each, with all
that a sweep keeps and with `keep=("fell", "peak_force")`; seconds of the whole call and from the
first chunk to the last, bytes that cross, memory of the GPU, size of the store.
agreement: 4,096 of these worlds on CPU and GPU; worlds all of whose variables have the same bits.
reductions: a million worlds of one simulator, and what is asked of them on the GPU by torch: who
fell, the hardest force, all impulses, the first failure. Bytes that the run and the answers copy.
And what is said of worlds that do not fit.
bench: the GPU part of `heelstrike bench`, mujoco_warp included where it is installed; --robots and
--laws name what is measured.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import heelstrike as hs
from benchmarks.command import keep, parser
from benchmarks.sweep import RANDOM, SCENE
from heelstrike.bench.bench import GPU_LAWS, gpu_part
from heelstrike.bench.standing import case
from heelstrike.errors import HeelstrikeError
from heelstrike.machine import machine
from heelstrike.runtime.cuda import batch as cuda_batch
from heelstrike.runtime.cuda.driver import current_device, free_memory
from heelstrike.sweeps.fell import FallCriterion, fall_criterion

WORLDS, DURATION, CHECKED = 1_000_000, 0.5, 4096
TOO_MANY = 10**9
GRID = {"ground.normal.k": "1e4:1e5:log:64"}
FEW = ("fell", "peak_force")


class Crossed:
    """Bytes between host and GPU, and the most that the GPU held."""

    def __init__(self) -> None:
        self.to_gpu = self.to_host = 0
        self.before = self.least = free_memory()

    def as_dict(self) -> dict[str, int]:
        held = self.before - self.least
        return {"bytes_to_gpu": self.to_gpu, "bytes_to_host": self.to_host, "gpu_bytes": held}


@contextmanager
def watched() -> Iterator[Crossed]:
    """Counts what a batch copies by the driver, which is all that Heelstrike copies."""
    found, into, out = Crossed(), cuda_batch.copy_in, cuda_batch.copy_out

    def copy_in(buffer: Any, array: np.ndarray) -> None:
        found.to_gpu += array.nbytes
        into(buffer, array)

    def copy_out(array: np.ndarray, buffer: Any) -> None:
        found.to_host += array.nbytes
        found.least = min(found.least, free_memory())
        out(array, buffer)

    cuda_batch.copy_in, cuda_batch.copy_out = copy_in, copy_out
    try:
        yield found
    finally:
        cuda_batch.copy_in, cuda_batch.copy_out = into, out


def swept(folder: str, worlds: int, duration: float, **options: Any) -> Any:
    return hs.sweep(SCENE, GRID, RANDOM, worlds, 0, duration, folder, progress=False, **options)


def million(worlds: int, duration: float) -> dict[str, Any]:
    found = {}
    for name, some in (("all", None), ("some", FEW)):
        with TemporaryDirectory() as folder, watched() as crossed:
            started = time.perf_counter()
            made = swept(f"{folder}/made", worlds, duration, device="cuda", keep=some)
            seconds, summary = time.perf_counter() - started, made.summary().as_dict()
            assert made.path is not None
            found[name] = {
                "worlds": worlds,
                "seconds": seconds,
                "in_chunks_s": summary["wall_time"],
                "rate": summary["rate"],
                **crossed.as_dict(),
                "chunk": json.loads(made.path.with_name("sweep.json").read_text())["chunk"],
                "store_bytes": made.path.stat().st_size,
                "host_bytes": summary["memory"],
                "failed": summary["failed"]["count"],
                "fell": summary["fell"]["count"],
            }
        print(name, json.dumps(found[name]), flush=True)
    return found


def agreement(worlds: int, duration: float) -> dict[str, Any]:
    found = {}
    for dtype in ("float32", "float64"):
        with TemporaryDirectory() as folder:
            ours, theirs = (
                swept(f"{folder}/{device}", worlds, duration, device=device, dtype=dtype).data
                for device in ("cpu", "cuda")
            )
            same = np.ones(worlds, bool)
            for name in ours.data_vars:
                one, other = ours[name].values, theirs[name].values
                bits = (one == other) | ((one != one) & (other != other))
                same &= bits.reshape(worlds, -1).all(axis=1)
        found[dtype] = {"worlds": worlds, "same_bits": int(same.sum())}
        print(dtype, json.dumps(found[dtype]), flush=True)
    return found


def reductions(worlds: int, duration: float) -> dict[str, Any]:
    """What is asked of the worlds where they lie."""
    import torch

    scene = hs.load_scene(SCENE)
    sim = scene.simulator(worlds=1, device="cuda")
    sim.begin_at(*scene.start)
    fall = fall_criterion(sim)
    assert fall is not None
    refused = refusal(scene.simulator(worlds=TOO_MANY, device="cuda"))
    friction = {"ground.friction.mu_k": np.linspace(0.05, 0.6, worlds)}
    started = time.perf_counter()
    sim.run(steps=1, worlds=worlds, vary=friction, record="final", progress=False)
    ready = time.perf_counter() - started
    with watched() as crossed:
        started = time.perf_counter()
        sim.run(duration, record="final", progress=False)
        seconds = time.perf_counter() - started
        row: dict[str, Any] = {"worlds": worlds, "refused": refused}
        row |= {"ready_s": ready, "seconds": seconds}
        row["rate"] = worlds * duration / float(sim.parameters["dt"].ravel()[0]) / seconds
        row["run"] = crossed.as_dict()
    with watched() as crossed:
        started = time.perf_counter()
        q, peak, impulse, failed = (
            torch.from_dlpack(sim.device_array(name)).swapaxes(1, 2).flatten(0, 1)[:worlds]
            for name in ("q", "peak_force", "impulse", "failed")
        )
        fell = torch.from_dlpack(judged(sim, fall)).flatten()[:worlds]
        failures = failed[:, 0] >= 0
        row["found"] = {
            "fell": int(fell.sum()),
            "failed": int(failures.sum()),
            "first_failed_world": int(failures.to(torch.int8).argmax()) if failures.any() else None,
            "peak_force": float(peak.amax()),
            "of_world": int(peak.amax(1).argmax()),
            "mean_impulse": impulse.double().mean(0).tolist(),
            "mean_height": float(q[:, 2].double().mean()),
        }
        row["asked_s"] = time.perf_counter() - started
        row["asked"] = crossed.as_dict() | {"numbers": 6 + impulse.shape[1]}
    print(json.dumps(row), flush=True)
    return row


def refusal(sim: hs.Simulator) -> str:
    """Of more worlds than fit."""
    try:
        sim.step()
    except HeelstrikeError as error:
        return str(error)
    raise SystemExit(f"{sim.worlds} worlds were taken")


def judged(sim: hs.Simulator, fall: FallCriterion) -> Any:
    """Who fell, by the program of a sweep, where the worlds lie."""
    nq = sim.robot.nq
    kernel = sim.compiled.target.kernel(("fall", nq), lambda: fall.program(nq), ["fell"], None)
    batch = kernel.batch(sim.worlds)
    batch.continue_from(sim.compiled.batch())
    batch.run()
    return batch.device_array("fell")


def bench(robots: str, laws: str) -> dict[str, Any]:
    found = {}
    for name in robots.split(","):
        found[name] = gpu_part(case(name), laws.split(","))
        print(name, json.dumps(found[name]), flush=True)
    return found


def main() -> None:
    words = parser(__doc__)
    words.add_argument("parts", nargs="*", default=[], metavar="PART")
    words.add_argument("--worlds", type=int, default=WORLDS)
    words.add_argument("--duration", type=float, default=DURATION, help="of each world [s]")
    words.add_argument("--robots", default="hoap1")
    words.add_argument("--laws", default=",".join(GPU_LAWS))
    options = words.parse_args()
    lengths = options.worlds, options.duration
    parts: dict[str, Callable[[], Any]] = {
        "agreement": lambda: agreement(min(CHECKED, options.worlds), options.duration),
        "million": lambda: million(*lengths),
        "reductions": lambda: reductions(*lengths),
        "bench": lambda: bench(options.robots, options.laws),
    }
    result: dict[str, Any] = {"machine": machine() | {"gpu": current_device().name}}
    for part in options.parts or parts:
        result[part] = parts[part]()
        keep(result, options.json)


if __name__ == "__main__":
    main()
