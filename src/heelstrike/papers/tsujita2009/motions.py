"""The nine motions of table I, and what comes of them: postures of 4, 6, 8 kg, hands at 0.4, 0.7,
1.0 m/s.

Given, section III: masses, speeds, target, contact, floor friction, PD servo (10) with limits (12)
and nothing fed forward (fig 8). Not given, so ours: the robot (hrp2, its gains and limits), the
line of the target, 0.8 m high in front of the right shoulder, and what a hand does before and after
the hit. A posture is the nearest to a raised forearm that has its mass and whose centre of mass is
50 mm inside the soles. A motion goes 160 mm along the line to the hit and follows on for 0.1 s.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from heelstrike.impact.estimates import estimate
from heelstrike.impact.full_motion import MotionRun, simulate_motion
from heelstrike.impact.kernels import HitResult
from heelstrike.impact.mass import point_impact
from heelstrike.impact.posture_search import Posture, posture
from heelstrike.impact.results import Estimate
from heelstrike.impact.target import Target
from heelstrike.motion.motion import Motion
from heelstrike.motion.punch import punch
from heelstrike.motion.state import state
from heelstrike.papers.tsujita2009.assumptions import punch_posture
from heelstrike.papers.tsujita2009.mass import MASS, TABLE, law
from heelstrike.robot import Robot, load
from heelstrike.scene.servo import Trajectory

HAND = "r_hand"
LINE = (0.5, -0.326, 0.8)
"""A place on the target's line, which goes along x [m]."""
MARGIN = 0.05
"""Of the centre of mass inside the soles [m]."""
REACH, FOLLOW, REST = 0.2, 0.1, 1.0
"""Of the motions [m, s, s]."""
LEAD = 1.1
"""From the start of a simulation, at rest, to the hit [s]."""
NAMES = tuple(TABLE)
LETTERS = {"A": 4.0, "B": 6.0, "C": 8.0}
"""Virtual masses, table I [kg]."""
FIT_KP, FIT_KD = 0.05, 2.0
"""Gains fitted to the impulses of table II, over hrp2's."""
SOUGHT = "Set-up: posture and motion are sought for the value that the paper prints."


@cache
def robot() -> Robot:
    """Return the stand-in for HRP-2."""
    return load("hrp2", collide="feet")


@cache
def posed(mass: float | str) -> Posture:
    """Return the posture of a virtual mass on the line."""
    own = robot()
    return posture(own, HAND, mass=mass, q=punch_posture(own), place=LINE, margin=MARGIN)


@cache
def motion(name: str) -> Motion:
    """One of the nine, by its name in table I."""
    mass, speed = TABLE[name][:2]
    return motion_of(robot(), HAND, posed(mass).q, speed)


def motion_of(own: Robot, hand: str, q: np.ndarray, speed: float) -> Motion:
    """Return a punch that hits in a posture."""
    return punch(own, hand, speed, at=q, reach=REACH, follow=FOLLOW, rest=REST)


@cache
def simulated(name: str, floor: str) -> MotionRun:
    """Return a motion in the full simulation, from rest until 0.1 s after the hit."""
    return simulated_of(robot(), HAND, motion(name), floor)


def simulated_of(own: Robot, hand: str, made: Motion, floor: str) -> MotionRun:
    """Return a punch by PD alone: the torques of the motion are left out."""
    bare = Trajectory(made.times, made.q)
    hits = made.settings["hits"]
    return simulate_motion(own, bare, hits, hand, target=Target(MASS), law=law(), floor=floor,
                           lead=LEAD)  # fmt: skip


@cache
def simplified(torque: str = "full", fitted: bool = False) -> Estimate:
    """Steps 1b to 8b for all nine, from posture and velocities of the motions at the hit.

    `fitted` takes the gains that were fitted to table II in place of hrp2's.
    """
    own = robot()
    kp, kd = (FIT_KP * own.kp, FIT_KD * own.kd) if fitted else (own.kp, own.kd)
    at_hit = [state(own, motion(name), motion(name).settings["hits"]) for name in NAMES]
    q, v = (np.stack(rows) for rows in zip(*at_hit, strict=True))
    return estimate(own, q, HAND, v=v, target=Target(MASS), law=law(), torque=torque, kp=kp, kd=kd)


@cache
def points() -> HitResult:
    """Return the virtual masses of the nine, alone."""
    made = simplified()
    return point_impact(made.virtual_mass, made.speed, Target(MASS), law())


def error(full: float, estimated: float) -> float:
    """(24) [%]."""
    return 100 * (full - estimated) / full
