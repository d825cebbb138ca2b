"""Virtual mass, simplified computation and full simulation of the same hits, side by side.

x_err = (x_full - x_est) / x_full x 100                                   [Tsujita2009] (24)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.impact.estimates import estimate
from heelstrike.impact.full import FullRun, simulate_full
from heelstrike.impact.kernels import HitResult
from heelstrike.impact.mass import point_impact
from heelstrike.impact.results import Estimate
from heelstrike.robot.robot import Robot

COMMON = ("target", "law", "duration", "dt")
"""Options that all three methods take."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results of the three methods, with one entry per hit."""

    virtual_mass: HitResult
    simplified: Estimate
    full: FullRun

    def errors(self) -> dict[str, np.ndarray]:
        """Return the errors (24) [%] by method and quantity."""
        found = {}
        for name, own in (("virtual mass", self.virtual_mass), ("simplified", self.simplified)):
            for what in ("peak", "impulse"):
                true = getattr(self.full, what)
                found[f"{name} {what}"] = 100 * (true - getattr(own, what)) / true
        return found

    def rows(self, hit: int = 0) -> list[dict[str, Any]]:
        """Return a row per method: its name, peak [N], impulse [N s], duration [s] and errors
        [%].
        """
        errors = self.errors()
        made: list[dict[str, Any]] = []
        methods = {"virtual mass": self.virtual_mass, "simplified": self.simplified}
        for name, own in {**methods, "full": self.full}.items():
            row = {what: float(getattr(own, what)[hit]) for what in ("peak", "impulse", "duration")}
            for what in ("peak", "impulse"):
                error = errors.get(f"{name} {what}")
                row[f"{what} error"] = 0.0 if error is None else float(error[hit])
            made.append({"method": name, **row})
        return made

    def summary(self, hit: int = 0) -> str:
        """Return a table of one hit as text."""
        lines = [f"{'':14}{'peak [N]':>10}{'err [%]':>9}{'impulse [N s]':>15}{'err [%]':>9}"]
        for row in self.rows(hit):
            lines.append(
                f"{row['method']:14}{row['peak']:10.1f}{row['peak error']:9.1f}"
                f"{row['impulse']:15.3f}{row['impulse error']:9.1f}"
            )
        return "\n".join(lines)


def compare(
    robot: Robot,
    q: ArrayLike,
    link: str,
    floor: str = "rigid",
    torque: str = "full",
    method: str = "kept",
    history: bool | None = None,
    every: int = 10,
    **options: Any,
) -> Comparison:
    """Compute the same hits by all three methods.

    Options are those that `estimate` and `simulate_full` share; `every` is the number of steps
    between records of the full simulation.
    """
    simplified = estimate(robot, q, link, torque=torque, method=method, history=history, **options)
    full = simulate_full(robot, q, link, floor=floor, every=every, **options)
    common = {name: options[name] for name in COMMON if name in options}
    mass = point_impact(simplified.virtual_mass, simplified.speed, **common)
    return Comparison(mass, simplified, full)
