"""Fig 8: a foot that is set down, bears weight, and is lifted (section 5).

    f = K_p (x_d - x)                                                                        (24)

x_d = 2 t - 10 t^2 while landing; a constant load, or x_d held, in support; then a ramp of -2 m/s.
The paper gives neither the load, nor how long it lasts, nor where the ramp starts: six readings.
Gravity is off: the load stands for the weight of the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import heelstrike as hs
from heelstrike.papers.marhefka1996 import reference
from heelstrike.papers.marhefka1996.reference import LANDING, LIFTING, SPEED, Variant
from heelstrike.papers.report import Result, Row, finished, near, shown, unknown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VARIANTS = (
    Variant("500 N from x_d", 500.0, False),
    Variant("1000 N from x_d", 1000.0, False),
    Variant("2000 N from x_d", 2000.0, False),
    Variant("1000 N from x", 1000.0, True),
    Variant("held from x_d", None, False),
    Variant("held from x", None, True),
)
SHOWN = 1
"""The reading that is drawn, and that is repeated with other alphas."""
ALPHAS = (0.25, 0.5, 1.0)
"""[s/m]; fig 8 has 0.5, the others are ours."""
DT, STEPS, EVERY = 1e-5, 62_000, 10
"""[s]"""


@hs.controller(memory=1)  # type: ignore[untyped-decorator]
def set_down_and_lift(
    s: Any, kp: float = 2e4, load: float = 1e3, hold: float = 0.0, from_actual: float = 0.0
) -> Any:
    """Return the force on the foot, upward, and the depth at which the lift began."""
    x = -s.q
    landing, supporting = s.t < LANDING, s.t < LIFTING
    began = hs.where(supporting, x, s.memory)
    start = hs.where(from_actual > 0.5, began, SPEED * LANDING / 2)
    support = SPEED * LANDING / 2
    lifting = start - SPEED * (s.t - LIFTING)
    x_d = hs.where(supporting, support, lifting)
    x_d = hs.where(landing, SPEED * s.t - SPEED / (2 * LANDING) * s.t**2, x_d)
    by_force = hs.where(landing, 0, hs.where(supporting, 1 - hold, 0))
    return -hs.where(by_force > 0.5, load, kp * (x_d - x)), began


@dataclass(frozen=True)
class Foot:
    """The recorded feet, (world, time): one world a reading, then one an alpha."""

    t: np.ndarray
    depth: np.ndarray
    rate: np.ndarray
    force: np.ndarray
    push: np.ndarray
    """Of the controller, into the ground [N]."""


def feet() -> Foot:
    """All readings in one batch, on the unclamped law: so the force shows whether it pulls."""
    law = hs.HuntCrossley(k=reference.STIFFNESS, alpha=reference.ALPHA, adhesive=True)
    ground = hs.Plane(name="ground", law=hs.Elastic(law, friction=None))
    scene = hs.Scene(hs.load("foot"), ground, gravity=(0, 0, 0))
    control = set_down_and_lift(kp=reference.KP)
    sim = hs.Simulator(scene, dt=DT, control=control, integrator="rk4")
    readings = [*VARIANTS, *(VARIANTS[SHOWN] for _ in ALPHAS)]
    run = sim.run(
        steps=STEPS,
        q0=[0.0],
        v0=[-SPEED],
        worlds=len(readings),
        vary={
            "controller.load": np.array([v.load or 0.0 for v in readings]),
            "controller.hold": np.array([float(v.load is None) for v in readings]),
            "controller.from_actual": np.array([float(v.from_actual) for v in readings]),
            "ground.normal.alpha": np.array([reference.ALPHA] * len(VARIANTS) + list(ALPHAS)),
        },
        record=("depth", "depth_rate", "normal_force", "torque"),
        every=EVERY,
        progress=False,
        check=False,
    )
    made = finished(run, STEPS)
    series = (made.depth, made.depth_rate, made.normal_force, -made.torque)
    return Foot(made.time.values, *(x.values[..., 0] for x in series))


def fig8() -> Result:
    """Landing, which leaves nothing open, then support and lift under six readings."""
    foot = feet()
    rows = _landing(foot)
    for i, variant in enumerate(VARIANTS):
        rows += _lift(foot, i, variant)
    rows += _support(foot)
    rows += [
        unknown("load in support [N]", "a constant force", "Not given: 500, 1000, 2000 N here."),
        unknown("time of the lift [s]", None, "Not given, nor can it be read: 0.5 s here."),
    ]
    return Result(
        "fig8",
        "a foot is set down, loaded and lifted",
        "A large force at impact, oscillations damped by the ground; force continuous upon impact, "
        "continuous and outward as the foot is lifted.",
        tuple(rows),
        lambda: _draw(foot),
    )


def _landing(foot: Foot) -> list[Row]:
    """Return the first 0.1 s; all worlds are alike."""
    exact = reference.landing()
    inside = foot.t < LANDING - DT / 2
    force, depth = foot.force[0][inside], foot.depth[0][inside]
    end = int(np.argmin(np.abs(foot.t - LANDING)))
    remark = "Reference: adaptive ODE, 1e-11; there is no closed form under control."
    found = [
        ("largest F [N]", force.max(), exact.force_max, "large"),
        ("t of it [ms]", 1e3 * foot.t[np.argmax(force)], 1e3 * exact.force_max_at, None),
        ("largest depth [mm]", 1e3 * depth.max(), 1e3 * exact.depth_max, "positive"),
        ("t of that [ms]", 1e3 * foot.t[np.argmax(depth)], 1e3 * exact.depth_max_at, None),
        ("depth at 0.1 s [mm]", 1e3 * foot.depth[0][end], 1e3 * exact.depth_end, "short of x_d"),
        ("v at 0.1 s [m/s]", foot.rate[0][end], exact.rate_end, None),
        ("F at 0.1 s [N]", foot.force[0][end], exact.force_end, None),
    ]
    rows = []
    for name, ours, form, theirs in found:
        close = 0.1 if name.startswith("t of") else 1e-3 * form
        rows.append(near(name, ours, form, close, theirs, remark))
    impulse = np.trapezoid(foot.force[0][: end + 1], foot.t[: end + 1])
    rows.append(near("impulse [N s]", impulse, exact.impulse, 1e-3 * exact.impulse, None, remark))
    first = float(force[1] / force.max())
    least = float(depth[1:].min())
    return [
        *rows,
        shown("F of the first 0.1 ms / largest", first, first < 0.02, "continuous"),
        shown("least depth, to 0.1 s [mm]", 1e3 * least, least > 0, "stays in contact"),
    ]


def _lift(foot: Foot, i: int, variant: Variant) -> list[Row]:
    """Lift-off, and whether the ground pulls."""
    exact = reference.lift(variant)
    depth, rate, force = foot.depth[i], foot.rate[i], foot.force[i]
    last = int(np.flatnonzero((depth > 0) & (foot.t > LIFTING))[-1])
    share = depth[last] / (depth[last] - depth[last + 1])
    t = foot.t[last] + share * (foot.t[last + 1] - foot.t[last])
    v = rate[last] + share * (rate[last + 1] - rate[last])
    least = float(force[foot.t >= LIFTING].min())
    outward = least >= 0
    remark = (
        ""
        if outward
        else (
            "It leaves faster than -2/(3 alpha) = -1.333 m/s, so (6) pulls: this reading "
            "contradicts the text. The law that comes with Heelstrike, clamped, lets go."
        )
    )
    name, ends = (
        variant.name,
        zip(("least", "largest"), _range(foot, i), exact.support, strict=True),
    )
    return [
        *(near(f"{w} F in support, {name} [N]", f, form, 1e-3 * form) for w, f, form in ends),
        near(f"lift-off, {name} [ms]", 1e3 * t, 1e3 * exact.t, exact.t),
        near(f"v there, {name} [m/s]", v, exact.rate, 1e-3 * abs(exact.rate)),
        Row(f"least F, {name} [N]", least, outward, "outward", exact.force_min, remark=remark),
    ]


def _range(foot: Foot, i: int) -> tuple[float, float]:
    """Least and largest force in support [N]."""
    force = foot.force[i][(foot.t > LANDING - DT / 2) & (foot.t < LIFTING + DT / 2)]
    return float(force.min()), float(force.max())


def _support(foot: Foot) -> list[Row]:
    """Return where the loaded foot comes to rest, and how fast."""
    end = int(np.argmin(np.abs(foot.t - LIFTING)))
    rows = []
    for i, variant in enumerate(VARIANTS[:3]):
        assert variant.load is not None
        rest = 1e3 * variant.load / reference.STIFFNESS
        rows.append(
            near(
                f"depth at 0.5 s, {variant.load:g} N [mm]",
                1e3 * foot.depth[i][end],
                rest,
                0.02 * rest if variant.load > 500 else 0.1 * rest,
                "damped out",
                "Rest is load / k. What is left decays with damping ratio 3/4 alpha load / "
                "sqrt(k m): 0.17, 0.34, 0.67.",
            )
        )
    late = (foot.t > 0.3) & (foot.t < LIFTING)
    swings = np.ptp(foot.force[len(VARIANTS) :, late], axis=1)
    ratio = float(np.max(swings[1:] / swings[:-1]))
    rows.append(
        shown(
            "swing of F on doubling alpha",
            ratio,
            ratio < 1,
            "more damping",
            "Force from 0.3 to 0.5 s; the larger ratio of alpha 0.25, 0.5, 1 s/m.",
        )
    )
    return rows


def _draw(foot: Foot) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(3, 1, size=(7.2, 7.6))
    t, blue, orange = 1e3 * foot.t, plot.COLOURS[0], plot.COLOURS[1]
    x, v, force = foot.depth[SHOWN], foot.rate[SHOWN], foot.force[SHOWN]
    x_d = x + foot.push[SHOWN] / reference.KP
    x_d[(foot.t >= LANDING) & (foot.t < LIFTING)] = np.nan
    v_d = np.where(foot.t < LANDING, SPEED * (1 - foot.t / LANDING), -SPEED)
    v_d[(foot.t >= LANDING) & (foot.t < LIFTING)] = 0
    axes[0].plot(t, 1e3 * x, "-", color=blue, label="actual")
    axes[0].plot(t, 1e3 * x_d, "--", color=orange, label="desired")
    axes[0].set(ylim=(-20, 112))
    plot.label(axes[0], "A foot is set down, loaded with 1000 N, and lifted", "", "depth [mm]")
    axes[1].plot(t, v, "-", color=blue, label="actual")
    axes[1].plot(t, v_d, "--", color=orange, label="desired")
    axes[1].set(ylim=(-2.3, 2.3))
    plot.label(axes[1], "", "", "depth rate [m/s]")
    for i in range(len(VARIANTS)):
        if i != SHOWN:
            axes[2].plot(t, foot.force[i], "-", color=plot.GREY, linewidth=0.7)
    axes[2].plot([], [], "-", color=plot.GREY, linewidth=0.7, label="other readings of the paper")
    axes[2].plot(t, force, "-", color=blue, label=VARIANTS[SHOWN].name)
    plot.label(axes[2], "", "time [ms]", "force on the ground [N]")
    for ax in axes:
        ax.set(xlim=(0, 600))
        for start in (LANDING, LIFTING):
            ax.axvline(1e3 * start, color=plot.GREY, linewidth=0.8)
    for start, word in ((0, "position"), (100, "force control"), (500, "position")):
        axes[0].annotate(word, (start + 5, 110), va="top", fontsize=8, color=plot.INK)
    return figure
