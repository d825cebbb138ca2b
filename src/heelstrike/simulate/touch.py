"""Detection and elastic forces of every point against every surface.

    d = depth of the point,  d' = -nu . v,  slip = v - nu (nu . v)       [Sugihara2006] (4)-(6)
    f = f_n nu + f_t                                                     [Sugihara2006] (9)

with v the point's velocity relative to the surface's material. Steps 2 to 4 of [Sugihara2006],
Fig. 4. Forces of a body's points are summed in world axes and turned into its frame once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import casadi as ca

from heelstrike.compile.program import Program
from heelstrike.contact.surface_law import Demand, Meeting
from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.dynamics.tree import limbs
from heelstrike.simulate.scene import Pair, Scene
from heelstrike.simulate.surface import Plane
from heelstrike.spatial.motion import Force, Motion
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, add_cross, constant, cross, zeros


@dataclass(frozen=True)
class Touched:
    """A pair in this step, as symbols of the program."""

    position: SX
    """Of the contact point in the world [m]."""
    depth: SX
    """Signed [m]."""
    depth_rate: SX
    slip: SX
    """Along the surface's tangents [m/s]."""
    normal: SX
    tangent: SX
    """[N]"""
    memory: SX
    """Of the law, for the next step."""
    lever: SX
    """From the body's origin, in world axes [m]."""
    demand: Demand | None = None
    """On the coupled problem."""


@dataclass(frozen=True)
class Share:
    """What the normal forces, or the friction, of a body's points do to it, in world axes."""

    force: Force
    """About the body's origin."""
    power: SX
    """At the start of the step [W]."""

    def __add__(self, other: Share) -> Share:
        return Share(self.force + other.force, self.power + other.power)

    def let(self, p: Program) -> Share:
        """The same as symbols of the program."""
        force = Force(p.let("share", self.force.linear), p.let("share", self.force.angular))
        return Share(force, p.let("power", self.power))


@dataclass(frozen=True)
class Contacts:
    """All pairs of a step."""

    pairs: list[Touched]
    forces: dict[int, Force]
    """On each body that has points, in its frame."""
    shares: dict[int, tuple[Share, Share]]
    """Of the normal forces and of friction on each such body."""
    motions: dict[int, Motion]
    """Of each such body, in world axes."""

    def total(self, body: int) -> SX:
        """Force on a body in world axes [N]."""
        normal, tangent = self.shares[body]
        return normal.force.linear + tangent.force.linear


@dataclass(frozen=True)
class Ground:
    """A surface whose parameters are symbols, and how far its material has moved."""

    surface: Plane
    travel: SX
    """Along x, y and z since the start [m]."""


def contacts(
    p: Program,
    scene: Scene,
    grounds: Sequence[Ground],
    kin: Kinematics,
    poses: Sequence[Transform],
    dt: SX,
    gravity: SX,
    memories: Sequence[SX],
) -> Contacts:
    """Forces of all pairs; `memories` are the laws' columns, one a pair."""
    motions: dict[int, Motion] = {}
    found: list[Touched] = []
    forces: dict[int, Force] = {}
    shares: dict[int, tuple[Share, Share]] = {}
    remembered = iter(memories)
    names = {i: limb.name for limb in limbs(scene.robot) for i in limb.joints}
    for body, pairs in groupby(scene.pairs, key=lambda pair: pair.point.body):
        with p.block(f"{names[body]}: contact"):
            pose = poses[body]
            own = kin.velocities[body]
            motion = Motion(
                p.let("motion", pose.rotate(own.linear)), p.let("motion", pose.rotate(own.angular))
            )
            motions[body] = motion
            nothing = Share(Force(zeros(), zeros()), SX(0))
            normal, tangent = nothing, nothing
            for pair in pairs:
                ground = grounds[pair.surface]
                memory = next(remembered)
                touched, parts = _pair(p, pair, ground, pose, motion, dt, gravity, memory)
                found.append(touched)
                normal, tangent = normal + parts[0], tangent + parts[1]
            total = normal.force + tangent.force
            forces[body] = Force(
                p.let("force", pose.unrotate(total.linear)),
                p.let("force", pose.unrotate(total.angular)),
            )
            shares[body] = normal.let(p), tangent.let(p)
    return Contacts(found, forces, shares, motions)


def _pair(
    p: Program,
    pair: Pair,
    ground: Ground,
    pose: Transform,
    motion: Motion,
    dt: SX,
    gravity: SX,
    memory: SX,
) -> tuple[Touched, tuple[Share, Share]]:
    """One pair, and what its normal force and its friction do to the body."""
    surface = ground.surface
    axes = constant(surface.axes)
    tangents, nu = axes[:2, :], axes[2, :].T
    radius = pair.point.radius
    lever = pose.rotate(constant(pair.point.position)) - radius * nu  # from the body's origin
    position = pose.origin + lever
    velocity = add_cross(motion.linear, motion.angular, lever)
    moving = velocity - SX(surface.velocity)
    depth, rate, slip = surface.depth(position), -ca.dot(nu, moving), tangents @ moving
    place = tangents @ (position - ground.travel)
    meeting = Meeting(depth, rate, slip, place, dt, ca.sqrt(ca.dot(gravity, gravity)))
    touch = surface.law.touch(meeting, memory)
    touched = Touched(
        position=p.let("position", position),
        depth=p.let("depth", depth),
        depth_rate=p.let("rate", rate),
        slip=p.let("slip", slip),
        normal=p.let("normal", touch.normal),
        tangent=p.let("tangent", touch.tangent),
        memory=p.let("memory", touch.memory),
        lever=p.let("lever", lever),
        demand=surface.law.demand(meeting) if surface.law.couples else None,
    )
    return touched, shares_of(axes, lever, motion, touch.normal, touch.tangent)


def shares_of(axes: SX, lever: SX, motion: Motion, normal: SX, tangent: SX) -> tuple[Share, Share]:
    """What a normal force and a friction force at a lever do to a body."""
    velocity = motion.at(lever)
    parts = axes[2, :].T * normal, axes[:2, :].T @ tangent
    one, other = (Share(Force(part, cross(lever, part)), ca.dot(part, velocity)) for part in parts)
    return one, other


def contact_power(
    p: Program,
    contacts: Contacts,
    poses: Sequence[Transform],
    felt: Sequence[Motion],
    gravity: SX,
    ahead: SX | float,
) -> tuple[SX, SX]:
    """Power of the normal forces and of friction, at velocities `ahead` [s] of the step's start:
    half a step, where a step's force acts while the velocity changes.
    """
    sums = [SX(0), SX(0)]
    for body, shares in contacts.shares.items():
        with p.block("contact power"):
            linear = poses[body].rotate(felt[body].linear) + gravity
            angular = poses[body].rotate(felt[body].angular)
            for k, share in enumerate(shares):
                force = share.force
                rise = ca.dot(force.linear, linear) + ca.dot(force.angular, angular)
                sums[k] = p.let("power", sums[k] + share.power + ahead * rise)
    return sums[0], sums[1]
