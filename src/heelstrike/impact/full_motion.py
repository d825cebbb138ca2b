"""A hit in the course of a motion: the robot stands on its soles, follows the motion by its servo
and meets the target where the motion says, as HRP-2 does in OpenHRP3 in [Tsujita2009], section III.

Floors are those of `simulate_full`. That one starts at the first touch, with the velocities wanted;
here they are what the servo makes of the motion, and its reference goes on as the motion does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.errors import HeelstrikeError
from heelstrike.impact.base import VirtualBase
from heelstrike.impact.full import SAG, floor_law
from heelstrike.impact.hit import Hit, hit
from heelstrike.impact.robot_and_target import (
    HAND,
    ROBOT,
    THING,
    WALL,
    combined,
    face,
    face_centre,
    soles,
)
from heelstrike.impact.support import support
from heelstrike.impact.target import Target, check_law
from heelstrike.record.recording import Recording
from heelstrike.robot.robot import Robot
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo, Trajectory
from heelstrike.scene.surfaces import Plane
from heelstrike.simulate.simulator import Simulator


@dataclass(frozen=True, eq=False)
class MotionRun:
    """One hit of a motion; times are those of the motion."""

    speed: float
    """Speed of the hand along the hit, from the last two records before it touches [m/s]."""
    touch: float
    """Time at which hand and target first touch [s]."""
    peak: float
    """Largest force [N]."""
    impulse: float
    """Impulse of all contact with the target [N s]."""
    duration: float
    """Time in contact [s]."""
    time: np.ndarray
    """Times of the records [s]."""
    force: np.ndarray
    """Force on the target, (times) [N]."""
    recording: Recording


def simulate_motion(
    robot: Robot,
    motion: Trajectory,
    hits: float,
    link: str,
    direction: str | ArrayLike = "x",
    target: Target | None = None,
    law: NormalLaw | None = None,
    point: ArrayLike = (0.0, 0.0, 0.0),
    base: VirtualBase | None = None,
    floor: str = "rigid",
    lead: float | None = None,
    duration: float = 0.1,
    dt: float = 1e-4,
    every: int = 2,
) -> MotionRun:
    """Simulate a hit in the course of a motion.

    The target stands where the hand, a point of a link, is at the motion's time `hits` [s]; the
    simulation begins at rest `lead` before (None: with the motion) and ends `duration` after. Gains
    are the robot's; torques of the motion, where it has any, are fed forward.
    """
    made = hit(robot, link, direction, point, base)
    if not made.held:
        raise HeelstrikeError(f"{robot.name} does not stand on a floor, so no motion carries it")
    law = law if law is not None else LinearSpring(k=1e4, c=300.0)
    check_law(law)
    target = target or Target()
    begins = float(np.asarray(motion.times)[0]) if lead is None else hits - lead
    part = _part(motion, begins, hits + duration)
    whole = combined(made, target)
    ground, integrator = floor_law(floor, made)
    plane = Plane(ground, name="floor", touches=soles(made))
    sim = Simulator(
        Scene(whole, plane, face(made, Elastic(law, friction=None))), dt=dt,
        control=Servo(reference=_with_target(part, whole, made)), integrator=integrator,
    )  # fmt: skip
    at_hit = _pose(part, hits - begins)
    gap = np.ravel(target.gap)[:1]
    sim.parameters[f"{WALL}.point"] = face_centre(made, made.at(at_hit)["hand"], gap)[0]
    sim.parameters["floor.point"] = np.array([0.0, 0.0, support(made, at_hit)[1]])
    start = np.append(np.asarray(part.q)[0], 0.0)
    if isinstance(ground, Elastic):
        start[2] -= SAG
    still = np.zeros(whole.nv)
    still[-1] = float(np.ravel(target.velocity)[0])
    run = sim.run(
        hits + duration - begins, q0=start, v0=still, every=every, progress=False,
        record=["q", "normal_force", "force", "contact_position", "touching"],
    )  # fmt: skip
    return _read(run, made, begins)


def _part(motion: Trajectory, first: float, last: float) -> Trajectory:
    """Return a part of a motion, with its times from 0."""
    times = np.asarray(motion.times, dtype=float)
    inside = (times > first - 1e-9) & (times < last + 1e-9)
    if first < times[0] - 1e-9 or last > times[-1] + 1e-9 or inside.sum() < 2:
        raise HeelstrikeError(
            f"the motion lasts from {times[0]:g} to {times[-1]:g} s, the simulation would from "
            f"{first:g} to {last:g} s; make the motion's rest longer, or lead and duration shorter"
        )
    torque = None if motion.torque is None else np.asarray(motion.torque)[inside]
    return Trajectory(times[inside] - times[inside][0], np.asarray(motion.q)[inside], torque)


def _pose(part: Trajectory, time: float) -> np.ndarray:
    """Return the pose nearest to a time."""
    times = np.asarray(part.times, dtype=float)
    return np.array(np.asarray(part.q)[int(np.argmin(np.abs(times - time)))], dtype=float)


def _with_target(part: Trajectory, whole: Robot, made: Hit) -> Trajectory:
    """Return the target's rows: it stays in place, its weight along the slide is compensated."""
    q = np.asarray(part.q, dtype=float)
    nothing = np.zeros((len(q), 1))
    torque = np.zeros((len(q), made.robot.nv)) if part.torque is None else np.asarray(part.torque)
    mass = whole.bodies[whole.body(f"{THING}/block")].mass
    weight = mass * made.robot.gravity * made.direction[2]
    return Trajectory(
        part.times, np.hstack([q, nothing]), np.hstack([torque, nothing + weight])
    )  # fmt: skip


def _read(run: Recording, made: Hit, begins: float) -> MotionRun:
    data = run.data
    hand = f"{ROBOT}/{HAND} on {WALL}"
    time = np.asarray(data.time.values, dtype=float)
    force = data.normal_force.sel(point=hand).values[0]
    on = np.flatnonzero(force > 0)
    if not len(on):
        raise HeelstrikeError("the hand does not meet the target; let it hit later, hits=")
    first = int(on[0])
    before = slice(max(first - 2, 0), max(first, 2))
    places = made.at(data.q.values[0, before, :-1])["hand"] @ made.direction
    step = time[1] - time[0]
    blow = data.impulse.sel(body=f"{THING}/block").values[0] @ made.direction
    return MotionRun(
        float(np.diff(places)[0] / step), begins + float(time[first]),
        float(data.peak_force.sel(point=hand).values[0]), abs(float(blow)),
        float((force > 0).sum() * step), begins + time, force, run,
    )  # fmt: skip
