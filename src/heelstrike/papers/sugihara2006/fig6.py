"""Fig 6: peak height, energy gained and the largest stable step of the dropped robot, both laws.

What does not reproduce stays in the table. The last rows take the floor's damper away, which is
where (14) does what the paper says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.papers.report import Result, Row, near, shown
from heelstrike.papers.sugihara2006 import closed_form
from heelstrike.papers.sugihara2006.closed_form import HEIGHT, STEPS, C
from heelstrike.papers.sugihara2006.drop import (
    DURATION,
    VARIANTS,
    Drops,
    Variant,
    drops,
    felt,
    simulator,
)
from heelstrike.papers.sugihara2006.slide import EQUATIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TRIED = np.geomspace(1e-3, 8e-3, 300)
"""Steps for the largest stable one [s], 0.7 % apart."""
DAMPINGS = np.linspace(0, C, 31)
"""[N s/m], ours: what (14) does where there is less of a damper."""
CREATED = 0.05
"""Work of the floor above which it has created energy [J]; the fall brings 2.5 J."""
LIMIT = (
    "Of 300 steps from 1 to 8 ms, 0 if none. Closed form: the limit of stability with what the "
    "corners of the soles feel while joints are free, as under a motor at its limit: 0.57 kg, "
    "without rotor inertia 0.019 kg. A gain is a matter of luck near the limit."
)
GAIN = "A gain: the floor has done more than 0.05 J of work on the robot since the start."
LEAP = (
    "A leap: the CoM rises above where it fell from. Not as stated: at the paper's k and c the "
    "damper sets the limit of stability, and (14) makes it 4 % stronger."
)


def fig6() -> Result:
    """Peak height, energy gained and the largest stable step, both laws, every variant."""
    rows: list[Row] = []
    shown_drops = {}
    for variant in VARIANTS:
        sim = simulator(variant)
        made = drops(sim, np.array([*STEPS, *TRIED]))
        shown_drops[variant.name] = made
        rows += _rows(variant, made, felt(sim))
    sim = simulator(VARIANTS[0])
    swept = drops(sim, np.full(len(DAMPINGS), STEPS[1]), DAMPINGS)
    rows += _swept(swept)
    return Result(
        "fig6",
        "the robot dropped from 0.05 m",
        "dt = 1 ms: both laws are stable. dt = 2.5 ms: (13) throws the robot up after touchdown, "
        "(14) keeps it on the floor.",
        tuple(rows),
        lambda: _draw(shown_drops, swept),
    )


def _rows(variant: Variant, made: Drops, mass: float) -> list[Row]:
    rows = []
    for i, dt in enumerate(STEPS):
        for j, equation in enumerate(EQUATIONS):
            claim = "leaps" if (equation, dt) == (13, STEPS[1]) else "stays on the floor"
            leaps = bool(made.created[j, i] > CREATED or made.failed[j, i])
            where = f"{variant.name}, ({equation}), {1e3 * dt:g} ms"
            holds = leaps == (claim == "leaps")
            gained, peak = float(made.created[j, i]), 1e3 * float(made.peak[j, i] - made.start)
            rows.append(shown(f"{where}: energy gained [J]", gained, holds, claim, variant.remark))
            rows.append(
                shown(
                    f"{where}: peak height [mm]",
                    peak,
                    holds,
                    claim,
                    "Of the CoM after touchdown, over where it fell from; -50 is where it landed.",
                )
            )
    return rows + _limits(variant, made, mass)


def _limits(variant: Variant, made: Drops, mass: float) -> list[Row]:
    """Largest steps below which nothing gains, and nothing rises to where it fell from."""
    gains = (made.created > CREATED) | made.failed
    leaps = (made.peak > made.start) | made.failed
    rows = []
    for what, bad, remark in (("a gain", gains, GAIN), ("a leap", leaps, LEAP)):
        limits = [_largest(one) for one in bad[:, len(STEPS) :]]
        for equation, limit in zip(EQUATIONS, limits, strict=True):
            rows.append(
                near(
                    f"{variant.name}, ({equation}): largest step without {what} [ms]",
                    1e3 * limit,
                    1e3 * float(closed_form.largest_step(equation, 1, mass)),
                    0.7,
                    remark=LIMIT,
                )
            )
        if limits[0] > 0:
            ratio = limits[1] / limits[0]
            name = f"{variant.name}: largest step without {what}, (14) / (13)"
            rows.append(Row(name, ratio, ratio > 1, "> 1", remark=remark))
    return rows


def _largest(bad: np.ndarray) -> float:
    """The last of TRIED before the first that gains [s]; 0 if none."""
    first = int(bad.argmax()) if bad.any() else len(bad)
    return float(TRIED[first - 1]) if first else 0.0


def _swept(swept: Drops) -> list[Row]:
    """What (14) does as the damper of (13) goes."""
    bounce = 1e3 * (swept.peak - swept.start)
    return [
        shown(
            f"servo, 2.5 ms, c = {DAMPINGS[i]:.3g} N s/m: rise of (13) over (14) [mm]",
            bounce[0, i] - bounce[1, i],
            bool(bounce[0, i] > bounce[1, i]),
            "(13) leaps",
            "Where there is no damper, (13) throws the robot back to where it fell from, (14) half "
            "as high: k dt is a damper then. At the paper's c it is 4 % of it.",
        )
        for i in (0, len(DAMPINGS) - 1)
    ]


def _draw(made: dict[str, Drops], swept: Drops) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(2, 2, size=(10.0, 6.4))
    titles = ("Servo, corners of the soles", "Limp, 137 points", "Servo, soles, no rotor inertia")
    for ax, title, drop in zip(axes, titles, made.values(), strict=False):
        _panel(ax, drop)
        plot.label(ax, title, "time [s]", "height of the CoM [m]")
    for j, equation in enumerate(EQUATIONS):
        rise = 1e3 * (swept.peak[j] - swept.start + HEIGHT)
        axes[3].plot(DAMPINGS, rise, color=plot.COLOURS[j], label=f"({equation})")
    axes[3].axvline(C, color=plot.GREY, linewidth=0.8)
    axes[3].annotate("paper", (C, 10), (-28, 4), textcoords="offset points", fontsize=8)
    plot.label(
        axes[3],
        "Servo, soles, 2.5 ms, less damping",
        "damping of the floor [N s/m]",
        "rise after touchdown [mm]",
    )
    return figure


def _panel(ax: Axes, drop: Drops) -> None:
    from heelstrike.view import plot

    for i, dt in enumerate(STEPS):
        for j, equation in enumerate(EQUATIONS):
            name = f"({equation}), {1e3 * dt:g} ms"
            height = drop.height[j, i]
            height = np.where(np.abs(height) < 1, height, np.nan)
            ax.plot(drop.time[i], height, label=name, **plot.line(2 * i + j))
    ax.set_xlim(0, DURATION)
