"""What a simulator is told, checked, and the plan of its step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heelstrike.dynamics.integrate import INTEGRATORS
from heelstrike.errors import HeelstrikeError, ParameterError, at_path
from heelstrike.scene.controller import Controller
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo, ServoPlan
from heelstrike.scene.stops import Stops
from heelstrike.simulate.advice import check_explicit_servo
from heelstrike.simulate.target import Target, check_choice
from heelstrike.step.control import Control, Direct
from heelstrike.step.coupled import coupling_rule
from heelstrike.step.outputs import sensor_frame
from heelstrike.step.plan import StepPlan


def planned(
    scene: Scene,
    dt: float,
    control: Servo | Controller | None,
    integrator: str,
    target: Target,
    stops: Stops | None,
    sensors: Sequence[str],
) -> StepPlan:
    """The plan, from the robot's first pose."""
    if not (isinstance(dt, int | float) and 0 < dt < 10):
        raise ParameterError("dt", dt, "a time step above 0 s, such as 1e-3")
    robot = scene.robot
    sensors = (sensors,) if isinstance(sensors, str) else tuple(sensors)
    with at_path("sensors"):
        for name in sensors:
            sensor_frame(robot, name)
    pose = np.array(next(iter(robot.poses.values()), robot.neutral), dtype=float)
    implicit = integrator == "symplectic"
    own = _control(scene, control, pose, implicit, dt)
    if isinstance(own, ServoPlan) and not implicit:
        check_explicit_servo(robot, pose, own.kd, dt)
    ends = stops.resolved(robot) if stops is not None else None
    rule = coupling_rule(scene)
    exact = rule is not None and rule.exact
    tolerance = 1e-5 if target.dtype != "float64" else 1e-11 if exact else 1e-9
    return StepPlan(scene, integrator, own, ends, sensors, tolerance=tolerance, pose=pose)


def check_scene(scene: object, integrator: str) -> None:
    """Refuses laws that the integrator cannot serve."""
    if not isinstance(scene, Scene):
        raise HeelstrikeError(f"a simulator takes a scene, hs.Scene(robot, ...), not {scene!r}")
    check_choice("integrator", integrator, INTEGRATORS)
    laws = scene.laws.values()
    if integrator == "rk4" and any(law.couples and not law.accelerates for law in laws):
        raise HeelstrikeError(
            "rk4 takes elastic laws, and hs.FeedbackLinearized(form='acceleration'); this law "
            "changes velocities within a step",
            path="integrator",
            value=integrator,
            remedy='pass integrator="symplectic"',
        )
    if integrator == "euler" and any(law.implicit for law in laws):
        raise HeelstrikeError(
            "an implicit elastic law needs the position after the step, which euler takes from "
            "the old velocity",
            path="integrator",
            value=integrator,
            remedy='pass integrator="symplectic"',
        )
    coupling_rule(scene)


def _control(scene: Scene, control: object, pose: np.ndarray, implicit: bool, dt: float) -> Control:
    robot = scene.robot
    if control is None:
        return Direct(np.zeros(robot.nv))
    if isinstance(control, Servo):
        return control.resolved(robot, pose, implicit, dt)
    if isinstance(control, Controller):
        return control
    raise HeelstrikeError(
        f"control is hs.Servo(...), a function decorated with @hs.controller, or None, not "
        f"{control!r:.60}"
    )
