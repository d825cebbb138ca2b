"""Whether a start makes sense: nothing deep inside anything, and steps that the laws can bear.

A law that gives way is judged where the robot would rest on it: at the depth where each of the
points that touch together carries an equal share of the weight, or no more than the mass that they
feel, as a hand at a wall. Stiffness, damping and effective mass there say the largest stable step
(contact/stability.py). What is stable at rest may still diverge in an impact; what is not never
comes to rest.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from heelstrike.contact.law import SX, Contact, NormalLaw, answered
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.stability import largest_step, slopes, step_radius
from heelstrike.dynamics.effective_mass import Touching, contact_mass
from heelstrike.errors import HeelstrikeError
from heelstrike.scene.scene import Scene
from heelstrike.simulate.advice import GOING_IN, MARGIN, implicit_terms
from heelstrike.simulate.place import meetings
from heelstrike.step.plan import StepPlan

INSIDE = 0.01
"""Depth at the start that is taken for a mistake [m]."""
TOGETHER = 0.003
"""Points within this height of the lowest touch together [m]."""
SOFTEST = 0.1
"""Largest depth at which a law is judged [m]."""


class StartError(HeelstrikeError):
    """A start that cannot be simulated.

    `path` is "point" where a point starts inside a surface, and "dt" where the step is not stable.
    """

    def __init__(self, problem: str, *, path: str, law: str, remedy: str) -> None:
        """Report a problem at `law`: the surface, or the key of the material, that it concerns."""
        super().__init__(problem, path=path, remedy=remedy)
        self.law = law


def check_outside(scene: Scene, q: np.ndarray) -> None:
    """Refuses a start in which a point is deep inside a surface."""
    check_depths(scene, meetings(scene, q)[0])


def check_depths(scene: Scene, depths: np.ndarray) -> None:
    """The same, from the depths of its pairs."""
    if not len(depths) or depths.max() <= INSIDE:
        return
    pair = scene.pairs[int(np.argmax(depths))]
    surface = scene.surfaces[pair.surface]
    raise StartError(
        f"point '{pair.point.name}' starts {1e3 * depths.max():.3g} mm inside '{surface.name}'",
        path="point",
        law=surface.name,
        remedy="move the robot out of the surface, or move the surface's point",
    )


def check_step(plan: StepPlan, q: np.ndarray, dt: float) -> None:
    """Refuses steps in which the robot could not even rest on a surface."""
    depths, joined = meetings(plan.scene, q)
    for (_, name), near in together(plan.scene, depths).items():
        law = plan.scene.laws[name]
        if isinstance(law, Elastic) and not law.couples:
            _check_law(plan, name, law.normal, q, [joined[i] for i in near], dt)


def together(scene: Scene, depths: np.ndarray) -> dict[tuple[int, str], list[int]]:
    """Pairs that touch together where these are their depths, by surface and law: those near the
    deepest.
    """
    of = [(pair.surface, pair.law) for pair in scene.pairs]
    found = {}
    for place in dict.fromkeys(of):
        own = np.array([other == place for other in of])
        near = own & (depths > depths[own].max() - TOGETHER)
        found[place] = [int(i) for i in np.flatnonzero(near)]
    return found


def _check_law(
    plan: StepPlan, name: str, law: NormalLaw, q: np.ndarray, contacts: list[Touching], dt: float
) -> None:
    values = plan.parameters()

    def mass_in(at: float) -> float:
        with np.errstate(divide="ignore"):  # nothing that moves
            return contact_mass(plan.robot, q, contacts, implicit_terms(plan, values, at))

    def felt(at: float) -> tuple[float, float, float]:
        return (*slopes(law, values, f"{name}.normal.", depth, GOING_IN, at), mass_in(at))

    carried = min(plan.robot.mass / len(contacts), mass_in(dt))
    depth = rest_depth(law, carried * float(np.linalg.norm(plan.scene.gravity)), dt)
    k, c, mass = felt(dt)
    known = np.isfinite(mass) and mass > 0
    # euler gains a little at any step
    if plan.integrator != "symplectic" or not known or _stable(k, c, mass, dt):
        return

    def per_mass(at: float) -> tuple[float, float]:
        stiff, damp, felt_mass = felt(at)
        return stiff / felt_mass, damp / felt_mass

    limit = largest_step(per_mass, 1.0, dt, plan.integrator)
    most = 0.0 if limit is None else limit
    raise StartError(
        f"dt = {dt:g} s is above the largest stable step of '{name}', {most:.2g} s: at rest its "
        f"law has a stiffness of {k:.3g} N/m and a damping of {c:.3g} N s/m on an effective mass "
        f"of {mass:.3g} kg",
        path="dt",
        law=name,
        remedy=f"choose dt <= {MARGIN * most:.2g}, a softer law, or implicit = true",
    )


def _stable(k: float, c: float, mass: float, dt: float) -> bool:
    return step_radius(k, c, mass, dt, "symplectic") <= 1 + 1e-9


def rest_depth(law: NormalLaw, load: float, dt: float) -> float:
    """Where the law carries a load at rest [m], at most SOFTEST."""
    d, still, none = SX.sym("d"), SX.zeros(2), SX.zeros(law.memory_size)
    contact = Contact(d, SX(0), SX(dt), none, still, still, SX(0))
    force = ca.Function("force", [d], [answered(law.force(contact), none)[0]])
    low, high = 0.0, SOFTEST
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if float(force(middle)) < load else (low, middle)
    return max(high, 1e-9)
