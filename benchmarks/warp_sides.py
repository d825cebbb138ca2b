"""The two simulators of benchmarks.warp_models: how each is built, started and timed.

A side is built for a number of worlds, started anew, and advanced by parts of the run, each of
which waits for the device, so that a run that takes too long ends early.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

import heelstrike as hs
from benchmarks.warp_cases import Model
from benchmarks.warp_g1 import DT
from heelstrike.errors import HeelstrikeError

PARTS = 50
"""Parts of a run, of equal simulated time."""
PROBED = 64
"""Worlds of whose end contacts and rounds are counted, on a CPU."""


class Side(Protocol):
    """A simulator of a model."""

    dt: float
    """Time step [s]."""
    built: float
    """Time to build and to make the first step [s]."""

    def start(self, model: Model, worlds: int) -> None:
        """Put all worlds at their starts."""

    def advance(self, steps: int) -> None:
        """Make some steps, and wait until they are done."""

    def found(self) -> dict[str, Any]:
        """Return what can be said of the last state, of arrays over all worlds or of numbers."""


@dataclass
class Ours:
    """Heelstrike, with a law."""

    model: Model
    law: str
    worlds: int
    device: str

    def __post_init__(self) -> None:
        began = time.perf_counter()
        law, self.dt = self.model.laws()[self.law]
        self.sim = self._simulator(law, self.worlds, self.device)
        self.start(self.model, self.worlds)
        self.advance(1)
        self.built = time.perf_counter() - began
        self.probe = self._simulator(law, PROBED, "cpu")
        self._seen()  # compiles it before anything is timed

    def _simulator(self, law: Any, worlds: int, device: str) -> hs.Simulator:
        return hs.Simulator(
            self.model.scene(law),
            self.dt,
            self.model.control,
            worlds,
            dtype="float32",
            device=device,
        )

    def start(self, model: Model, worlds: int) -> None:
        self.model = model
        sim = self.sim
        self._set_gains(sim)
        q0 = model.starts(worlds)
        if worlds != sim.worlds:
            sim.run(steps=1, worlds=worlds, q0=q0, record="final", check=False, progress=False)
        sim.reset(q0=q0)

    def advance(self, steps: int) -> None:
        self.sim.step(steps)
        self.sim.failed  # noqa: B018  read from the device, which waits for it

    def found(self) -> dict[str, Any]:
        state = self.sim.state.copy()
        steps = np.maximum(state["clock"][:, 0], 1)
        return {
            "heights": state["q"][:, 2].astype(float),
            "diverged": int((self.sim.failed >= 0).sum()),
            "lost_contacts": float((state["lost_contacts"][:, 0] / steps).mean()),
            **self._probe(state),
        }

    def _probe(self, state: dict[str, np.ndarray]) -> dict[str, float]:
        """Return contacts and rounds of the next step of some worlds, by the CPU's code."""
        self._set_gains(self.probe)
        self.probe.state.update(
            {name: np.resize(x, (PROBED, x.shape[1])) for name, x in state.items()}
        )
        seen = self._seen()
        touching = seen["touching"].sum(axis=1) + (seen["self_pair"] >= 0).sum(axis=1)
        rounds = seen.get("solver_rounds")
        own = {} if rounds is None else {"rounds": float(rounds.mean())}
        return {"contacts": float(touching.mean()), **own}

    def _seen(self) -> dict[str, np.ndarray]:
        coupled = ["solver_rounds"] if self.law != "springs" else []
        return self.probe.observe("touching", "self_pair", *coupled)

    def _set_gains(self, sim: hs.Simulator) -> None:
        """Set the servo's gains to the model's: g1-stiff has the code of g1."""
        if self.model.control is not None:
            robot = self.model.robot
            sim.parameters["servo.kp"], sim.parameters["servo.kd"] = robot.kp, robot.kd


@dataclass
class Theirs:
    """mujoco_warp: one CUDA graph a step, with the file's own solver and settings."""

    model: Model
    worlds: int
    device: str

    dt = DT

    def __post_init__(self) -> None:
        import mujoco_warp as mjw
        import warp as wp

        wp.config.quiet = True
        wp.set_device(self.device)
        self.mjw, self.wp = mjw, wp
        began = time.perf_counter()
        self._build(self.model, self.worlds)
        self.built = time.perf_counter() - began

    def _build(self, model: Model, worlds: int) -> None:
        import mujoco

        mjw, wp = self.mjw, self.wp
        data = mujoco.MjData(model.mujoco)
        if model.control is not None:
            mujoco.mj_resetDataKeyframe(model.mujoco, data, 0)
        mujoco.mj_forward(model.mujoco, data)
        self.mjw_model = mjw.put_model(model.mujoco)
        self.mjw_model.opt.warn_overflow = 0  # it is counted
        room = {"nconmax": model.nconmax, "njmax": model.njmax}
        self.data = mjw.put_data(model.mujoco, data, nworld=worlds, **room)
        self.step: Any = partial(mjw.step, self.mjw_model, self.data)
        self.step()
        if wp.get_device().is_cuda:
            with wp.ScopedCapture() as capture:
                self.step()
            self.step = partial(wp.capture_launch, capture.graph)
        wp.synchronize()
        self.model, self.worlds = model, worlds

    def start(self, model: Model, worlds: int) -> None:
        if (model, worlds) != (self.model, self.worlds):
            self._build(model, worlds)
        data = self.data
        data.qpos.assign(model.qpos(worlds).astype(np.float32))
        for array in (data.qvel, data.qacc_warmstart, data.time, data.overflow):
            array.zero_()
        self.wp.synchronize()

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            self.step()
        self.wp.synchronize()

    def found(self) -> dict[str, Any]:
        data, kinds = self.data, self.mjw.OverflowType
        height = data.qpos.numpy()[:, 2].astype(float)
        over = data.overflow.numpy()
        seen = {kind.name: int((over & int(kind) != 0).sum()) for kind in kinds if kind}
        return {
            "heights": height,
            "diverged": int((~np.isfinite(height)).sum()),
            "worlds_over": {name: count for name, count in seen.items() if count},
            "contacts": int(data.nacon.numpy()[0]) / self.worlds,
            "constraints": float(data.nefc.numpy().mean()),
            "iterations": float(data.solver_niter.numpy().mean()),
            "nconmax": self.model.nconmax,
            "njmax": self.model.njmax,
        }


def timed(side: Side, model: Model, worlds: int, seconds: float, limit: float) -> dict[str, Any]:
    """Return speeds and the end of a run from the starts; it ends early after `limit` [s]."""
    side.start(model, worlds)
    steps = round(seconds / side.dt / PARTS)
    if steps < 1:
        raise HeelstrikeError(f"{seconds} s are less than {PARTS} steps of {side.dt} s")
    parts: list[float] = []
    while len(parts) < PARTS and sum(parts) < limit:
        began = time.perf_counter()
        side.advance(steps)
        parts.append(time.perf_counter() - began)
    found = side.found()
    end = np.asarray(found.pop("heights"))
    end = end[np.isfinite(end)]
    rate = worlds * steps * len(parts) / sum(parts)
    return {
        "worlds": worlds,
        "dt": side.dt,
        "built_s": side.built,
        "simulated_s": steps * len(parts) * side.dt,
        "wall_s": sum(parts),
        "million_steps_per_s": 1e-6 * rate,
        "simulated_per_s": rate * side.dt,
        "parts_wall_s": [round(part, 4) for part in parts],
        "height_mean_m": float(end.mean()) if len(end) else None,
        "height_std_m": float(end.std()) if len(end) else None,
        **found,
    }
