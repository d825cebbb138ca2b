"""A sweep, laid out: a simulator at its start, a plan of worlds, and what is kept of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import heelstrike
from heelstrike.errors import HeelstrikeError
from heelstrike.record.file_names import file_name
from heelstrike.record.provenance import circumstances, coordinates, described
from heelstrike.record.variables import AXES, dataset
from heelstrike.runtime.cache import environment
from heelstrike.runtime.cuda.kernel import CudaKernel
from heelstrike.runtime.key import digest
from heelstrike.scene.scene import bodies_in
from heelstrike.simulate.recorder import final_memory, final_values
from heelstrike.simulate.scene_file import SceneFile, load_scene
from heelstrike.simulate.simulator import Simulator
from heelstrike.simulate.start import check_depths
from heelstrike.simulate.target import check_choice
from heelstrike.sweeps.fall import fall_of
from heelstrike.sweeps.job import STATE, Job, job_of, kernel_here
from heelstrike.sweeps.places import MASS, check_drop, check_once, filled, places, unit_of
from heelstrike.sweeps.plan import MOST, Plan
from heelstrike.sweeps.starts import depths, placed_by
from heelstrike.sweeps.store import FORMAT, VERSION

if TYPE_CHECKING:
    import xarray as xr

    from heelstrike.runtime.kernel import Kernel

Source = str | os.PathLike[str] | SceneFile | Simulator
"""A bundled scene or a .toml file, either of them loaded, or a simulator."""
BLOCK = 2**15
"""Worlds that are checked at a time."""
BESIDE = 0.5
"""Of a GPU's memory is left to the worlds of a chunk."""
FELL = {
    "long_name": "whether the base ended low or tilted by more than 60 degrees",
    "units": "1",
}


class Study:
    """What is swept, and how."""

    def __init__(
        self,
        sim: Simulator,
        plan: Plan,
        duration: float,
        scene: str | None,
        keep: Sequence[str] | None = None,
    ) -> None:
        """`scene` is the text of a scene file, where there is one."""
        if not (isinstance(duration, int | float) and 0 < duration < 1e6):
            raise HeelstrikeError(f"a duration is a time above 0 s, not {duration!r}")
        self.sim, self.plan, self.scene = sim, plan, scene
        self.dt = float(sim.parameters["dt"].ravel()[0])
        self.steps = max(1, round(duration / self.dt))
        self.where = {path: places(sim, path) for path in plan.paths}
        check_once(self.where)
        check_drop(sim, plan.paths)
        fall, ends = fall_of(sim), final_memory(sim.scene, with_state=True)
        self.keep = _kept(keep, [*ends[2:], *(["fell"] if fall is not None else [])])
        """Variables beside `failed` and `steps`."""
        self.kept = (*ends[:2], *(name for name in ends[2:] if name in self.keep))
        """Memory, for which `failed` and `clock` are always needed."""
        self.fall = fall if "fell" in self.keep else None

    @property
    def device(self) -> str:
        return self.sim.device

    @property
    def bytes(self) -> int:
        """That a world takes in a file."""
        robot, pairs = self.sim.robot, self.sim.scene.pairs
        sizes = {"q": robot.nq, "v": robot.nv, "peak_force": len(pairs), "peak_depth": len(pairs)}
        sizes["impulse"] = len(AXES) * len(bodies_in(pairs))
        whole = 4 + len(self.plan.paths)  # world, failed, steps, fell
        width = np.dtype(self.sim.dtype).itemsize
        return width * sum(sizes.get(name, 0) for name in self.keep) + 8 * whole

    @cached_property
    def key(self) -> str:
        """Tells programs, their tables, and the versions that decide over their numbers apart."""
        own = environment()
        versions = own.heelstrike, own.casadi, own.source
        return digest([self.sim.plan.key(), self.sim.compiled.tables(), *versions])

    @cached_property
    def job(self) -> Job:
        return job_of(self.sim, self.steps, self.kept, self.key, self.fall)

    @cached_property
    def kernel(self) -> Kernel | CudaKernel:
        """The step, compiled for this machine."""
        return kernel_here(self.sim)

    @property
    def fitting(self) -> int:
        """Worlds that fit into the memory of the GPU, with what travels beside them."""
        return int(BESIDE * self.kernel.max_worlds) if isinstance(self.kernel, CudaKernel) else MOST

    def rows(self, span: tuple[int, int]) -> dict[str, np.ndarray]:
        """What varies in the worlds of a span, a row a world."""
        return filled(self.job.base, self.where, self.plan.values(*span))

    def check(self) -> None:
        """Refuses values that a law would not take, and starts inside the ground, in any world."""
        deciding = set(placed_by(self.sim.plan)) if self.sim.scene.pairs else set()
        placing = [path for path, own in self.where.items() if {x.port for x in own} & deciding]
        for first in range(0, self.plan.worlds, BLOCK):
            span = first, min(first + BLOCK, self.plan.worlds)
            values = self.plan.values(*span)
            rows = filled(self.job.base, self.where, values)
            for port in (port for port in rows if port not in STATE):
                self._check_port(port, rows[port])
            if placing:
                self._check_starts(first, {path: values[path] for path in placing}, rows)

    def _check_starts(
        self, first: int, values: Mapping[str, np.ndarray], rows: Mapping[str, np.ndarray]
    ) -> None:
        """`values` are of the paths that decide over where points and surfaces are."""
        found = depths(self.sim.plan, {**self.job.base, **rows})
        worst = int(found.max(axis=1).argmax())
        try:
            check_depths(self.sim.scene, found[worst])
        except HeelstrikeError as error:
            said = ", ".join(f"{path} = {numbers[worst]:g}" for path, numbers in values.items())
            raise HeelstrikeError(f"world {first + worst}, {said}: {error}") from error

    def _check_port(self, port: str, rows: np.ndarray) -> None:
        masses = [f"{body.name}{MASS}" for body in self.sim.robot.bodies]
        if port in masses and not rows.min() > 0:
            raise HeelstrikeError(f"'{port}' is a mass above 0 kg, not {rows.min():g}")
        try:
            self.sim.parameters.checked(port, rows, len(rows))
        except HeelstrikeError as error:
            raise HeelstrikeError(f"'{port}' as it is swept: {error}") from error

    def manifest(self, chunk: int) -> dict[str, Any]:
        """What is swept; who resumes must mean the same."""
        base = self.job.base
        return {
            FORMAT: VERSION,
            "version": heelstrike.__version__,
            **self.plan.as_dict(),
            "dt": self.dt,
            "steps": self.steps,
            "device": self.sim.device,
            "dtype": self.sim.dtype,
            "math": self.sim.math,
            "parameters": {path: x.tolist() for path, x in base.items() if path not in STATE},
            "start": {name: base[name].tolist() for name in STATE},
            "keep": list(self.keep),
            "key": self.key,
            "chunk": chunk,
            "scene": self.scene,
        }

    def finals(self, span: tuple[int, int], memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The variables of a chunk, from what is kept of its worlds at the end."""
        start = {name: np.zeros((1, 1)) for name in ("clock", "q", "v")}
        found = final_values(self.sim.scene, start, memory)
        del found["q0"], found["v0"]  # the same in all worlds, or among what varies
        found |= {name: found[name].astype(np.int64) for name in ("failed", "steps")}
        values = self.plan.values(*span)
        return found | {file_name(path): numbers for path, numbers in values.items()}

    def template(self, chunk: dict[str, np.ndarray]) -> xr.Dataset:
        """The dataset of the first world, without a time of day."""
        first = {name: array[:1] for name, array in chunk.items()}
        varied = {file_name(path): first.pop(file_name(path)) for path in self.plan.paths}
        fell = first.pop("fell", None)
        plan = self.plan
        rest = {path: x for path, x in self.job.base.items() if path not in STATE}
        attrs = described(self.sim.plan) | circumstances(rest) | {"created": None}
        attrs |= {
            "dt": self.dt,
            "dtype": self.sim.dtype,
            "device": self.sim.device,
            "math": self.sim.math,
            "duration": self.steps * self.dt,
            "steps": self.steps,
            "every": self.steps,
            "seed": plan.seed if plan.random else None,
            "wall_time": None,
            "varied": varied,
            "sweep": {
                "grid": {file_name(path): len(values) for path, values in plan.grid.items()},
                "random": {file_name(path): x.as_list() for path, x in plan.random.items()},
                "q0": self.job.base["q"],
                "v0": self.job.base["v"],
                "scene": self.scene,
            },
        }
        made = dataset({}, first, coordinates(self.sim.plan), attrs)
        if fell is not None:
            made["fell"] = ("world", fell, FELL)
        for path in plan.paths:
            if unit := unit_of(self.sim, path):
                made[file_name(path)].attrs["units"] = unit
        return made


def study_of(
    source: Source,
    plan: Plan,
    duration: float | None = None,
    device: str | None = None,
    math: str | None = None,
    dtype: str | None = None,
    keep: Sequence[str] | None = None,
) -> Study:
    """Of what a user names: a scene, or a simulator from its start, which is not changed."""
    if isinstance(source, Simulator):
        if device or math or dtype:
            raise HeelstrikeError("a simulator has its device, math and dtype already")
        if duration is None:
            raise HeelstrikeError("of a simulator say how long: duration=2.0 [s]")
        return Study(source.twin(), plan, duration, None, keep)
    made = source if isinstance(source, SceneFile) else load_scene(source)
    sim = made.simulator(device=device or "cpu", math=math or "exact", dtype=dtype)
    sim.begin_at(*made.start)
    lasting = made.content.simulation.duration if duration is None else duration
    return Study(sim, plan, lasting, made.text(), keep)


def _kept(asked: Sequence[str] | None, there: Sequence[str]) -> tuple[str, ...]:
    """What a user wants to keep, all if nothing is said; in one order."""
    for name in asked or ():
        check_choice("variable to keep", name, there, "variables to keep")
    return tuple(name for name in there if asked is None or name in asked)
