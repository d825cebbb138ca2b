"""A way to find the parameters from measurements, future work of [Marhefka1996].

Impacts are simulated with known parameters, noise is added as an instrument would, and the
parameters are found again by hs.identify: alpha from restitution at ten speeds, and
k, n and alpha from force, depth and depth rate of one impact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.identification.identified import Identified
from heelstrike.papers.marhefka1996 import closed_form
from heelstrike.papers.marhefka1996.closed_form import Floats
from heelstrike.papers.marhefka1996.impact import impacts, time_scale
from heelstrike.papers.report import Result, Row, below, near, worst

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRUE = {"k": 1e5, "alpha": 0.4, "n": 1.5}
"""Of the ground: a sphere on a plane, ours."""
MASS, SPEED = 1.0, 1.0
"""Of the impact whose force is measured [kg], [m/s]."""
SPEEDS = np.linspace(0.5, 5, 10)
"""Of those whose restitution is [m/s]."""
NOISE_E, NOISE_F = 0.01, 0.01
"""Standard deviation of e [-], and of the force in its greatest value."""
STEPS, EVERY = 1000, 40
"""In an impact's time scale; between samples."""
REPEATS = 30
ALPHA = (0.02, 10.0)
KNOWN = {"k": (1e3, 1e7), "alpha": ALPHA}
ALL = KNOWN | {"n": (1.0, 3.0)}
"""Ranges."""
SETS = 12
"""Of parameters, judged together."""
UNITS = {"k": "kN/m^1.5", "alpha": "s/m", "n": "-"}
SCALE = {"k": 1e-3, "alpha": 1.0, "n": 1.0}


def identify() -> Result:
    """True, found, and how far off the standard error allows it to be."""
    random = np.random.default_rng(1996)
    law = hs.HuntCrossley(k=TRUE["k"], alpha=TRUE["alpha"], n=TRUE["n"])
    e = _restitution(law)
    depth, rate, force = _force(law)
    noise = NOISE_F * force.max()

    def rebounds(noise: float = NOISE_E) -> Identified:
        measured = {"speed": SPEEDS, "e": e + noise * random.normal(size=e.shape)}
        return hs.identify(measured, law, {"alpha": ALPHA}, mass=MASS, sets=SETS)

    def presses(ranges: Mapping[str, tuple[float, float]], noise: float = noise) -> Identified:
        noisy = force + noise * random.normal(size=force.shape)
        measured = {"depth": depth, "depth_rate": rate, "force": noisy}
        return hs.identify(measured, law, ranges, sets=SETS)

    one, two, known = rebounds(), presses(ALL), presses(KNOWN)
    rows = [
        *_found(one, f"from {len(SPEEDS)} e"),
        *_found(two, f"from {len(depth)} forces"),
        *_found(known, "from forces, n known"),
        below("alpha from e, no noise: off by", _off(rebounds(0)), 1e-4),
        below("k, n, alpha from forces, no noise: off by", _off(presses(ALL, 0)), 1e-8),
        *_honest("from e", [rebounds() for _ in range(REPEATS)]),
        *_honest("from forces", [presses(ALL) for _ in range(REPEATS)]),
    ]
    return Result(
        "identify",
        "parameters from measurements",
        "Future work: a way to find the parameters. Closed form: what the impacts were made with.",
        tuple(rows),
        lambda: _draw(e, one, (depth, rate, force), two, np.random.default_rng(1996)),
    )


def _off(found: Identified) -> float:
    """Largest share by which a parameter is off."""
    return worst([value / TRUE[name] - 1 for name, value in found.values.items()])


def _restitution(law: hs.HuntCrossley) -> Floats:
    """e of simulated impacts at all speeds [-]."""
    dt = time_scale(SPEEDS, MASS, law.k, law.n) / STEPS
    return impacts(law, SPEEDS, m=MASS, dt=dt, steps=8 * STEPS, integrator="rk4").e


def _force(law: hs.HuntCrossley) -> tuple[Floats, Floats, Floats]:
    """Depth [m], its rate [m/s] and force [N] of one simulated impact, while it touches."""
    dt = time_scale(SPEED, MASS, law.k, law.n) / STEPS
    run = impacts(law, SPEED, m=MASS, dt=dt, steps=8 * STEPS, integrator="rk4", every=EVERY)
    assert run.curves is not None
    depth, rate, force = (x[0] for x in (run.curves.depth, run.curves.rate, run.curves.force))
    inside = depth > 0
    return depth[inside], rate[inside], force[inside]


def _found(fit: Identified, source: str) -> list[Row]:
    """True beside found, within three standard errors."""
    rows = []
    for name, value in fit.values.items():
        error = SCALE[name] * fit.errors[name]
        quantity = f"{name} {source} [{UNITS[name]}]"
        remark = (
            f"Noise of {NOISE_E:g} in e, of {NOISE_F:.0%} of the greatest force; within three "
            "standard errors."
        )
        ours, true = SCALE[name] * value, SCALE[name] * TRUE[name]
        rows.append(near(quantity, ours, true, 3 * error, remark=remark))
    return rows


def _honest(source: str, fits: list[Identified]) -> list[Row]:
    """Return the scatter of what is found, over the standard error that each fit states."""
    rows = []
    for name in fits[0].values:
        found = float(np.std([fit.values[name] for fit in fits]))
        stated = float(np.mean([fit.errors[name] for fit in fits]))
        remark = f"Of {REPEATS} repetitions: known to 13 % itself."
        rows.append(
            near(f"scatter of {name} {source} / stated", found / stated, 1, 0.4, None, remark)
        )
    return rows


def _draw(
    e: Floats,
    rebound: Identified,
    pressed: tuple[Floats, Floats, Floats],
    press: Identified,
    random: np.random.Generator,
) -> Figure:
    from heelstrike.view import plot

    figure, (left, right) = plot.figure(1, 2, size=(9.6, 4.2))
    v = np.linspace(0.1, 5.2, 300)
    alpha, error = rebound.values["alpha"], rebound.errors["alpha"]
    left.errorbar(
        SPEEDS,
        e + NOISE_E * random.normal(size=e.shape),
        NOISE_E,
        fmt="o",
        markersize=4,
        color=plot.INK,
        label="simulated, with noise",
    )
    found = f"found, $\\alpha$ = {alpha:.3f} $\\pm$ {error:.3f} s/m"
    left.plot(v, closed_form.restitution(alpha, v), color=plot.COLOURS[0], label=found)
    plot.label(left, "Restitution, true $\\alpha$ = 0.4 s/m", "impact speed [m/s]", "e [-]")
    depth, rate, force = pressed
    noisy = force + NOISE_F * force.max() * random.normal(size=force.shape)
    right.plot(1e3 * depth, noisy, "o", markersize=3, color=plot.INK, label="simulated, with noise")
    k, alpha, n = (press.values[name] for name in ("k", "alpha", "n"))
    model = k * depth**n * (1 + 1.5 * alpha * rate)
    label = f"found, n = {n:.3f} $\\pm$ {press.errors['n']:.3f}"
    right.plot(1e3 * depth, model, color=plot.COLOURS[0], label=label)
    plot.label(right, "Force of one impact, true n = 1.5", "depth [mm]", "force [N]")
    return figure
