"""Make a recording of a rollout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.record.dataset import dataset
from heelstrike.record.labels import dimension_labels
from heelstrike.record.provenance import describe_plan, describe_run
from heelstrike.record.recording import Recording
from heelstrike.record.variables import derive
from heelstrike.scene.scene import Scene
from heelstrike.simulate.compiled_scene import CompiledScene
from heelstrike.simulate.rollout import Rollout
from heelstrike.step.inputs import LOST_CONTACTS

if TYPE_CHECKING:
    import xarray as xr


def make_recording(
    compiled: CompiledScene,
    made: Rollout,
    before: Mapping[str, np.ndarray],
    variables: Sequence[str],
    every: int,
    vary: Iterable[str],
) -> Recording:
    """Return the recording of a rollout that started from the state `before`."""
    plan, parameters = compiled.plan, compiled.parameters
    dt = parameters["dt"].reshape(-1, 1)
    labels = dimension_labels(plan)
    if variables:
        records = len(next(iter(made.values.values()))[0])
        times = (before["clock"] + every * np.arange(records)) * dt
        labels["time"] = times[0] if np.ptp(times, axis=0).max() == 0 else times
    varied = {path: parameters[path] for path in vary if parameters[path].ndim == 2}
    rest = {path: value for path, value in parameters.items() if path not in varied}
    attrs = describe_plan(plan) | describe_run(rest)
    attrs |= {
        "dt": float(dt[0, 0]),
        "dtype": compiled.target.dtype,
        "device": compiled.target.device,
        "math": compiled.target.math,
        "duration": float(made.steps * dt[0, 0]),
        "steps": made.steps,
        "every": every,
        "seed": None,
        "wall_time": made.wall_time,
        "varied": varied,
    }
    if compiled.target.gpus:
        attrs["gpus"] = compiled.target.gpu_names
    sizes = None
    if compiled.adaptive is not None:
        attrs["accuracy"] = compiled.adaptive.accuracy
        if variables:  # a warning may have looked at the end once more
            sizes = np.array(compiled.adaptive.recorded_sizes[:records]).T
    scene = plan.scene
    after = compiled.batch().snapshot(*final_memory(scene, not variables))

    def labelled() -> xr.Dataset:
        finals = final_values(scene, before, after)
        found = dataset(derive(variables, made.values), finals, labels, attrs)
        return found if sizes is None else found.assign(step_size=series(sizes))

    return Recording(labelled, plan.robot)


def series(sizes: np.ndarray) -> tuple[tuple[str, str], np.ndarray, dict[str, str]]:
    """Return the variable of the time steps from each record on, (worlds, records)."""
    return ("world", "time"), sizes, {"units": "s", "long_name": "time step under dt='auto'"}


def final_memory(scene: Scene, with_state: bool) -> list[str]:
    """Return the names of the memory that a recording keeps at the end."""
    contacts = ["peak_force", "peak_depth"] if scene.pairs else []
    contacts += ["impulse"] if scene.bodies else []
    contacts += [LOST_CONTACTS] if scene.shape_contact is not None else []
    return ["failed", "clock", *contacts, *(["q", "v"] if with_state else [])]


def final_values(
    scene: Scene, before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the variables without a time: how each world started and ended."""
    found = {
        "failed": after["failed"][:, 0],
        "steps": after["clock"][:, 0] - before["clock"][:, 0],
        "q0": before["q"],
        "v0": before["v"],
    } | {name: value for name, value in after.items() if name not in ("failed", "clock")}
    if LOST_CONTACTS in found:
        found[LOST_CONTACTS] = found[LOST_CONTACTS][:, 0]
    if "impulse" in found:
        found["impulse"] = found["impulse"].reshape(-1, len(scene.bodies), 3)
    return found
