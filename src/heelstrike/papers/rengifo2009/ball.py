"""Figs 2, 4 and 5: the bouncing ball, (kp, kv) = (0, 5000), (1, 5000), (5, 5000).

The paper gives neither mass, height, integrator nor step. Here: the bundled ball, 1 kg, from 0.1,
0.5 and 1 m, starting where it touches at the speed of that fall; the literal law, RK4, 10 us.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.rengifo2009 import closed_form
from heelstrike.papers.rengifo2009.closed_form import Floats, G
from heelstrike.papers.report import Result, below, finished, near, unknown, worst

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAIRS = ((0.0, 5000.0), (1.0, 5000.0), (5.0, 5000.0))
"""kp [1/s^2], kv [1/s], figs 4 and 5."""
HEIGHTS = (0.1, 0.5, 1.0)
"""[m], ours."""
DT, STEPS, EVERY = 1e-5, 170_000, 10
"""[s]; ours."""
RADIUS, TOUCH = 0.05, 1e-15
"""[m]; TOUCH: the first step must touch."""
LIMITS = (500.0, 5000.0, 50_000.0)
"""kv of fig 2's limit at kp = 0 [1/s], ours."""


@dataclass(frozen=True)
class Balls:
    """Balls side by side, (world, time), from the moment they touch."""

    t: Floats
    height: Floats
    """Of the lowest point [m]."""
    rate: Floats
    """Of the depth [m/s]."""
    force: Floats
    peak: Floats
    """Of the force, by world [N]."""
    deepest: Floats

    def surfaces(self, world: int) -> float:
        """Return the time at which it leaves the ground [s], by its speed 1 ms before; it may be
        back within a sample.
        """
        left = -self.height[world] / np.maximum(-self.rate[world], 1e-30)
        i = int(np.flatnonzero((self.rate[world] < 0) & (left < 1e-3))[0])
        return float(self.t[i] + left[i])


@cache
def simulator() -> hs.Simulator:
    law = hs.FeedbackLinearized(epsilon=0.0, rule="paper", form="acceleration")
    scene = hs.Scene(hs.load("ball"), hs.Plane(law=law))
    return hs.Simulator(scene, dt=DT, integrator="rk4")


def balls(
    kp: Floats, kv: Floats, v: Floats, mass: Floats, steps: int = STEPS, dt: float = DT
) -> Balls:
    """One a world."""
    n = len(kp)
    q0, v0 = np.zeros((n, 7)), np.zeros((n, 6))
    q0[:, 2], q0[:, 6], v0[:, 2] = RADIUS - TOUCH, 1, -v
    vary = {"ground.kp": kp, "ground.kv": kv, "ball.mass": mass, "dt": np.full(n, dt)}
    run = simulator().run(
        steps=steps,
        q0=q0,
        v0=v0,
        worlds=n,
        vary=vary,
        record=("depth", "depth_rate", "normal_force"),
        every=EVERY,
        progress=False,
        check=False,
    )
    data = finished(run, steps)
    return Balls(
        np.asarray(EVERY * dt * np.arange(data.sizes["time"]), float),
        -data.depth.values[..., 0],
        data.depth_rate.values[..., 0],
        data.normal_force.values[..., 0],
        data.peak_force.values[:, 0],
        data.peak_depth.values[:, 0],
    )


@cache
def bounces() -> tuple[Balls, Floats]:
    """Every pair from every height, and the speeds; heights change slowest."""
    kp, kv = np.tile(np.array(PAIRS).T, len(HEIGHTS))
    v = np.repeat(np.sqrt(2 * G * np.array(HEIGHTS)), len(PAIRS))
    return balls(kp, kv, v, np.ones(len(v))), v


def fig2() -> Result:
    """Without kp, and kv without bound: an impulse, then the weight."""
    v = float(np.sqrt(2 * G * 0.5))
    kv = np.array(LIMITS)
    rows, curves = [], []
    for each in kv:
        made = balls(np.zeros(1), np.array([each]), np.array([v]), np.ones(1), 4000, 0.05 / each)
        curves.append(made)
        momentum = float(np.trapezoid(made.force[0] - G, made.t)) / v
        name = f"kv {each:g}"
        # trapezoids of half a time constant: 1 + 0.5^2 / 12
        rows.append(near(f"{name}: impulse beyond the weight over m v", momentum, 1.0, 0.03, 1.0))
        rows.append(near(f"{name}: force after it [N]", made.force[0, -1], G, 1e-6, "m g"))
        form = float(closed_form.depth(0, each, v))
        rows.append(near(f"{name}: depth [mm]", 1e3 * made.deepest[0], 1e3 * form, 1e-6))
    return Result(
        "fig2",
        "the force of a rigid impact as a limit",
        "With kp = 0 and kv without bound the force tends to an impulse m v at the impact, and m g "
        "after it.",
        tuple(rows),
        lambda: _draw_limit(kv, curves),
    )


def fig4() -> Result:
    """Height over time."""
    made, v = bounces()
    rows = []
    for i, h in enumerate(HEIGHTS):
        worlds = range(len(PAIRS) * i, len(PAIRS) * (i + 1))
        for world, (kp, kv) in zip(worlds, PAIRS, strict=True):
            name = f"h {h:g} m, kp {kp:g}"
            form = float(closed_form.depth(kp, kv, v[world]))
            rows.append(near(f"{name}: depth [mm]", 1e3 * made.deepest[world], 1e3 * form, 1e-6))
            if kp > 0:
                time = float(closed_form.contact_time(kp, kv))
                rows.append(near(f"{name}: surfaces at [s]", made.surfaces(world), time, 1e-6))
    still = [made.height[len(PAIRS) * i, -1] + made.deepest[len(PAIRS) * i] for i in range(3)]
    rows.append(below("kp 0: rise after the deepest point [m]", worst(still), 1e-12, "none"))
    rows.append(unknown("height of the fall [m]", None, "Not given: 0.1, 0.5 and 1 m here."))
    return Result(
        "fig4",
        "the ball's height",
        "With kp = 0 the ball stays at its depth, which kv alone decides; with kp > 0 it comes "
        "back to the surface.",
        tuple(rows),
        lambda: _draw(made, "height"),
    )


def fig5() -> Result:
    """Force over time."""
    made, v = bounces()
    rows = []
    for i, h in enumerate(HEIGHTS):
        for world, (kp, kv) in enumerate(PAIRS, start=len(PAIRS) * i):
            form = G + float(closed_form.peak_acceleration(kp, kv, v[world]))
            name = f"h {h:g} m, kp {kp:g}: peak force over m [m/s^2]"
            rows.append(near(name, made.peak[world], form, 1e-6 * form, "g + kv v, kv alone"))
    masses = np.array([0.1, 1.0, 10.0])
    ones = np.ones(3)
    other = balls(ones, 5000 * ones, v[-1] * ones, masses, 20_000)
    spread = worst(other.height - other.height[1])
    rows.append(below("0.1, 1, 10 kg: height differs by [m]", spread, 1e-12, "no mass in it"))
    spread = worst(other.force / masses[:, None] - other.force[1])
    rows.append(below("force over m differs by [m/s^2]", spread, 1e-6, "no mass in it"))
    soft = balls(1e4 * ones[:2], np.array([50.0, 150.0]), ones[:2], ones[:2], 4000)
    for world, kv in enumerate((50.0, 150.0)):
        form = G + float(closed_form.peak_acceleration(1e4, kv, 1.0))
        what = f"kp 1e4, kv {kv:g}, v 1 m/s: peak over m"
        remark = (
            "Holds where kv^2 >= kp. Here the peak comes later and depends on kp as well."
            if kv < 100
            else ""
        )
        rows += [
            near(f"{what} [m/s^2]", soft.peak[world], None, 2e-3, G + kv, remark),
            near(f"{what}, by (3) [m/s^2]", soft.peak[world], form, 2e-3 if kv < 100 else 1e-6),
        ]
    rows.append(unknown("mass of the ball [kg]", None, "Not given: 1 kg here."))
    return Result(
        "fig5",
        "the ball's force",
        "At the impact f = m g + m kv v: the greatest force depends on kv alone.",
        tuple(rows),
        lambda: _draw(made, "force"),
    )


def _draw(made: Balls, what: str) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(1, 2, size=(10.0, 3.9))
    first = len(PAIRS) * (len(HEIGHTS) - 1)  # from 1 m
    for ax, until in zip(axes, (2e-3, float(made.t[-1])), strict=True):
        late = made.t <= until
        for style, colour, (kp, _), world in zip(
            ("--", "-", ":"), plot.COLOURS, PAIRS, range(first, first + 3), strict=False
        ):
            series = 1e3 * made.height[world] if what == "height" else made.force[world]
            time = (1 if until > 1 else 1e3) * made.t[late]
            ax.plot(time, series[late], style, color=colour, label=f"kp = {kp:g}")
        unit = "height [mm]" if what == "height" else "force [N]"
        seconds = "time [s]" if until > 1 else "time [ms]"
        plot.label(ax, "From 1 m, kv = 5000", seconds, unit)
        ax.set(yscale="log" if what == "force" else "linear")
    return figure


def _draw_limit(kv: Floats, curves: list[Balls]) -> Figure:
    from heelstrike.view import plot

    figure, (ax,) = plot.figure(size=(6.4, 3.9))
    for colour, each, made in zip(plot.COLOURS, kv, curves, strict=False):
        ax.plot(1e3 * made.t, made.force[0], "-", color=colour, label=f"kv = {each:g}")
    ax.axhline(G, color=plot.INK, linewidth=0.8)
    ax.set(yscale="log", xlim=(0, 5))
    plot.label(ax, "kp = 0, from 0.5 m: force, and the weight", "time [ms]", "force [N]")
    return figure
