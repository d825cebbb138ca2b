"""Stability maps over stiffness k and step dt: by (13), by (14), and implicitly.

k from 1e3 to 1e7 N/m, dt from 0.1 to 10 ms, a world for every pair. Damping is critical for the
whole mass on its n points, as the paper's own is, c = 2 sqrt(k m / n), and works both ways, so that
a step in contact is linear. Two bodies:

mass    1 kg on one point, at rest by its weight but for a millionth of its depth. Unstable: that
        has grown a thousandfold after 3000 steps.
hoap1   whole, standing on the eight corners of its soles at the depth of its weight, held by its
        own servo. Unstable: in the last quarter of 2000 steps the floor carries less than half of
        its weight or more than one and a half of it, or the world diverged.

A mass M on a spring k and this damper is stable for a k dt^2 + 2 c dt < 4 M (closed_form.py, a = 1
by (13), 3 by (14)), which is

    dt sqrt(k) < 2 (sqrt(m/n + a M) - sqrt(m/n)) / a

M of the mass is its own, of hoap1 what its corners feel, 1 / lambda_max of their normal block.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import heelstrike as hs
from heelstrike.papers.report import Result, Row, below, meets, near, shown
from heelstrike.papers.sugihara2006 import closed_form
from heelstrike.papers.sugihara2006.closed_form import MASS, G
from heelstrike.papers.sugihara2006.drop import MU, felt
from heelstrike.papers.sugihara2006.slide import run
from heelstrike.papers.sugihara2006.stability import MARGIN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LAWS = ("(13)", "(14)", "implicit")
EQUATIONS = {"(13)": 1, "(14)": 3}
"""a of those that have a limit."""
MASS_GRID, ROBOT_GRID = 41, 21
"""Values of k, and of dt."""
MASS_STEPS, ROBOT_STEPS = 3000, 2000
OFF, GROWTH = 1e-6, 1e3
POINTS = 8
SMALLER = "(14) is stable where 3 kappa + 2 gamma < 4, (13) where kappa + 2 gamma < 4."
"""Why (14) is stable in fewer cells."""

Map = NDArray[np.bool_]


def limit(name: str, feels: float, share: float) -> float:
    """Largest dt sqrt(k) [sqrt(kg)]."""
    a = EQUATIONS[name]
    return float(2 * (np.sqrt(share + a * feels) - np.sqrt(share)) / a)


def grid(count: int) -> tuple[np.ndarray, np.ndarray]:
    """k [N/m] and dt [s] of every cell, (dt, k)."""
    k, dt = np.meshgrid(np.geomspace(1e3, 1e7, count), np.geomspace(1e-4, 1e-2, count))
    return k, dt


def floor(name: str, robot: bool) -> hs.Plane:
    """Return a law under the name `floor`; a mass on a slide has no friction."""
    spring = hs.LinearSpring(damping="both")
    if name == "implicit":
        law = hs.Elastic(spring, hs.Coulomb(MU, MU) if robot else None, implicit=True)
    else:
        normal = hs.TimestepDamper(spring) if name == "(14)" else spring
        law = hs.Elastic(normal, hs.Kinetic(mu=MU) if robot else None)
    return hs.Plane(name="floor", law=law)


def damped(name: str, k: np.ndarray, dt: np.ndarray, share: float) -> dict[str, np.ndarray]:
    """Stiffness, critical damping of a point's share of the mass, and step of every world."""
    path = "floor.normal.law." if name == "(14)" else "floor.normal."
    return {f"{path}k": k, f"{path}c": 2 * np.sqrt(k * share), "dt": dt}


@cache
def mass_map(name: str) -> Map:
    """Return where the mass is unstable, (dt, k)."""
    k, dt = (x.ravel() for x in grid(MASS_GRID))
    sim = hs.Simulator(hs.Scene(hs.load("foot"), floor(name, robot=False)))
    rest = G / k
    vary = damped(name, k, dt, 1.0) | {"foot.mass": np.ones(len(k))}
    found = run(sim, rest * (1 + OFF), 0 * rest, MASS_STEPS, vary).data
    off = np.hypot(found.q.values[:, 0] + rest, dt * found.v.values[:, 0])
    grown = (off > GROWTH * OFF * rest) | (found.failed.values >= 0)
    return np.asarray(grown.reshape(MASS_GRID, MASS_GRID))


@cache
def robot_map(name: str) -> Map:
    """Return where hoap1 does not stand, (dt, k)."""
    k, dt = (x.ravel() for x in grid(ROBOT_GRID))
    scene = hs.Scene(hs.load("hoap1", collide="feet"), floor(name, robot=True))
    sim = hs.Simulator(scene, control=hs.Servo())
    q0 = np.tile(sim.robot.pose("stance"), (len(k), 1))
    q0[:, 2] -= MASS * G / (POINTS * k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.HeelstrikeWarning)  # worlds that diverge are the point
        data = sim.run(
            steps=ROBOT_STEPS,
            q0=q0,
            v0=np.zeros((len(k), sim.robot.nv)),
            worlds=len(k),
            vary=damped(name, k, dt, MASS / POINTS),
            record=("normal_force",),
            progress=False,
            check=False,
        ).data
    late = data.normal_force.values[:, -ROBOT_STEPS // 4 :].sum(axis=2) / (MASS * G)
    leaves = (np.abs(late - 1) > 0.5).any(axis=1) | (data.failed.values >= 0)
    return np.asarray(leaves.reshape(ROBOT_GRID, ROBOT_GRID))


def maps() -> Result:
    """Both bodies under the three laws."""
    mass = {name: mass_map(name) for name in LAWS}
    robot = {name: robot_map(name) for name in LAWS}
    return Result(
        "maps",
        "stable steps against stiffness: (13), (14), implicit",
        "(14) prevents the divergence of (13) at large steps (III-A).",
        tuple(_mass_rows(mass) + _robot_rows(robot)),
        lambda: _draw(mass, robot),
    )


@cache
def corners() -> float:
    """Return the effective mass at the corners of hoap1's soles [kg]."""
    return felt(hs.Simulator(hs.Scene(hs.load("hoap1", collide="feet"), floor("(13)", robot=True))))


def _mass_rows(mass: dict[str, Map]) -> list[Row]:
    k, dt = grid(MASS_GRID)
    kappa, gamma = k * dt**2, 2 * np.sqrt(k) * dt
    rows = []
    for equation in (13, 14):
        theirs = ~closed_form.stable(equation, "symplectic", kappa, gamma)
        clear = np.abs(closed_form.radius(equation, "symplectic", kappa, gamma) - 1) > MARGIN
        wrong = np.count_nonzero((mass[f"({equation})"] != theirs) & clear)
        rows.append(
            below(
                f"mass, ({equation}): cells off the closed form",
                float(wrong),
                0,
                remark=f"Of {MASS_GRID**2}; eigenvalues within {MARGIN:g} of the unit circle are "
                "not counted.",
            )
        )
    rows.append(below("mass, implicit: unstable cells", float(mass["implicit"].sum()), 0))
    return rows + _compared("mass", mass)


def _robot_rows(robot: dict[str, Map]) -> list[Row]:
    unstable = float(robot["implicit"].sum())
    rows = _compared("hoap1", robot)
    k, dt = grid(ROBOT_GRID)
    at = int(np.abs(dt[:, 0] - 1e-3).argmin())
    firmest = {name: _firmest(k[at], robot[name][at]) for name in LAWS}
    rows += [_predicted(name, k, dt[:, 0], robot[name]) for name in EQUATIONS]
    felt_13 = float((limit("(13)", corners(), MASS / POINTS) / dt[at, 0]) ** 2)
    words, apart = "hoap1, 1 ms: stands up to k = [N/m],", "Values of k are a factor of 1.58 apart."
    rows.append(
        near(
            f"{words} (13)",
            firmest["(13)"],
            felt_13,
            0.58 * felt_13,
            remark=f"Beside the limit of {corners():.2g} kg, what its corners feel. {apart}",
        )
    )
    rows += [
        shown(
            f"{words} (14)",
            firmest["(14)"],
            firmest["(14)"] >= firmest["(13)"],
            "no less than (13)",
            f"{SMALLER} {apart}",
        ),
        meets(f"{words} implicit", firmest["implicit"], least=firmest["(13)"], remark=apart),
    ]
    return [*rows, below("hoap1, implicit: cells in which it does not stand", unstable, 0)]


def _predicted(name: str, k: np.ndarray, dt: np.ndarray, unstable: Map) -> Row:
    """Return the limit of k, where the map has one, over that of what the corners feel."""
    seen = [i for i in range(len(dt)) if unstable[i].any() and not unstable[i].all()]
    ours = np.array([_firmest(k[i], unstable[i]) for i in seen])
    theirs = (limit(name, corners(), MASS / POINTS) / dt[seen]) ** 2
    return near(
        f"hoap1, {name}: largest k over that of what its corners feel, median",
        float(np.median(ours / theirs)),
        1.0,
        0.58,
        remark=f"{corners():.2g} kg. Values of k are a factor of 1.58 apart.",
    )


def _compared(body: str, found: dict[str, Map]) -> list[Row]:
    kept = float((~found["(14)"]).sum() / (~found["(13)"]).sum())
    share = {name: 100 * float(found[name].mean()) for name in LAWS}
    return [
        shown(
            f"{body}: stable cells of (14) / of (13)",
            kept,
            kept > 1,
            "> 1",
            f"{SMALLER} Unstable cells of "
            + ", ".join(f"{name}: {share[name]:.0f} %" for name in LAWS)
            + f" on {'a point mass' if body == 'mass' else 'the robot'}.",
        )
    ]


def _firmest(k: np.ndarray, unstable: Map) -> float:
    """Return the largest k below the first that is unstable; the least, where none is stable."""
    first = int(unstable.argmax()) if unstable.any() else len(k)
    return float(k[max(first - 1, 0)])


def _draw(mass: dict[str, Map], robot: dict[str, Map]) -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(2, 3, size=(12.6, 7.2))
    feels = corners()
    for i, name in enumerate(LAWS):
        _panel(axes[i], mass[name], name, 1.0, 1.0, "closed form")
        _panel(axes[3 + i], robot[name], name, feels, MASS / POINTS, f"of {feels:.2g} kg")
        plot.label(axes[i], f"1 kg on one point, {name}", "", "time step [ms]")
        x = "stiffness of a point [N/m]"
        plot.label(axes[3 + i], f"hoap1 on its soles, {name}", x, "time step [ms]")
    return figure


def _panel(ax: Axes, unstable: Map, name: str, feels: float, share: float, label: str) -> None:
    """A map, and where a mass that `feels` so much on this spring and damper would be stable."""
    from matplotlib.colors import ListedColormap

    from heelstrike.view import plot

    k, dt = grid(len(unstable))
    shades = ListedColormap(["#9fc8e3", "#f3f3f3"])
    ax.grid(False)
    ax.pcolormesh(k, 1e3 * dt, unstable.astype(float), cmap=shades, vmin=0, vmax=1)
    ax.set(xscale="log", yscale="log")
    ax.plot([], [], "s", color="#9fc8e3", label="simulated: stable")
    if name in EQUATIONS:
        most = 1e3 * limit(name, feels, share) / np.sqrt(k[0])
        ax.plot(k[0], most, color=plot.COLOURS[1], label=label)
        ax.set_ylim(1e3 * dt.min(), 1e3 * dt.max())
