"""Robots that can fall: contact points on the whole body, and the states that falls start from.

hoap1 has the outline of all its shapes (`collide="all"`). The files of G1 and ANYmal C have few
shapes, or meshes: their feet are kept, limbs carry two spheres between a joint and the next one,
trunks a few spheres of their own.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass

import numpy as np

import heelstrike as hs
from benchmarks.coupled import LAWS as MOST_LAWS
from heelstrike.bench.standing import case, first_pose
from heelstrike.robot.placement import lowest_height
from heelstrike.simulate.start import StartError, check_apart

LAWS = {**MOST_LAWS, "Signorini": hs.Signorini()}
"""All coupled laws."""
ROBOTS = ("hoap1", "g1", "anymal_c")
Sphere = tuple[str, tuple[float, ...], float]
"""Body, centre in its frame [m] and radius [m]."""
SIDES = ("left", "right")
LIMBS = {
    "g1": [
        f"{side}_{limb}_link"
        for limb in (
            *("wrist_yaw", "wrist_pitch", "elbow", "shoulder_yaw", "shoulder_roll"),
            *("knee", "hip_yaw", "hip_roll"),
        )
        for side in SIDES
    ],
    "anymal_c": [f"{leg}_{limb}" for leg in ("LF", "RF", "LH", "RH") for limb in ("HIP", "THIGH")],
}
"""Bodies with two spheres, at these shares of the way to the next joint."""
SHARES = (0.25, 0.8)
LIMB_RADIUS = 0.035
HAND = np.array([0.08, 0.0, 0.0])
"""Way from the last joint of G1's arm to the end of its hand [m]."""
CORNERS = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.1, 0.1) for z in (-0.09, 0.09)]
TRUNKS: dict[str, list[Sphere]] = {
    "g1": [
        (body, place, 0.06)
        for body, height in (("pelvis", -0.02), ("torso_link", 0.1))
        for place in ((0, 0.06, 0), (0, -0.06, 0), (0.05, 0, height), (-0.05, 0, height))
    ],
    "anymal_c": [("base", corner, 0.01) for corner in CORNERS],
}
HOAP1_TRUNK, EVERY = "WAIST", 10
"""Trunk of hoap1, of whose 41 points every tenth is kept where few are asked for."""


@dataclass(frozen=True)
class Faller:
    """A robot with points on its whole body, and its step."""

    name: str
    robot: hs.Robot
    dt: float

    @property
    def bodies(self) -> int:
        """Number of bodies with contact points."""
        return len({point.body for point in self.robot.points})

    def simulator(
        self, law: hs.SurfaceLaw, worlds: int = 1, dtype: str = "float64"
    ) -> hs.Simulator:
        """Return a simulator on a plane, whose servo, if it has gains, holds the first pose."""
        robot = self.robot
        servo = hs.Servo(reference=first_pose(robot)) if np.any(robot.kp) else None
        return hs.Simulator(hs.Scene(robot, hs.Plane(law)), self.dt, servo, worlds, dtype=dtype)


def faller(name: str, few: bool = False) -> Faller:
    """Return hoap1, g1 or anymal_c with points on its whole body; if few, on feet and trunk."""
    found = case(name)
    if name == "hoap1":
        robot = hs.load(name, collide="all")
        if few:
            trunk = [point for point in robot.points if point.body == robot.body(HOAP1_TRUNK)]
            robot = hs.load(name, points=[*found.robot.points, *trunk[::EVERY]])
    else:
        limbs = [] if few else [ball for body in LIMBS[name] for ball in _limb(found.robot, body)]
        feet = list(found.robot.points)
        robot = hs.load(found.source, points=[*feet, *TRUNKS[name], *limbs])
    return Faller(name, robot, found.dt)


def _limb(robot: hs.Robot, body: str) -> list[Sphere]:
    own = robot.body(body)
    ends = [joint.translation for joint in robot.joints if joint.parent == own]
    end = ends[0] if ends else HAND
    return [(body, tuple(share * end), LIMB_RADIUS) for share in SHARES]


def tumbling(robot: hs.Robot, worlds: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return q0 and v0 of robots thrown above the ground with any orientation, (worlds, ...).

    The lowest point is 2 to 50 cm high; the base moves at 1 m/s and turns at 3 rad/s, joints are
    0.2 rad off the first pose and move at 1 rad/s (standard deviations).
    """
    rng = np.random.default_rng(seed)
    q0 = _near_first_pose(robot, worlds, 0.2, rng)
    turns = rng.normal(size=(worlds, 4))
    q0[:, 3:7] = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    _lift(robot, q0, rng.uniform(0.02, 0.5, worlds))
    speeds = np.concatenate([np.ones(3), np.full(3, 3.0), np.ones(robot.nv - 6)])
    return q0, speeds * rng.normal(size=(worlds, robot.nv))


def laid(robot: hs.Robot, worlds: int, height: float, seed: int = 0) -> np.ndarray:
    """Return q0 of robots that face down or up, with the base at a height [m], (worlds, nq)."""
    rng = np.random.default_rng(seed)
    q0 = _near_first_pose(robot, worlds, 0.05, rng)
    angle = np.pi / 2 * rng.choice([-1, 1], worlds) + 0.2 * rng.normal(size=worlds)
    q0[:, 3:7] = np.outer(np.sin(angle / 2), [0, 1, 0, 0])
    q0[:, 6] = np.cos(angle / 2)
    q0[:, 2] = height
    return q0


def swaying(
    robot: hs.Robot, worlds: int, drop: float, speed: float, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return q0 and v0 of robots that stand, up to `drop` above the ground [m], and whose joints
    and base move at `speed` [m/s, rad/s] (standard deviation), (worlds, ...).
    """
    rng = np.random.default_rng(seed)
    q0 = _near_first_pose(robot, worlds, 0.01, rng)
    _lift(robot, q0, rng.uniform(0, drop, worlds))
    return q0, speed * rng.normal(size=(worlds, robot.nv))


def _near_first_pose(
    robot: hs.Robot, worlds: int, off: float, rng: np.random.Generator
) -> np.ndarray:
    """Return first poses with joints a little off, within their ranges and with bodies apart."""
    q0 = np.tile(first_pose(robot), (worlds, 1))
    lower, upper = robot.lower[7:], robot.upper[7:]
    q0[:, 7:] = np.clip(q0[:, 7:] + off * rng.normal(size=(worlds, robot.nq - 7)), lower, upper)
    scene = hs.Scene(robot, hs.Plane())
    for pose in q0:
        while not _apart(scene, pose):
            drawn = first_pose(robot)[7:] + off * rng.normal(size=robot.nq - 7)
            pose[7:] = np.clip(drawn, lower, upper)
    return q0


def _apart(scene: hs.Scene, pose: np.ndarray) -> bool:
    """Return whether a simulator would start with the robot's bodies in this pose."""
    try:
        check_apart(scene, pose)
    except StartError:
        return False
    return True


def _lift(robot: hs.Robot, q0: np.ndarray, heights: np.ndarray) -> None:
    """Move each pose so that its lowest point is at its height above the ground [m]."""
    for pose, height in zip(q0, heights, strict=True):
        pose[2] += height - lowest_height(robot, pose)


def with_robots(made: argparse.ArgumentParser) -> tuple[argparse.Namespace, tuple[str, ...]]:
    """Add the option --robots; return the options, and the robots: in a quick run hoap1 alone."""
    made.add_argument("--robots", nargs="+", choices=ROBOTS, help="some of the robots")
    options = made.parse_args()
    robots = tuple(options.robots or (ROBOTS[:1] if options.quick else ROBOTS))
    if not os.environ.get("HEELSTRIKE_DATA") and set(robots) != {"hoap1"}:
        raise SystemExit("set HEELSTRIKE_DATA to the folder that has robots/g1.xml")
    return options, robots
