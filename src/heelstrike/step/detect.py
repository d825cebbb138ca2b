"""Detection and elastic forces of every point against every surface.

    d = depth of the point,  d' = -nu . v,  slip = v - nu (nu . v)       [Sugihara2006] (4)-(6)
    f = f_n nu + f_t                                                     [Sugihara2006] (9)

with v the point's velocity relative to the surface's material. Steps 2 to 4 of [Sugihara2006],
Fig. 4. A surface that rides on a body feels the opposite force. Forces of a body's points are
summed in world axes and turned into its frame once.

Laws with memory see where the point is on the surface's material, along the tangents (ground.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from heelstrike.contact.surface_law import ContactTarget, PointState, SurfaceLaw
from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.dynamics.tree import limbs
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD
from heelstrike.scene.scene import Pair, Scene, bodies_in
from heelstrike.spatial.motion import Force, Motion
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, constant, cross, zeros
from heelstrike.step.ground import Ground, place


@dataclass(frozen=True)
class Side:
    """A moving body that takes part in a contact."""

    body: int
    lever: SX
    """From its origin to the contact, in world axes [m]."""
    sign: float
    """1 for the body of the point, -1 for the one that carries the surface."""
    turns: SX
    """The part of the lever that turns with the body: to the centre of a sphere."""


@dataclass(frozen=True)
class Touched:
    """A pair in this step, as symbols of the program."""

    position: SX
    """Of the contact point in the world [m]."""
    depth: SX
    """Signed [m]."""
    depth_rate: SX
    slip: SX
    """Along the two tangents [m/s]."""
    normal: SX
    tangent: SX
    """[N]"""
    memory: SX
    """Of the law, for the next step."""
    axes: SX
    """Tangents and normal as rows, in the world, (3, 3)."""
    sides: tuple[Side, ...]
    belt: SX
    """Velocity of the surface's material, beyond that of its body, in the world [m/s]."""
    target: ContactTarget | None = None
    """Target in the coupled problem, of a law that couples."""


@dataclass(frozen=True)
class Share:
    """What the normal forces, or the friction, of contacts do to a body, in world axes."""

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


Shares = dict[int, tuple[Share, Share]]
"""By body: of the normal forces and of friction."""


@dataclass(frozen=True)
class Contacts:
    """All pairs of a step."""

    pairs: list[Touched]
    forces: dict[int, Force]
    """On each body that takes part, in its frame."""
    shares: Shares
    motions: dict[int, Motion]
    """Of each such body, in world axes."""

    def total(self, body: int) -> SX:
        """Force on a body in world axes [N]."""
        normal, tangent = self.shares[body]
        return normal.force.linear + tangent.force.linear


@dataclass(frozen=True)
class Now:
    """What all pairs of an evaluation share."""

    grounds: Sequence[Ground]
    laws: Mapping[str, SurfaceLaw]
    """With symbols as parameters, by the names that pairs call them."""
    poses: Sequence[Transform]
    motions: Mapping[int, Motion]
    """Of the bodies that take part, in world axes."""
    dt: SX
    pull: SX
    """|g| [m/s^2]"""
    since: SX
    """For which the present slip has lasted since memory was written [s]."""


def contacts(
    p: Program,
    scene: Scene,
    grounds: Sequence[Ground],
    laws: Mapping[str, SurfaceLaw],
    kin: Kinematics,
    poses: Sequence[Transform],
    dt: SX,
    since: SX,
    gravity: SX,
    memories: Sequence[SX],
) -> Contacts:
    """Forces of all pairs; `memories` are the pairs' columns."""
    names = {i: limb.name for limb in limbs(scene.robot) for i in limb.joints} | {WORLD: "world"}
    motions: dict[int, Motion] = {}
    for body in bodies_in(scene.pairs):
        with p.block("motion", limb=names[body]):
            pose, own = poses[body], kin.velocities[body]
            motions[body] = Motion(
                p.let("motion", pose.rotate(own.linear)), p.let("motion", pose.rotate(own.angular))
            )
    found: list[Touched] = []
    shares: Shares = {}
    now = Now(grounds, laws, poses, motions, dt, ca.sqrt(ca.dot(gravity, gravity)), since)
    for k, (pair, memory) in enumerate(zip(scene.pairs, memories, strict=True)):
        with p.block("contact", limb=names[pair.point.body], member=k):
            touched = _pair(p, pair, now, memory)
            found.append(touched)
            alone: Shares = {}
            add_shares(alone, touched, motions, touched.normal, touched.tangent)
            for body, (normal, tangent) in alone.items():
                both = normal.let(p), tangent.let(p)
                shares[body] = _sum(shares[body], both) if body in shares else both
    forces = {}
    for body, (normal, tangent) in shares.items():
        with p.block("contact force", limb=names[body]):
            shares[body] = normal, tangent = normal.let(p), tangent.let(p)
            total = normal.force + tangent.force
            forces[body] = Force(
                p.let("force", poses[body].unrotate(total.linear)),
                p.let("force", poses[body].unrotate(total.angular)),
            )
    return Contacts(found, forces, shares, motions)


def seat(pair: Pair, poses: Sequence[Transform]) -> tuple[Transform, Transform, SX, SX]:
    """Poses of the point's body and of the surface's; the point from its body's origin in world
    axes, and in the surface's frame.
    """
    still = Transform((), zeros())
    pose = still if pair.point.body == WORLD else poses[pair.point.body]
    frame = still if pair.carrier is None else poses[pair.carrier]
    centre = pose.rotate(constant(pair.point.position))
    return pose, frame, centre, frame.unrotate(pose.origin + centre - frame.origin)


def _pair(p: Program, pair: Pair, now: Now, memory: SX) -> Touched:
    ground, law, radius = now.grounds[pair.surface], now.laws[pair.law], pair.point.radius
    surface, (pose, frame, centre, inside) = ground.surface, seat(pair, now.poses)
    depth, own_axes = surface.depth_and_axes(inside, radius, pair.part)
    axes = frame.rotate(own_axes.T).T
    lever = centre - radius * axes[2, :].T
    position = pose.origin + lever
    belt = frame.rotate(surface.material_velocity)
    moving, sides = -belt, []
    if pair.point.body != WORLD:
        held = p.let("lever", lever)
        turns = p.let("centre", centre) if radius else held
        sides.append(Side(pair.point.body, held, 1.0, turns))
        moving = moving + now.motions[pair.point.body].at(lever)
    if pair.carrier is not None:
        arm = position - frame.origin
        held = p.let("lever", arm)
        sides.append(Side(pair.carrier, held, -1.0, held))
        moving = moving - now.motions[pair.carrier].at(arm)
    depth = p.let("depth", depth)
    rate = p.let("rate", -ca.dot(axes[2, :].T, moving))
    slip = p.let("slip", axes[:2, :] @ moving)
    own, kept = memory[: law.memory_size, :], memory[law.memory_size :, :]
    along, kept = place(
        inside - ground.travel, own_axes[:2, :], kept, now.since * slip, now.dt * slip, depth > 0
    )
    state = PointState(depth, rate, slip, along, now.dt, now.pull, own)
    force = law.force(state)
    return Touched(
        position=p.let("position", position),
        depth=depth,
        depth_rate=rate,
        slip=slip,
        normal=p.let("normal", force.normal),
        tangent=p.let("tangent", force.tangent),
        memory=p.let("memory", ca.vertcat(force.memory, kept)),
        axes=p.let("axes", axes),
        sides=tuple(sides),
        belt=p.let("belt", belt),
        target=law.target(state).completed(state) if law.couples else None,
    )


def add_shares(
    shares: Shares, touched: Touched, motions: Mapping[int, Motion], normal: SX, tangent: SX
) -> None:
    """Adds what a normal force and a friction force do to the bodies of a contact."""
    axes = touched.axes
    for side in touched.sides:
        velocity = motions[side.body].at(side.lever)
        parts = side.sign * axes[2, :].T * normal, side.sign * axes[:2, :].T @ tangent
        one, other = (
            Share(Force(part, cross(side.lever, part)), ca.dot(part, velocity)) for part in parts
        )
        both = one, other
        shares[side.body] = _sum(shares[side.body], both) if side.body in shares else both


def _sum(a: tuple[Share, Share], b: tuple[Share, Share]) -> tuple[Share, Share]:
    return a[0] + b[0], a[1] + b[1]


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
                sums[k] = sums[k] + p.let("power", share.power + ahead * rise)
    return sums[0], sums[1]
