"""State of a scene in one evaluation of the equations of motion.

The integrator rk4 makes four evaluations in a step, the others one. One object carries the state
through the boxes of the flowchart.
"""

from __future__ import annotations

from dataclasses import dataclass

from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot
from heelstrike.scene.scene import Scene
from heelstrike.spatial.motion import MotionVector
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX
from heelstrike.step.inputs import StepInputs
from heelstrike.step.plan import StepPlan
from heelstrike.step.surfaces import SurfaceState


@dataclass(frozen=True)
class StepState:
    """State of a scene in one evaluation of the equations of motion, as symbols."""

    inputs: StepInputs
    q: SX
    """Coordinates of the robot."""
    v: SX
    """Velocities of the robot."""
    stage: float
    """Time of this evaluation since the start of the step, as a fraction of dt."""
    kinematics: Kinematics
    """Placements and velocities of the bodies, and their inertias."""
    poses: list[Transform]
    """Placements of the bodies in the world."""
    motions: dict[int, MotionVector]
    """Velocities of the bodies that take part in contacts, in world axes."""
    surfaces: list[SurfaceState]
    """Surfaces of the scene at this time."""

    @property
    def program(self) -> Program:
        return self.inputs.program

    @property
    def plan(self) -> StepPlan:
        return self.inputs.plan

    @property
    def scene(self) -> Scene:
        return self.plan.scene

    @property
    def robot(self) -> Robot:
        return self.plan.robot

    @property
    def dt(self) -> SX:
        """Time step [s]."""
        return self.inputs.dt

    @property
    def gravity(self) -> SX:
        """Gravity in world axes, (3,) [m/s^2]."""
        return self.inputs.gravity

    @property
    def ahead(self) -> SX | float:
        """Time from this state to that at which torques of the joints are taken [s]."""
        return self.dt if self.plan.implicit else 0.0

    @property
    def middle(self) -> SX | float:
        """Time from this state to the middle of the interval in which its forces act [s]."""
        return 0.0 if self.plan.integrator == "rk4" else 0.5 * self.dt

    @property
    def behind(self) -> SX | float:
        """Time by which velocities are behind coordinates: the symplectic step, which moves with
        the new velocity, makes them those of the middle of the last step [s]."""
        return 0.5 * self.dt if self.plan.implicit else 0.0

    @property
    def since_memory(self) -> SX:
        """Time for which the present slip has lasted since the laws' memory was written [s]."""
        return self.dt if self.plan.implicit else self.stage * self.dt
