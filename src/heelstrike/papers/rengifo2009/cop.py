"""Effects of clipping on the least-norm forces of a block whose centre of pressure nears an edge.

(18) on four corners gives normal forces that are linear in x and y, N = W/4 (1 +- x/a +- y/b) for a
CoP at (x, y): one of them pulls where s = |x|/a + |y|/b > 1, which a CoP on the sole allows up to
s = 2. (19) sets it to zero, and the others then carry W (1 + (s - 1)/4). The bundled box, 5 kg; the
CoP is moved along the sole's diagonal by turning gravity; friction does not give way. The literal
rule by RK4 in 0.1 ms, the default in steps of 1 ms.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.rengifo2009.closed_form import Floats, G
from heelstrike.papers.report import Result, below, finished, meets, near, worst

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

A, B, H, MASS = 0.1, 0.05, 0.05, 5.0
"""Half of length and width, height of the centre of mass [m]; [kg]."""
EPSILON = 1e-6
SHARES = np.linspace(0, 1.9, 20)
"""s [-]."""
DT = {"paper": 1e-4, "consistent": 1e-3}
DURATION = 0.3
"""[s], ours."""
RULES = ("paper", "consistent")
STANDS = 2e-3
"""Height of a corner up to which the block stands [mm]."""


@cache
def stood(rule: str) -> xr.Dataset:
    """One world a share, from rest."""
    points = [("box", (x, y, -H), 0.0) for x in (-A, A) for y in (-B, B)]
    form, integrator = ("acceleration", "rk4") if rule == "paper" else ("discrete", "symplectic")
    friction = hs.Coulomb(10, 10)
    law = hs.FeedbackLinearized(friction=friction, epsilon=EPSILON, rule=rule, form=form)
    scene = hs.Scene(hs.load("box", points=points), hs.Plane(law=law))
    sim = hs.Simulator(scene, dt=DT[rule], integrator=integrator)
    n = len(SHARES)
    q0, gravity = np.zeros((n, 7)), np.zeros((n, 3))
    q0[:, 2], q0[:, 6] = H - EPSILON, 1
    gravity[:, 0], gravity[:, 1] = G * SHARES / 2 * A / H, G * SHARES / 2 * B / H
    gravity[:, 2] = -G
    vary = {"gravity": gravity}
    steps = round(DURATION / DT[rule])
    run = sim.run(steps=steps, q0=q0, worlds=n, vary=vary, progress=False, check=False)
    return finished(run, steps)


def cop() -> Result:
    """Support over the weight, and what becomes of the block."""
    sums = {rule: _support(stood(rule))[:, 0] for rule in RULES}
    form = 1 + np.maximum(SHARES - 1, 0) / 4
    rows = [
        near(
            "literal: support of the first step off by",
            worst(sums["paper"] - form),
            0.0,
            1e-8,
            remark="From 1 + (s - 1)/4, what (19) leaves of forces that pull.",
            fault=True,
        ),
        near(
            "literal, s 1.9: support over weight",
            sums["paper"][-1],
            None,
            1e-8,
            1.0,
            "Clipping does not balance: one corner would pull and is cut (19), and more than the "
            "weight is left.",
        ),
        below("consistent: support of the first step off by", worst(sums["consistent"] - 1), 1e-4),
    ]
    for rule in RULES:
        moved = _lifted(stood(rule))
        rows.append(
            meets(
                f"{rule}: a corner lifted by, within 0.3 s [mm]",
                1e3 * float(moved.max()),
                least=STANDS if rule == "paper" else None,
                most=STANDS if rule == "consistent" else None,
                remark="s up to 1.9: its CoP is on the sole, so it ought to stand.",
                fault=rule == "paper",
            )
        )
    return Result(
        "cop",
        "clipping, and the weight",
        "Saturation keeps the forces physical; the paper does not say what becomes of their sum.",
        tuple(rows),
        lambda: _draw(sums, form),
    )


def _support(data: xr.Dataset) -> Floats:
    """Sum of the normal forces over the weight, (world, time)."""
    return np.asarray(data.normal_force.values.sum(axis=-1) / (MASS * G))


def _lifted(data: xr.Dataset) -> Floats:
    """Return the height of the highest corner above the ground, by world [m]."""
    return np.asarray(-data.depth.values.min(axis=(1, 2)))


def _draw(sums: dict[str, Floats], form: Floats) -> Figure:
    from heelstrike.view import plot

    figure, (left, right) = plot.figure(1, 2, size=(10.0, 3.9))
    left.plot(SHARES, form, "-", color=plot.GREY, label="1 + (s - 1)/4")
    for colour, rule in zip(plot.COLOURS, RULES, strict=False):
        left.plot(SHARES, sums[rule], "o", color=colour, markersize=4, label=rule)
        data = stood(rule)
        support = _support(data)[-1]
        right.plot(data.time.values, support, "-", color=colour, label=rule)
    plot.label(left, "Support of the first step", "s", "support over weight")
    plot.label(right, "s = 1.9, from then on", "time [s]", "support over weight")
    return figure
