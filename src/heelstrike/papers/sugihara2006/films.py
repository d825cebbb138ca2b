"""Figs 10, 11 and 12: a walk, a walk that falls, a jump, as film strips.

The paper shows pictures and gives neither gait, gains nor the reason of the fall. Ours falls as its
servo is soft (kp 0.04 and kd 0.2 times the model's) and gets no torques of the gait. Held by one
ankle the robot is a pendulum upside down, which a spring below m g h does not hold:

    kp < m g h          it stands on two ankles, and falls when the first foot is lifted
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import heelstrike as hs
from heelstrike.motion import Motion, jump
from heelstrike.papers.report import Result, Row, meets, near, shown
from heelstrike.papers.sugihara2006.closed_form import MASS, G
from heelstrike.papers.sugihara2006.stand import DT, POINTS, K, floor, parameter
from heelstrike.papers.sugihara2006.walking import LAMBDA, gait
from heelstrike.robot.placement import placements

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOFT = 0.04
"""Stiffness of the servo that falls, over the model's; its damping is the root of that."""
FALLEN = 0.5
"""Height of the centre of mass, as a share of that at the start, at which it has fallen."""
FLIGHT = 0.1
"""Time in the air that counts as a jump [s]."""
DEEP = 1e3 * MASS * G / (2 * K)
"""Depth that no point may reach [mm]: that of the membrane alone under an edge of one foot."""
SLID = 5.0
"""Way that a sole may slide after it landed [mm]."""
STEP = 0.05
"""Error that a walk's end may have, as a share of the height of the centre of mass."""


@cache
def film(motion: Motion, soft: bool = False) -> hs.Recording:
    """hoap1 following a motion on the floor of IV-C, every 10 ms."""
    reference = hs.Trajectory(motion.times, motion.q) if soft else motion
    scene = hs.Scene(hs.load("hoap1", collide="feet"), floor("paper", "both"))
    sim = hs.Simulator(scene, dt=DT, control=hs.Servo(reference=reference))
    sim.parameters[parameter("both", "lam")] = LAMBDA
    if soft:
        sim.parameters["servo.kp"] = SOFT * sim.parameters["servo.kp"]
        sim.parameters["servo.kd"] = np.sqrt(SOFT) * sim.parameters["servo.kd"]
    return sim.run(motion.duration, q0=motion.start, every=10, progress=False, check=False)


def fig10() -> Result:
    """Return the walk that succeeds."""
    motion = gait()
    run = film(motion)
    com = run.data["com"].values[0]
    way = motion.settings["length"] * (motion.settings["steps"] - 1)
    return Result(
        "fig10",
        "a walk",
        "It walks.",
        (
            near(
                "way of the centre of mass [mm]",
                1e3 * (com[-1, 0] - com[0, 0]),
                1e3 * way,
                1e3 * STEP * com[0, 2],
                remark="The gait's own way, eight steps. The literal rule lets soles slip: fig9 "
                "has how fast, and the way by the consistent rule.",
            ),
            shown(
                "lowest centre of mass over that at the start",
                com[:, 2].min() / com[0, 2],
                com[:, 2].min() > 0.9 * com[0, 2],
                "walks",
            ),
            _deepest(run),
        ),
        lambda: _strip(run, np.linspace(1.5, motion.duration - 1, 8)),
    )


def fig11() -> Result:
    """Return the walk that falls."""
    motion = gait()
    run = film(motion, soft=True)
    com, time = run.data["com"].values[0], run.data["time"].values
    low = np.flatnonzero(com[:, 2] < FALLEN * com[0, 2])
    falls = float(time[low[0]]) if len(low) else np.nan
    end = falls if len(low) else motion.duration
    return Result(
        "fig11",
        "a walk that falls",
        "It falls down during the walk.",
        (
            shown(
                "time at which its centre of mass is half as high [s]",
                falls,
                bool(len(low)),
                "falls",
                "Its servo is soft and gets no torques of the gait. The paper does not say why its "
                "robot fell. Only soles touch the floor, so the film ends there.",
            ),
            *_why(run, motion, falls),
        ),
        lambda: _strip(run, np.linspace(1.0, end, 8)),
    )


def _why(run: hs.Recording, motion: Motion, falls: float) -> list[Row]:
    """Return the reason of the fall: one ankle is softer than the pendulum above it."""
    robot, height = hs.load("hoap1", collide="feet"), float(run.data["com"].values[0, 0, 2])
    ankles = [joint.iv for joint in robot.joints if joint.name.endswith(("_AFE", "_AAA"))]
    weight = MASS * G * height
    assert motion.feet is not None
    lifted = float(np.asarray(motion.times)[motion.feet.min(axis=1) == 0][0])
    stiff = float(robot.kp[ankles].max())
    return [
        meets(
            "time from the lift of the first foot to the fall [s]",
            falls - lifted,
            least=0,
            most=2 * motion.settings["period"],
            remark="The gait first stands on one foot then. An ankle's stiffness over m g h is "
            f"{SOFT * stiff / weight:.3g}: one does not hold the robot, two do. The model's own: "
            f"{stiff / weight:.3g}.",
        ),
    ]


def _deepest(run: hs.Recording) -> Row:
    depth = 1e3 * float(run.data["depth"].values.max())
    remark = f"m g / (2 k) = {DEEP:.2g} mm, the membrane alone under an edge of one foot, is more."
    return meets("deepest point of a sole [mm]", depth, most=DEEP, remark=remark)


def fig12() -> Result:
    """Return the jump."""
    motion = jump(hs.load("hoap1", collide="feet"))
    run = film(motion)
    com, time = run.data["com"].values[0], run.data["time"].values
    air = ~run.data["touching"].values[0].any(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], air, [0]]).astype(int)))
    flights = time[np.minimum(edges[1::2], len(time) - 1)] - time[edges[::2]]
    longest = int(flights.argmax())
    off, down = (float(time[edges[2 * longest + k]]) for k in (0, 1))
    slid = 1e3 * _slid(run, down)
    return Result(
        "fig12",
        "a jump",
        "It jumps.",
        (
            shown(
                "longest time in the air [s]",
                flights[longest],
                flights[longest] >= FLIGHT,
                "jumps",
                f"Planned: {motion.settings['flight']:g} s.",
            ),
            near(
                "height of the centre of mass at the end [mm]",
                1e3 * com[-1, 2],
                1e3 * com[0, 2],
                2.0,
                remark="It stands as it began, but for its depth in the membrane.",
            ),
            near(
                "points that carry at the end",
                int((run.data["normal_force"].values[0, -1] > 0).sum()),
                POINTS,
                0,
                remark="It lands standing, on both soles.",
            ),
            meets(
                "slide of a sole after the landing, largest [mm]",
                slid,
                most=SLID,
                remark="The literal rule lets soles slip as the robot lands and rises, as in "
                f"fig10. Deepest point: {1e3 * float(run.data['depth'].values.max()):.3g} mm.",
            ),
        ),
        lambda: _strip(run, [0.0, off - 0.1, off, *(off + np.array([0.07, 0.14, 0.2, 0.4, 1.5]))]),
    )


def _slid(run: hs.Recording, since: float) -> float:
    """Return the distance along the floor of the soles' points from their start [m]."""
    robot, q = run.robot, run.data["q"].values[0]
    then = int(np.searchsorted(run.data["time"].values, since))
    first, last = (placements(robot, q[k]) for k in (then, -1))
    way = [
        (last[p.body][0] - first[p.body][0]) @ p.position + last[p.body][1] - first[p.body][1]
        for p in robot.points
    ]
    return float(np.linalg.norm(np.array(way)[:, :2], axis=1).max())


def _strip(run: hs.Recording, times: np.ndarray | list[float], follow: bool = True) -> Figure:
    from heelstrike.view.render.camera import Camera
    from heelstrike.view.render.film_strip import film_strip_figure

    return film_strip_figure(run, times=list(times), camera=Camera(follow=follow), labels=[""])
