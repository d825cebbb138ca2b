"""Cases, impacts, criteria and drawing that figs 4 to 7 share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.marhefka1996 import closed_form
from heelstrike.papers.marhefka1996.impact import Curves, Impacts, impacts, time_scale
from heelstrike.papers.report import Row, below, near, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = 2000
"""In each impact's time scale; contact lasts 3.2 to 3.6 of them."""
EVERY = 5
CLOSE = 1e-6
"""Relative. RK4 is exact to 1e-9 inside the contact; peaks are those of the steps, 1e-7 off."""


@dataclass(frozen=True)
class Case:
    """One curve of a figure."""

    name: str
    alpha: float
    k: float
    m: float
    v_in: float

    def exact(self, what: Callable[..., float]) -> float:
        """Return a closed form at this case."""
        return what(self.alpha, self.v_in, self.m, self.k)

    @property
    def restitution(self) -> float:
        """e in closed form [-]."""
        return float(closed_form.restitution(self.alpha, self.v_in))


@dataclass(frozen=True)
class Loops:
    """The impacts of a figure's cases."""

    cases: Sequence[Case]
    impacts: Impacts
    curves: Curves

    @property
    def lost(self) -> np.ndarray:
        """Energy lost in each [J]: the work of contact, summed over the steps."""
        return self.curves.lost[:, -1]

    @property
    def durations(self) -> np.ndarray:
        """Contact times [s], the exit interpolated: no force acts near depth 0."""
        found = []
        for t, depth in zip(self.curves.t, self.curves.depth, strict=True):
            last = np.flatnonzero(depth > 0)[-1]
            share = depth[last] / (depth[last] - depth[last + 1])
            found.append(t[last] + share * (t[last + 1] - t[last]))
        return np.array(found)


def run(cases: Sequence[Case]) -> Loops:
    """All cases in one batch, RK4; unclamped, so that a pull would be seen."""
    alpha, k, m, v = (
        np.array([getattr(case, name) for case in cases]) for name in ("alpha", "k", "m", "v_in")
    )
    made = impacts(
        hs.HuntCrossley(adhesive=True),
        v,
        m=m,
        dt=time_scale(v, m, k) / STEPS,
        steps=4 * STEPS,
        vary={"alpha": alpha, "k": k},
        integrator="rk4",
        every=EVERY,
    )
    assert made.curves is not None
    return Loops(cases, made, made.curves)


def depths(loops: Loops) -> list[Row]:
    """Greatest depths."""
    return _rows(loops, "x_max", "mm", 1e3 * loops.impacts.depth_max, 1e3, closed_form.depth_max)


def forces(loops: Loops) -> list[Row]:
    """Greatest forces."""
    return _rows(loops, "F_max", "N", loops.impacts.force_max, 1, closed_form.force_max)


def durations(loops: Loops) -> list[Row]:
    """Contact times."""
    return _rows(loops, "contact time", "ms", 1e3 * loops.durations, 1e3, closed_form.contact_time)


def losses(loops: Loops) -> list[Row]:
    """Areas of the loops, which are the energies lost."""
    rows = []
    for i, (case, lost) in enumerate(zip(loops.cases, loops.lost, strict=True)):
        exact = closed_form.energy_lost(case.alpha, case.v_in, case.m)
        area = np.trapezoid(loops.curves.force[i], loops.curves.depth[i])
        rows += [
            near(f"loss, {case.name} [J]", lost, exact, CLOSE * exact),
            near(f"area, {case.name} [J]", area, exact, 1e-4 * exact),
        ]
    return rows


def continuous(loops: Loops) -> list[Row]:
    """No jump at either end, no pull: "the forces on the ground are never negative"."""
    force, depth = loops.curves.force, loops.curves.depth
    ends = []
    for f, d in zip(force, depth, strict=True):
        touching = np.flatnonzero(d > 0)
        ends += [f[touching[0]] / f.max(), f[touching[-1]] / f.max()]
    remark = f"One sample is {EVERY} steps, 1/{STEPS // EVERY} of the time scale."
    least = float(force.min())
    return [
        below("first or last sample / F_max", max(ends), 2e-2, "from and to zero", remark),
        shown("least force [N]", least, least >= 0, "never negative"),
    ]


def ratio(values: np.ndarray) -> float:
    """Return the least ratio of one value to the one before it."""
    return float(np.min(values[1:] / values[:-1]))


def _rows(
    loops: Loops,
    what: str,
    unit: str,
    ours: np.ndarray,
    factor: float,
    form: Callable[..., float],
) -> list[Row]:
    rows = []
    for case, value in zip(loops.cases, ours, strict=True):
        exact = factor * case.exact(form)
        rows.append(near(f"{what}, {case.name} [{unit}]", value, exact, CLOSE * exact))
    return rows


def draw(loops: Loops, title: str, in_time: bool = False) -> Figure:
    """Force against depth, or time; (19) with (6) behind it."""
    from heelstrike.view import plot

    figure, (ax,) = plot.figure(size=(6.4, 4.4))
    curves = loops.curves
    for i, case in enumerate(loops.cases):
        x = 1e3 * (curves.t[i] if in_time else curves.depth[i])
        inside = np.flatnonzero(curves.depth[i] > 0)
        shown = slice(0, inside[-1] + 2)
        ax.plot(x[shown], curves.force[i][shown], label=case.name, **plot.line(i))
        if not in_time:
            v = np.linspace(float(closed_form.speed_out(case.alpha, case.v_in)), case.v_in, 60)
            depth = closed_form.depth(v, case.v_in, case.alpha, case.m, case.k)
            force = case.k * depth * (1 + 1.5 * case.alpha * v)
            ax.plot(1e3 * depth, force, "o", color=plot.COLOURS[i], markersize=2.4, alpha=0.7)
    if not in_time:
        ax.plot([], [], "o", color=plot.GREY, markersize=3, label="closed form, (6) on (19)")
    plot.label(ax, title, "time [ms]" if in_time else "depth [mm]", "force [N]")
    ax.set(xlim=(0, None), ylim=(0, None))
    return figure
