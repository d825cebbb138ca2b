"""Forces, energy and cost of a whole run, reported beside the yardsticks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from heelstrike.finite import finite
from heelstrike.record.recording import Recording
from heelstrike.scene.scene import Scene

NAN = float("nan")


@dataclass(frozen=True)
class Measures:
    """Measures of a run; NaN where nothing was measured. Forces are those of surfaces at rest."""

    peak_force: float = NAN
    """Largest normal force of all points together [N]."""
    impulse: float = NAN
    """Impulse of the normal forces over the whole run [N s]."""
    ground_work: float = NAN
    """Work of normal forces on the robot [J]; positive: the ground supplied energy."""
    stable_dt: float = NAN
    """Largest simulated step in which the scene rests [s]."""
    step_time: float = NAN
    """CPU time of one world's step [s]."""

    def as_dict(self) -> dict[str, Any]:
        """Return the measures, ready for JSON: None stands for NaN."""
        values = {f.name: float(getattr(self, f.name)) for f in fields(self)}
        return finite(values)


def measured(run: Recording, scene: Scene, stable_dt: float, step_time: float) -> Measures:
    """Measure the first world of a run."""
    data, info = run.data, run.info
    ground = [pair.carrier is None for pair in scene.pairs]
    total = data["normal_force"].values[0][:, ground].sum(axis=1)
    failed = int(data["failed"].values[0]) >= 0
    work = data["work_contact"].values[0]
    return Measures(
        peak_force=NAN if failed else float(total.max()),
        impulse=NAN if failed else float(total[:-1].sum() * info["dt"]),
        ground_work=NAN if failed else float(work[-1] - work[0]),
        stable_dt=stable_dt,
        step_time=step_time,
    )
