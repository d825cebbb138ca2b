"""Validation of run-time parameters: what construction refuses, a running simulator refuses too.

A value is checked when it is assigned: its law, surface or stops are built anew with it and with
symbols in place of all other parameters. Relations between parameters, such as mu_k <= mu_s, are
checked before the next step, because parameters that change together are assigned one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.parameters import parameters, with_values
from heelstrike.scene.motors import MotorPlan
from heelstrike.scene.sensor import MAX_SEED, SEED
from heelstrike.scene.servo import NO_LIMIT, ServoPlan, driven
from heelstrike.simulate.run_options import MAX_STEP
from heelstrike.spatial.vector import SX
from heelstrike.step.control import MOTORS
from heelstrike.step.freed import ARMATURE, INERTIA, is_physical
from heelstrike.step.plan import StepPlan, mass_path

RANGES = {
    "dt": (0.0, MAX_STEP, f"a time step above 0 and below {MAX_STEP:g} s"),
    "solver.tolerance": (0.0, 1.0, "a number above 0 and below 1"),
    "solver.compliance": (0.0, np.inf, "numbers above 0 [1/kg]"),
    SEED: (-1.0, MAX_SEED, f"integers from 0 to {MAX_SEED - 1}"),
}
"""Open intervals of parameters that belong to no law, surface or servo."""
SERVO = {"kp": 1e12, "kd": 1e12, "limit": np.inf, "delay": 1e3}
"""Largest values of a servo's parameters that must not be below 0."""

CURVE = ("stall_torque", "no_load_speed")
"""Numbers of a motor that must be above 0 where it has them."""

PHYSICAL = "mass above 0, centre of mass, and moments xx yy zz xy xz yz that a body can have"
"""What ten numbers of an inertia must be."""
MAX_TRIED = 64
"""Largest number of worlds, evenly chosen, for which relations in a user's law are checked."""


def check_value(plan: StepPlan, path: str, value: np.ndarray) -> None:
    """Raise ParameterError if a value, (size,) or (worlds, size), is out of its range."""
    least, most, allowed = RANGES.get(path, (-np.inf, np.inf, ""))
    if path in [mass_path(name) for name in plan.varied]:
        least, most, allowed = 0.0, 1e9, "a mass above 0 kg"
    if any(path in sensor.parameters() for sensor in plan.sensors):
        _require(path, value, value >= 0, "numbers of at least 0")
    if path in plan.freed:
        least, allowed = (0.0, "a number above 0") if value.shape[-1] == 1 else (least, "")
        if path.endswith(ARMATURE):
            least, allowed = -1e-300, "a number of at least 0"
    _require(path, value, (value > least) & (value < most), allowed)
    if path in plan.freed and path.endswith(INERTIA):
        wrong = np.atleast_2d(value)[~np.atleast_1d(is_physical(value))]
        if len(wrong):
            raise ParameterError(path, wrong[0].tolist(), PHYSICAL)
    if path.startswith("servo.") and isinstance(plan.control, ServoPlan):
        _check_servo(plan, plan.control, path, value)
    if path.startswith(MOTORS) and plan.motors is not None:
        _check_motors(plan, plan.motors, path, value)
    node, own = _node(plan, path)
    if node is not None:
        others = {name: SX.sym("x", x.size) for name, x in parameters(node, own).items()}
        _rebuild(node, own, others | {path: value}, path)


def check_relations(
    plan: StepPlan, values: Mapping[str, np.ndarray], changed: Iterable[str]
) -> None:
    """Raise ParameterError if parameters that were changed do not go with the others."""
    changed = list(changed)
    if {"dt", f"{MOTORS}delay"} & set(changed):
        _check_delay(plan, values)
    for own, path in {_node(plan, path)[1]: path for path in changed}.items():
        node = _node(plan, path)[0]
        if node is None:
            continue
        _rebuild(node, own, {name: values[name] for name in parameters(node, own)}, "")


def _node(plan: StepPlan, path: str) -> tuple[object, str]:
    """Return the surface, material or stops that a parameter belongs to, and their prefix."""
    nodes: dict[str, object] = {s.name: s for s in plan.scene.surfaces}
    nodes.update(plan.scene.materials)
    if plan.stops is not None:
        nodes["stops"] = plan.stops
    return nodes.get(path.partition(".")[0]), f"{path.partition('.')[0]}."


def _rebuild(node: object, own: str, values: Mapping[str, object], path: str) -> None:
    """Build a node with other values, arrays (size,) or (worlds, size) or symbols.

    Errors name the whole path: `path`, or that of the field at fault.
    """
    arrays = {name: x for name, x in values.items() if isinstance(x, np.ndarray)}
    try:
        try:
            with_values(node, {**values, **{n: _passed(x) for n, x in arrays.items()}}, own)
        except (TypeError, ValueError, RuntimeError):  # a law of the user's takes one world
            worlds = max(len(x) if x.ndim == 2 else 1 for x in arrays.values())
            for world in np.unique(np.linspace(0, worlds - 1, MAX_TRIED).astype(int)):
                row = {n: _passed(x[world] if x.ndim == 2 else x) for n, x in arrays.items()}
                with_values(node, {**values, **row}, own)
    except ParameterError as error:  # which knows its field, not the whole path
        allowed, remedy = error.allowed or "", error.remedy or ""
        where = path or next((p for p in values if p.endswith(f".{error.path}")), error.path or own)
        raise ParameterError(where, error.value, allowed, remedy) from error


def _passed(value: np.ndarray) -> object:
    """Return a value as fields hold it: a number, a vector, or an array with one row per world."""
    if value.shape[-1] > 1:
        return value
    return float(value[0]) if value.shape == (1,) else value[:, 0]


def _check_servo(plan: StepPlan, servo: ServoPlan, path: str, value: np.ndarray) -> None:
    """Raise for a gain or limit out of range, and where the compiled step would not limit it."""
    name = path.removeprefix("servo.")
    if name in SERVO:
        _require(path, value, (value >= 0) & (value <= SERVO[name]), "numbers of at least 0")
    if name not in ("kp", "kd", "limit"):
        return
    robot = plan.robot
    unlimited = ~np.isin(np.arange(robot.nv), servo.limited) & (driven(robot) > 0)
    if name == "limit":
        wants = (value < NO_LIMIT) & ((servo.kp > 0) | (servo.kd > 0))
    else:
        wants = (value > 0) & (servo.limit < NO_LIMIT)
    found = np.flatnonzero((np.atleast_2d(wants) & unlimited).any(axis=0))
    if len(found):
        joint = next(x.name for x in robot.joints if x.iv <= found[0] < x.iv + x.nv)
        raise HeelstrikeError(
            f"{path}: the compiled step does not limit the torque of joint '{joint}'",
            path=path,
            value=value,
            remedy="pass gains and limit of this joint to hs.Servo",
        )


def _check_motors(plan: StepPlan, motors: MotorPlan, path: str, value: np.ndarray) -> None:
    """Raise for a number of a motor out of range, or of a joint that is compiled without."""
    name = path.removeprefix(MOTORS)
    own = np.isin(np.arange(plan.robot.nv), motors.parts()[name])
    _require(path, value, value >= 0, "numbers of at least 0")
    _require(path, value, (value > 0) | ~own | (name not in CURVE), "numbers above 0")
    _require(path, value, (value < 1) | (name != "load_friction"), "numbers below 1")
    found = np.flatnonzero((np.atleast_2d(value > 0) & ~own).any(axis=0))
    if len(found):
        joint = next(x.name for x in plan.robot.joints if x.iv <= found[0] < x.iv + x.nv)
        raise HeelstrikeError(
            f"{path}: joint '{joint}' is compiled without {name}",
            path=path,
            value=value,
            remedy=f"pass {name} of this joint to hs.Motors",
        )


def _check_delay(plan: StepPlan, values: Mapping[str, np.ndarray]) -> None:
    """Raise if commands are to be later than the compiled step remembers them."""
    path = f"{MOTORS}delay"
    if plan.motors is None or path not in values:
        return
    longest, steps = values[path].max(axis=-1) / values["dt"].ravel(), plan.motors.steps
    if np.any(longest > steps + 0.5):
        allowed = f"delays of up to {steps} steps, {steps * values['dt'].min():g} s"
        found = float(values[path].max())
        raise ParameterError(path, found, allowed, "pass max_delay to hs.Motors")


def _require(path: str, value: np.ndarray, fits: np.ndarray, allowed: str) -> None:
    if not np.all(fits):
        raise ParameterError(path, float(value[~fits].flat[0]), allowed)
