"""Results of an estimate of impacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

Floats = np.ndarray


@dataclass(frozen=True, eq=False)
class Neglected:
    """Terms that assumptions (i) to (iii) of [Tsujita2009] neglect, and those kept, one per hit."""

    coriolis: Floats
    """|c*| before the hit [N m], (7)."""
    weight: Floats
    """|g| [N m], (8)."""
    drift: Floats
    """|J*_dot phi_d| along the hit [m/s^2], (14)."""
    angle: Floats
    """Largest joint angle passed through while hand and target touch, at the speed before [rad]."""
    force: Floats
    """|J*^T F| at the peak force [N m]."""
    acceleration: Floats
    """|J* phi_dd| at the peak force, f / m_a [m/s^2]."""
    load: Floats
    """Largest demanded torque, with the carried weight, as a share of its limit."""


@dataclass(frozen=True, eq=False)
class History:
    """Quantities over time, (hits, times, ...)."""

    time: Floats
    """Times, (times) [s]."""
    force: Floats
    """Contact force [N]."""
    joint_velocity: Floats
    """Joint velocities phi_d [rad/s or m/s]."""
    joint_acceleration: Floats
    """Joint accelerations phi_dd [rad/s^2 or m/s^2]."""
    zmp: Floats | None = None
    """ZMP in the plane of the soles [m]."""
    margin: Floats | None = None
    """Distance of the ZMP to the nearest edge of the support polygon [m], positive inside."""

    @property
    def left(self) -> Floats:
        """Time at which the ZMP first leaves the support polygon [s]; NaN if it does not."""
        if self.margin is None:
            return np.full(len(self.force), np.nan)
        out = ~(self.margin > 0)
        return np.where(out.any(axis=1), self.time[out.argmax(axis=1)], np.nan)


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated impacts, one entry per hit."""

    virtual_mass: Floats
    """Virtual mass m_a [kg]."""
    speed: Floats
    """Speed of the hand along the hit, just before [m/s]."""
    peak: Floats
    """Largest force [N]."""
    impulse: Floats
    """Impulse of all contact within the computed time [N s]."""
    duration: Floats
    """Time in contact [s]."""
    touching: Floats
    """Whether hand and target still touch at the end; the impulse is then incomplete."""
    joint_velocity: Floats
    """Joint velocities phi_d before the hit, (hits, n)."""
    fell_back: Floats
    """Whether the Krylov form reached a torque limit, so that "kept" was used instead."""
    history: History | None = None
    neglected: Neglected | None = None

    def summary(self, hit: int = 0) -> str:
        """Return one hit in words."""
        lines = [
            f"virtual mass    {self.virtual_mass[hit]:.3f} kg at {self.speed[hit]:.3f} m/s",
            f"peak force      {self.peak[hit]:.1f} N",
            f"impulse         {self.impulse[hit]:.3f} N s in {1e3 * self.duration[hit]:.1f} ms"
            + (", still touching" if self.touching[hit] else ""),
        ]
        if (n := self.neglected) is not None:
            lines += [
                f"neglected       |c*| {n.coriolis[hit]:.2f}, |g| {n.weight[hit]:.1f} N m beside "
                f"|J^T F| {n.force[hit]:.1f} N m",
                f"                |J_dot phi_d| {n.drift[hit]:.2f} beside |J phi_dd| "
                f"{n.acceleration[hit]:.1f} m/s^2",
                f"                angles move by {n.angle[hit]:.3f} rad",
                f"largest torque  {n.load[hit]:.2f} of its limit",
            ]
        if (h := self.history) is not None and h.margin is not None:
            left = h.left[hit]
            where = "stays in the support" if np.isnan(left) else f"leaves at {1e3 * left:.1f} ms"
            lines.append(f"ZMP             {where}, margin {1e3 * h.margin[hit].min():.0f} mm")
        return "\n".join(lines)


def joined(parts: Sequence[Estimate]) -> Estimate:
    """Concatenate the hits of several estimates."""
    if len(parts) == 1:
        return parts[0]
    arrays = {
        f.name: np.concatenate([getattr(part, f.name) for part in parts])
        for f in fields(Estimate)
        if f.name not in ("history", "neglected")
    }
    histories = [part.history for part in parts if part.history is not None]
    terms = [part.neglected for part in parts if part.neglected is not None]
    return Estimate(**arrays, history=_series(histories), neglected=_terms(terms))


def _terms(parts: Sequence[Neglected]) -> Neglected | None:
    if not parts:
        return None
    names = [f.name for f in fields(Neglected)]
    return Neglected(*(np.concatenate([getattr(part, n) for part in parts]) for n in names))


def _series(parts: Sequence[History]) -> History | None:
    if not parts:
        return None
    names = [f.name for f in fields(History) if f.name != "time"]
    whole: dict[str, Any] = {}
    for name in names:
        column = [getattr(part, name) for part in parts]
        whole[name] = None if column[0] is None else np.concatenate(column)
    return History(parts[0].time, **whole)
