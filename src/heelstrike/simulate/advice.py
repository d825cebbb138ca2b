"""Why a world diverged and what to try; servos that no explicit step can hold.

What a stiff law feels is 1 / lambda_max of the touching points' normal block of J H^-1 J^T, with
armature and implicit servo in H. With k = df/dd and c = df/dd' there, kappa = k dt^2 / m and
gamma = c dt / m:

    symplectic    stable iff  kappa + 2 gamma < 4
    any           stable iff the step's matrix has no eigenvalue outside the unit circle

What is advised is half of that step: an undamped impact may gain 1 / sqrt(1 - kappa/4) in speed,
which has no bound at the limit and is 1.15 at half of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.stability import largest_step, slopes, step_radius
from heelstrike.dynamics.effective_mass import (
    contact_mass,
    joint_inertias,
    kinetic_energy,
)
from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import Robot
from heelstrike.scene.servo import ServoPlan
from heelstrike.simulate.place import meetings

MARGIN = 0.5
"""Of the largest stable step: what is advised. Near the limit every impact may gain."""
GOING_IN = 1e-9
"""Least rate of penetration at which a law is judged [m/s]: dampers may work one way only."""

GAIN = 0.1
"""Of the kinetic energy: work of the ground that is told."""
LIFT = 0.01
"""Height of a lift by such work that is told [m]."""

Felt: TypeAlias = Callable[[float], tuple[float, float, float]]
"""Stiffness [N/m], damping [N s/m] and mass [kg] in steps of a certain size."""

if TYPE_CHECKING:
    from heelstrike.simulate.simulator import Simulator
    from heelstrike.step.plan import StepPlan


def check_explicit_servo(robot: Robot, q: np.ndarray, kd: np.ndarray, dt: float) -> None:
    """Refuses damping that turns a joint's velocity round in every step: kd dt / I > 2."""
    ratio = kd * dt / joint_inertias(robot, q)
    worst = int(np.argmax(ratio))
    if ratio[worst] > 2:
        joint = next(j for j in robot.joints if j.iv <= worst < j.iv + j.nv)
        raise HeelstrikeError(
            f"an explicit servo cannot damp joint '{joint.name}' in steps of {dt:g} s: kd dt / I = "
            f"{ratio[worst]:.2g} > 2",
            path="kd",
            remedy=f"choose dt <= {2 * dt / ratio[worst]:.2g} s, a smaller kd, or "
            'integrator="symplectic", whose servo is implicit',
        )


def explain_gain(
    sim: Simulator, plan: StepPlan, began: Mapping[str, np.ndarray], worked: np.ndarray
) -> str | None:
    """A sentence if ground that stands still did work on the robot: what passive ground cannot.

    `worked` is what normal forces did in each world [J] since it was at `began`; ground that was
    pressed in then may give back what it held, and is not told. Nor is less than a tenth of the
    kinetic energy, or than it takes to lift the robot by 1 cm: a fixed step gains a little by luck.
    """
    if any(law.couples for law in plan.scene.laws.values()):
        return None
    moving = any(
        sim.parameters[f"{surface.name}.{speed}"].any()
        for surface in plan.scene.surfaces
        for speed in surface.velocity_names
    )
    if moving or not plan.scene.surfaces:
        return None
    world = int(np.argmax(worked))
    weight = sim.robot.mass * float(np.linalg.norm(np.atleast_2d(sim.parameters["gravity"])[-1]))
    if worked[world] < LIFT * weight or (meetings(plan.scene, began["q"][world])[0] > 0).any():
        return None
    state = sim.state.copy()
    moved = kinetic_energy(sim.robot, state["q"][world], state["v"][world])
    if worked[world] < GAIN * moved:
        return None
    where = f" in world {world}" if sim.worlds > 1 else ""
    dt = float(np.broadcast_to(sim.parameters["dt"].ravel(), (sim.worlds,))[world])
    return (
        f"the ground did {worked[world]:.3g} J of work on the robot{where}: contact is too stiff "
        f"for steps of {dt:g} s; {_cause(sim, plan, world, dt)}"
    )


def explain(sim: Simulator, plan: StepPlan, failed: np.ndarray) -> str:
    """A few sentences about the worlds that diverged."""
    worlds = np.flatnonzero(failed >= 0)
    first = int(worlds[np.argmin(failed[worlds])])
    step = int(failed[first])
    dt = float(np.broadcast_to(sim.parameters["dt"].ravel(), (sim.worlds,))[first])
    many = f"{len(worlds)} of {sim.worlds} worlds diverged, first world {first}"
    who = many if sim.worlds > 1 else "the run diverged"
    said = f"{who} at step {step} (t = {step * dt:.4g} s) and stays as it was before"
    return f"{said}; {_cause(sim, plan, first, dt)}"


def _cause(sim: Simulator, plan: StepPlan, world: int, dt: float) -> str:
    scene = sim.scene
    general = f"try a smaller step than {dt:g} s or softer gains"
    if not scene.pairs:
        return f"nothing touches; {general}"
    depth, rate, force, q = _touch(sim, plan, world)
    touching = np.flatnonzero(depth > 0)
    if not len(touching):
        return f"nothing touched; {general}"
    worst = int(touching[np.argmax(force[touching])])
    pair = scene.pairs[worst]
    surface, law = scene.surfaces[pair.surface], scene.laws[pair.law]
    values = {
        path: np.atleast_2d(value)[-1 if len(np.atleast_2d(value)) == 1 else world]
        for path, value in sim.parameters.items()
    }
    joined = meetings(scene, q)[1]
    contacts = [joined[i] for i in touching]
    where = f"contact '{pair.point.name}' on '{surface.name}' was {1e3 * depth[worst]:.3g} mm deep"
    if not (isinstance(law, Elastic) and not law.couples):
        return f"{where}; {general}"
    path, normal = f"{pair.law}.normal.", law.normal

    def felt(at: float) -> tuple[float, float, float]:
        inward = max(float(rate[worst]), GOING_IN)
        k, c = slopes(normal, values, path, float(depth[worst]), inward, at)
        # an implicit servo weighs less in small steps
        mass = contact_mass(sim.robot, q, contacts, diagonal=implicit_terms(plan, values, at))
        return k, c, mass

    integrator = plan.integrator
    k, c, mass = felt(dt)
    if not (np.isfinite(mass) and step_radius(k, c, mass, dt, integrator) > 1 + 1e-9):
        return f"{where}; {general}"
    return (
        f"{where}, where its law has a stiffness of {k:.3g} N/m and a damping of {c:.3g} N s/m on "
        f"an effective mass of {mass:.3g} kg ({_counted(len(touching))} touched): too stiff for "
        f"steps of {dt:g} s ({integrator}); {_remedy(felt, dt, integrator)}"
    )


def _touch(
    sim: Simulator, plan: StepPlan, world: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Depths, their rates and normal forces of the pairs, and the pose: at the end, or, where the
    robot has been thrown off, the largest ones of the run and the first pose.
    """
    found = sim.observe("depth", "depth_rate", "normal_force", "q")
    depth, rate, force, q = (array[world] for array in found.values())
    if (depth > 0).any():
        return depth, rate, force, q
    state = sim.state.copy()
    peak_depth, peak_force = state["peak_depth"][world], state["peak_force"][world]
    return peak_depth, np.zeros_like(peak_depth), peak_force, plan.pose


def _remedy(felt: Felt, dt: float, integrator: str) -> str:
    def per_mass(at: float) -> tuple[float, float]:
        k, c, mass = felt(at)
        return k / mass, c / mass

    limit = largest_step(per_mass, 1.0, dt, integrator)
    if limit is None:
        return 'no step is small enough for this integrator: take "symplectic"'
    (k, c), softer = per_mass(dt), 1.0
    while step_radius(k, c, softer, dt / MARGIN, integrator) > 1 + 1e-9:  # as if it were heavier
        softer *= 1.1
    return (
        f"try dt <= {MARGIN * limit:.2g} s, half of the limit, or stiffness and damping "
        f"{softer:.2g} times smaller"
    )


def implicit_terms(
    plan: StepPlan, values: Mapping[str, np.ndarray], dt: float
) -> np.ndarray | float:
    """What an implicit servo adds to the diagonal of H, by velocity index."""
    control = plan.control
    if not (isinstance(control, ServoPlan) and control.implicit):
        return 0.0
    return dt * (values["servo.kd"] + plan.robot.damping + dt * values["servo.kp"])


def _counted(points: int) -> str:
    return "1 point" if points == 1 else f"{points} points"
