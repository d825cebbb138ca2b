"""Free bases that no rigid contact holds: they keep their momentum to rounding.

Only external forces change the momentum p of a robot, and its angular momentum L about the centre
of mass, in world axes. With both after the forces of a step, in the old axes of the base,

    R+ = R exp(dt w_m),    w_m = (w + w+) / 2,    I+ w+ = exp(-dt w_m) L - L_j

where I+ is the inertia of the whole robot about its centre of mass and L_j the angular momentum of
the joints' motion, both as the joints stand after the step; w is the angular velocity that L causes
before it. The centre of mass moves by dt p / m.

Any w_m keeps L. This one keeps the kinetic energy of a rigid body as well: L turns about w_m, so
that w_m . (I w+ - I w) = 0 [Simo1991]. A few rounds of substitution find it: what they leave is
smaller by |w| dt / 2 each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from heelstrike.dynamics import joint as joints
from heelstrike.dynamics.centroidal import Subtree
from heelstrike.dynamics.kinematics import Kinematics
from heelstrike.dynamics.loops import constrained_roots
from heelstrike.dynamics.tree import limbs, supports
from heelstrike.ir.program import Program
from heelstrike.robot.robot import WORLD, Robot
from heelstrike.spatial.inertia import RigidInertia
from heelstrike.spatial.ldl import factor
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.rotation import from_quaternion, quaternion_exp, quaternion_product, unit
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, add_cross, cross, skew, symmetric, zeros

ROUNDS = 2
"""Rounds of substitution; at 30 rad/s and 1 ms they leave 1e-7 of w_m."""


@dataclass(frozen=True)
class Flight:
    """Motion of a robot before a step, and the forces on its free bases."""

    kin: Kinematics
    gravity: SX
    """Gravity in world axes, (3,) [m/s^2]."""
    held: Mapping[int, SX]
    """1 where contacts hold a base, by its joint; a base that is not here is never held."""
    pushes: Mapping[int, ForceVector] = field(default_factory=dict)
    """Other forces on robots that are not held, about the origin of their base."""
    late: Mapping[int, SX] = field(default_factory=dict)
    """Time by which impacts were before the step [s], by the first joint of a tree."""


def lone_bodies(robot: Robot) -> list[int]:
    """Return the bodies on free or spherical joints that carry no others and may tumble.

    A ball about its centre of mass is none of them: its angular velocity is constant as it is. Nor
    are bodies that an equality constraint holds.
    """
    held = constrained_roots(robot)
    return [
        i
        for i, joint in enumerate(robot.joints)
        if joint.parent == WORLD
        and i not in held
        and joint.kind in ("free", "spherical")
        and not robot.children(i)
        and not _is_ball(robot, i)
    ]


def _is_ball(robot: Robot, i: int) -> bool:
    body = robot.bodies[i]
    even = np.allclose(body.inertia, body.inertia[0, 0] * np.eye(3), rtol=1e-12, atol=0)
    return bool(even and not np.any(body.com))


def floating_robots(robot: Robot) -> list[int]:
    """Return the free bases that carry other bodies, and that forces of joints cannot reach.

    Nor can those of constraints: closed loops of the robot itself do not count.
    """
    held = constrained_roots(robot)
    sprung = {spring.joint for spring in robot.springs}
    return [
        i
        for i, joint in enumerate(robot.joints)
        if joint.parent == WORLD
        and i not in held
        and joint.kind == "free"
        and robot.children(i)
        and i not in sprung
        and not any(
            np.any(x[joint.v_slice]) for x in (robot.armature, robot.damping, robot.friction)
        )
    ]


def bodies_of(robot: Robot, root: int) -> list[int]:
    """Return the bodies of the tree of a root."""
    return [i for i in range(len(robot.joints)) if supports(robot, i)[0] == root]


# a body by itself


def step_body(robot: Robot, i: int, flight: Flight, q: SX, v: SX, a: SX, dt: SX) -> tuple[SX, SX]:
    """Return coordinates and velocities of a lone body after a step with acceleration a."""
    joint, body = robot.joints[i], flight.kin.bodies[i]
    own_q, own_v = joints.coordinates(joint, q), joints.velocities(joint, v)
    own_a = joints.velocities(joint, a)
    moved = joints.velocity(joint, own_v)
    forced = joints.velocity(joint, own_v + dt * own_a)
    if joint.kind == "spherical":
        arm = skew(body.com)
        inertia = symmetric(body.central - body.mass * (arm @ arm))
        spin = _kicked(inertia, moved, forced, dt)
        turn, new = _turned(inertia, spin, zeros(), None, forced.angular, dt)
        return unit(quaternion_product(own_q, turn)), new
    linear = add_cross(forced.at(body.com), dt * moved.angular, moved.at(body.com))
    momentum = ForceVector(body.mass * linear, _kicked(body.central, moved, forced, dt))
    still = ForceVector(zeros(), zeros())
    whole = Composite(body.mass, body.mass * body.com, body.central, still)
    return _step_base(own_q, momentum, body.com, whole, None, forced.angular, dt)


def _kicked(inertia: SX, moved: MotionVector, forced: MotionVector, dt: SX) -> SX:
    """Return L after the torques of a step in the old axes: I (w + dt a) + dt w x I w."""
    w = moved.angular
    return add_cross(inertia @ forced.angular, dt * w, inertia @ w)


# a robot


@dataclass(frozen=True)
class Composite:
    """A subtree whose root stands still while its joints move, about a frame's origin."""

    mass: SX
    """Mass [kg]."""
    moment: SX
    """Mass times centre of mass [kg m]."""
    inertia: SX
    """Inertia [kg m^2], (3, 3); of a whole robot about its centre of mass."""
    momentum: ForceVector
    """Linear and angular momentum of the joints' motion."""

    def __add__(self, other: Composite) -> Composite:
        return Composite(
            self.mass + other.mass,
            self.moment + other.moment,
            symmetric(self.inertia + other.inertia),
            self.momentum + other.momentum,
        )

    def moved(self, v: MotionVector) -> Composite:
        """Return the subtree with its root moving at v."""
        linear = add_cross(self.mass * v.linear, v.angular, self.moment)
        angular = add_cross(self.inertia @ v.angular, self.moment, v.linear)
        momentum = self.momentum + ForceVector(linear, angular)
        return Composite(self.mass, self.moment, self.inertia, momentum)

    def out(self, placement: Transform) -> Composite:
        """Return the subtree in the outer frame of a placement."""
        moment, inertia = placement.rotate(self.moment), self.inertia
        for rotation in reversed(placement.rotations):
            inertia = rotation.of_symmetric(inertia)
        o, m = skew(placement.origin), skew(moment)
        shift = o @ (m + self.mass * o) + m @ o
        return Composite(
            self.mass,
            moment + self.mass * placement.origin,
            symmetric(inertia - shift),
            placement.force_out(self.momentum),
        )

    def let(self, p: Program) -> Composite:
        """Return the subtree as symbols of a program."""
        momentum = p.let("momentum", self.momentum.linear), p.let("momentum", self.momentum.angular)
        return Composite(
            self.mass,
            p.let("moment", self.moment),
            p.let_symmetric("inertia", self.inertia),
            ForceVector(*momentum),
        )


def momentum_of(p: Program, robot: Robot, root: int, kin: Kinematics) -> Subtree:
    """Return mass, first moment and momentum of a robot about the origin of its base."""
    empty = Subtree(SX(0), zeros(), ForceVector(zeros(), zeros()))
    sums = dict.fromkeys(bodies_of(robot, root), empty)
    for limb in reversed([limb for limb in limbs(robot) if limb.joints[0] in sums]):
        with p.block("momentum", limb=limb.name):
            for i in reversed(limb.joints):
                body = kin.bodies[i]
                own = Subtree(body.mass, body.mass * body.com, body.momentum(kin.velocities[i]))
                sums[i] = own = own + sums[i]
                if i == root:
                    return own.let(p)
                out = own.out(kin.placements[i])
                out = out.let(p) if i == limb.joints[0] else out
                sums[robot.joints[i].parent] = sums[robot.joints[i].parent] + out
    raise AssertionError(root)


def composite_of(
    p: Program, robot: Robot, root: int, bodies: list[RigidInertia], q: SX, v: SX
) -> Composite:
    """Return a robot at q, whose joints move at v and whose base stands still."""
    sums: dict[int, list[Composite]] = {i: [] for i in bodies_of(robot, root)}
    turned: dict[int, SX] = {}
    for i in (i for i in sums if i != root):
        joint = robot.joints[i]
        with p.block("turn", limb=_limb_of(robot, i), member=i):
            turned[i] = p.let("turned", joints.with_cos_sin(joint, joints.coordinates(joint, q)))
    for limb in reversed([limb for limb in limbs(robot) if limb.joints[0] in sums]):
        with p.block("composite", limb=limb.name):
            for i in reversed(limb.joints):
                joint, body = robot.joints[i], bodies[i]
                c = skew(body.com)
                about = symmetric(body.central - body.mass * (c @ c))
                still = ForceVector(zeros(), zeros())
                own = Composite(body.mass, body.mass * body.com, about, still)
                for more in sums[i]:
                    own = own + more
                if i == root:
                    return own.let(p)
                own = own.moved(joints.velocity(joint, joints.velocities(joint, v)))
                out = own.out(joints.transform(joint, turned[i]))
                sums[joint.parent].append(out.let(p) if i == limb.joints[0] else out)
    raise AssertionError(root)


def _limb_of(robot: Robot, body: int) -> str:
    return next(limb.name for limb in limbs(robot) if body in limb.joints)


def step_robot(
    p: Program,
    robot: Robot,
    root: int,
    flight: Flight,
    old: tuple[SX, SX],
    forced: tuple[SX, SX],
    dt: SX,
) -> tuple[SX, SX]:
    """Return coordinates and velocities of a robot's free base after a step, as symbols.

    `old` are q and v before it, `forced` those that the accelerations alone make.
    """
    joint, limb = robot.joints[root], _limb_of(robot, root)
    before = momentum_of(p, robot, root, flight.kin)
    after = composite_of(p, robot, root, flight.kin.bodies, *forced)
    with p.block("flight", limb=limb):
        c = after.moment / after.mass
        inner = after.momentum
        whole = Composite(
            after.mass,
            after.moment,
            symmetric(after.inertia + after.mass * (skew(c) @ skew(c))),
            ForceVector(inner.linear, inner.angular - cross(c, inner.linear)),
        )
        spins = [joints.velocities(joint, v)[3:6] for _, v in (old, forced)]
        own_q = joints.coordinates(joint, old[0])
        weight = flight.kin.placements[root].unrotate(flight.gravity)
        force = ForceVector(before.mass * weight, cross(before.moment, weight))
        if root in flight.pushes:
            force = force + flight.pushes[root]
        linear = before.momentum.linear + dt * force.linear
        angular = before.momentum.angular + dt * force.angular
        com = before.moment / before.mass
        momentum = ForceVector(linear, angular - cross(com, linear))
        q, v = _step_base(own_q, momentum, com, whole, spins[0], spins[1], dt)
        return p.let("q", q), p.let("v", v)


def _step_base(
    q: SX, momentum: ForceVector, com: SX, after: Composite, start: SX | None, guess: SX, dt: SX
) -> tuple[SX, SX]:
    """Return coordinates and velocities of a free base.

    Angular momenta and the inertia of `after` are about the centre of mass.
    """
    linear = momentum.linear
    turn, spin = _turned(after.inertia, momentum.angular, after.momentum.angular, start, guess, dt)
    new_com = after.moment / after.mass
    rotation = from_quaternion(turn)
    own = (rotation.undo(linear) - after.momentum.linear) / after.mass
    velocity = add_cross(own, new_com, spin)
    shift = com + (dt / after.mass) * linear - rotation.apply(new_com)
    position = q[0:3] + from_quaternion(q[3:7]).apply(shift)
    quaternion = unit(quaternion_product(q[3:7], turn))
    return ca.vertcat(position, quaternion), ca.vertcat(velocity, spin)


def _turned(inertia: SX, spin: SX, inner: SX, start: SX | None, guess: SX, dt: SX) -> tuple[SX, SX]:
    """Return the quaternion exp(dt w_m) and w+.

    `spin` is L and `inner` L_j; `start` is w, or None where L causes it by itself.
    """
    root = factor(inertia)
    w = root.solve(spin) if start is None else start
    mean, last = 0.5 * (w + guess), guess
    for _ in range(ROUNDS):
        last = root.solve(_turned_back(dt * mean, spin) - inner)
        mean = 0.5 * (w + last)
    turn = quaternion_exp(dt * mean)
    left = from_quaternion(turn).undo(spin) - inner - inertia @ last
    return turn, last + root.solve(left)  # rounding of reciprocals acts on what is left alone


def _turned_back(rotation: SX, x: SX) -> SX:
    """Return exp(-rotation) x, to the fourth order in the rotation; |x| is kept.

    With h = tan(angle / 2) along the axis, the result is x + 2 (h x (h x x) - h x x) / (1 + h^2).
    """
    h = (0.5 + ca.dot(rotation, rotation) / 24) * rotation
    once = cross(h, x)
    return x + (2 / (1 + ca.dot(h, h))) * (cross(h, once) - once)
