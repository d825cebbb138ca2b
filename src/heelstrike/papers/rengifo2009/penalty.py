"""(2) against (4): spring and damper against an imposed acceleration, with the same kp and kv.

A ball of 1 kg rests, and one bounces, on both. Tension of (2) is kept, as printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.rengifo2009.closed_form import G
from heelstrike.papers.report import Result, finished, near, shown

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

KP, KV = 1e4, 100.0
"""Of both laws on 1 kg: N/m and N s/m, or 1/s^2 and 1/s; ours."""
MASSES = np.array([0.5, 1.0, 2.0])
DT, STEPS = 1e-5, 60_000
SPEED = 1.0


def classical() -> hs.Elastic:
    """(2)."""
    return hs.Elastic(hs.LinearSpring(KP, KV, damping="both", adhesive=True), friction=None)


def imposed() -> hs.FeedbackLinearized:
    """(4)."""
    return hs.FeedbackLinearized(KP, KV, epsilon=0.0, rule="paper", form="acceleration")


def contact(law: hs.Elastic | hs.FeedbackLinearized, depth: float, speed: float) -> xr.Dataset:
    """Masses on a slide, one a world, from a depth."""
    sim = hs.Simulator(hs.Scene(hs.load("foot"), hs.Plane(law=law)), dt=DT, integrator="rk4")
    n = len(MASSES)
    run = sim.run(
        steps=STEPS,
        q0=np.full((n, 1), -depth),
        v0=np.full((n, 1), -speed),
        worlds=n,
        vary={"foot.mass": MASSES},
        record=("depth", "depth_rate", "normal_force"),
        every=10,
        progress=False,
        check=False,
    )
    return finished(run, STEPS)


def eq2() -> Result:
    """Rest, and the force before separation."""
    rows = []
    still = {"(2)": contact(classical(), 1e-12, 0.0), "(4)": contact(imposed(), 1e-12, 0.0)}
    for world, m in enumerate(MASSES):
        for name, data in still.items():
            form = m * G / KP if name == "(2)" else 0.0
            ours = 1e3 * float(data.depth.values[world, -1, 0])
            theirs = "g m / kp" if name == "(2)" else "0"
            quantity = f"{name}, {m:g} kg: depth at rest [mm]"
            rows.append(near(quantity, ours, 1e3 * form, 1e-4, theirs, fault=name == "(2)"))
    bounce = {
        "(2)": contact(classical(), 1e-15, SPEED),
        "(4)": contact(imposed(), 1e-15, SPEED),
    }
    least = float(bounce["(2)"].normal_force.values.min())
    word = "sticks before separation"
    rows.append(shown("(2): least force [N]", least, least < 0, word, fault=True))
    rows.append(
        near(
            "(4): force less what it asks for, largest [N]",
            _cut(bounce["(4)"]),
            0.0,
            1e-6,
            "never pulls",
            "m (g + kp d + kv max(d', 0)) is positive, so that the cut of (19) never acts.",
        )
    )
    last = _before_leaving(bounce["(4)"])
    remark = "Force does not vanish at separation: it jumps from m g to 0. A sample is 0.1 ms."
    for world, m in enumerate(MASSES):
        rows.append(
            near(f"(4), {m:g} kg: last force [N]", last[world], m * G, 0.6 * m, remark=remark)
        )
    return Result(
        "eq2",
        "(2) against (4)",
        "At rest (2) sinks g m / kp, (4) does not; before separation (2) pulls, (4) does not.",
        tuple(rows),
        lambda: _draw(bounce),
    )


def _cut(data: xr.Dataset) -> float:
    """Return the largest difference of the force from what (4) asks for, inside [N]."""
    depth, rate = data.depth.values[..., 0], data.depth_rate.values[..., 0]
    asked = MASSES[:, None] * (G + KP * depth + KV * np.maximum(rate, 0))
    return float(np.abs(data.normal_force.values[..., 0] - asked)[depth > 0].max())


def _before_leaving(data: xr.Dataset) -> np.ndarray:
    """Force at the last sample of the first contact."""
    depth, force = data.depth.values[..., 0], data.normal_force.values[..., 0]
    out = np.argmax(depth <= 0, axis=1)
    return np.array([force[i, end - 1] for i, end in enumerate(out)])


def _draw(bounce: dict[str, xr.Dataset]) -> Figure:
    from heelstrike.view import plot

    figure, (left, right) = plot.figure(1, 2, size=(10.0, 3.9))
    for (name, data), style in zip(bounce.items(), ("--", "-"), strict=True):
        t = 1e3 * data.time.values
        for colour, m, world in zip(plot.COLOURS, MASSES, range(3), strict=False):
            label = f"{name}, {m:g} kg"
            left.plot(t, 1e3 * data.depth.values[world, :, 0], style, color=colour, label=label)
            right.plot(t, data.normal_force.values[world, :, 0] / m, style, color=colour)
    left.set(xlim=(0, 60), ylim=(-4, 8))
    right.set(xlim=(0, 60))
    right.axhline(0, color=plot.INK, linewidth=0.8)
    plot.label(left, "A bounce at 1 m/s", "time [ms]", "depth [mm]")
    plot.label(right, "Its force", "time [ms]", "force over mass [m/s$^2$]")
    left.legend(fontsize=8, frameon=False)
    return figure
