"""A hit: the point of a link that meets the target, its direction and base, and the virtual mass.

    m_a = 1 / (n^T J* H*^-1 J*^T n + y)        virtual mass, [Asada1987], [Khatib1986]

y is the base's own yield (reduced_inertia.py). [Tsujita2009] takes m_a from its reference [10].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from heelstrike.checks import array_of_numbers
from heelstrike.dynamics.jacobian import body_jacobian, point_jacobian
from heelstrike.dynamics.kinematics import poses
from heelstrike.errors import HeelstrikeError
from heelstrike.impact.base import VirtualBase, ends, floats
from heelstrike.impact.krylov import output_basis
from heelstrike.impact.point_on_link import placed
from heelstrike.impact.reduced_inertia import grounded, reduced
from heelstrike.impact.symmetric import packed
from heelstrike.ir.program import Program
from heelstrike.robot.fingerprint import fingerprint
from heelstrike.robot.points import on_feet
from heelstrike.robot.robot import Robot
from heelstrike.runtime.cache import cached_kernel
from heelstrike.runtime.kernel import Kernel

OWN = ("m_a", "j", "follows", "inverse", "base", "base_yield", "hand")
"""Quantities of a hit: m_a, j = J*^T n, A j, A = H*^-1 (packed), B, y, the hand's position [m]."""
GENERALIZED = ("jacobian", "inertia")
"""J* (6, n), linear then angular, in world axes; H* (n, n)."""
AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


@dataclass(frozen=True, eq=False)
class Hit:
    """A point of a robot and the direction in which it hits."""

    robot: Robot
    body: int
    point: np.ndarray
    """Position in the body's frame [m]."""
    direction: np.ndarray
    """Unit vector in world axes."""
    base: VirtualBase
    held: tuple[int, ...]

    @property
    def n(self) -> int:
        """Number of joint velocities, without the base's."""
        return self.robot.nv - (6 if floats(self.robot) else 0)

    @property
    def candidates(self) -> tuple[int, ...]:
        """Bodies that may be held without compiling again."""
        if self.base.fixed:
            return self.held
        return tuple(sorted({*ends(self.robot), *self.held})) if floats(self.robot) else ()

    def inputs(self) -> dict[str, np.ndarray]:
        """Return the inputs of `program`, except q."""
        given = {"point": self.point, "direction": self.direction}
        if self.base.fixed:
            return given
        flags = [float(body in self.held) for body in self.candidates] or [0.0]
        mass, inertia = np.array([self.base.mass]), np.array([self.base.inertia])
        held = np.array(flags)
        return given | {"held": held, "virtual_mass": mass, "virtual_inertia": inertia}

    def at(self, q: ArrayLike, outputs: Sequence[str] = OWN) -> dict[str, np.ndarray]:
        """Return quantities at postures (hits, nq), by name."""
        return self.evaluated(self.kernel(outputs), self.postures(q))

    def evaluated(
        self, kernel: Kernel, q: np.ndarray, threads: int = 1, **more: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Evaluate a kernel of this hit at postures."""
        taken = {port.name for port in kernel.layout.inputs}
        given = {name: x for name, x in (self.inputs() | more).items() if name in taken}
        return kernel(threads, q=q, **given)

    def postures(self, q: ArrayLike) -> np.ndarray:
        """Return q as rows (hits, nq)."""
        found = array_of_numbers(q)
        rows = np.atleast_2d(np.zeros(0) if found is None else found)
        if rows.ndim != 2 or rows.shape[1] != self.robot.nq or not np.isfinite(rows).all():
            raise HeelstrikeError(
                f"a posture of {self.robot.name} is {self.robot.nq} finite numbers, got "
                f"{'no numbers' if found is None else f'shape {found.shape}'}"
            )
        return rows

    def kernel(self, outputs: Sequence[str] = OWN, modes: int = 0, stiff: bool = False) -> Kernel:
        """Return the compiled program, from the cache if possible."""
        own = (self.body, self.candidates, self.base.fixed)
        key = ("hit", *own, modes, stiff, fingerprint(self.robot))
        return cached_kernel(key, lambda: self.program(modes, stiff), outputs)

    def program(self, modes: int = 0, stiff: bool = False) -> Program:
        """Return the program of steps 1b and 2b, and with `modes` the basis of krylov.py."""
        robot, candidates, fixed = self.robot, self.candidates, self.base.fixed
        p = Program("hit")
        q = p.input("q", robot.nq)
        point, direction = p.input("point", 3), p.input("direction", 3)
        bodies = None if fixed else grounded(p, robot, candidates)
        red = reduced(p, robot, q, candidates, fixed, bodies)
        own = body_jacobian(p, robot, red.kin, self.body)
        pose = poses(p, robot, red.kin)[self.body]
        linear = ca.densify(point_jacobian(p, pose, own, point))
        with p.block("hand"):
            star = p.let("J*", red.generalized(linear))
            j = p.let("j", star.T @ direction)
            softness = p.let("y", red.base_yield(direction.T @ linear))
            given = p.let("A j", ca.mac(red.inverse, j, ca.DM.zeros(j.numel())))
            yielding = p.let("1/m_a", ca.dot(j, given) + softness)
        with p.block("turning"):
            angular = pose.rotate(ca.densify(own[3:, :]))
            turning = red.generalized(angular)
        if modes:
            output_basis(p, red.inverse, j, modes, stiff)
        with p.block("out"):
            p.output("m_a", 1 / yielding)
            p.output("j", j)
            p.output("follows", given)
            p.output("inverse", packed(red.inverse))
            p.output("base", red.base if red.nb else ca.SX.zeros(1, self.n))
            p.output("base_yield", softness)
            p.output("hand", pose.point(point))
            p.output("jacobian", ca.vertcat(star, turning))
            p.output("inertia", red.generalized_inertia())
        return p


def hit(
    robot: Robot,
    link: str,
    direction: str | ArrayLike = "x",
    point: ArrayLike = (0.0, 0.0, 0.0),
    base: VirtualBase | None = None,
) -> Hit:
    """Return a hit with a point of a link (in the link's frame [m]) along a direction of the world.

    The direction is "x", "-z", ..., or three numbers.
    """
    if not isinstance(robot, Robot):
        raise HeelstrikeError(f"a hit needs a robot, hs.load(...), not {robot!r:.60}")
    robot = on_feet(robot)
    body = robot.body(link)
    given = array_of_numbers(point)
    if given is None or given.shape != (3,) or not np.isfinite(given).all():
        raise HeelstrikeError(
            f"a point of link '{link}' is three numbers in its frame [m], not {point!r}"
        )
    place = placed(robot, link, given)
    base = VirtualBase() if base is None else base
    if not isinstance(base, VirtualBase):
        raise HeelstrikeError(f"the base is hs.VirtualBase(...), not {base!r}")
    held = base.bodies(robot)
    if body in held:
        raise HeelstrikeError(
            f"link '{link}' is part of the base, it cannot hit; hold another link: "
            "base=hs.VirtualBase([...])"
        )
    return Hit(robot, body, place, unit(direction), base, held)


def unit(direction: str | ArrayLike) -> np.ndarray:
    """Return a direction of the world as a unit vector."""
    if isinstance(direction, str):
        name = direction.removeprefix("-").removeprefix("+")
        if name not in AXES:
            raise HeelstrikeError(
                f"a direction is x, y or z, with a sign or not, or three numbers, not '{direction}'"
            )
        return np.array(AXES[name], dtype=float) * (-1.0 if direction[0] == "-" else 1.0)
    vector = array_of_numbers(direction)
    if vector is None or vector.shape != (3,) or not np.isfinite(vector).all() or not vector.any():
        raise HeelstrikeError(
            f"the direction {direction!r} says no way to hit: give three numbers, not all 0"
        )
    return vector / np.linalg.norm(vector)


def square(packed: np.ndarray, n: int) -> np.ndarray:
    """Return the symmetric matrix of a packed upper triangle."""
    matrix = np.zeros((n, n))
    matrix.T[np.tril_indices(n)] = packed
    return matrix + np.triu(matrix, 1).T
