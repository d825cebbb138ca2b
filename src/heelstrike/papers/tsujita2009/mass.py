"""Table III: a virtual mass meets the target, fig 9. Its errors are in table2.py.

k = 1e4 N/m, c = 300 N s/m, target 5 kg, RK4 at 1e-4 s, section III. Not said there: the damper
works on the way in only. Of the three usual readings it alone gives the printed impulses; the other
two are shown below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.impact.mass import point_impact
from heelstrike.impact.target import Target
from heelstrike.papers.report import Result, Row, meets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

K, C, MASS = 1e4, 300.0, 5.0
"""Contact [N/m], [N s/m] and target [kg], section III."""
TABLE = {  # by type, m_a [kg], v_c [m/s], f_max [N], f_n [N s]
    "A-1": (4.0, 0.4, 119.7, 1.2),
    "A-2": (4.0, 0.7, 209.9, 2.1),
    "A-3": (4.0, 1.0, 300.2, 3.0),
    "B-1": (6.0, 0.4, 119.7, 1.5),
    "B-2": (6.0, 0.7, 209.9, 2.7),
    "B-3": (6.0, 1.0, 300.2, 3.8),
    "C-1": (8.0, 0.4, 119.8, 1.7),
    "C-2": (8.0, 0.7, 210.4, 3.0),
    "C-3": (8.0, 1.0, 300.6, 4.3),
}


def law(damping: str = "compression", adhesive: bool = False) -> LinearSpring:
    """Return the contact of section III."""
    return LinearSpring(k=K, c=C, damping=damping, adhesive=adhesive)


def restitution(mass: float) -> float:
    """e of two masses, of which one is the target, with a damper on the way in."""
    m = mass * MASS / (mass + MASS)
    z = C / (2 * np.sqrt(K * m))
    root = np.sqrt(abs(1 - z**2))
    return float(np.exp(-z * (np.arccos(z) if z < 1 else np.arccosh(z)) / root))


def impulse(mass: float, speed: float) -> float:
    """f_n of two masses [N s]."""
    return mass * MASS / (mass + MASS) * (1 + restitution(mass)) * speed


def table3() -> Result:
    """Nine impacts of a mass."""
    masses, speeds = (np.array([row[i] for row in TABLE.values()]) for i in (0, 1))
    ran = point_impact(masses, speeds, Target(MASS), law())
    rows: list[Row] = []
    for i, (name, (m_a, v_c, _, f_n)) in enumerate(TABLE.items()):
        ours, exact = float(ran.impulse[i]), impulse(m_a, v_c)
        holds = round(ours, 1) == f_n and abs(ours / exact - 1) < 1e-4
        rows.append(Row(f"{name}: f_n [N s]", ours, holds, f_n, exact, 1e-4 * exact))
    remark = "c v_c; within 0.3 % of theirs, whose v_c is rounded."
    for i, (name, (_, v_c, f_max, _)) in enumerate(TABLE.items()):
        ours = float(ran.peak[i])
        holds = abs(ours / (C * v_c) - 1) < 1e-6 and abs(ours / f_max - 1) < 3e-3
        rows.append(Row(f"{name}: f_max [N]", ours, holds, f_max, C * v_c, 1e-6 * C * v_c, remark))
    rows += _readings(masses, speeds)
    return Result(
        "table3",
        "Maximum force and impulse estimated by the virtual mass",
        "A mass of 4, 6, 8 kg at 0.4, 0.7, 1.0 m/s against 5 kg.",
        tuple(rows),
        lambda: _draw(masses, speeds),
    )


def _readings(masses: np.ndarray, speeds: np.ndarray) -> list[Row]:
    """Count the printed impulses that the other readings of the damper give."""
    table = np.array([row[3] for row in TABLE.values()])
    rows = []
    for words, other in {
        "damper both ways, tension kept": law("both", adhesive=True),
        "damper both ways, tension cut": law("both"),
    }.items():
        ran = point_impact(masses, speeds, Target(MASS), other)
        count = int((np.round(ran.impulse, 1) == table).sum())
        remark = "Rows of f_n that this reading gives: none, so it is not theirs."
        rows.append(meets(f"{words}: rows that agree", count, most=0, remark=remark))
    return rows


def _draw(masses: np.ndarray, speeds: np.ndarray) -> Figure:
    from heelstrike.view import plot

    ran = point_impact(masses, speeds, Target(MASS), law())
    force = ran.records["force"][..., 0]
    time = 0.1 * np.arange(force.shape[1])
    figure, axes = plot.figure(1, 3, size=(11.4, 3.2))
    for ax, letter in zip(axes, "ABC", strict=True):
        for i, name in enumerate(TABLE):
            if name.startswith(letter):
                ax.plot(time, force[i], label=f"{name}: {ran.impulse[i]:.2f} N s")
        ax.set(xlim=(0, 60), ylim=(0, 320))
        mass = {"A": 4, "B": 6, "C": 8}[letter]
        plot.label(ax, f"{letter}: $m_a$ = {mass} kg", "time [ms]", "force [N]")
        ax.legend(fontsize=8, frameon=False)
    return figure
