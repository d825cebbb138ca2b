"""Stability of the imposed acceleration in fixed steps.

A mass meets the ground without gravity, symplectic steps; gamma = kv dt, kappa = kp dt^2. At the
acceleration of the step's start, gamma + kappa theta > 1 turns it round in one step, and it gains
where that is above 2; theta is the part of a step by which it is already inside. form="discrete"
follows the equation through the step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.papers.rengifo2009 import closed_form
from heelstrike.papers.rengifo2009.slide import impacts, simulator
from heelstrike.papers.report import Result, Row, below, meets, near, worst

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DT, STEPS = 1e-3, 600
GAMMA, KAPPA = np.linspace(0, 4, 61), np.geomspace(1e-4, 10, 51)
PLACES = (np.arange(16) + 0.5) / 16
FAR = 10.0 ** np.arange(0, 4)
"""gamma and sqrt(kappa) far beyond the map."""
FORMS = ("acceleration", "discrete")


def stability() -> Result:
    """Maps of the largest rebound."""
    maps = {form: _map(form) for form in FORMS}
    rows = [_turns(gamma) for gamma in (0.5, 1.5, 2.5)]
    by_start = maps["acceleration"]
    above = GAMMA[:, None] + KAPPA[None, :] * PLACES[-1] > 2.01
    rows.append(
        meets(
            "at once: least of the largest e where kv dt + kp dt^2 > 2",
            float(by_start[above].min()),
            least=1,
            fault=True,
        )
    )
    most = float(maps["discrete"].max())
    rows.append(meets("discrete: largest e in the map", most, most=1 + 1e-9))
    gamma, root = (x.ravel() for x in np.meshgrid(FAR, FAR))
    far = _bounces("discrete", gamma, root**2, np.full(gamma.shape, 0.5))
    remark = (
        "kv dt and sqrt(kp) dt from 1 to 1000: a contact within one step has the closed form's."
    )
    exact = closed_form.restitution(root**2, gamma)
    rows.append(meets("discrete: largest e far beyond", float(far.max()), most=1 + 1e-9))
    quick = closed_form.contact_time(root**2, gamma) < 1
    at_surface = _bounces("discrete", gamma, root**2, np.full(gamma.shape, 1e-9))
    off = worst((at_surface - exact)[quick])
    rows.append(below("discrete: e of a single step off by", off, 1e-8, remark=remark))
    return Result(
        "stability",
        "fixed steps",
        "The paper says nothing of steps: its integrator is not given.",
        tuple(rows),
        lambda: _draw(maps),
    )


def _bounces(form: str, gamma: np.ndarray, kappa: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """e of every bounce; what still sinks has none."""
    sim = simulator(form, "symplectic")
    made = impacts(sim, kappa / DT**2, gamma / DT, DT, STEPS, DT * theta)
    return -made.rate


def _map(form: str) -> np.ndarray:
    """Return the largest |speed| after the contact over the place of entry, (gamma, kappa)."""
    gamma, kappa, theta = np.meshgrid(GAMMA, KAPPA, PLACES, indexing="ij")
    e = _bounces(form, gamma.ravel(), kappa.ravel(), theta.ravel())
    return np.asarray(np.abs(e).reshape(gamma.shape).max(axis=2))


def _turns(gamma: float) -> Row:
    """One step without kp: the speed is turned round at kv dt > 1."""
    e = float(_bounces("acceleration", np.array([gamma]), np.zeros(1), np.array([0.5]))[0])
    name, exact = f"at once, kp 0, kv dt {gamma:g}: e", max(gamma - 1, 0.0)
    return near(name, e, exact, 1e-9, fault=exact > 1)


def _draw(maps: dict[str, np.ndarray]) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(1, 2, size=(10.0, 4.2))
    names = {"acceleration": "acceleration of the start", "discrete": "followed through the step"}
    for ax, (form, e) in zip(axes, maps.items(), strict=True):
        ax.grid(False)
        shade = ax.pcolormesh(KAPPA, GAMMA, e, cmap="RdBu_r", vmin=0, vmax=2)
        if form == "acceleration":
            ax.plot(KAPPA, 2 - KAPPA, "--", color=plot.INK, label=r"$\gamma + \kappa = 2$")
            ax.plot(KAPPA, 1 - KAPPA, ":", color=plot.INK, label=r"$\gamma + \kappa = 1$")
        ax.set(xscale="log", ylim=(0, GAMMA[-1]))
        title = f"{names[form]}: largest e"
        plot.label(ax, title, r"$\kappa = k_p dt^2$", r"$\gamma = k_v dt$")
        figure.colorbar(shade, ax=ax, label="e")
    return figure
