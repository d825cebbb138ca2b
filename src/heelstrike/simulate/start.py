"""Contacts of a robot in a pose, in numbers, and checks of the state that a run starts from.

A compliant law is stable in steps of dt if a mass m on its spring and damper is. With m the
effective mass 1 / lambda_max of the normal block of J H^-1 J^T of the points that touch together,
armature and implicit servo in H, and k = df/dd, c = df/dd' of the law (contact/stability.py):

    symplectic    stable iff  k dt^2 / m + 2 c dt / m < 4
    any           stable iff the step's matrix has no eigenvalue outside the unit circle

At the start k and c are taken at the depth where the robot would rest: each of the points carries
an equal share of the weight, but no more than the effective mass (a hand at a wall). What is stable
at rest may still diverge in an impact; what is not stable never comes to rest. Bristles have k_t
and c_t, and the effective mass along the surface.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pinocchio as pin

from heelstrike.contact.law import SX, Contact, NormalLaw, force_and_memory
from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.stability import largest_step, slopes, step_radius
from heelstrike.dynamics.effective_mass import ActiveContact, contact_mass
from heelstrike.errors import HeelstrikeError, HeelstrikeWarning
from heelstrike.robot.convert import to_pinocchio
from heelstrike.robot.overlaps import overlaps
from heelstrike.robot.robot import WORLD
from heelstrike.scene.deepest import DeepestPoints
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import ServoPlan
from heelstrike.scene.surfaces import Surface
from heelstrike.step.plan import StepPlan

MAX_START_DEPTH = 0.01
"""Depth of a point at the start above which an error is raised [m]."""
MAX_START_BEYOND = 0.01
"""Distance beyond a joint's range at the start above which a warning is raised [rad or m].

The torque limit of a joint deflects its stop by so much: joints that rest on their stops, as at the
end of a run that another one goes on from, are nearer.
"""
SAME_HEIGHT = 0.003
"""Points within this height of the deepest one touch together [m]."""
MAX_REST_DEPTH = 0.1
"""Largest depth at which a law is evaluated [m]."""
MIN_RATE = 1e-9
"""Smallest rate of penetration at which a law is evaluated [m/s]: dampers may act one way only."""
MAX_SYMPLECTIC = 4.0
"""Limit of k dt^2 / m + 2 c dt / m in symplectic steps [-]."""
SAFE_SHARE = 0.5
"""Share of the largest stable step that is advised.

An undamped impact may gain 1 / sqrt(1 - kappa/4) in speed, which is unbounded at the limit and 1.15
at half of it.
"""


class StartError(HeelstrikeError):
    """A start that cannot be simulated.

    `path` is "point" where a point starts inside a surface, and "dt" where the step is not stable.
    """

    def __init__(self, problem: str, *, path: str, law: str, remedy: str) -> None:
        """Report a problem at `law`: the surface, or the key of the material, that it concerns."""
        super().__init__(problem, path=path, remedy=remedy)
        self.law = law


def warn_out_of_range(plan: StepPlan, q: np.ndarray) -> None:
    """Warn of joints that start outside their ranges, where their stops push.

    Args:
        plan: the step's plan.
        q: coordinates at the start, (nq,) or (worlds, nq).
    """
    robot, poses = plan.robot, np.atleast_2d(q)
    if plan.stops is None:
        return
    joints = [j for j in robot.joints if j.nq == j.nv == 1 and plan.stops.k[j.iv] > 0]
    index = [j.iq for j in joints]
    own, lower, upper = poses[:, index], robot.lower[index], robot.upper[index]
    beyond = np.maximum(lower - own, own - upper)
    if not beyond.size or not beyond.max() > MAX_START_BEYOND:
        return
    world, k = np.unravel_index(beyond.argmax(), beyond.shape)
    unit = "m" if joints[k].kind == "prismatic" else "rad"
    others = np.count_nonzero((beyond > MAX_START_BEYOND).any(axis=0)) - 1
    where = f" in world {world}" if len(poses) > 1 else ""
    more = f"; {others} more {'joint is' if others == 1 else 'joints are'}" if others else ""
    warnings.warn(
        f"joint '{joints[k].name}' of {robot.name} starts at {own[world, k]:.4g} {unit}{where}, "
        f"{beyond[world, k]:.3g} {unit} outside its range of {lower[k]:.4g} to {upper[k]:.4g} "
        f"{unit}{more}; stops push such joints back: start them inside, or pass stops=None",
        HeelstrikeWarning,
        stacklevel=3,
    )


@dataclass(frozen=True)
class CompliantContact:
    """An elastic law at one depth, on the effective mass of points that touch together."""

    plan: StepPlan
    values: Mapping[str, np.ndarray]
    """Parameters of one world by path."""
    law: NormalLaw
    path: str
    """Prefix of the law's parameters: "ground.normal."."""
    q: np.ndarray
    contacts: Sequence[ActiveContact]
    depth: float
    """[m]"""
    rate: float = MIN_RATE
    """Rate of penetration [m/s]."""

    def mass(self, dt: float) -> float:
        """Return the effective mass [kg], which an implicit servo increases with dt."""
        diagonal = implicit_terms(self.plan, self.values, dt)
        with np.errstate(divide="ignore"):  # where nothing moves
            return contact_mass(self.plan.robot, self.q, self.contacts, diagonal)

    def terms(self, dt: float) -> tuple[float, float, float]:
        """Return stiffness [N/m], damping [N s/m] and effective mass [kg] in steps of dt."""
        k, c = slopes(self.law, self.values, self.path, self.depth, self.rate, dt)
        return k, c, self.mass(dt)

    def per_mass(self, dt: float) -> tuple[float, float]:
        """Return stiffness [1/s^2] and damping [1/s] per effective mass."""
        k, c, mass = self.terms(dt)
        return k / mass, c / mass

    def unstable(self, dt: float) -> bool:
        """Return whether every step of dt makes the motion larger."""
        k, c, mass = self.terms(dt)
        if not (np.isfinite(mass) and mass > 0):
            return False
        return step_radius(k, c, mass, dt, self.plan.integrator) > 1 + 1e-9

    def largest_step(self, dt: float) -> float | None:
        """Return the largest stable step below dt [s]; None if there is none."""
        return largest_step(self.per_mass, 1.0, dt, self.plan.integrator)


def contacts_at(
    scene: Scene, q: np.ndarray, surfaces: Sequence[Surface] | None = None
) -> tuple[np.ndarray, list[ActiveContact]]:
    """Return the signed depths [m] of a scene's pairs in a pose, and their contacts.

    `surfaces` are those of the scene with other values of their parameters; None: as they are.
    """
    model = to_pinocchio(scene.robot)
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    groups: dict[tuple[int, int, int], list[int]] = {}
    for k, pair in enumerate(scene.pairs):
        carrier = WORLD if pair.carrier is None else pair.carrier
        groups.setdefault((pair.surface, pair.part, carrier), []).append(k)
    depths, contacts = np.empty(len(scene.pairs)), {}
    for (surface, part, carrier), own in groups.items():
        points = [scene.pairs[k].point for k in own]
        bodies = [data.oMi[point.body + 1] for point in points]  # the first is the world
        frame = data.oMi[carrier + 1]
        poses = [(x.rotation, x.translation) for x in (*bodies, frame)]
        on = DeepestPoints((surfaces or scene.surfaces)[surface], part, points)
        depths[own], normals, found = on.at(poses[:-1], poses[-1])
        for k, body, normal, place in zip(own, bodies, normals, found, strict=True):
            both = (scene.pairs[k].point.body, body), (carrier, frame)
            places = [(i, pose.actInv(place)) for i, pose in both if i != WORLD]
            contacts[k] = ActiveContact(normal, places)
    return depths, [contacts[k] for k in range(len(scene.pairs))]


def touching_groups(scene: Scene, depths: np.ndarray) -> dict[tuple[int, str], list[int]]:
    """Return the pairs that touch together, those near the deepest, by surface and law."""
    keys = [(pair.surface, pair.law) for pair in scene.pairs]
    found = {}
    for key in dict.fromkeys(keys):
        own = np.array([other == key for other in keys])
        near = own & (depths > depths[own].max() - SAME_HEIGHT)
        found[key] = [int(i) for i in np.flatnonzero(near)]
    return found


def check_apart(scene: Scene, q: np.ndarray) -> None:
    """Raise StartError if a body is deep inside another one in a pose."""
    if scene.shape_contact is None or not scene.shape_contact.pairs:
        return
    shapes = scene.robot.shapes
    found = {
        pair: depth
        for pair, depth in overlaps(scene.robot, q).items()
        if tuple(sorted(shapes[i].body for i in pair)) not in scene.groups
        and pair not in scene.robot.overlapping
    }
    pair = max(found, key=lambda own: found[own], default=None)
    if pair is not None and found[pair] > MAX_START_DEPTH:
        one, other = (shapes[i].name for i in pair)
        raise StartError(
            f"shapes '{one}' and '{other}' start {1e3 * found[pair]:.3g} mm inside one another",
            path="q0",
            law=scene.shape_contact.law,
            remedy="move them apart, or pass self_contact=False to hs.Scene",
        )


def check_depths(scene: Scene, depths: np.ndarray) -> None:
    """Raise StartError if one of these depths of the scene's pairs [m] is too large."""
    if not len(depths) or depths.max() <= MAX_START_DEPTH:
        return
    pair = scene.pairs[int(np.argmax(depths))]
    surface = scene.surfaces[pair.surface]
    raise StartError(
        f"point '{pair.point.name}' starts {1e3 * depths.max():.3g} mm inside '{surface.name}'",
        path="point",
        law=surface.name,
        remedy="move the robot out of the surface (q0=sim.place(), --drop 0), or move the "
        "surface's point",
    )


def check_step(plan: StepPlan, q: np.ndarray, dt: float) -> None:
    """Raise StartError if dt [s] is too large for the robot to rest on a surface.

    Only the symplectic integrator is checked: the others gain a little at any step.
    """
    if plan.integrator != "symplectic":
        return
    depths, contacts = contacts_at(plan.scene, q)
    for (_, name), near in touching_groups(plan.scene, depths).items():
        law = plan.scene.laws[name]
        if isinstance(law, Elastic) and not law.couples:
            _check_law(plan, name, law.normal, q, [contacts[i] for i in near], dt)
            if isinstance(law.friction, Bristle):
                _check_bristle(plan, name, law.friction, q, [contacts[i] for i in near], dt)


def _check_law(
    plan: StepPlan,
    name: str,
    law: NormalLaw,
    q: np.ndarray,
    contacts: list[ActiveContact],
    dt: float,
) -> None:
    values, diagonal = plan.parameters(), implicit_terms(plan, plan.parameters(), dt)
    with np.errstate(divide="ignore"):
        mass = contact_mass(plan.robot, q, contacts, diagonal)
    load = min(plan.robot.mass / len(contacts), mass) * float(np.linalg.norm(plan.scene.gravity))
    depth = rest_depth(law, load, dt)
    contact = CompliantContact(plan, values, law, f"{name}.normal.", q, contacts, depth)
    if not contact.unstable(dt):
        return
    k, c, mass = contact.terms(dt)
    limit = contact.largest_step(dt) or 0.0
    raise StartError(
        f"dt = {dt:g} s is above the largest stable step of '{name}', {limit:.2g} s: at rest its "
        f"law has a stiffness of {k:.3g} N/m and a damping of {c:.3g} N s/m on an effective mass "
        f"of {mass:.3g} kg",
        path="dt",
        law=name,
        remedy=f"choose dt <= {SAFE_SHARE * limit:.2g}, a softer law, or implicit = true",
    )


def _check_bristle(
    plan: StepPlan,
    name: str,
    law: Bristle,
    q: np.ndarray,
    contacts: list[ActiveContact],
    dt: float,
) -> None:
    """Raise StartError if bristles in steps of dt push the points they hold further each time."""
    with np.errstate(divide="ignore"):
        diagonal = implicit_terms(plan, plan.parameters(), dt)
        mass = contact_mass(plan.robot, q, tangents(contacts), diagonal)
    if not (np.isfinite(mass) and mass > 0):
        return
    used = law.k_t * dt**2 / mass + 2 * law.c_t * dt / mass
    if used < MAX_SYMPLECTIC:
        return
    half = mass / dt
    raise StartError(
        f"k_t dt^2 / m + 2 c_t dt / m of '{name}.friction' is {used:.3g}, at which it is not "
        f"stable: c_t = {law.c_t:g} N s/m on an effective mass along the surface of m = "
        f"{mass:.3g} kg",
        path="dt",
        law=name,
        remedy=f"choose c_t <= {half:.2g} and k_t <= {half / dt:.2g} (hs.suggest does), or dt <= "
        f"{dt * MAX_SYMPLECTIC * SAFE_SHARE / used:.2g}",
    )


def tangents(contacts: list[ActiveContact]) -> list[ActiveContact]:
    """Return contacts with each of their two tangents in place of the normal."""
    found = []
    for contact in contacts:
        across = np.eye(3)[int(np.abs(contact.normal).argmin())]
        first = np.cross(contact.normal, across)
        first /= np.linalg.norm(first)
        second = np.cross(contact.normal, first)
        found += [replace(contact, normal=first), replace(contact, normal=second)]
    return found


def rest_depth(law: NormalLaw, load: float, dt: float) -> float:
    """Return the depth at which a law carries a load [N] at rest [m], at most MAX_REST_DEPTH."""
    d, still, none = SX.sym("d"), SX.zeros(2), SX.zeros(law.memory_size)
    contact = Contact(d, SX(0), SX(dt), none, still, still, SX(0))
    force = ca.Function("force", [d], [force_and_memory(law.force(contact), none)[0]])
    low, high = 0.0, MAX_REST_DEPTH
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if float(force(middle)) < load else (low, middle)
    return max(high, 1e-9)


def implicit_terms(
    plan: StepPlan, values: Mapping[str, np.ndarray], dt: float
) -> np.ndarray | float:
    """Return what an implicit servo adds to the diagonal of H, by velocity index."""
    control = plan.control
    if not (isinstance(control, ServoPlan) and control.implicit):
        return 0.0
    return dt * (values["servo.kd"] + plan.robot.damping + dt * values["servo.kp"])
