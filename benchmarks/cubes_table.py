"""The table and the picture of docs/identify.md, from what benchmarks.cubes wrote.

python -m benchmarks.cubes_table [FILE.json] [PICTURE.png]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib.ticker import MultipleLocator

from heelstrike.papers.marhefka1996.tosses import AIM_DEGREES, AIM_WIDTH
from heelstrike.view import plot

RESULTS, PICTURE = Path("benchmarks/results/cubes.json"), Path("docs/images/cubes.png")
PANELS = (
    ("width_percent", "Position, 110 held-out tosses", "mean error of a toss [% of the width]"),
    ("degrees", "Rotation", "mean error of a toss [deg]"),
)
AIMS = {"width_percent": AIM_WIDTH, "degrees": AIM_DEGREES}


def table(laws: dict[str, Any], nominal: dict[str, Any]) -> str:
    """Markdown: what was found, means and medians, and the means with the nominal cube."""
    lines = [
        "| law | found | position, mean / median [% of width] | rotation, mean / median [deg] | "
        "nominal cube: means |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, result in laws.items():
        numbers = ", ".join(_number(path, result) for path in result["found"])
        made, before = result["held_out"], nominal[name]["held_out"]
        pairs = [f"{made[f'mean_{x}']:.1f} / {made[f'median_{x}']:.1f}" for x in AIMS]
        other = f"{before['mean_width_percent']:.1f} %, {before['mean_degrees']:.1f} deg"
        lines.append(f"| {name} | {numbers} | {' | '.join(pairs)} | {other} |")
    return "\n".join(lines)


def _number(path: str, result: dict[str, Any]) -> str:
    """A parameter with its interval."""
    short = path.split(".")[-1].replace("mu_s", "mu").replace("restitution", "e")
    value = f"{short} = {_three(result['found'][path])}"
    if "intervals" not in result:
        return value
    low, high = map(_three, result["intervals"][path])
    return f"{value} ({low} to {high})"


def _three(value: float) -> str:
    """Three digits, without a power of ten."""
    return f"{float(f'{value:.3g}'):g}"


def picture(laws: dict[str, Any], path: Path) -> None:
    """Means with their standard errors, and medians, of every law, a row each."""
    figure, axes = plot.figure(1, 2, size=(9.6, 4.6))
    rows = list(laws)[::-1]
    for ax, (key, title, label) in zip(axes, PANELS, strict=True):
        means, medians, errors = (
            [laws[name]["held_out"][f"{kind}_{key}"] for name in rows]
            for kind in ("mean", "median", "error")
        )
        ax.axvline(AIMS[key], color=plot.INK, linewidth=1, label="aim, of the mean", zorder=1)
        ax.errorbar(
            means, range(len(rows)), xerr=errors, **plot.dots(0), label="mean and its error"
        )
        ax.plot(medians, range(len(rows)), **plot.dots(1), label="median")
        ax.set_yticks(range(len(rows)), rows if ax is axes[0] else [])
        ax.set_xlim(0, 1.1 * max(means))
        ax.xaxis.set_major_locator(MultipleLocator(5))
        plot.label(ax, title, label, "")
    axes[1].get_legend().remove()  # the same
    plot.save(figure, path, few_colours=True)


if __name__ == "__main__":
    given = [Path(one) for one in sys.argv[1:]]
    source, target = (given + [RESULTS, PICTURE][len(given) :])[:2]
    results = json.loads(source.read_text())
    order = {name: results["laws"][name] for name in results["nominal"] if name in results["laws"]}
    picture(order, target)
    print(table(order, results["nominal"]))
