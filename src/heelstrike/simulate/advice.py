"""Explanations of runs that diverged or gained energy from the ground, with a remedy.

An elastic law is evaluated at its deepest contact; start.py has the limit of stability.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.stability import step_radius
from heelstrike.dynamics.effective_mass import joint_inertias, kinetic_energy
from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.robot.cord_mass import cord_mass, largest_step
from heelstrike.robot.overlaps import overlaps
from heelstrike.robot.robot import Robot
from heelstrike.scene.scene import Scene
from heelstrike.simulate.start import MIN_RATE, SAFE_SHARE, CompliantContact, contacts_at
from heelstrike.step.inputs import LOST_CONTACTS, PASSED_CONTACTS

if TYPE_CHECKING:
    from heelstrike.simulate.simulator import Simulator

MIN_GAIN = 0.1
"""Ratio of ground work to kinetic energy above which a warning is raised."""
MIN_LIFT = 0.01
"""Height to which ground work must be able to lift the robot before a warning is raised [m]."""


def check_explicit_servo(robot: Robot, q: np.ndarray, kd: np.ndarray, dt: float) -> None:
    """Raise if explicit damping reverses a joint's velocity in every step: kd dt / I > 2."""
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


def warn_of_springs(robot: Robot, q: np.ndarray, dt: float) -> None:
    """Warn of springs between bodies that a step of dt cannot hold, around a pose."""
    for tendon in robot.spatial_tendons:
        if not (tendon.stiffness or tendon.damping):
            continue
        limit = largest_step(tendon, cord_mass(robot, tendon.path, q))
        if dt > limit:
            warnings.warn(
                f"spring '{tendon.name}' of {tendon.stiffness:g} N/m and {tendon.damping:g} N s/m "
                f"may diverge in steps of {dt:g} s; choose dt <= {limit:.2g} s, or a softer one",
                HeelstrikeWarning,
                stacklevel=4,
            )


def explanation(sim: Simulator, before: Mapping[str, np.ndarray] | None) -> str | None:
    """Return a warning about a run that diverged, lost contacts or gained energy; None: it is fine.

    Args:
        sim: the simulator after the run.
        before: state before it; None after single steps, which are checked for divergence only.
    """
    failed = sim.failed
    if (failed >= 0).any():
        return explain_failure(sim, failed)
    if before is None:
        return None
    work = sim.compiled.batch().get("work")[:, 0] - before["work"][:, 0]
    missed = explain_lost(sim, before) or explain_passed(sim, before)
    return missed or explain_gain(sim, before, work)


def counts_of(scene: Scene) -> list[str]:
    """Return the names of the memories that count contacts that were missed."""
    counts = [] if scene.shape_contact is None else [LOST_CONTACTS]
    return counts + ([PASSED_CONTACTS] if _thin(scene) or _shapes_pass(scene) else [])


def _thin(scene: Scene) -> list[int]:
    """Return the surfaces that points may pass under elastic laws."""
    pairs = (pair for pair in scene.pairs if pair.carrier is None)
    elastic = {pair.surface for pair in pairs if not scene.laws[pair.law].couples}
    return sorted(k for k in elastic if scene.surfaces[k].thickness is not None)


def _shapes_pass(scene: Scene) -> bool:
    """Return whether shapes may pass one another, under an elastic law."""
    contact = scene.shape_contact
    return contact is not None and not scene.laws[contact.law].couples


def explain_passed(sim: Simulator, before: Mapping[str, np.ndarray]) -> str | None:
    """Return a warning if points passed the middle of a box, which then pushes them out behind, or
    shapes that of others.
    """
    if PASSED_CONTACTS not in counts_of(sim.scene):
        return None
    passed = (sim.compiled.batch().get(PASSED_CONTACTS) - before[PASSED_CONTACTS])[:, 0]
    if not passed.any():
        return None
    worlds = int(np.count_nonzero(passed))
    where = f" in {worlds} of {sim.worlds} worlds" if sim.worlds > 1 else ""
    thin = [f"'{sim.scene.surfaces[k].name}'" for k in _thin(sim.scene)]
    names = " or ".join([*thin, *(["other shapes"] if _shapes_pass(sim.scene) else [])])
    return (
        f"contacts passed the middle of {names} {int(passed.sum())} times{where}, and leave by the "
        "other side: elastic laws do not stop what moves further in a step than they are thick; "
        "use hs.Rigid or hs.Signorini, thicker shapes, a stiffer law or a smaller step"
    )


def explain_failure(sim: Simulator, failed: np.ndarray) -> str:
    """Return a warning about the worlds that diverged.

    Args:
        sim: the simulator after the run.
        failed: step at which each world diverged, -1 where it did not, (worlds,).
    """
    worlds = np.flatnonzero(failed >= 0)
    first = int(worlds[np.argmin(failed[worlds])])
    step, dt = int(failed[first]), float(sim.dt[first])
    many = f"{len(worlds)} of {sim.worlds} worlds diverged, first world {first}"
    who = many if sim.worlds > 1 else "the run diverged"
    return (
        f"{who} at step {step} (t = {step * dt:.4g} s); the last finite state is kept; "
        f"{_cause(sim, first, dt)}"
    )


def explain_gain(sim: Simulator, before: Mapping[str, np.ndarray], work: np.ndarray) -> str | None:
    """Return a warning if ground at rest did work on the robot, which passive ground cannot.

    Work below a tenth of the kinetic energy, or too small to lift the robot by 1 cm, is ignored: a
    fixed step gains a little by chance. So are ground and bodies that were compressed at the start,
    since they may release what they stored.

    Args:
        sim: the simulator after the run.
        before: state at the start of the run.
        work: work of normal forces on the robot in each world since then [J].
    """
    scene = sim.scene
    if not scene.surfaces or any(law.couples for law in scene.laws.values()):
        return None
    speeds = [f"{s.name}.{name}" for s in scene.surfaces for name in s.velocity_names]
    if any(sim.parameters[path].any() for path in speeds):
        return None
    world = int(np.argmax(work))
    weight = sim.robot.mass * float(np.linalg.norm(np.atleast_2d(sim.parameters["gravity"])[-1]))
    if work[world] <= MIN_LIFT * weight or (contacts_at(scene, before["q"][world])[0] > 0).any():
        return None
    state = sim.state.copy()
    if work[world] < MIN_GAIN * kinetic_energy(sim.robot, state["q"][world], state["v"][world]):
        return None
    contact = scene.shape_contact
    if contact is not None and contact.pairs:
        pushed = overlaps(sim.robot, before["q"][world]).keys() - set(sim.robot.overlapping)
        if pushed:
            return None
    where = f" in world {world}" if sim.worlds > 1 else ""
    dt = float(sim.dt[world])
    return (
        f"the ground did {work[world]:.3g} J of work on the robot{where}: contact is too stiff "
        f"for steps of {dt:g} s; {_cause(sim, world, dt)}"
    )


def explain_lost(sim: Simulator, before: Mapping[str, np.ndarray]) -> str | None:
    """Return a warning if more shapes touched others, or edges, than there are slots for."""
    contact = sim.scene.shape_contact
    if contact is None:
        return None
    lost = (sim.compiled.batch().get(LOST_CONTACTS) - before[LOST_CONTACTS])[:, 0]
    if not lost.any():
        return None
    worlds = int(np.count_nonzero(lost))
    where = f" in {worlds} of {sim.worlds} worlds" if sim.worlds > 1 else ""
    return (
        f"{int(lost.sum())} contacts of shapes of {sim.robot.name} were left out{where}: at most "
        f"{contact.slots} pairs may touch at a time; name the shapes that matter, "
        "hs.load(..., collide=[...]), or pass self_contact=False or edges=False to hs.Scene"
    )


def _cause(sim: Simulator, world: int, dt: float) -> str:
    """Return the likely cause in the deepest contact of a world, and a remedy."""
    general = f"try a step smaller than {dt:g} s, or smaller gains"
    if not sim.scene.pairs:
        return f"the scene has no contacts; {general}"
    depth, rate, force, q = _deepest(sim, world)
    touching = np.flatnonzero(depth > 0)
    if not len(touching):
        return f"nothing touched; {general}"
    worst = int(touching[np.argmax(force[touching])])
    pair = sim.scene.pairs[worst]
    surface, law = sim.scene.surfaces[pair.surface], sim.scene.laws[pair.law]
    where = f"contact '{pair.point.name}' on '{surface.name}' was {1e3 * depth[worst]:.3g} mm deep"
    if not isinstance(law, Elastic) or law.couples:
        return f"{where}; {general}"
    joined = contacts_at(sim.scene, q)[1]
    contact = CompliantContact(
        sim.plan,
        sim.parameters.of_world(world),
        law.normal,
        f"{pair.law}.normal.",
        q,
        [joined[i] for i in touching],
        float(depth[worst]),
        max(float(rate[worst]), MIN_RATE),
    )
    if not contact.unstable(dt):
        return f"{where}; {general}"
    k, c, mass = contact.terms(dt)
    points = "1 point" if len(touching) == 1 else f"{len(touching)} points"
    return (
        f"{where}, where its law has a stiffness of {k:.3g} N/m and a damping of {c:.3g} N s/m on "
        f"an effective mass of {mass:.3g} kg ({points} touched): too stiff for steps of {dt:g} s "
        f"({sim.plan.integrator}); {_remedy(contact, dt)}"
    )


def _deepest(sim: Simulator, world: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return depths, their rates and normal forces of the pairs, and the pose.

    They are those at the end of the run or, if nothing touches any more, the largest depths and
    forces of the run and the first pose.
    """
    found = sim.observe("depth", "depth_rate", "normal_force", "q")
    depth, rate, force, q = (array[world] for array in found.values())
    if (depth > 0).any():
        return depth, rate, force, q
    state = sim.state.copy()
    peak_depth, peak_force = state["peak_depth"][world], state["peak_force"][world]
    return peak_depth, np.zeros_like(peak_depth), peak_force, sim.plan.pose


def _remedy(contact: CompliantContact, dt: float) -> str:
    """Return the step, or the softening, that would be stable with a margin."""
    integrator, limit = contact.plan.integrator, contact.largest_step(dt)
    if limit is None:
        return 'no step is small enough for this integrator; choose integrator="symplectic"'
    (k, c), softer = contact.per_mass(dt), 1.0
    while step_radius(k, c, softer, dt / SAFE_SHARE, integrator) > 1 + 1e-9:  # as if heavier
        softer *= 1.1
    return (
        f"try dt <= {SAFE_SHARE * limit:.2g} s, half of the limit, or stiffness and damping "
        f"{softer:.2g} times smaller"
    )
