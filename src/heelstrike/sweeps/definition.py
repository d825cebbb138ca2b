"""The definition of a sweep: a simulator at its start, a plan of worlds, and the kept variables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import heelstrike
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.record.dataset import dataset, file_name
from heelstrike.record.labels import dimension_labels
from heelstrike.record.provenance import describe_plan, describe_run
from heelstrike.record.variables import AXES
from heelstrike.runtime.cache import environment
from heelstrike.runtime.kernel import Kernel
from heelstrike.runtime.key import digest
from heelstrike.simulate.adaptive import refuse
from heelstrike.simulate.parameter_paths import MASS, fill_rows
from heelstrike.simulate.recorder import final_memory, final_values
from heelstrike.simulate.scene_file import SceneFile, load_scene
from heelstrike.simulate.simulator import Simulator
from heelstrike.simulate.start import check_depths
from heelstrike.simulate.start_depths import start_depths
from heelstrike.simulate.target import AnyKernel, check_choice
from heelstrike.step.start_depths import placement_inputs
from heelstrike.sweeps.fell import fall_criterion
from heelstrike.sweeps.job import STATE, SweepJob, local_kernel, make_job
from heelstrike.sweeps.parameter_paths import (
    check_drop,
    check_no_overlap,
    resolve_path,
    unit_of_path,
)
from heelstrike.sweeps.plan import MAX_WORLDS, SweepPlan
from heelstrike.sweeps.store import FORMAT, VERSION

if TYPE_CHECKING:
    import xarray as xr

Source = str | os.PathLike[str] | SceneFile | Simulator
"""The name of a bundled scene, a .toml file, a loaded scene, or a simulator."""
BLOCK = 2**15
"""Number of worlds that are checked at a time."""
GPU_SHARE = 0.5
"""Share of a GPU's memory for the worlds of a chunk; transfers need the rest."""
FELL = {
    "long_name": "whether the base ended low or tilted by more than 60 degrees",
    "units": "1",
}


class SweepDefinition:
    """The simulator, the values and the kept variables of a sweep."""

    def __init__(
        self,
        sim: Simulator,
        plan: SweepPlan,
        duration: float,
        scene: str | None,
        keep: Sequence[str] | None = None,
    ) -> None:
        """Resolve the paths of the plan; `scene` is the text of the scene file, if there is one."""
        if not (isinstance(duration, int | float) and 0 < duration < 1e6):
            raise ParameterError("duration", duration, "numbers above 0 and below 1e6 [s]")
        self.sim, self.plan, self.scene = sim, plan, scene
        self.dt = float(sim.parameters["dt"].ravel()[0])
        self.steps = max(1, round(duration / self.dt))
        self.targets = {path: resolve_path(sim, path) for path in plan.paths}
        check_no_overlap(self.targets)
        check_drop(sim, plan.paths)
        fall, ends = fall_criterion(sim), final_memory(sim.scene, with_state=True)
        self.keep = _kept(keep, [*ends[2:], *(["fell"] if fall is not None else [])])
        """Variables that are kept in addition to `failed` and `steps`."""
        self.kept = (*ends[:2], *(name for name in ends[2:] if name in self.keep))
        """Names of the memory that is kept; `failed` and `clock` are always among them."""
        self.fall = fall if "fell" in self.keep else None

    @property
    def device(self) -> str:
        """The device of the simulator."""
        return self.sim.device

    @property
    def bytes(self) -> int:
        """Size of a world in a file [bytes]."""
        robot, pairs = self.sim.robot, self.sim.scene.pairs
        sizes = {"q": robot.nq, "v": robot.nv, "peak_force": len(pairs), "peak_depth": len(pairs)}
        sizes["impulse"] = len(AXES) * len(self.sim.scene.bodies)
        whole = 4 + len(self.plan.paths)  # world, failed, steps, fell
        width = np.dtype(self.sim.dtype).itemsize
        return width * sum(sizes.get(name, 0) for name in self.keep) + 8 * whole

    @cached_property
    def key(self) -> str:
        """Digest of the program, its tables and the versions that decide its results."""
        own = environment()
        versions = own.heelstrike, own.casadi, own.source
        return digest([self.sim.plan.key(), self.sim.compiled.tables(), *versions])

    @cached_property
    def job(self) -> SweepJob:
        """The data that all chunks share."""
        return make_job(self.sim, self.steps, self.kept, self.key, self.fall)

    @cached_property
    def kernel(self) -> AnyKernel:
        """The step, compiled for this machine."""
        return local_kernel(self.sim)

    @property
    def max_chunk(self) -> int:
        """Largest number of worlds of a chunk that fits into the memory of the GPUs."""
        if isinstance(self.kernel, Kernel):
            return MAX_WORLDS
        return int(GPU_SHARE * self.kernel.max_worlds)

    @property
    def parts(self) -> int:
        """Number of parts, each on a GPU, among which a chunk is shared out; 1 on a CPU."""
        return max(1, len(self.sim.compiled.target.gpus))

    def rows(self, span: tuple[int, int]) -> dict[str, np.ndarray]:
        """Return the inputs that vary in the worlds of a span, one row per world."""
        return fill_rows(self.job.base, self.targets, self.plan.values(*span))

    def check(self) -> None:
        """Raise if any world has a value out of its range, or starts inside the ground."""
        inputs = set(placement_inputs(self.sim.plan)) if self.sim.scene.pairs else set()
        placing = [path for path, own in self.targets.items() if {x.port for x in own} & inputs]
        for first in range(0, self.plan.worlds, BLOCK):
            span = first, min(first + BLOCK, self.plan.worlds)
            values = self.plan.values(*span)
            rows = fill_rows(self.job.base, self.targets, values)
            for port in (port for port in rows if port not in STATE):
                self._check_port(port, rows[port])
            if placing:
                self._check_starts(first, {path: values[path] for path in placing}, rows)

    def _check_starts(
        self, first: int, values: Mapping[str, np.ndarray], rows: Mapping[str, np.ndarray]
    ) -> None:
        """Raise if a point starts too deep; `values` are those that move points or surfaces."""
        found = start_depths(self.sim.plan, {**self.job.base, **rows})
        worst = int(found.max(axis=1).argmax())
        try:
            check_depths(self.sim.scene, found[worst])
        except HeelstrikeError as error:
            own = ", ".join(f"{path} = {numbers[worst]:g}" for path, numbers in values.items())
            raise HeelstrikeError(f"world {first + worst}, {own}: {error}") from error

    def _check_port(self, port: str, rows: np.ndarray) -> None:
        masses = [f"{body.name}{MASS}" for body in self.sim.robot.bodies]
        if port in masses and not rows.min() > 0:
            raise ParameterError(port, float(rows.min()), "masses above 0 kg")
        try:
            self.sim.parameters.checked(port, rows, len(rows))
        except HeelstrikeError as error:
            raise HeelstrikeError(f"sweep of '{port}': {error}", path=port) from error

    def manifest(self, chunk: int) -> dict[str, Any]:
        """Return the manifest, which must be the same when the sweep is resumed."""
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
        """Return the variables of a chunk from the memory of its worlds at the end."""
        start = {name: np.zeros((1, 1)) for name in ("clock", "q", "v")}
        found = final_values(self.sim.scene, start, memory)
        del found["q0"], found["v0"]  # the same in all worlds, or among what varies
        found |= {name: found[name].astype(np.int64) for name in ("failed", "steps")}
        values = self.plan.values(*span)
        return found | {file_name(path): numbers for path, numbers in values.items()}

    def template(self, chunk: dict[str, np.ndarray]) -> xr.Dataset:
        """Return the dataset of the first world, without the time of creation."""
        first = {name: array[:1] for name, array in chunk.items()}
        varied = {file_name(path): first.pop(file_name(path)) for path in self.plan.paths}
        fell = first.pop("fell", None)
        plan = self.plan
        rest = {path: x for path, x in self.job.base.items() if path not in STATE}
        attrs = describe_plan(self.sim.plan) | describe_run(rest) | {"created": None}
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
        made = dataset({}, first, dimension_labels(self.sim.plan), attrs)
        if fell is not None:
            made["fell"] = ("world", fell, FELL)
        for path in plan.paths:
            if unit := unit_of_path(self.sim, path):
                made[file_name(path)].attrs["units"] = unit
        return made


def define_sweep(
    source: Source,
    plan: SweepPlan,
    duration: float | None = None,
    device: str | None = None,
    math: str | None = None,
    dtype: str | None = None,
    keep: Sequence[str] | None = None,
) -> SweepDefinition:
    """Return the definition of a sweep of a scene, or of a simulator from its start.

    A simulator is copied, and not changed.
    """
    if isinstance(source, Simulator):
        refuse(source.compiled.accuracy, "a sweep")
        if device or math or dtype:
            raise HeelstrikeError(
                "device, math and dtype are those of the simulator; do not pass them again"
            )
        if duration is None:
            raise HeelstrikeError("a sweep of a simulator needs a duration; pass duration=2.0 [s]")
        return SweepDefinition(source.twin(), plan, duration, None, keep)
    scene = source if isinstance(source, SceneFile) else load_scene(source)
    sim = scene.simulator(device=device or "cpu", math=math or "exact", dtype=dtype)
    sim.begin_at(*scene.start)
    seconds = scene.content.simulation.duration if duration is None else duration
    return SweepDefinition(sim, plan, seconds, scene.text(), keep)


def _kept(names: Sequence[str] | None, available: Sequence[str]) -> tuple[str, ...]:
    """Return the variables to keep in a fixed order; all if none are named."""
    for name in names or ():
        check_choice("variable to keep", name, available, "variables to keep")
    return tuple(name for name in available if names is None or name in names)
