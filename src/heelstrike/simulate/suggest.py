"""Choose the numbers of a law for a robot from a depth, a restitution and a step, with reasons.

    found = hs.suggest(hs.load("hoap1"), "hunt-crossley", dt=1e-3, depth=1e-3, restitution=0.3)
    print(found); hs.Plane(law=found.law)

The points within 3 mm of the lowest one carry the weight in equal shares. With A their normal block
of J H^-1 J^T, armature and implicit servo in H,

    1 / lambda_max(A)      effective mass, which limits stability
    1^T A^-1 1             mass that all of them stop together, which determines the rebound

contact/choose derives the numbers from these.
"""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.contact.choose import ChosenLaw, Requirement, Support, choose, template
from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.coulomb import Coulomb
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.dynamics.effective_mass import contact_mass, struck_mass
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.record.provenance import to_json
from heelstrike.record.summary import describe
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.scene.scene import Scene
from heelstrike.scene.servo import Servo
from heelstrike.scene.surfaces import Plane
from heelstrike.simulate.start import contacts_at, tangents, touching_groups

WIDTH = 80
MAX_GAP = 0.05
"""Surfaces whose distance exceeds the nearest one's by more than this carry nothing [m]."""


@dataclass(frozen=True)
class Suggestion(ChosenLaw):
    """A law with its numbers, their effect and the reasons for them; print() shows it."""

    robot: str
    support: Support
    requirement: Requirement

    def __str__(self) -> str:
        wanted = self.requirement
        rests = f"{1e3 * self.depth:.3g} mm" if self.depth else "0 mm, where it touches"
        numbers = [
            f"k = {self.k:.4g} N/m" if self.k is not None else "",
            f"c = {self.c:.4g} N s/m" if self.c is not None else "",
        ]
        head = [
            f"law          {in_words(self.law)}",
            f"per point    {', '.join(filter(None, numbers)) or 'no stiffness'}",
            f"rest depth   {rests}; required {1e3 * wanted.depth:.3g} mm",
            f"rebound      e = {self.restitution:.3g}; required {wanted.restitution:g}",
            f"for          {self.robot}, dt = {wanted.dt:g} s",
            "reasons",
        ]
        lines = [_wrapped(line, "", 13) for line in head]
        return "\n".join(lines + [_wrapped(reason, "  - ", 4) for reason in self.reasons])


def suggest(
    robot: Robot | Scene,
    law: str | SurfaceLaw | NormalLaw = "hunt-crossley",
    dt: float = 1e-3,
    depth: float = 1e-3,
    restitution: float = 0.3,
    speed: float = 0.5,
    q: ArrayLike | None = None,
    control: Servo | None = None,
    friction: Coulomb | None = None,
) -> Suggestion:
    """Suggest the numbers of a law for a robot on a plane, or for a scene, with reasons.

    Args:
        robot: a robot, or a scene.
        law: name of a law, or a law whose numbers are replaced.
        dt: time step [s].
        depth: depth of a contact point at rest [m].
        restitution: ratio of rebound to impact speed, from 0 to 1.
        speed: speed of that impact [m/s].
        q: pose, (nq,); None for the robot's first pose.
        control: servo; None for the gains of the robot's file, if it has any.
        friction: coefficients that replace the law's own.

    Returns:
        The law (`.law`), its stiffness, damping, depth and restitution, and the reasons.

    Examples:
        >>> found = hs.suggest(hs.load("hoap1"), "hunt-crossley", dt=1e-3, depth=1e-3)
        >>> round(found.k)                                       # [N/m]
        6131
        >>> floor = hs.Plane(found.law)
    """
    requirement = _requirement(dt, depth, restitution, speed)
    kind = template(law)
    scene = robot if isinstance(robot, Scene) else Scene(robot, Plane())
    support = support_of(scene, dt, q, control)
    made = choose(kind, support, requirement, friction)
    total = scene.robot.mass
    reasons = (
        f"{_carry(support.points)} {support.points * support.load:.4g} N: {support.load:.4g} N "
        "each",
        f"smallest effective mass at the contact points: {support.normal_mass:.3g} kg of "
        f"{total:.4g} kg in all; it limits stability, k dt^2 / m + 2 c dt / m < 4",
        *made.reasons,
    )
    if made.k is not None and made.c is not None and not made.law.couples:
        used = made.k * dt**2 / support.normal_mass + 2 * made.c * dt / support.normal_mass
        reasons += (
            f"at rest k dt^2 / m + 2 c dt / m = {used:.2g}; numbers hold up to impacts of "
            f"{speed:g} m/s, pass speed= for higher falls",
        )
    return Suggestion(
        made.law,
        made.k,
        made.c,
        made.depth,
        made.restitution,
        reasons,
        scene.robot.name,
        support,
        requirement,
    )


def support_of(
    scene: Scene, dt: float, q: ArrayLike | None = None, control: Servo | None = None
) -> Support:
    """Return the support of a scene: the points that touch together in a pose, and their load."""
    robot = scene.robot
    pose = next(iter(robot.poses.values()), robot.neutral) if q is None else q
    at = np.asarray(pose, dtype=float)
    if at.shape != (robot.nq,):
        raise HeelstrikeError(
            f"q has shape {at.shape}", path="q", allowed=f"{robot.nq} numbers for {robot.name}"
        )
    depths, joined = contacts_at(scene, at)
    near = _near(scene, depths)
    if not near:
        raise HeelstrikeError(
            f"{robot.name} has no contact point, so that no law can be suggested",
            path="robot",
            remedy="load it with points=",
        )
    ground = [i for i in near if scene.pairs[i].carrier is None] or near
    diagonal = _servo_terms(robot, at, control, dt)
    contacts = [joined[i] for i in near]
    with np.errstate(divide="ignore"):
        mass = contact_mass(robot, at, contacts, diagonal)
        along = contact_mass(robot, at, tangents(contacts), diagonal)
    pull = float(np.linalg.norm(scene.gravity))
    normal = np.mean([joined[i].normal for i in ground], axis=0)
    down = abs(float(normal @ scene.gravity)) / max(pull, 1e-12)
    carried = _carried(scene, ground) or min(robot.mass, mass * len(ground))
    struck = struck_mass(robot, at, [joined[i] for i in ground], diagonal)
    own = robot.mass / len(ground)  # where joints do not determine what is struck: a fixed base
    return Support(
        points=len(ground),
        load=max(carried * pull * down / len(ground), 1e-9),
        gravity=pull,
        impact_mass=float(np.clip(struck / len(ground), min(mass, own), own)),
        normal_mass=min(mass, robot.mass),
        tangent_mass=min(along, robot.mass),
    )


def _near(scene: Scene, depths: np.ndarray) -> list[int]:
    """Return the pairs that carry load: the deepest of every surface that is near enough."""
    groups = [group for group in touching_groups(scene, depths).values() if group]
    least = depths.max(initial=-np.inf) - MAX_GAP
    return [i for group in groups if depths[group].max() > least for i in group]


def _servo_terms(
    robot: Robot, q: np.ndarray, control: Servo | None, dt: float
) -> np.ndarray | float:
    """Return what the implicit servo adds to the diagonal of H."""
    if control is None and not (robot.kp.any() or robot.kd.any()):
        return dt * robot.damping
    plan = (control or Servo()).resolved(robot, q, True, dt)
    return dt * (plan.kd + robot.damping + dt * plan.kp)


def _carried(scene: Scene, ground: list[int]) -> float:
    """Return the mass of trees with a free base [kg]; 0 if no such tree touches the ground."""
    joints = scene.robot.joints

    def root(body: int) -> int:
        return body if joints[body].parent == WORLD else root(joints[body].parent)

    touched = any(joints[root(scene.pairs[i].point.body)].kind == "free" for i in ground)
    free = [b.mass for i, b in enumerate(scene.robot.bodies) if joints[root(i)].kind == "free"]
    return float(sum(free)) if touched else 0.0


def _requirement(dt: float, depth: float, restitution: float, speed: float) -> Requirement:
    for name, value, unit in (("dt", dt, "s"), ("depth", depth, "m"), ("speed", speed, "m/s")):
        if not (isinstance(value, int | float) and 0 < value < 1e3):
            raise ParameterError(name, value, f"a number above 0 [{unit}]")
    if not (isinstance(restitution, int | float) and 0 <= restitution <= 1):
        raise ParameterError("restitution", restitution, "a number from 0 to 1")
    return Requirement(float(dt), float(depth), float(restitution), float(speed))


def in_words(law: SurfaceLaw) -> str:
    """Return a law in one line: Elastic(HuntCrossley(k=6131, alpha=4.116, n=1), ...)."""
    return describe(json.loads(json.dumps(law, default=to_json)))


def _carry(points: int) -> str:
    return "1 point carries" if points == 1 else f"{points} points carry"


def _wrapped(text: str, before: str, margin: int) -> str:
    return textwrap.fill(
        before + text, WIDTH, subsequent_indent=" " * margin, break_on_hyphens=False
    )
