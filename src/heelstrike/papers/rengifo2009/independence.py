"""Parameter independence: one kp, kv for every mass.

A robot comes down at 0.3 m/s on both soles, flat, held by its servo: the same robot with all masses
times 0.1, 1 and 10, and robots of 5, 35 and 100 kg (hoap1; biped14 and hrp2, whose masses are
scaled). kp = 500, kv = 250 (section IV), epsilon 0, 0.1 ms. Depth over impact speed is compared,
over the first 50 ms.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.papers.rengifo2009 import closed_form
from heelstrike.papers.rengifo2009.closed_form import Floats
from heelstrike.papers.report import Result, below, finished, near
from heelstrike.simulate.start import contacts_at

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KP, KV = 500.0, 250.0
SPEED = 0.3
"""[m/s], ours."""
SCALES = np.array([0.1, 1.0, 10.0])
ROBOTS = (("hoap1", 5.0), ("biped14", 35.0), ("hrp2", 100.0))
"""Name, and mass that it is scaled to [kg]."""
DT, STEPS = 1e-4, 500
TOUCH = 1e-9
"""Depth of the soles at the start [m]."""


@cache
def touchdown(name: str, masses: tuple[float, ...], rule: str = "consistent") -> Floats:
    """Depth of every vertex over the impact speed [s], (mass, time, vertex)."""
    robot = hs.load(name, collide="feet")
    law = hs.FeedbackLinearized(KP, KV, epsilon=0.0, rule=rule)
    sim = hs.Simulator(hs.Scene(robot, hs.Plane(law=law)), dt=DT, control=hs.Servo())
    q0, v0 = robot.pose("stance"), np.zeros(robot.nv)
    q0[2] += float(contacts_at(sim.scene, q0)[0].min()) - TOUCH
    v0[:3] = _down(q0[3:7])
    scale = np.array(masses) / robot.mass
    vary = {f"{body.name}.mass": body.mass * scale for body in robot.bodies if body.mass > 0}
    run = sim.run(
        steps=STEPS,
        q0=q0,
        v0=np.tile(v0, (len(masses), 1)),
        worlds=len(masses),
        vary=vary,
        record=("depth",),
        progress=False,
        check=False,
    )
    return np.asarray(finished(run, STEPS).depth.values / SPEED)


def _down(quaternion: Floats) -> Floats:
    """Return the impact velocity in the base's axes; xyzw."""
    import pinocchio as pin

    turn = pin.Quaternion(*quaternion[[3, 0, 1, 2]]).toRotationMatrix()
    return np.asarray(turn.T @ [0, 0, -SPEED])


def independence() -> Result:
    """Masses, then robots."""
    own = 5.0
    scaled = touchdown("hoap1", tuple(own * SCALES))
    peak = scaled[1].max()
    rows = []
    for scale, made in zip(SCALES[[0, 2]], scaled[[0, 2]], strict=True):
        off = 100 * float(np.abs(made - scaled[1]).max() / peak)
        rows.append(below(f"hoap1, masses times {scale:g}: differs by [%]", off, 1.0, "the same"))
    robots = {name: touchdown(name, (mass,))[0] for name, mass in ROBOTS[1:]}
    robots = {"hoap1": scaled[1]} | robots
    first = robots["hoap1"].mean(axis=1)
    for name, mass in ROBOTS:
        off = 100 * float(np.abs(robots[name].T - first).max() / peak)
        rows.append(below(f"{name}, {mass:g} kg: differs by [%]", off, 1.0, "the same"))
    form = float(closed_form.depth(KP, KV, 1.0))
    for name, _ in ROBOTS:
        ours = float(robots[name].max())
        remark = "Of one mass, closed form; within kv dt."
        rows.append(near(f"{name}: depth over speed [s]", ours, form, form * KV * DT, None, remark))
    return Result(
        "independence",
        "parameters independent of the robot",
        "The parameters of the contact model are independent of those of the system, masses and "
        "inertias, and of the number of points in contact.",
        tuple(rows),
        lambda: _draw(scaled, robots),
    )


def _draw(scaled: Floats, robots: dict[str, Floats]) -> Figure:
    from heelstrike.view import plot

    figure, (left, right) = plot.figure(1, 2, size=(10.0, 3.9))
    t = 1e3 * DT * np.arange(scaled.shape[1])
    for colour, width, scale, made in zip(plot.COLOURS, (4, 2.5, 1), SCALES, scaled, strict=False):
        left.plot(t, 1e3 * made[:, 0], color=colour, linewidth=width, label=f"masses x {scale:g}")
    for colour, width, (name, mass) in zip(plot.COLOURS, (4, 2.5, 1), ROBOTS, strict=False):
        label = f"{name}, {mass:g} kg"
        right.plot(t, 1e3 * robots[name][:, 0], color=colour, linewidth=width, label=label)
    plot.label(left, "hoap1 comes down", "time [ms]", "depth over speed [ms]")
    plot.label(right, "Three robots come down", "time [ms]", "depth over speed [ms]")
    return figure
