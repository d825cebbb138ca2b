"""Fig 1: the linear spring and damper (3), and the three weaknesses that section 2 finds in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

import heelstrike as hs
from heelstrike.contact.law import NormalLaw
from heelstrike.papers.marhefka1996 import closed_form
from heelstrike.papers.marhefka1996.impact import Impacts, impacts
from heelstrike.papers.report import Result, Row, below, near, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MASS, STIFFNESS, DAMPING, SPEED = 1.0, 1e4, 50.0, 1.0
"""[kg], [N/m], [N s/m], [m/s], ours: the paper gives none; mass, stiffness, speed are fig 4's."""
DAMPINGS = (10.0, 50.0, 100.0, 150.0)
"""[N s/m], ours."""
SPEEDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
MASSES, STIFFNESSES = (0.25, 1.0, 4.0), (2.5e3, 1e4, 4e4)
"""[m/s], [kg], [N/m], ours."""
RULES = {"tension": "by (4)", "zeroed": "zeroed", "compression": "in only"}
LABELS = {
    "tension": "(3), tension kept",
    "zeroed": "tension set to zero",
    "compression": "damped on the way in only",
}
DT, STEPS = 2e-6, 40_000
"""[s]; contact lasts at most 73 ms."""
TOUCH = 1e-15
"""Depth at the start [m]: the first step must touch, or the jump of the force comes a step late."""


STEP_REMARK = "b in N s/m. Within b dt / m: what the damper takes of the speed in one step of 2 us."
SPREAD_REMARK = "For each of three masses, 0.1 to 5 m/s."


def law(rule: str) -> NormalLaw:
    """(3), and what may be done about its pull."""
    damping = "compression" if rule == "compression" else "both"
    return hs.LinearSpring(k=STIFFNESS, c=DAMPING, damping=damping, adhesive=rule == "tension")


def fig1() -> Result:
    """Jump at impact, pull before separation, and e over b, v, m, k."""
    curves = {rule: _run(rule, every=20) for rule in RULES}
    rows = _ends(curves["tension"])
    for rule, name in RULES.items():
        found = _run(rule, c=DAMPINGS).e
        exact = closed_form.linear_restitution(MASS, STIFFNESS, DAMPINGS, rule)
        rows += [
            near(f"e {name}, b {b:g}", e, form, b / MASS * DT, remark=STEP_REMARK)
            for b, e, form in zip(DAMPINGS, found, exact, strict=True)
        ]
    v, m = (x.ravel() for x in np.meshgrid(SPEEDS, MASSES))
    over_v = _run("tension", v=v, m=m).e.reshape(len(MASSES), len(SPEEDS))
    spread = float(np.ptp(over_v, axis=1).max())
    rows.append(below("spread of e over v_i", spread, 1e-9, "no dependence", SPREAD_REMARK))
    rows += _dependence()
    return Result(
        "fig1",
        "the linear spring and damper",
        "Force jumps at impact, pulls before separation; e depends on the mass, not on the speed.",
        tuple(rows),
        lambda: _draw(curves, over_v),
    )


def _run(
    rule: str,
    v: ArrayLike = SPEED,
    m: ArrayLike = MASS,
    every: int | None = None,
    **vary: ArrayLike,
) -> Impacts:
    return impacts(
        law(rule), v, m=m, dt=DT, steps=STEPS, vary=vary or {"c": DAMPING}, depth=TOUCH, every=every
    )


def _ends(run: Impacts) -> list[Row]:
    """First and last force while touching."""
    assert run.curves is not None
    touching = np.flatnonzero(run.curves.depth[0] > 0)
    first, last = run.curves.force[0][touching[[0, -1]]]
    pull = -DAMPING * float(-run.v_out[0])
    remark = (
        "Last sample before separation; a sample is 40 us, in which the spring lets go of 0.2 N."
    )
    return [
        near(
            "force at first touch [N]", first, DAMPING * SPEED, 1e-6, "steps to b v_i", fault=True
        ),
        near("force before separation [N]", last, pull, 0.3, "tensile, -b v_o", remark, True),
    ]


def _dependence() -> list[Row]:
    """e over m and k."""
    rows = []
    for name, unit, given in (("m", "kg", MASSES), ("k", "N/m", STIFFNESSES)):
        m, k = (given, STIFFNESS) if name == "m" else (MASS, given)
        found = _run("tension", m=m, k=k, c=DAMPING).e
        exact = closed_form.linear_restitution(m, k, DAMPING, "tension")
        close = np.broadcast_to(DAMPING / np.asarray(m) * DT, found.shape)
        rows += [
            near(f"e by (4), {name} {value:g} {unit}", e, form, tolerance, remark=STEP_REMARK)
            for value, e, form, tolerance in zip(given, found, exact, close, strict=True)
        ]
        change = float(np.ptp(found))
        word = "depends on mass" if name == "m" else "in (4)"
        rows.append(shown(f"spread of e over {name}", change, change > 0.1, word, fault=True))
    return rows


def _draw(curves: dict[str, Impacts], over_v: np.ndarray) -> Figure:
    from heelstrike.view import plot

    figure, (left, right) = plot.figure(1, 2, size=(9.6, 3.9))
    for colour, width, rule in zip(plot.COLOURS, (3.2, 2.0, 1.1), LABELS, strict=False):
        t, force = _with_ends(curves[rule])
        left.plot(t, force, "-", color=colour, linewidth=width, label=LABELS[rule])
    law = hs.HuntCrossley(k=STIFFNESS, alpha=0.4)
    nonlinear = impacts(law, SPEED, m=MASS, dt=DT, steps=STEPS, every=20)
    t, force = _with_ends(nonlinear)
    left.plot(t, force, "--", color=plot.GREY, label="nonlinear (6), alpha 0.4 s/m")
    plot.label(left, "One impact, b = 50 N s/m", "time [ms]", "force on the mass [N]")
    v = np.linspace(0.01, 5, 200)
    for k, (m, e) in enumerate(zip(MASSES, over_v, strict=True)):
        form = float(closed_form.linear_restitution(m, STIFFNESS, DAMPING, "tension"))
        right.plot([0, 5], [form, form], "-", color=plot.COLOURS[k], linewidth=1)
        right.plot(SPEEDS, e, markersize=4, label=f"linear, m = {m:g} kg", **plot.dots(k))
    right.plot(v, closed_form.restitution(0.4, v), "--", color=plot.GREY, label="nonlinear, any m")
    right.set(ylim=(0, 1.02), xlim=(0, 5.1))
    plot.label(right, "Restitution over speed, lines by (4)", "impact speed $v_i$ [m/s]", "e [-]")
    return figure


def _with_ends(run: Impacts) -> tuple[np.ndarray, np.ndarray]:
    """Time [ms] and force, with some of the flight before and after."""
    assert run.curves is not None
    end = int(np.flatnonzero(run.curves.depth[0] > 0)[-1]) + 1
    t = 1e3 * run.curves.t[0][:end]
    force = run.curves.force[0][:end]
    return np.r_[-2, 0, t, t[-1], 36], np.r_[0, 0, force, 0, 0]
