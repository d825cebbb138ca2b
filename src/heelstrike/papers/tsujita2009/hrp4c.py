"""Estimates for a measured robot: HRP-4C, a sibling of HRP-2 whose masses and rotor inertias are
public. Its model is no part of this package: it is found by the variable HEELSTRIKE_DATA.

The model says neither gains, limits nor a stance, so ours: hrp2's gains by kind of joint, no
limits, knees bent by 0.6 rad and the right forearm raised.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.impact.estimates import estimate
from heelstrike.impact.full_motion import MotionRun
from heelstrike.impact.posture_search import posture
from heelstrike.motion.humanoid import Humanoid
from heelstrike.motion.motion import ground
from heelstrike.motion.state import state
from heelstrike.papers.data import left_out
from heelstrike.papers.report import Result, Row, below, meets, near
from heelstrike.papers.tsujita2009 import motions
from heelstrike.papers.tsujita2009.bounds import between
from heelstrike.papers.tsujita2009.mass import law
from heelstrike.papers.tsujita2009.motions import SOUGHT
from heelstrike.papers.tsujita2009.table2 import IMPULSE, PEAK
from heelstrike.robot import Robot, load
from heelstrike.validation.files import data_file

FILE = "robots/hrp4c.xml"
HAND = "R_WRIST_R_LINK"
LINE, MARGIN, SPEED = (0.3, -0.26, 0.8), 0.02, 0.7
"""A place on the target's line [m], margin of the centre of mass [m], speed of the hand [m/s]."""
STANCE = {"HIP_P": -0.3, "KNEE_P": 0.6, "ANKLE_P": -0.3}
"""Of both legs [rad]."""
ARM = {"R_SHOULDER_P": -0.3, "R_SHOULDER_R": -0.2, "R_ELBOW_P": -1.4}
GAINS = {  # by words in a joint's name: kp [N m/rad], kd [N m s/rad]
    ("HIP", "KNEE", "ANKLE"): (10000.0, 1200.0),
    ("CHEST",): (6000.0, 400.0),
    ("SHOULDER_P", "SHOULDER_R", "ELBOW"): (2000.0, 110.0),
    ("SHOULDER_Y",): (1000.0, 30.0),
}
REST = (500.0, 15.0)
"""Of all other joints."""


def ready(path: Path) -> Robot:
    """Return the robot with gains and a stance."""
    robot = load(path, collide="feet")
    kp, kd, q = robot.kp.copy(), robot.kd.copy(), robot.neutral.copy()
    for joint in robot.joints[1:]:
        own = (gains for words, gains in GAINS.items() if any(w in joint.name for w in words))
        kp[joint.iv], kd[joint.iv] = next(own, REST)
        bent = (a for words, a in (STANCE | ARM).items() if joint.name.endswith(words))
        q[joint.iq] = next(bent, np.clip(0.0, robot.lower[joint.iq], robot.upper[joint.iq]))
    poses = q[None].copy()
    ground(robot, poses)
    return replace(robot, kp=kp, kd=kd, poses={"stance": poses[0]})


def hrp4c() -> Result:
    """Postures of 4, 6, 8 kg, or as near as it can; the hit at 0.7 m/s."""
    path = data_file(FILE)
    claim = "The simplified computation is near the full simulation on another robot, too."
    if path is None:
        return Result("hrp4c", "HRP-4C", left_out(FILE), ())
    robot = ready(path)
    rows: list[Row] = []
    for mass in motions.LETTERS.values():
        rows += _hit(robot, mass)
    return Result("hrp4c", "HRP-4C", claim, tuple(rows))


def _hit(robot: Robot, mass: float) -> list[Row]:
    q = Humanoid.of(robot).pose
    try:
        found = posture(robot, HAND, mass=mass, q=q, place=LINE, margin=MARGIN)
    except HeelstrikeError as reason:
        return [meets(f"{mass:g} kg: posture", np.nan, least=0, remark=str(reason))]
    made = motions.motion_of(robot, HAND, found.q, SPEED)
    at_hit, v = state(robot, made, made.settings["hits"])
    run = motions.simulated_of(robot, HAND, made, "rigid")
    own = estimate(robot, at_hit, HAND, v=v, law=law())
    peak = motions.error(run.peak, float(own.peak[0]))
    impulse = motions.error(run.impulse, float(own.impulse[0]))
    remark = (
        "The simplified computation holds the soles; where they rock it cannot follow. A sole's "
        f"corner rises by {1e3 * _risen(run):.2g} mm here."
    )
    return [
        near(f"{mass:g} kg: virtual mass [kg]", found.virtual_mass, mass, 1e-3, remark=SOUGHT),
        between(f"{mass:g} kg: f_n in full [N s]", run.impulse, mass, run.speed),
        below(f"{mass:g} kg: f_err [%]", peak, PEAK, "2.7 at most"),
        below(f"{mass:g} kg: f_nerr [%]", impulse, IMPULSE, "6.1 at most", remark),
    ]


def _risen(run: MotionRun) -> float:
    """Largest rise of a sole's corner from the first touch to the end of the contact [m]."""
    data = run.recording.data
    soles = [str(name) for name in data.point.values if str(name).endswith(" on floor")]
    height = data.contact_position.sel(point=soles, axis="z").values[0]
    first = int(np.searchsorted(run.time, run.touch))
    last = int(np.searchsorted(run.time, run.touch + run.duration))
    return float((height[last] - height[first]).max())
