"""Fig 8: how the normal force is distributed over the vertices of the left sole, by lambda.

Spread is the standard deviation of the four vertices' normal forces over their mean, averaged over
the second in which the robot rises, and over the half second in which it stands (stand.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heelstrike.papers.report import Result, Row, below, shown
from heelstrike.papers.sugihara2006.against import (
    Stances,
    beside,
    both_rules,
    by_lambda,
    by_reading,
    draw_against,
    draw_force,
)
from heelstrike.papers.sugihara2006.stand import LAMBDAS, READINGS, Stance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TWO = (
    "At 0.01 two vertices of a sole stand in the rigid floor, two on the membrane alone; from 0.1 "
    "on it sinks until all four are inside."
)
REASONS = {
    "both": TWO,
    "rigid": TWO + " At 4 it falls over.",
    "bare": "Without a membrane the smallest forces of all that solve (32) are even already. At 4 "
    "it falls over.",
}


def fig8() -> Result:
    """Spread for every reading, both rules."""
    literal, ours = both_rules()
    return Result(
        "fig8",
        "distribution of the force over the sole's vertices",
        "Disproportionate in space at lambda = 0.01, smoothed at lambda = 4.",
        (*by_reading(literal, _literal), *by_reading(ours, _consistent)),
        lambda: _draw(literal, ours),
    )


def _literal(reading: str, made: tuple[Stance, ...]) -> list[Row]:
    name, first, most = READINGS[reading], made[0], made[len(LAMBDAS) - 1]

    def as_told(last: Stance | None, stance: Stance) -> bool:
        """Return the first the most uneven of all, the others more even than it."""
        return first.spread > 1.05 * (most if last is None else stance).spread

    rows = by_lambda(reading, made, "spread", as_told, ("disproportionate", "smoother"))
    for what, part in (("rising", "spread"), ("standing", "late_spread")):
        least, largest = getattr(first, part), getattr(most, part)
        rows.append(
            shown(
                f"{name}, spread {what}, lambda {first.value:g} over lambda {most.value:g}",
                least / largest,
                least > largest,
                "> 1",
                f"{least:.3g} and {largest:.3g}. {REASONS[reading]}",
            )
        )
    return rows


def _consistent(reading: str, made: tuple[Stance, ...]) -> list[Row]:
    """Over all smoothings."""
    spreads = [stance.late_spread for stance in made]
    return [
        below(
            f"consistent rule, {READINGS[reading]}: spread standing, change with the smoothing",
            max(spreads) - min(spreads),
            0.02,
            remark="Forces that balance are not changed any more, so a stance keeps the "
            "distribution that the motion left: it does not sink, and it is not even. "
            + beside(made),
        )
    ]


def _draw(literal: Stances, ours: Stances) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(2, 2, size=(10.0, 6.4))
    both = literal["both"]
    for ax, stance in ((axes[0], both[0]), (axes[1], both[len(LAMBDAS) - 1])):
        draw_force(ax, stance, list(range(both[0].left.shape[1])))
    for ax, made, x in ((axes[2], literal, r"$\lambda$ [1/kg$^2$]"), (axes[3], ours, "smoothing")):
        draw_against(ax, made, "spread", "o-", "rising")
        draw_against(ax, made, "late_spread", "s:", "standing")
        ax.set(ylim=(2e-3, 2))
        title = "Spread, rule (33)" if made is literal else "Spread, consistent rule"
        plot.label(ax, title, x, "standard deviation / mean")
        ax.legend(fontsize=6, frameon=True, framealpha=0.8, edgecolor="none", ncols=2)
    return figure
