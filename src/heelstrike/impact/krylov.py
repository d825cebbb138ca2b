"""The Krylov form: the motion that a force along one line can excite, in its own basis.

While no torque limit is reached, (9) with (10) or (11) is linear, u' = -A (K_d u + K_p e + j f),
starts at rest and is pushed along j alone. With (11) u stays in the span of A j, A K_d A j, ...:
the method of Lanczos gives vectors p_k, with p_k^T A p_l = 1 or 0, in which K_d is tridiagonal,

    u = -W z,   W = A [p_1 ... p_m],   T = W^T K_d W
    z' = -T z + |j|_A e_1 f,           v_h = v_c - |j|_A z_1 - y P                 O(m) a step

m = n is exact (the "faster forward dynamics" of the text); fewer match the first 2 m moments of the
response, and K_d = kappa H* needs one. With (10) the vectors are those of K_d + MIXED K_p, and

    z' = -W^T K_d W z - W^T K_p W s + |j|_A e_1 f,   s' = z,   e = -W s            O(m^2) a step

exact for m = n again. No eigenvalue is sought. Vectors are made orthogonal twice; where nothing is
left the rest are zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.impact.simplified import Plan
from heelstrike.impact.stepping import Found, State, runge_kutta, symplectic
from heelstrike.impact.symmetric import packed, unpacked
from heelstrike.impact.target import Line
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, zeros

SPENT = 1e-12
"""Share of a vector below which it counts as zero."""
MIXED = 0.02
"""Time by which stiffness counts beside damping in the choice of vectors [s]: a contact's."""


@dataclass(frozen=True)
class Basis:
    """Basis of a hit, as symbols of a program."""

    size: SX
    """|j|_A = 1 / sqrt(m_a)."""
    shapes: SX
    """W, (n, m)."""


def lanczos(p: Program, inverse: SX, j: SX, k: SX, m: int) -> Basis:
    """Return m Lanczos vectors of diag(k) A from j, in the inner product of A."""
    with p.block("lanczos start"):
        image = p.let("A j", ca.mac(inverse, j, zeros(j.numel())))
        size = p.let("|j|", ca.sqrt(ca.fmax(ca.dot(j, image), 0)))
        safe = 1 / ca.fmax(size, 1e-150)
        vectors, shapes = [p.let("p", j * safe)], [p.let("A p", image * safe)]
        largest = p.let("largest", ca.dot(k * shapes[0], shapes[0]))
    for i in range(m - 1):
        following = k * shapes[i]
        for _ in range(2):
            with p.block("orthogonal", limb="lanczos"):
                for v, s in zip(vectors, shapes, strict=True):
                    following = p.let("p", following - v * ca.dot(following, s))
        with p.block("next", limb="lanczos"):
            image = p.let("A p", ca.mac(inverse, following, zeros(j.numel())))
            left = p.let("beta", ca.sqrt(ca.fmax(ca.dot(following, image), 0)))
            there = left > SPENT * ca.fmax(largest, 1e-150)
            scale = p.let("1/beta", ca.if_else(there, 1 / ca.fmax(left, 1e-150), 0))
            vectors.append(p.let("p", following * scale))
            shapes.append(p.let("A p", image * scale))
    return Basis(size, ca.horzcat(*shapes))


def output_basis(p: Program, inverse: SX, j: SX, m: int, stiff: bool) -> None:
    """Output the inputs of `krylov_program` that depend on the robot, from kd, kp, limit (n)."""
    n = j.numel()
    kd, kp, limit = p.input("kd", n), p.input("kp", n), p.input("limit", n)
    basis = lanczos(p, inverse, j, kd + MIXED * kp if stiff else kd, m)
    shapes = basis.shapes
    for name, gain in {"damping": kd, "stiffness": kp}.items():
        with p.block(f"basis {name}"):
            products = shapes.T @ (shapes * ca.repmat(gain, 1, m))
            p.output(name, packed(products))
            p.output(f"{name}_loads", ca.vec(shapes * ca.repmat(gain / limit, 1, m)))
    with p.block("basis"):
        p.output("size", basis.size)
        p.output("shapes", ca.vec(shapes))


def krylov_key(plan: Plan, m: int) -> tuple[object, ...]:
    """Return the key of the kernel cache."""
    return ("krylov", m, plan.key())


def krylov_program(plan: Plan, m: int) -> Program:
    """Return the program of a step in the Krylov basis.

    Memory: amounts z (and sums s), hand, target, rate, impulse, peak, duration, separated.
    Outputs: force, deviations z and their rates, and the largest torque over its limit.
    """
    return _Krylov(plan, m).trace()


class _Krylov:
    def __init__(self, plan: Plan, m: int) -> None:
        self.plan, self.m = plan, m
        n, stiff = plan.n, plan.proportional
        self.p = p = Program("krylov")
        self.dt, self.speed = p.input("dt", 1), p.input("speed", 1)
        self.size, self.softness = p.input("size", 1), p.input("base_yield", 1)
        self.damping = unpacked(p.input("damping", m * (m + 1) // 2), m)
        self.stiffness = unpacked(p.input("stiffness", m * (m + 1) // 2), m) if stiff else None
        self.loads = [ca.reshape(p.input("damping_loads", n * m), n, m)]
        if stiff:
            self.loads.append(ca.reshape(p.input("stiffness_loads", n * m), n, m))
        self.weight, self.share = p.input("weight", n), p.input("1/limit", n)
        self.line = Line(p, plan.law, self.dt)
        sizes = {"z": m, "s": m if stiff else 0, "hand": 1, "target": 1, "rate": 1, "impulse": 1}
        self.names = [name for name, size in sizes.items() if size]
        self.state: State = tuple(p.memory(k, s) if s else SX(0, 1) for k, s in sizes.items())

    def trace(self) -> Program:
        p = self.p
        found = self.derivative(self.state)
        rates, force, memory = found
        with p.block("step"):
            if self.plan.integrator == "rk4":
                new, memory = runge_kutta(self.state, found, self.derivative, self.dt)
            else:
                new = symplectic(self.state, rates, self.hand_speed, self.dt)
            for name, value in zip(self.names, (x for x in new if x.numel()), strict=True):
                p.update(name, value)
            self.line.account(p, force, memory)
        with p.block("record"):
            p.output("load", self.load())
            p.output("force", force)
            p.output("amounts", self.state[0])
            p.output("rates", rates[0])
        return p

    def load(self) -> SX:
        """Return the largest torque as a share of its limit."""
        loads = ca.mac(self.loads[0], self.state[0], self.weight * self.share)
        if self.stiffness is not None:
            loads = ca.mac(self.loads[1], self.state[1], loads)
        load = SX(0)
        for entry in ca.vertsplit(loads):
            load = ca.fmax(load, ca.fabs(entry))
        return load

    def hand_speed(self, z: SX, impulse: SX) -> SX:
        return self.speed - self.size * z[0] - self.softness * impulse

    def derivative(self, state: State) -> Found:
        m = self.m
        z, s, hand, moved, rate, impulse = state
        v_h = self.hand_speed(z, impulse)
        force, memory = self.line.force(hand, v_h, moved, rate)
        if self.stiffness is None:  # tridiagonal
            pull = [
                sum((self.damping[k, i] * z[i] for i in range(m) if abs(i - k) < 2), SX(0))
                for k in range(m)
            ]
        else:
            pull = ca.vertsplit(ca.mac(self.damping, z, ca.mac(self.stiffness, s, zeros(m))))
        pull[0] = pull[0] - self.size * force
        turned, pushed = -ca.vertcat(*pull), self.line.acceleration(force, moved, rate)
        return (turned, z if s.numel() else s, v_h, rate, pushed, force), force, memory
