"""Section II-A: "when kp/kv varies from 0 to infinity, e varies from 0 to 1".

e is a function of kp/kv^2 alone; kp/kv has a unit, 1/s, and decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.papers.rengifo2009 import closed_form
from heelstrike.papers.rengifo2009.slide import impacts, simulator
from heelstrike.papers.report import Result, Row, below, near, shown, worst

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATIOS = np.geomspace(1e-4, 1e4, 65)
"""kp / kv^2 [-], ours."""
TABLE = ((500.0, 250.0), (1e4, 250.0), (1e4, 200.0), (1e4, 100.0), (1e4, 50.0))
"""kp, kv; the first is section IV's."""
ALIKE = (5.0, 50.0, 500.0, 5000.0)
"""kp = kv."""
STEPS = 4000
"""Of a contact, 1.3 times its length."""
DISCRETE = (1e-5, 1e-4, 1e-3)
"""[s]"""


def restitution() -> Result:
    """e over kp/kv^2, against its closed form; and kp/kv, which does not decide it."""
    kv = np.full(len(RATIOS), 100.0)
    kp = RATIOS * kv**2
    form = closed_form.restitution(kp, kv)
    e = _e(kp, kv)
    rows: list[Row] = []
    for each in TABLE:
        exact, ours = float(closed_form.restitution(*each)), float(_e(*map(np.array, each))[0])
        rows.append(near(f"e, kp {each[0]:g}, kv {each[1]:g}", ours, exact, 1e-6))
    rows.append(below("e over kp/kv^2 1e-4 to 1e4: worst error", worst(e - form), 1e-6))
    rows.append(shown("least e", float(e[0]), bool(e[0] < 0.02), "from 0"))
    rows.append(shown("largest e", float(e[-1]), bool(e[-1] > 0.99), "to 1"))
    again = _e(RATIOS * 1e6, np.full(len(RATIOS), 1e3))
    rows.append(below("kv 100 and 1000 at the same kp/kv^2: e differs by", worst(again - e), 1e-9))
    same = _e(np.array(ALIKE), np.array(ALIKE))
    remark = (
        f"Theirs: a function of kp/kv, so that of kp = kv = {ALIKE[0]:g}. Does not hold as stated: "
        "kp/kv^2 decides."
    )
    forms = closed_form.restitution(ALIKE, ALIKE)
    rows.append(near(f"e, kp = kv = {ALIKE[0]:g}", same[0], forms[0], 1e-6))
    for k, ours in zip(ALIKE[1:], same[1:], strict=True):
        rows.append(near(f"e, kp = kv = {k:g}", ours, None, 1e-6, float(same[0]), remark))
    rows += _masses()
    rows += [_discrete(dt) for dt in DISCRETE]
    return Result(
        "restitution",
        "restitution",
        "When kp/kv varies from 0 to infinity, the restitution varies from 0 to 1.",
        tuple(rows),
        lambda: _draw(e, same),
    )


def _e(kp: np.ndarray, kv: np.ndarray, mass: float | np.ndarray = 1.0) -> np.ndarray:
    dt = np.minimum(1.3 * closed_form.contact_time(kp, kv) / STEPS, 0.05 / np.asarray(kv))
    steps = int(np.ceil(np.max(1.3 * closed_form.contact_time(kp, kv) / dt)))
    return -impacts(simulator("acceleration", "rk4"), kp, kv, dt, steps, mass=mass).rate


def _masses() -> list[Row]:
    masses = np.array([0.1, 1.0, 10.0])
    e = _e(np.full(3, 500.0), np.full(3, 250.0), masses)
    return [below("0.1, 1, 10 kg: e differs by", float(np.ptp(e)), 1e-12, "no mass in it")]


def _discrete(dt: float) -> Row:
    """Return the default form, over all places in a step at which the mass may enter."""
    entry = (np.arange(200) + 0.5) / 200
    steps = int(0.2 / dt)
    made = impacts(simulator("discrete", "symplectic"), 500.0, 250.0, dt, steps, dt * entry)
    exact = float(closed_form.restitution(500, 250))
    return near(
        f'form="discrete", kp 500, kv 250, dt {dt:g} s: mean e',
        float(-made.rate.mean()),
        exact,
        exact * 250 * dt,
        remark=f"Over 200 places of entry, {-made.rate.max():.4f} to {-made.rate.min():.4f}; of "
        "order kv dt.",
    )


def _draw(e: np.ndarray, same: np.ndarray) -> Figure:
    from heelstrike.view import plot

    figure, (ax,) = plot.figure(size=(6.4, 4.2))
    ratio = np.geomspace(1e-4, 1e4, 400)
    ax.plot(ratio, closed_form.restitution(ratio, 1.0), "-", color=plot.GREY, label="closed form")
    ax.plot(RATIOS, e, "o", color=plot.COLOURS[0], markersize=3, label="kv = 100, simulated")
    alike = 1 / np.array(ALIKE)
    ax.plot(alike, same, "s", color=plot.COLOURS[1], markersize=5, label="kp/kv = 1")
    ax.set(xscale="log", ylim=(0, 1))
    plot.label(ax, "Restitution", "$k_p / k_v^2$", "e [-]")
    return figure
