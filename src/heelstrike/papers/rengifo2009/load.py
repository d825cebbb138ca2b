"""Section V: a foot is loaded and unloaded; false impacts.

A false impact is a contact that breaks and comes back while nothing lifts the foot. The box, 5 kg
on four corners, is set down at 0.1 mm/s, loaded by 100 N from 0.3 to 0.6 s, and watched for 1 s;
and hoap1 goes down and up in 1 s, so that the motion of other bodies loads its feet. Counted for
epsilon 0, +1e-6 and -1e-6 m, which is what the paper prints: there it is a height.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.rengifo2009.closed_form import Floats, G
from heelstrike.papers.report import Result, Row, finished, near, shown
from heelstrike.simulate.start import contacts_at

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

EPSILONS = np.array([0.0, 1e-6, -1e-6])
LOAD, ON, OFF = 100.0, 0.3, 0.6
"""[N], [s]; ours."""
SPEED = 1e-4
"""[m/s]"""
H, MASS = 0.05, 5.0
WAYS = (("paper", "acceleration", "rk4", 1e-4), ("consistent", "discrete", "symplectic", 1e-3))
"""Rule, form, integrator, step [s]."""


@cache
def box(rule: str, form: str, integrator: str, dt: float) -> xr.Dataset:
    """One world an epsilon."""
    points = [("box", (x, y, -H), 0.0) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
    law = hs.FeedbackLinearized(rule=rule, form=form)
    scene = hs.Scene(hs.load("box", points=points), hs.Plane(law=law))
    sim = hs.Simulator(scene, dt=dt, integrator=integrator, worlds=3)
    sim.push("box", [0, 0, -LOAD], OFF - ON, at=ON)
    q0, v0 = np.zeros((3, 7)), np.zeros((3, 6))
    q0[:, 2], q0[:, 6], v0[:, 2] = H - 1e-12, 1, -SPEED
    vary = {"ground.epsilon": EPSILONS}
    steps = round(1.0 / dt)
    record = ("depth", "normal_force")
    run = sim.run(steps=steps, q0=q0, v0=v0, vary=vary, record=record, progress=False, check=False)
    return finished(run, steps)


@cache
def crouch() -> xr.Dataset:
    """hoap1 down and up, one world an epsilon."""
    robot = hs.load("hoap1", collide="feet")
    stance, low = robot.pose("stance"), robot.pose("crouch")
    t = np.linspace(0, 1, 1001)
    share = 0.5 * (1 - np.cos(2 * np.pi * t))[:, None]
    way = hs.Trajectory(t, stance + share * (low - stance))
    sim = hs.Simulator(
        hs.Scene(robot, hs.Plane(law=hs.FeedbackLinearized())),
        dt=1e-3,
        control=hs.Servo(reference=way),
        worlds=3,
    )
    q0 = stance.copy()
    q0[2] += float(contacts_at(sim.scene, q0)[0].min()) - 1e-6
    vary = {"ground.epsilon": EPSILONS}
    record = ("depth", "normal_force")
    run = sim.run(steps=1200, q0=q0, vary=vary, record=record, progress=False, check=False)
    return finished(run, 1200)


def breaks(data: xr.Dataset) -> Floats:
    """Return the number of times that a vertex lost contact, by world."""
    inside = data.depth.values > 0
    return np.asarray((inside[:, :-1] & ~inside[:, 1:]).sum(axis=(1, 2)), dtype=float)


def section5() -> Result:
    """Breaks of contact, and the forces under load."""
    rows: list[Row] = []
    for way in WAYS:
        data = box(*way)
        name = f"box, {way[0]}, {way[2]}"
        rows += _counted(name, breaks(data))
        rows += _loaded(name, data)
    led = "The default form leads slow points to epsilon, at any epsilon: nothing breaks here."
    rows += _counted("hoap1 down and up", breaks(crouch()), led)
    return Result(
        "section5",
        "a foot loaded and unloaded",
        "When an external force disappears the contact is broken and comes back in a false impact; "
        "epsilon = 1e-6 m, a steady depth, cures it.",
        tuple(rows),
        _draw,
    )


def _counted(name: str, found: Floats, none_broken: str = "") -> list[Row]:
    none, held, printed = found
    flipped = (
        "Does not hold as printed: p_z = +1e-6 m is above the ground, where there is no force."
    )
    return [
        shown(
            f"{name}, epsilon 0: contacts broken",
            none,
            none > 0,
            "false impacts",
            none_broken if none == 0 else "",
            fault=bool(none > 0),
        ),
        shown(f"{name}, epsilon 1e-6 m deep: broken", held, held == 0, "none"),
        shown(f"{name}, 1e-6 m high, as printed: broken", printed, printed == 0, "none", flipped),
    ]


def _loaded(name: str, data: xr.Dataset) -> list[Row]:
    """Force and depth with the load on, epsilon 1e-6."""
    i = round((OFF - 0.02) / float(data.time.values[1]))
    force = float(data.normal_force.values[1, i].sum())
    k, few = round(ON / float(data.time.values[1])), round(0.02 / float(data.time.values[1]))
    before, at, after = data.depth.values[1, [k - few, k, k + few]].max(axis=-1)
    change = (after - at) - (at - before)  # it still creeps to epsilon
    remark = "Does not hold as stated: (18) knows the load, so nothing sinks."
    return [
        near(f"{name}: force under load [N]", force, MASS * G + LOAD, 1e-3, "a new steady value"),
        shown(
            f"{name}: sinks under load by [um]",
            1e6 * float(change),
            bool(change > 1e-9),
            "interpenetration immediately appears",
            remark,
        ),
    ]


def _draw() -> Figure:
    from heelstrike.view import plot

    figure, axes = plot.figure(1, 3, size=(12.0, 3.9))
    shown_runs = [(f"box, {way[0]}", box(*way)) for way in WAYS] + [("hoap1 down and up", crouch())]
    names = ("0", "1e-6 m deep", "1e-6 m high, as printed")
    for ax, (title, data) in zip(axes, shown_runs, strict=True):
        for world in (0, 2, 1):
            colour = plot.COLOURS[world]
            force = data.normal_force.values[world, :, 0]
            ax.plot(data.time.values, force, "-", color=colour, linewidth=1, label=names[world])
        plot.label(ax, f"{title}: force of a vertex", "time [s]", "force [N]")
    return figure
