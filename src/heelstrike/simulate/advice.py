"""Why a world diverged and what to try; servos that no explicit step can hold.

What a stiff law feels is 1 / lambda_max of the touching points' normal block of J H^-1 J^T, with
armature and implicit servo in H. With k = df/dd and c = df/dd' there, kappa = k dt^2 / m and
gamma = c dt / m:

    symplectic    stable iff  kappa + 2 gamma < 4
    any           stable iff the step's matrix has no eigenvalue outside the unit circle
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heelstrike.contact.stability import largest_step, slopes, step_radius
from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import Robot
from heelstrike.simulate.inertia import contact_mass, joint_inertias
from heelstrike.simulate.servo import ServoPlan

if TYPE_CHECKING:
    from heelstrike.simulate.simulator import Simulator
    from heelstrike.simulate.step import StepPlan


def check_explicit_servo(robot: Robot, q: np.ndarray, kd: np.ndarray, dt: float) -> None:
    """Refuses damping that turns a joint's velocity round in every step: kd dt / I > 2."""
    ratio = kd * dt / joint_inertias(robot, q)
    worst = int(np.argmax(ratio))
    if ratio[worst] > 2:
        joint = next(j for j in robot.joints if j.iv <= worst < j.iv + j.nv)
        raise HeelstrikeError(
            f"an explicit servo cannot damp joint '{joint.name}' in steps of {dt:g} s: kd dt / I = "
            f"{ratio[worst]:.2g} > 2; take dt <= {2 * dt / ratio[worst]:.2g} s, less kd, or "
            'integrator="symplectic", whose servo is implicit'
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
    robot, scene = sim.robot, sim.scene
    general = f"try a smaller step than {dt:g} s or softer gains"
    if not scene.pairs:
        return f"nothing touches; {general}"
    found = sim.observe("depth", "depth_rate", "normal_force")
    depth, rate = found["depth"][world], found["depth_rate"][world]
    touching = np.flatnonzero(depth > 0)
    if not len(touching):
        return f"nothing touched at that moment; {general}"
    worst = int(touching[np.argmax(found["normal_force"][world][touching])])
    pair = scene.pairs[worst]
    surface = scene.surfaces[pair.surface]
    values = {
        path: np.atleast_2d(value)[-1 if len(np.atleast_2d(value)) == 1 else world]
        for path, value in sim.parameters.items()
    }
    q = sim.state["q"] if sim.worlds == 1 else sim.state["q"][world]
    points = [
        (p.point.body, p.point.position, scene.surfaces[p.surface].axes[2])
        for p in (scene.pairs[i] for i in touching)
    ]
    mass = contact_mass(robot, q, points, diagonal=_implicit(plan, values, dt))

    def law(at: float) -> tuple[float, float]:
        return slopes(
            surface.law.normal,
            values,
            f"{surface.name}.normal.",
            float(depth[worst]),
            float(rate[worst]),
            at,
        )

    integrator = plan.integrator
    k, c = law(dt)
    where = f"contact '{pair.name}' on '{surface.name}' was {1e3 * depth[worst]:.3g} mm deep"
    if not (np.isfinite(mass) and step_radius(k, c, mass, dt, integrator) > 1 + 1e-9):
        return f"{where}; {general}"
    return (
        f"{where}, where its law has a stiffness of {k:.3g} N/m and a damping of {c:.3g} N s/m on "
        f"an effective mass of {mass:.3g} kg ({len(touching)} points touched): too stiff for steps "
        f"of {dt:g} s ({integrator}); {_remedy(law, mass, dt, integrator)}"
    )


def _remedy(law: object, mass: float, dt: float, integrator: str) -> str:
    step = largest_step(law, mass, dt, integrator)  # type: ignore[arg-type]
    if step is None:
        return 'no step is small enough for this integrator: take "symplectic"'
    return f"try dt <= {step:.2g} s, or stiffness and damping {dt / step:.2g} times smaller"


def _implicit(plan: StepPlan, values: dict[str, np.ndarray], dt: float) -> np.ndarray | float:
    control = plan.control
    if not (isinstance(control, ServoPlan) and control.implicit):
        return 0.0
    return dt * (values["servo.kd"] + plan.robot.damping + dt * values["servo.kp"])
