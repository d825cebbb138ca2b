"""The same load on a GPU: whole runs by `device="cuda"`, and mujoco_warp's where it is installed.

Worlds stand, make STEPS steps in one run that keeps its end, and the best of some runs counts.
mujoco_warp: the same file on a plane, its step captured in a CUDA graph, with room for twice as
many contacts as there are contact points.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from heelstrike.bench.standing import Case, Peer, check_stands, simulator
from heelstrike.bench.timing import best_of
from heelstrike.compile.driver import current_device
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError

WORLDS, STEPS, TURNS = 65_536, 200, 3
VARIANTS = (("float32", "exact"), ("float32", "fast"), ("float64", "exact"))


def device_name() -> str | None:
    """Of the GPU; None where there is none, or cuda-core is not installed."""
    try:
        return str(current_device().name)
    except HeelstrikeError:
        return None


def on_gpu(
    case: Case, laws: Mapping[str, SurfaceLaw], worlds: int = WORLDS, device: str = "cuda"
) -> dict[str, Any]:
    """World-steps a second by law and kind of numbers, and mujoco_warp's."""
    found: dict[str, Any] = {}
    for name, law in laws.items():
        for dtype, math in VARIANTS if device == "cuda" else VARIANTS[:1]:
            started = time.perf_counter()
            options: dict[str, Any] = {
                "dtype": dtype,
                "math": math,
                "device": device,
                "worlds": worlds,
            }
            sim = simulator(case.robot, case.dt, law, **options)
            built = time.perf_counter() - started
            run = partial(sim.run, steps=STEPS, record="final", progress=False)
            best = best_of({"run": run}, TURNS)["run"]
            check_stands(f"{case.name}, {name}, {dtype}, {math},", sim, least=0)
            rate = worlds * STEPS / best
            found[f"{name}, {dtype}, {math}"] = {"steps_per_s": rate, "built_s": built}
    return found


def by_warp(case: Case, worlds: int = WORLDS) -> dict[str, float] | None:
    """World-steps a second of mujoco_warp; None where it is not installed."""
    try:
        import mujoco_warp as mjw
        import warp as wp
    except ImportError:
        return None
    wp.config.quiet = True
    peer = Peer(case.source, case.robot)
    room = 2 * peer.contacts
    started = time.perf_counter()
    model = mjw.put_model(peer.model)
    data = mjw.put_data(peer.model, peer.data, nworld=worlds, nconmax=room, njmax=8 * room)
    mjw.step(model, data)
    step: Any = partial(mjw.step, model, data)
    if wp.get_device().is_cuda:
        with wp.ScopedCapture() as capture:
            mjw.step(model, data)
        step = partial(wp.capture_launch, capture.graph)
    wp.synchronize()
    built = time.perf_counter() - started

    def run() -> None:
        for _ in range(STEPS):
            step()
        wp.synchronize()

    best = best_of({"run": run}, TURNS)["run"]
    height = np.asarray(data.qpos.numpy())[:, 2]
    if not np.abs(height - peer.height).max() < 0.05 * peer.height:
        raise HeelstrikeError(f"mujoco_warp's {case.name} does not stand")
    return {"steps_per_s": worlds * STEPS / best, "built_s": built}
