"""Options of a simulator and of a run, checked: the plan of the step, its count, the variables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heelstrike.checks import MAX_COUNT, count, names, number
from heelstrike.contact.surface_law import CouplingRule
from heelstrike.dynamics.integrate import INTEGRATORS
from heelstrike.dynamics.loop_mobility import SOFTNESS, SOFTNESS_SINGLE
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.machine import free_memory
from heelstrike.record.variables import check_variables, standard
from heelstrike.scene.actuators import Actuators
from heelstrike.scene.controller import Controller
from heelstrike.scene.motors import Motors
from heelstrike.scene.scene import Scene
from heelstrike.scene.sensor import Sensor
from heelstrike.scene.servo import Servo, ServoPlan
from heelstrike.scene.stops import Stops
from heelstrike.simulate.advice import check_explicit_servo, warn_of_springs
from heelstrike.simulate.closed_start import closed_pose
from heelstrike.simulate.sensors import with_sensors
from heelstrike.simulate.target import CompileTarget, check_choice
from heelstrike.step.control import Control, Direct
from heelstrike.step.plan import StepPlan, coupling_rule

MANY_WORLDS = 64
"""Number of worlds above which a run records the end alone and uses all cores by default."""
MAX_STEP = 10.0
"""Time steps are below this [s]."""


def step_plan(
    scene: Scene,
    dt: float,
    control: Servo | Actuators | Controller | None,
    integrator: str,
    target: CompileTarget,
    stops: Stops | None,
    sensors: Sequence[str | Sensor],
    motors: Motors | None = None,
) -> StepPlan:
    """Return the plan of a simulator's step; the arguments are those of `Simulator`."""
    check_scene(scene, integrator)
    dt = number("dt", dt, "a time step above 0 s, such as 1e-3", above=0.0, below=MAX_STEP)
    if stops is not None and not isinstance(stops, Stops):
        raise ParameterError("stops", stops, "hs.Stops(...), or None")
    if motors is not None and not isinstance(motors, Motors):
        raise ParameterError("motors", motors, "hs.Motors(...), or None")
    if motors is not None and isinstance(control, Actuators):
        raise HeelstrikeError(
            "hs.Actuators() are the motors of the robot's file",
            path="motors",
            remedy="drive the joints by hs.Servo(...), a controller or sim.torque",
        )
    robot = scene.robot
    pose = np.array(next(iter(robot.poses.values()), robot.neutral), dtype=float)
    pose = closed_pose(robot, pose)
    implicit = integrator == "symplectic"
    own = _control(scene, control, pose, implicit, dt)
    if isinstance(own, ServoPlan) and not implicit:
        check_explicit_servo(robot, pose, own.kd, dt)
    warn_of_springs(robot, pose, dt)
    ends = stops.resolved(robot) if stops is not None else None
    tolerance = _tolerance(coupling_rule(scene), target.dtype)
    inertia = 0.0
    if isinstance(own, ServoPlan) and own.implicit:
        inertia = dt * (np.asarray(own.kd) + robot.damping + dt * np.asarray(own.kp))
    plan = StepPlan(
        scene,
        integrator,
        own,
        ends,
        motors=None if motors is None else motors.resolved(robot, dt),
        tolerance=tolerance,
        softness=SOFTNESS if target.dtype == "float64" else SOFTNESS_SINGLE,
        pose=pose,
        servo_inertia=inertia,
    )
    return with_sensors(plan, sensors, dt)


def _tolerance(rule: CouplingRule | None, dtype: str) -> float:
    """Return the relative tolerance of the coupled problem [-]."""
    if dtype != "float64":
        literal = rule is not None and rule.literal
        return 1e-5 if literal else 3e-6
    return 1e-11 if rule is not None and rule.exact else 1e-10


def check_scene(scene: object, integrator: str) -> None:
    """Raise if this is no scene, or if the integrator cannot serve its laws."""
    if not isinstance(scene, Scene):
        raise HeelstrikeError(
            f"a simulator takes a scene, not an object of type {type(scene).__name__}",
            path="scene",
            value=scene,
            remedy="pass hs.Scene(robot, surface, ...)",
        )
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
    rule = coupling_rule(scene)
    if not scene.robot.constraints:
        return
    if integrator == "euler":
        raise HeelstrikeError(
            f"{integrator} does not hold equality constraints, of which {scene.robot.name} has "
            f"{len(scene.robot.constraints)}",
            path="integrator",
            value=integrator,
            remedy='pass integrator="symplectic" or "rk4"',
        )
    if rule is not None and rule.literal:
        raise HeelstrikeError(
            f"literal rules of papers do not hold equality constraints, of which "
            f"{scene.robot.name} has {len(scene.robot.constraints)}",
            path="rule",
            remedy="choose the law's default rule",
        )


def _control(scene: Scene, control: object, pose: np.ndarray, implicit: bool, dt: float) -> Control:
    """Return the control of the plan."""
    robot = scene.robot
    if control is None:
        return Direct(np.zeros(robot.nv))
    if isinstance(control, Servo):
        return control.resolved(robot, pose, implicit, dt)
    if isinstance(control, Actuators):
        return control.resolved(robot)
    if isinstance(control, Controller):
        return control
    allowed = "hs.Servo(...), hs.Actuators(...), a function decorated with @hs.controller, or None"
    raise ParameterError("control", control, allowed)


def world_count(worlds: int, numbers: int) -> int:
    """Return the number of worlds of a simulator, checked before anything has their size.

    Args:
        worlds: number of worlds.
        numbers: numbers in the state of a world. Together with all else that a world holds they
            are checked once more, when the step is compiled.
    """
    need, free = 4 * numbers * count("worlds", worlds), free_memory()
    if need > free:
        raise HeelstrikeError(
            f"{worlds} worlds need at least {need / 1e9:.3g} GB of memory, and {free / 1e9:.3g} GB "
            "are free",
            path="worlds",
            value=worlds,
            remedy=f"{free // (4 * numbers)} worlds fit at most",
        )
    return worlds


def step_count(duration: float | None, steps: int | None, dt: np.ndarray) -> int:
    """Return the number of steps of a run.

    Args:
        duration: simulated time [s], or None.
        steps: number of steps, or None; just one of the two is passed.
        dt: time step of each world [s].
    """
    if (duration is None) == (steps is None):
        raise HeelstrikeError(
            "a run takes either a duration [s] or a number of steps",
            path="duration",
            value=duration,
            remedy="pass duration or steps=" + ("" if steps is None else ", not both"),
        )
    if steps is not None:
        return count("steps", steps)
    if np.ptp(dt) > 0:
        raise HeelstrikeError(
            "dt differs from world to world, so that a duration gives no number of steps",
            path="duration",
            value=duration,
            remedy="pass steps= in place of a duration",
        )
    time = number("duration", duration, "a finite time above 0 s", above=0.0)
    return count("steps", max(1, round(min(time / float(dt[0]), 2.0 * MAX_COUNT))))


def recorded_variables(
    plan: StepPlan, record: str | Sequence[str] | None, worlds: int
) -> tuple[str, ...]:
    """Return the variables that `record` names (see `Simulator.run`), checked."""
    if record is None:
        record = "final" if worlds > MANY_WORLDS else "standard"
    if isinstance(record, str) and record == "final":
        return ()
    if isinstance(record, str) and record == "standard":
        return standard(plan.scene, [sensor.name for sensor in plan.sensors])
    chosen = names("record", record)
    check_variables(plan.scene, chosen, [sensor.name for sensor in plan.sensors])
    return chosen
