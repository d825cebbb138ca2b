"""Inverse kinematics: the pose with wanted soles, centre of mass, trunk and hand.

Weighted least squares of a step's errors within the joints' ranges, by pink (S. Caron); with
several steps per pose, each pose starting from the last one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from heelstrike.errors import HeelstrikeError
from heelstrike.motion.humanoid import SIDES, Humanoid
from heelstrike.robot.robot import Robot

ROUNDS = 60
"""Largest number of steps of a pose."""
CLOSE = 1e-7
"""Error of soles, centre of mass and hand at which a pose is taken [m, rad]."""
MISSED = 1e-3
"""Error that is not accepted [m, rad]."""
SLACK = 1e-3
"""Distance outside a joint's range from which a pose is moved inside [m, rad]."""


class Reach:
    """Poses of a humanoid, one after another."""

    def __init__(self, human: Humanoid, hand: str | None = None) -> None:
        import pink
        from pink.limits import ConfigurationLimit
        from pink.tasks import ComTask, FrameTask, PostureTask

        self.human = human
        model = human.model.copy()
        for side, foot, sole in zip(SIDES, human.feet, human.soles, strict=True):
            _add_frame(model, f"motion {side} sole", foot, sole)
        _add_frame(model, "motion trunk", 0, pin.SE3.Identity())
        self.soles = [FrameTask(f"motion {side} sole", 1.0, 1.0) for side in SIDES]
        self.com = ComTask(1.0)
        self.hand = None
        if hand is not None:
            body, place = human.frame(hand)
            _add_frame(model, "motion hand", body, place)
            self.hand = FrameTask("motion hand", 1.0, 0.0)
        self.upright = pin.Quaternion(human.pose[3:7]).matrix()
        self.trunk = FrameTask("motion trunk", 0.0, 0.1)
        posture = PostureTask(1e-4)
        posture.set_target(human.pose)
        self.tasks = [*self.soles, self.com, self.trunk, posture]
        if self.hand is not None:
            self.tasks.append(self.hand)
        self.limits = [ConfigurationLimit(model)]
        begin = within(human.robot, human.pose)
        self.configuration = pink.Configuration(model, model.createData(), begin)

    def pose(
        self,
        soles: Sequence[pin.SE3],
        com: np.ndarray,
        hand: np.ndarray | None = None,
        lean: float = 0.0,
    ) -> np.ndarray:
        """Return q, starting from the last pose.

        The hand's position is in the world [m]; the trunk leans forward by `lean` [rad] relative to
        the robot's own pose.
        """
        from pink import solve_ik

        for task, sole in zip(self.soles, soles, strict=True):
            task.set_target(sole)
        self.com.set_target(com)
        turn = pin.utils.rotate("y", lean) @ self.upright
        self.trunk.set_target(pin.SE3(turn, np.zeros(3)))
        if self.hand is not None:
            self.hand.set_target(pin.SE3(np.eye(3), hand))
        for _ in range(ROUNDS):
            step = solve_ik(self.configuration, self.tasks, 1.0, "daqp", limits=self.limits)
            q = self.configuration.integrate(step, 1.0)
            self.configuration.update(within(self.human.robot, q))  # the step is solved to 1e-6
            if self.error() < CLOSE or np.abs(step).max() < CLOSE:
                break
        if (error := self.error()) > MISSED:
            raise HeelstrikeError(
                f"{self.human.robot.name} cannot reach that far: soles, hand or centre of mass "
                f"stay {1e3 * error:.1f} mm (or mrad) off; move less far, or bend the knees more"
            )
        return np.array(self.configuration.q)

    def error(self) -> float:
        """Return the largest error of soles, centre of mass and hand."""
        errors = [task.compute_error(self.configuration) for task in self.soles]
        errors += [self.com.compute_error(self.configuration)]
        if self.hand is not None:
            errors += [self.hand.compute_error(self.configuration)[:3]]
        return max(float(np.abs(error).max()) for error in errors)


def within(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return the pose with every joint in its range; raise an error if one is far outside."""
    found = np.clip(q, robot.lower, robot.upper)
    worst = int(np.argmax(np.abs(found - q)))
    if abs(found[worst] - q[worst]) > SLACK:
        joint = next(j for j in robot.joints if j.iq <= worst < j.iq + j.nq)
        raise HeelstrikeError(
            f"joint '{joint.name}' of {robot.name} stands at {q[worst]:.4g}, outside its range, "
            f"{robot.lower[worst]:.4g} to {robot.upper[worst]:.4g}; give a pose within the ranges"
        )
    return found


def _add_frame(model: pin.Model, name: str, body: int, place: pin.SE3) -> None:
    model.addFrame(pin.Frame(name, body + 1, place, pin.FrameType.OP_FRAME))
