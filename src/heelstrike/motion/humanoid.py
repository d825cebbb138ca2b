"""Soles, trunk and hands of a robot, by which motions are defined.

They are found automatically if a robot has a free base, two bodies with contact points, and a
pose in which it stands on both; otherwise they are named: Humanoid.of(robot, left_foot="...", ...).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.convert import to_pinocchio
from heelstrike.robot.placement import lowest_place
from heelstrike.robot.points import on_feet
from heelstrike.robot.robot import Robot

SIDES = ("left", "right")


@dataclass(frozen=True, eq=False)
class Humanoid:
    """A robot with two feet, standing."""

    robot: Robot
    model: pin.Model
    pose: np.ndarray
    """Standing pose, with flat soles."""
    feet: tuple[int, int]
    """Bodies with the soles, left and right."""
    soles: tuple[pin.SE3, pin.SE3]
    """Centre of each sole on its body; axes are the world's in `pose`."""
    halves: tuple[np.ndarray, np.ndarray]
    """Half length and half width of each sole [m]."""

    @classmethod
    def of(
        cls,
        robot: Robot | Humanoid,
        left_foot: str | None = None,
        right_foot: str | None = None,
        pose: str | np.ndarray | None = None,
    ) -> Humanoid:
        """Find the soles of a robot.

        Feet are names of bodies; the pose is one of the robot's, by default the first. A humanoid
        is returned as it is.
        """
        if isinstance(robot, Humanoid):
            if pose is not None:
                raise HeelstrikeError("a Humanoid has its pose already; give it to Humanoid.of")
            return robot
        if robot.joints[0].kind != "free":
            raise HeelstrikeError(f"motions need a robot with a free base; {robot.name} has none")
        q = _pose(robot, pose)
        model = to_pinocchio(robot)
        data = model.createData()
        pin.forwardKinematics(model, data, q)
        if left_foot is not None and right_foot is not None:
            feet = robot.body(left_foot), robot.body(right_foot)
        else:
            feet = _feet(robot, data)
        soles, halves = zip(*(_sole(robot, data, foot) for foot in feet), strict=True)
        return cls(robot, model, q, feet, tuple(soles), tuple(halves))

    def placed(self, q: np.ndarray) -> tuple[pin.SE3, pin.SE3]:
        """Return the poses of both soles in the world."""
        left, right = (
            self.body_pose(q, foot) * sole for foot, sole in zip(self.feet, self.soles, strict=True)
        )
        return left, right

    def body_pose(self, q: np.ndarray, body: int) -> pin.SE3:
        """Return the pose of a body in the world."""
        data = self.model.createData()
        pin.forwardKinematics(self.model, data, q)
        return data.oMi[body + 1]

    def frame(self, name: str) -> tuple[int, pin.SE3]:
        """Return the body of a link or site, and its pose on the body."""
        body = self.robot.body(name)
        frame = self.robot.frames.get(name)
        if frame is None:
            return body, pin.SE3.Identity()
        return body, pin.SE3(frame.rotation, frame.translation)

    def com(self, q: np.ndarray) -> np.ndarray:
        """Return the centre of mass [m]."""
        return np.array(pin.centerOfMass(self.model, self.model.createData(), q))


def _pose(robot: Robot, pose: str | np.ndarray | None) -> np.ndarray:
    if isinstance(pose, str):
        return robot.pose(pose)
    if pose is not None:
        return np.array(pose, dtype=float)
    if not robot.poses:
        raise HeelstrikeError(f"{robot.name} has no pose to stand in; give one: pose=q")
    return robot.pose(next(iter(robot.poses)))


def _feet(robot: Robot, data: pin.Data) -> tuple[int, int]:
    """Return the two bodies with the lowest contact points, left one first."""
    lowest: dict[int, float] = {}
    for point in on_feet(robot).points:
        place = data.oMi[point.body + 1]
        height = lowest_place(point, (place.rotation, place.translation))[2]
        lowest[point.body] = min(height, lowest.get(point.body, np.inf))
    if len(lowest) < 2:
        raise HeelstrikeError(
            f"{robot.name} has contact points on {len(lowest)} bodies, a walker needs two feet; "
            "name them: Humanoid.of(robot, left_foot=..., right_foot=...)"
        )
    one, two = sorted(lowest, key=lambda body: lowest[body])[:2]
    ahead = data.oMi[1].rotation[:, 1] @ (data.oMi[one + 1].translation - data.oMi[1].translation)
    return (one, two) if ahead > 0 else (two, one)


def _sole(robot: Robot, data: pin.Data, foot: int) -> tuple[pin.SE3, np.ndarray]:
    points = [p for p in on_feet(robot).points if p.body == foot]
    if not points:
        raise HeelstrikeError(f"foot '{robot.bodies[foot].name}' has no contact points")
    place = data.oMi[foot + 1]
    corners = np.array([lowest_place(p, (place.rotation, place.translation)) for p in points])
    low, high = corners.min(axis=0), corners.max(axis=0)
    centre = np.array([*(low + high)[:2] / 2, low[2]])
    return place.actInv(pin.SE3(np.eye(3), centre)), (high - low)[:2] / 2
