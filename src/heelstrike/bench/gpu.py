"""Speed on a GPU: whole runs by `device="cuda"`, and mujoco_warp's where it is installed.

Worlds stand, make STEPS steps in one run that keeps its end, and the best of some runs counts.
mujoco_warp: the same file on a plane, with its own solver, settings and step; all worlds in the
state in which MuJoCo stands, a step captured in a CUDA graph. Its arrays have room for a quarter
more contacts and constraints than are there (it slows down with room); none may be lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from heelstrike.bench.peer import Peer
from heelstrike.bench.standing import Case, first_pose, simulator
from heelstrike.bench.timing import Contender, timed
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.runtime.cuda.driver import current_device
from heelstrike.simulate.simulator import Simulator

WORLDS, STEPS, WARP_STEPS, TURNS = 65_536, 1000, 50, 3
MANY = 0.01
"""Of the worlds may have fallen, each a little off at its start."""
ROOM = 1.25
"""Of mujoco_warp's contacts and constraints, of what is used."""
VARIANTS = (("float32", "exact"), ("float32", "fast"), ("float64", "exact"))


def device_name() -> str | None:
    """Return the name of the GPU; None without one, or without cuda-core."""
    try:
        return str(current_device().name)
    except HeelstrikeError:
        return None


def on_gpu(
    case: Case,
    laws: Mapping[str, SurfaceLaw],
    worlds: int = WORLDS,
    device: str = "cuda",
    steps: int = STEPS,
    variants: Sequence[tuple[str, str]] = VARIANTS,
) -> dict[str, Any]:
    """Return the world-steps per second by law and variant; on a CPU of the first variant only."""
    found: dict[str, Any] = {}
    row: dict[str, Any]
    for name, law in laws.items():
        for dtype, math in variants if device != "cpu" else variants[:1]:
            started = time.perf_counter()
            options: dict[str, Any] = {
                "dtype": dtype,
                "math": math,
                "device": device,
                "worlds": worlds,
            }
            sim = simulator(case.robot, case.dt, law, **options)
            built = time.perf_counter() - started
            run = partial(sim.run, steps=steps, record="final", progress=False)
            rate = _rate(run, worlds * steps)
            row = {"steps_per_s": rate, "built_s": built, "fell": fallen(sim)}
            if row["fell"] > MANY * worlds:
                row = {"said": f"{row['fell']} of {worlds} worlds do not stand"}
            found[f"{name}, {dtype}, {math}"] = row
    return found


def _rate(run: Callable[[], object], work: int) -> float:
    """Return the world-steps per second of wall time, of the best turn."""
    contender = Contender(run, work, time.perf_counter)
    return 1e6 / timed({"run": contender}, TURNS)["run"]["us"]


def fallen(sim: Simulator) -> int:
    """Worlds that diverged, or whose base is off its height by more than 5 %."""
    off = np.abs(np.atleast_2d(sim.state["q"])[:, 2] / first_pose(sim.robot)[2] - 1)
    return int(((sim.failed >= 0) | ~(off < 0.05)).sum())


def by_warp(case: Case, worlds: int = WORLDS, steps: int = WARP_STEPS) -> dict[str, Any] | None:
    """World-steps a second of mujoco_warp; None where it is not installed."""
    try:
        import mujoco_warp as mjw
        import warp as wp
    except ImportError:
        return None
    wp.config.quiet = True
    peer = Peer(case.source, case.robot)
    peer.step(1)  # so that contacts and constraints are those of the state
    used = {"nconmax": int(peer.data.ncon), "njmax": int(peer.data.nefc)}
    room = {name: ceil(ROOM * count) for name, count in used.items()}
    started = time.perf_counter()
    model = mjw.put_model(peer.model)
    model.opt.warn_overflow = 0  # it is looked for below
    data = mjw.put_data(peer.model, peer.data, nworld=worlds, **room)
    step: Any = partial(mjw.step, model, data)
    step()
    if wp.get_device().is_cuda:
        with wp.ScopedCapture() as capture:
            step()
        step = partial(wp.capture_launch, capture.graph)
    wp.synchronize()
    built = time.perf_counter() - started

    def run() -> None:
        for _ in range(steps):
            step()
        wp.synchronize()

    rate = _rate(run, worlds * steps)
    check_warp(case.name, peer, mjw, data)
    return {
        "steps_per_s": rate,
        "built_s": built,
        "contacts": int(data.nacon.numpy()[0]) / worlds,
        "constraints": int(data.nefc.numpy().max()),
        "iterations": float(data.solver_niter.numpy().mean()),
        **room,
    }


def check_warp(name: str, peer: Peer, mjw: Any, data: Any) -> None:
    """Raise an error if worlds fell, lost contacts or constraints, or do not touch."""
    kinds = mjw.OverflowType
    lost = kinds.NEFC | kinds.NJMAX_NNZ | kinds.BROADPHASE | kinds.NARROWPHASE | kinds.CCD
    if (over := int((data.overflow.numpy() & int(lost) != 0).sum())) > 0:
        raise HeelstrikeError(f"mujoco_warp's {name} had too little room in {over} worlds")
    off = np.abs(data.qpos.numpy()[:, 2] - peer.height).max()
    touching = int(data.nacon.numpy()[0]) / data.nworld
    if not off < 0.05 * peer.height or touching < peer.contacts:
        raise HeelstrikeError(
            f"mujoco_warp's {name} does not stand: {touching:.1f} contacts a world, {off:.3f} m off"
        )
