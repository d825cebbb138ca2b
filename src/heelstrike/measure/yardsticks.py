"""Measures of the contacts of a recording, in one schema for every law.

    measured = yardsticks(run, settle=0.5)
    measured.creep_normal; measured.by_point["box.0"]["chatter"]; print(measured)

residuals.py and stance.py hold the equations, window.py says which steps and velocities count.
energy_residual is the change of kinetic and potential energy less all works; it should be 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from heelstrike.finite import finite
from heelstrike.measure.residuals import residuals
from heelstrike.measure.stance import chatter, creep, penetration, spread
from heelstrike.measure.window import start, window
from heelstrike.record.recording import Recording
from heelstrike.record.summary import energy

NAN = float("nan")


def _of(label: str, unit: str) -> Any:
    return field(default=NAN, metadata={"label": label, "unit": unit})


@dataclass(frozen=True)
class Yardsticks:
    """Measures of one world; NaN where nothing was measured. print() shows them."""

    seconds: float = _of("time measured", "s")
    cone_violation: float = _of("friction beyond the cone", "N")
    adhesion: float = _of("pull on a point", "N")
    approach: float = _of("speed into the surface", "m/s")
    complementarity: float = _of("normal force x speed", "W")
    dissipation_gap: float = _of("dissipation gap", "W")
    ncp_primal: float = _of("c + Gamma: primal", "N")
    ncp_dual: float = _of("c + Gamma: dual", "m/s^2")
    ncp_complementarity: float = _of("c + Gamma: complementary", "W")
    deepest: float = _of("deepest point", "m")
    mean_depth: float = _of("mean depth under load", "m")
    creep_normal: float = _of("sinking", "um/s")
    creep_tangential: float = _of("creep along", "um/s")
    chatter: float = _of("chatter of the total", "1/s")
    chatter_point: float = _of("chatter of a point", "1/s")
    spread: float = _of("spread over a body", "1")
    energy_residual: float = _of("energy from nothing", "J")
    failed: int = -1
    """Step at which the world failed, then nothing is measured; -1: it did not."""
    by_point: dict[str, dict[str, float]] = field(default_factory=dict)
    """creep_normal, creep_tangential and chatter of each point."""
    by_body: dict[str, dict[str, float]] = field(default_factory=dict)
    """spread of each body."""

    def as_dict(self) -> dict[str, Any]:
        """Return the measures, ready for JSON: None stands for NaN."""
        return finite({f.name: getattr(self, f.name) for f in fields(self)})

    def __str__(self) -> str:
        if self.failed >= 0:
            return f"failed at step {self.failed}"
        return "\n".join(f"{name:<34}{value:>12}" for name, value in self.rows())

    def rows(self) -> list[tuple[str, str]]:
        """Return names with units, and values as text."""
        return [
            (f"{f.metadata['label']} [{f.metadata['unit']}]", formatted(getattr(self, f.name)))
            for f in fields(self)
            if f.metadata
        ]


def yardsticks(run: Recording, world: int = 0, settle: float = 0.0) -> Yardsticks:
    """Measure a world of a recording, without the first `settle` seconds."""
    first, _ = start(run, world, settle)
    failed = int(run.data["failed"].values[world]) if "failed" in run.data else -1
    if failed >= 0:
        return Yardsticks(failed=failed)
    w = window(run, world, settle)
    gaps: dict[str, Any] = {**residuals(w)}
    deepest, mean_depth = penetration(w)
    sinking, along = creep(w)
    total, of_points = chatter(w)
    spreads = spread(w)
    ledger = energy(run.data.isel(world=[world], time=slice(first, None)))
    return Yardsticks(
        seconds=w.seconds,
        **gaps,
        deepest=deepest,
        mean_depth=mean_depth,
        creep_normal=_farthest(sinking.tolist()),
        creep_tangential=_farthest(along.tolist()),
        chatter=total,
        chatter_point=_farthest(of_points.tolist()),
        spread=_farthest(spreads.values()),
        energy_residual=NAN if ledger is None else float(ledger["residual"][0]),
        by_point={
            name: {
                "creep_normal": float(sinking[k]),
                "creep_tangential": float(along[k]),
                "chatter": float(of_points[k]),
            }
            for k, name in enumerate(w.points)
        },
        by_body={body: {"spread": value} for body, value in spreads.items()},
    )


def formatted(value: float) -> str:
    """Return a number with three digits, or a dash for NaN."""
    return "-" if math.isnan(value) else f"{value + 0.0:.3g}"  # no -0


def _farthest(values: Iterable[float]) -> float:
    """Return the value farthest from 0, with its sign; NaN is left out."""
    return max((v for v in values if not math.isnan(v)), key=abs, default=NAN)
