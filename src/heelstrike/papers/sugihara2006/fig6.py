"""Fig 6: how often the dropped robot is thrown up, by law, step, rotor inertia and servo.

64 poses each. What its points feel as it lands says which of them it is (light.py). The largest
steps follow, and what (14) does where the floor has less of a damper. What does not reproduce
stays in the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.papers.report import Result, Row, below, meets, shown
from heelstrike.papers.sugihara2006.closed_form import HEIGHT, STEPS, C
from heelstrike.papers.sugihara2006.drop import VARIANTS, Drops, Variant, drops, poses, simulator
from heelstrike.papers.sugihara2006.light import Landing, landing, worst_joint
from heelstrike.papers.sugihara2006.slide import EQUATIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POSES, LANDINGS, FEW = 64, 6, 4
"""Poses that are dropped, whose landing is looked at, and for the largest step."""
FACTORS = np.geomspace(1, 8, 25)
"""Steps tried for the largest, over the least of them, 9 % apart."""
AS_PRINTED = "Both laws keep it at 1 ms, (14) alone at 2.5 ms, says the paper."
LUCK = 1.15
"""Ratio of two of these steps that is more than one place apart."""
LEAST = {True: 1e-3, False: 1e-4}
"""With and without rotors [s]."""
DAMPINGS = np.linspace(0, C, 16)
"""[N s/m], ours: what (14) does where there is less of a damper."""


@dataclass(frozen=True)
class Cell:
    """A variant at one step, both laws."""

    variant: Variant
    dt: float
    made: Drops
    landed: Landing
    worst: float
    """kd dt / I of the worst joint, explicitly."""

    @property
    def name(self) -> str:
        return f"{self.variant.name}, {1e3 * self.dt:g} ms"

    @property
    def alone(self) -> tuple[int, int]:
        """Poses that (13) alone throws up, and that (14) alone does."""
        one, other = self.made.thrown
        return int((one & ~other).sum()), int((other & ~one).sum())


def fig6() -> Result:
    """All variants, both steps, both laws."""
    cells = []
    for variant in VARIANTS:
        sim = simulator(variant)
        q0 = poses(sim.robot, POSES)
        cells += [
            Cell(
                variant,
                dt,
                drops(sim, dt, q0),
                landing(sim, variant, dt, q0[:LANDINGS]),
                worst_joint(sim, dt),
            )
            for dt in STEPS
        ]
    swept = _sweep()
    rows = [row for cell in cells for row in _thrown(cell)] + _causes(cells)
    rows += [_landed(cell) for cell in cells]
    rows += [row for variant in VARIANTS for row in _largest(variant)] + _swept(swept)
    return Result(
        "fig6",
        "the robot dropped from 0.05 m",
        "dt = 1 ms: both laws are stable. dt = 2.5 ms: (13) throws the robot up after touchdown, "
        "(14) keeps it on the floor.",
        tuple(rows),
        lambda: _draw(cells, swept),
    )


def _thrown(cell: Cell) -> list[Row]:
    """Count the poses that are thrown up; a law that keeps the robot on the floor throws up
    none.
    """
    rows, made = [], cell.made
    peak, energy = 1e3 * np.median(made.peak, axis=1), np.median(made.created, axis=1)
    remark = (
        f"CoM over where it fell from, median of the peaks after touchdown: {peak[0]:.3g} by (13), "
        f"{peak[1]:.3g} mm by (14); energy gained, median: {energy[0]:.3g}, {energy[1]:.3g} J. "
        f"(13) alone throws {cell.alone[0]} up, (14) alone {cell.alone[1]}."
    )
    for j, equation in enumerate(EQUATIONS):
        claim = "leaps" if (equation, cell.dt) == (13, STEPS[1]) else "stays on the floor"
        count = int(made.thrown[j].sum())
        holds = (count > 0) == (claim == "leaps")
        name = f"{cell.name}, ({equation}): thrown up, of {POSES} poses"
        rows.append(shown(name, count, holds, claim, remark, fault=claim == "leaps"))
    return rows


def _causes(cells: list[Cell]) -> list[Row]:
    """Return which of the choices applies."""
    alone = np.sum([cell.alone for cell in cells], axis=0)
    rotors, none = (_count(cells, "rotors", choice) for choice in (True, False))
    implicit, explicit = (_count(cells, "implicit", choice) for choice in (True, False))
    half = len(cells) * POSES
    return [
        shown(
            "thrown up by (13) alone over by (14) alone, all cells",
            alone[0] / max(alone[1], 1),
            alone[0] > alone[1] + 2 * np.sqrt(alone.sum()),
            "> 1",
            f"{alone[0]} and {alone[1]} drops of {half}. At the paper's k and c, (14) is a damper "
            "1.6 % (1 ms) or 3.9 % (2.5 ms) stronger: which of them leaps is luck of the pose. "
            "Holds: two standard deviations of a coin.",
        ),
        meets(
            f"without rotor inertia: thrown up, of {half} drops",
            none,
            least=10 * rotors + 1,
            remark=f"With it {rotors}. So rotor inertia decides, not the law.",
            fault=True,
        ),
        meets(
            f"explicit servo: thrown up, of {half} drops",
            explicit,
            least=implicit + 1,
            remark=f"Implicit: {implicit}. With rotor inertia an explicit servo alone "
            "throws nothing up: its torque has a limit.",
            fault=True,
        ),
    ]


def _count(cells: list[Cell], choice: str, value: bool) -> int:
    """Drops of the variants with that choice that are thrown up."""
    chosen = [cell for cell in cells if getattr(cell.variant, choice) == value]
    return sum(int(cell.made.thrown.sum()) for cell in chosen)


def _landed(cell: Cell) -> Row:
    """No landing whose steps are stable gains, unless an explicit servo drives it."""
    felt, limit = cell.landed, C * cell.dt / 2
    calm, mass = felt.radius <= 1, felt.mass[np.isfinite(felt.mass)]
    remark = (
        f"Points that touch feel {mass.min():.2g} to {mass.max():.2g} kg, median "
        f"{np.median(mass):.2g}; below c dt / 2 = {limit:.2g} kg a step is unstable: in "
        f"{int((~calm).sum())} of {calm.size} landings. {int(felt.gained.sum())} gain within 30 ms."
    )
    if not cell.variant.implicit:
        remark += f" kd dt / I of the joint that is damped worst: {cell.worst:.2g}."
    if cell.variant.rotors or cell.variant.implicit:
        wrong = float((felt.gained & calm).sum())
        return below(f"{cell.name}: landings that gain in stable steps", wrong, 0, remark=remark)
    count = int(felt.gained.sum())
    remark += " The servo shakes the robot into the floor."
    return meets(f"{cell.name}: landings that gain", count, least=1, remark=remark, fault=True)


def _largest(variant: Variant) -> list[Row]:
    """Steps up to which none of a few poses is thrown up."""
    sim, tried = simulator(variant), LEAST[variant.rotors] * FACTORS
    q0 = poses(sim.robot, FEW)
    made = drops(sim, np.repeat(tried, FEW), np.tile(q0, (len(tried), 1)))
    bad = made.thrown.reshape(len(EQUATIONS), len(tried), FEW)
    limits = [1e3 * _last(tried, np.asarray(one.any(axis=1))) for one in bad]
    remark = (
        f"Of {len(tried)} steps from {1e3 * tried[0]:g} to {1e3 * tried[-1]:g} ms, 9 % apart, 0 "
        f"if none; {FEW} poses."
    )
    asked = {13: (*STEPS, "1 or more, below 2.5"), 14: (STEPS[1], np.inf, "2.5 or more")}
    rows = []
    for e, limit in zip(EQUATIONS, limits, strict=True):
        least, most, claim = asked[e]
        name = f"{variant.name}, ({e}): largest step without a leap [ms]"
        holds = 1e3 * least <= limit < 1e3 * most
        rows.append(shown(name, limit, holds, claim, f"{remark} {AS_PRINTED}"))
    if min(limits) > 0:
        ratio = limits[1] / limits[0]
        name = f"{variant.name}: largest step without a leap, (14) / (13)"
        remark += " Holds from two of these steps on: one is luck."
        rows.append(Row(name, ratio, ratio > LUCK, "> 1", remark=remark))
    return rows


def _last(tried: np.ndarray, bad: np.ndarray) -> float:
    """Return the last step before the first that is bad [s]; 0 if none."""
    first = int(bad.argmax()) if bad.any() else len(bad)
    return float(tried[first - 1]) if first else 0.0


def _sweep() -> Drops:
    """Return the stance at 2.5 ms on floors with less of a damper, with rotors and an implicit
    servo.
    """
    sim = simulator(VARIANTS[0])
    return drops(sim, STEPS[1], np.tile(poses(sim.robot, 1), (len(DAMPINGS), 1)), DAMPINGS)


def _swept(swept: Drops) -> list[Row]:
    """Show (14) as the damper of (13) vanishes."""
    rise = 1e3 * swept.peak
    return [
        shown(
            f"stance, 2.5 ms, c = {DAMPINGS[i]:.3g} N s/m: rise of (13) over (14) [mm]",
            rise[0, i] - rise[1, i],
            bool(rise[0, i] > rise[1, i]),
            "(13) leaps",
            "Rotors, implicit servo. Where there is no damper, k dt is one. At the paper's c it is "
            "4 % of it.",
        )
        for i in (0, len(DAMPINGS) - 1)
    ]


def _draw(cells: list[Cell], swept: Drops) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(2, 2, size=(10.0, 6.8))
    _draw_thrown(axes[0], cells)
    for ax, cell in ((axes[1], cells[1]), (axes[2], cells[5])):
        for j, equation in enumerate(EQUATIONS):
            rise = 1e3 * cell.made.rise[j, :8].T
            lines = ax.plot(cell.made.time[0], rise, **plot.line(j))
            lines[0].set_label(f"({equation})")
        ax.set(xlim=(0, 1), ylim=(-200, 200))
        plot.label(ax, f"{cell.name}, 8 poses", "time [s]", "CoM over its start [mm]")
    for j, equation in enumerate(EQUATIONS):
        rise = 1e3 * (swept.peak[j] + HEIGHT)
        axes[3].plot(DAMPINGS, rise, **plot.line(j), label=f"({equation})")
    axes[3].axvline(C, color=plot.GREY, linewidth=0.8)
    axes[3].annotate("paper", (C, 10), (-28, 4), textcoords="offset points", fontsize=8)
    plot.label(
        axes[3],
        "Stance, rotors, 2.5 ms, less damping",
        "damping of the floor [N s/m]",
        "rise after touchdown [mm]",
    )
    return figure


def _draw_thrown(ax: Axes, cells: list[Cell]) -> None:
    """A bar for each cell and law."""
    from heelstrike.view import plot

    for i, dt in enumerate(STEPS):
        for j, equation in enumerate(EQUATIONS):
            share = [100 * cell.made.thrown[j].mean() for cell in cells if cell.dt == dt]
            place = np.arange(len(share)) + 0.2 * (2 * i + j - 1.5)
            colour, name = plot.COLOURS[2 * i + j], f"({equation}), {1e3 * dt:g} ms"
            ax.bar(place, share, 0.18, color=colour, label=name)
    names = [variant.name.replace(", ", "\n").removesuffix(" servo") for variant in VARIANTS]
    ax.set_xticks(range(len(names)), names, fontsize=8)
    plot.label(ax, "Thrown up, of 64 poses", "", "share [%]")
