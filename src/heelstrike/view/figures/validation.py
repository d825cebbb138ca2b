"""Figures of a validation: scores, errors over time and by phase, predictions over measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.validation.judge import Judged
from heelstrike.validation.measured_set import BASELINE, MUJOCO, Measure
from heelstrike.validation.validate import Validation
from heelstrike.validation.verdict import best, laws
from heelstrike.view import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = 4
"""Largest number of laws in pictures over time: the first ones by error, and MuJoCo."""
RUNNING = 0.75
"""Share of the cases that still run at a time that is drawn."""
RANKS = ((0.25, "better than three quarters"), (0.5, "the median"), (0.9, "worse than nine tenths"))
"""Cases that are drawn, by their rank in the error of the best law."""


def write_figures(found: Validation, folder: Path) -> list[Path]:
    """Write all figures of a validation to a folder, and return their paths."""
    made = {"scores": scores(found), "errors": errors(found), "cases": cases(found)}
    return [
        plot.save(figure, folder / f"{found.name}-{name}.png", few_colours=True)
        for name, figure in made.items()
    ]


def scores(found: Validation) -> Figure:
    """Return means with standard errors and medians of every model, with floor and aim."""
    measures = found.about.measures
    names = [name for name in found.models if name != BASELINE][::-1]
    columns = min(2, len(measures))
    rows = -(-len(measures) // columns)
    figure, axes = plot.figure(rows, columns, size=(9.6, 0.9 + rows * (0.9 + 0.25 * len(names))))
    for k, (ax, measure) in enumerate(zip(axes, measures, strict=False)):
        made = [found.models[name].score(measure.name) for name in names]
        places = range(len(names))
        means = [score.mean for score in made]
        ax.errorbar(
            means, places, xerr=[score.error for score in made], **plot.dots(0),
            label="mean and its error",
        )  # fmt: skip
        ax.plot([score.median for score in made], places, **plot.dots(1), label="median")
        if measure.aim is not None:
            ax.axvline(measure.aim, color=plot.INK, linewidth=1, label="aim, of the mean")
        if found.floor is not None:
            noise = found.floor.start_noise[measure.name].mean
            ax.axvspan(0, noise, color=plot.GREY, alpha=0.25, label="noise of the start")
        ax.set_yticks(places, names if k % columns == 0 else [])
        ax.set_xlim(0, 1.1 * float(np.nanmax([s.mean + s.error for s in made])))
        title = f"{measure.name}, {len(found.cases)} held-out cases"
        plot.label(ax, title, f"{measure.average} error of a case [{measure.unit}]", "")
    for ax in axes[len(measures) :]:
        ax.set_visible(False)
    plot.legend_below(figure, axes[0])
    return figure


def errors(found: Validation) -> Figure:
    """Return the median error over time and the mean error by phase, of each measure."""
    courses = [one for one in found.about.measures if one.name in _first(found).courses]
    figure, axes = plot.figure(max(1, len(courses)), 2, size=(9.6, 2.9 * max(1, len(courses))))
    time, running = found.cases.time, np.isfinite(found.cases.measured[..., 0]).mean(axis=0)
    chosen = _shown(found, found.about.measures[0])
    for k, measure in enumerate(courses):
        left, right = axes[2 * k], axes[2 * k + 1]
        for j, name in enumerate(chosen):
            own = found.models[name]
            use = (running >= RUNNING) & np.isfinite(own.courses[measure.name])
            left.plot(time[use], own.courses[measure.name][use], label=name, **plot.line(j))
        plot.label(left, f"{measure.name}: median error", "time [s]", f"error [{measure.unit}]")
        _phases(right, found, measure, chosen)
    plot.legend_below(figure, axes[0])
    return figure


def _phases(ax: Axes, found: Validation, measure: Measure, chosen: Sequence[str]) -> None:
    """Draw the mean error in each phase, a group of bars each."""
    phases = [p for p in found.about.phases if p in _first(found).phases[measure.name]]
    wide = 0.8 / len(chosen)
    for j, name in enumerate(chosen):
        values = found.models[name].phases[measure.name]
        at = np.arange(len(phases)) + (j - (len(chosen) - 1) / 2) * wide
        ax.bar(at, [values.get(p, np.nan) for p in phases], wide, color=plot.COLOURS[j % 8])
    ax.set_xticks(range(len(phases)), phases)
    plot.label(ax, "by phase: mean error", "", f"error [{measure.unit}]")


def cases(found: Validation) -> Figure:
    """Return predictions over measurements, of cases that were predicted well and less well."""
    measure = found.about.measures[0]
    chosen = _shown(found, measure)
    chosen = [chosen[0], *(name for name in chosen if name.startswith(MUJOCO))]
    order = np.argsort(found.models[chosen[0]].errors[measure.name])
    labels = list(found.about.curves(found.cases, found.cases.measured, 0))
    figure, axes = plot.figure(len(RANKS), len(labels), size=(3.4 * len(labels), 2.6 * len(RANKS)))
    for i, (rank, words) in enumerate(RANKS):
        one = int(order[int(rank * len(order))])
        known = np.isfinite(found.cases.measured[one, :, 0])
        time = found.cases.time[known]
        real = found.about.curves(found.cases, found.cases.measured, one)
        made = {
            name: found.about.curves(found.cases, found.models[name].predicted, one)
            for name in chosen
        }
        for j, label in enumerate(labels):
            ax = axes[i * len(labels) + j]
            look = plot.dots(0) | {"color": plot.INK, "markersize": 2.5}
            ax.plot(time, real[label][known], label="measured", **look)
            for n, name in enumerate(chosen):
                ax.plot(time, made[name][label][known], label=name, **plot.line(n))
            title = f"case {found.cases.ids[one]}: {words}" if j == 0 else ""
            plot.label(ax, title, "time [s]" if i + 1 == len(RANKS) else "", label)
    plot.legend_below(figure, axes[0])
    return figure


def _first(found: Validation) -> Judged:
    return next(iter(found.models.values()))


def _shown(found: Validation, measure: Measure) -> list[str]:
    """Return the models in pictures over time: the best laws, then MuJoCo."""
    ours = laws(found.models)
    order = sorted(ours, key=lambda name: found.models[name].score(measure.name).mean)
    first = best(found.models, measure.name, ours) if ours else None
    chosen = [first, *(name for name in order if name != first)] if first else []
    return [*chosen[:SHOWN], *(name for name in found.models if name.startswith(MUJOCO))] or list(
        found.models
    )
