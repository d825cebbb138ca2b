"""Fig 6, (5) to (9): a brick that slides down a ramp and is caught, without a velocity threshold.

The paper gives no numbers. Here: 20 degrees, mu = 0.6, kv = 100 1/s, 1 m/s; the bundled brick.
(5) is of a point, so its contact points are put at the height of its centre of mass; then once
more under it, as they are. The ramp is level and gravity is turned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.rengifo2009.closed_form import Brick, Floats, G
from heelstrike.papers.report import Result, Row, finished, near

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BRICK = Brick(np.radians(20), 0.6, 100.0, 1.0)
DT, STEPS = 1e-4, 10_000
"""[s]; ours."""
HALF = 0.025
"""Of the brick's height [m]."""
REST = 1e-9
"""Depth at the start [m]: its normal acceleration, kp 1e-9 m, is next to none."""


@dataclass(frozen=True)
class Slides:
    """Bricks side by side, (world, time)."""

    t: Floats
    v: Floats
    """Downhill [m/s]."""
    friction: Floats
    """Uphill [N]."""
    travelled: Floats
    """At the end [m]."""


@cache
def simulator(rule: str, height: float) -> hs.Simulator:
    """Points at a height below the centre of mass; the literal rule by RK4, the other in steps."""
    points = [("brick", (x, y, -height), 0.0) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
    form, integrator = ("acceleration", "rk4") if rule == "paper" else ("discrete", "symplectic")
    friction = hs.Coulomb(mu_s=BRICK.mu, mu_k=BRICK.mu)
    law = hs.FeedbackLinearized(kv=BRICK.kv, friction=friction, epsilon=REST, rule=rule, form=form)
    scene = hs.Scene(hs.load("brick", points=points), hs.Plane(law=law))
    return hs.Simulator(scene, dt=DT, integrator=integrator)


def slides(
    v0: Floats, mu: Floats, rule: str = "paper", height: float = 0.0, steps: int = STEPS
) -> Slides:
    """One a world, down the ramp."""
    n = len(v0)
    q0, start, gravity = np.zeros((n, 7)), np.zeros((n, 6)), np.zeros((n, 3))
    q0[:, 2], q0[:, 6], start[:, 0] = height - REST, 1, v0
    gravity[:] = G * np.array([np.sin(BRICK.angle), 0, -np.cos(BRICK.angle)])
    vary = {"gravity": gravity, "ground.friction.mu_s": mu, "ground.friction.mu_k": mu}
    run = simulator(rule, height).run(
        steps=steps,
        q0=q0,
        v0=start,
        worlds=n,
        vary=vary,
        record=("q", "v", "force"),
        progress=False,
        check=False,
    )
    data = finished(run, steps)
    return Slides(
        np.asarray(data.time.values),
        data.v.values[..., 0],
        -data.force.values[..., 0].sum(axis=-1),
        data.q.values[:, -1, 0],
    )


def fig6() -> Result:
    """Down the ramp, up the ramp, and with too little friction."""
    ones = np.ones(3)
    start = np.array([BRICK.v0, -BRICK.v0, BRICK.v0])
    mu = np.array([BRICK.mu, BRICK.mu, 0.3])
    made = slides(start * ones, mu)
    rows = _downhill(made) + _uphill(made)
    slippery = G * (np.sin(BRICK.angle) - 0.3 * np.cos(BRICK.angle))
    end = BRICK.v0 + slippery * made.t[-1]
    rows.append(near("mu 0.3 < tan: v at 1 s [m/s]", made.v[2, -1], end, 1e-9, "slides for ever"))
    steps = slides(np.ones(1), mu[:1], "consistent")
    tolerance = 2 * BRICK.v0 * DT
    rows.append(
        near(
            "default rule and form, 0.1 ms: distance [m]",
            float(steps.travelled[0]),
            BRICK.distance,
            tolerance,
            remark="Half a step's way, and 1e-6 of the slip a step: the solver's tolerance.",
        )
    )
    under = {rule: slides(np.ones(1), mu[:1], rule, HALF) for rule in ("paper", "consistent")}
    for rule, found in under.items():
        remark = ""
        if rule == "paper":
            remark = (
                "Does not hold as stated: (18) gives the normal forces that go with friction as it "
                "is wanted, m kv v; after (20) cuts that, they are not those of the motion."
            )
        ours = float(found.travelled[0])
        rows.append(
            near(
                f"points under it, {rule}: distance [m]", ours, BRICK.distance, 2e-4, "(9)", remark
            )
        )
    return Result(
        "fig6",
        "a brick on a ramp",
        "The velocity goes to zero and friction to m g sin(alpha), with no threshold to tell "
        "static from dynamic friction; (9): v_s = (g/kv)(mu cos(alpha) - sin(alpha)).",
        tuple(rows),
        lambda: _draw(made),
    )


def _downhill(made: Slides) -> list[Row]:
    t, v, f = made.t, made.v[0], made.friction[0]
    sliding = f > G * BRICK.mu * np.cos(BRICK.angle) - 1e-9
    last = int(np.flatnonzero(sliding)[-1])
    early, late = t < BRICK.caught - DT, t > BRICK.caught + DT
    decelerates = -float(np.diff(v[early]).mean()) / DT
    pull = G * np.sin(BRICK.angle)
    rows = [
        near("v where friction leaves its limit [m/s]", v[last + 1], BRICK.v_s, 3e-4, BRICK.v_s),
        near("deceleration before [m/s^2]", decelerates, BRICK.deceleration, 1e-9),
        near("until [s]", t[last], BRICK.caught, DT, remark="To the next step."),
        near("distance [m]", made.travelled[0], BRICK.distance, 1e-7),
        near("friction sliding [N]", f[0], BRICK.mu * G * np.cos(BRICK.angle), 1e-9),
        near("friction at 1 s [N]", f[-1], pull, 1e-9, "m g sin(alpha)"),
    ]
    worst = float(np.abs(v - BRICK.velocity(t))[early | late].max())
    rows.append(near("v(t), largest difference [m/s]", worst, 0.0, 1e-6))
    remark = "It never stops: exp(-kv t). Coulomb's brick stops at 0.4596 s."
    half = int(0.55 / DT)
    rows.append(
        near("v at 0.55 s [m/s]", v[half], float(BRICK.velocity(t[half])), 1e-9, "to zero", remark)
    )
    return rows


def _uphill(made: Slides) -> list[Row]:
    """(9) has one v_s; (8), from which it is derived, has another uphill."""
    v, f = made.v[1], made.friction[1]
    last = int(np.flatnonzero(f < -G * BRICK.mu * np.cos(BRICK.angle) + 1e-9)[-1])
    remark = "Does not hold as stated: (8) leaves its limit at (g/kv)(mu cos + sin) uphill."
    return [
        Row(
            "uphill: |v| where friction leaves its limit [m/s]",
            float(abs(v[last + 1])),
            bool(abs(abs(v[last + 1]) - BRICK.v_s) < 1e-3),
            BRICK.v_s,
            BRICK.v_s_uphill,
            1e-3,
            remark,
        ),
        near("uphill by (8): the same", abs(v[last + 1]), BRICK.v_s_uphill, 1e-3),
    ]


def _draw(made: Slides) -> Figure:
    from heelstrike.view import plot

    figure, (left, right) = plot.figure(1, 2, size=(10.0, 3.9))
    for colour, name, world in zip(
        plot.COLOURS, ("down", "up", "mu = 0.3"), range(3), strict=False
    ):
        left.plot(made.t, made.v[world], "-", color=colour, label=name)
        right.plot(made.t, made.friction[world], "-", color=colour, label=name)
    left.plot(made.t, BRICK.velocity(made.t), ":", color=plot.INK, label="closed form")
    left.axhline(BRICK.v_s, color=plot.GREY, linewidth=0.8)
    right.axhline(G * np.sin(BRICK.angle), color=plot.GREY, linewidth=0.8)
    plot.label(left, "Speed down the ramp, and v_s", "time [s]", "v [m/s]")
    plot.label(right, "Friction, and m g sin(alpha)", "time [s]", "friction [N]")
    return figure
