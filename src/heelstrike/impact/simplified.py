"""Simplified dynamics computation, steps 3b to 7b of [Tsujita2009]: constant inertia and Jacobian.

    phi_dd = H*^-1 (tau - F - j f),      j = J*^T n                                     (9), (17)
    tau    = clamp(K_d (phi_d_ref - phi_d) [+ K_p (phi_ref - phi)] + g, +-tau_max) - g  (10)-(12)
    F      = viscous phi_d + coulomb sign(phi_d)
    v_h'   = j^T phi_dd - y f,           x_h' = v_h                                     (13)-(16)

The state is the deviation from the reference, which goes on at its constant velocity:
u = phi_d - phi_d_ref, e = phi - phi_ref, both zero at first touch, and -tau is what is summed. In
place of L and U the program keeps A = H*^-1: the same 2 n^2 operations a step as two triangles, and
it exists where links are fixed. y is the base's own yield (reduced_inertia.py), 1e-5 of 1/m_a for a
virtual base, which (15) leaves out. The sign of the force is ours: f >= 0 repels, it pushes the
hand back and the target on. g is the weight, which the servo carries before the hit: (8) leaves it
out of the motion, but not of what (12) has left for the hit. With n = 1, A = 1/m_a, j = 1 and no
servo this is the virtual mass of fig 9.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from heelstrike.contact.law import NormalLaw
from heelstrike.impact.stepping import Found, State, looped, symplectic
from heelstrike.impact.symmetric import inner, product, unpacked
from heelstrike.impact.target import Line, law_key
from heelstrike.ir.program import Program
from heelstrike.spatial.vector import SX, zeros

SLOW = 1e-3
"""Speed below which dry joint friction is made smooth [rad/s or m/s]."""


@dataclass(frozen=True)
class Plan:
    """Options that decide the compiled code."""

    n: int
    law: NormalLaw
    integrator: str = "rk4"
    """"rk4" as in the paper, or "symplectic"."""
    proportional: bool = False
    """Whether the servo's stiffness acts: (10), else (11)."""
    limited: bool = True
    """Whether torques are limited by (12)."""
    rubbing: bool = False
    """Whether joint friction F of (5) acts."""

    def key(self) -> tuple[object, ...]:
        """Return the key of the kernel cache."""
        flags = (self.proportional, self.limited, self.rubbing)
        return ("simplified", self.n, self.integrator, *flags, law_key(self.law))


def simplified_program(plan: Plan) -> Program:
    """Return the program of a step with constant inertia.

    Memory: u, e, hand, target, rate, impulse, peak, duration, separated. Outputs: force,
    deviation u, acceleration phi_dd.
    """
    return _Simplified(plan).trace()


class _Simplified:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.p = p = Program("simplified")
        n = plan.n
        self.dt = p.input("dt", 1)
        self.inverse = unpacked(p.input("inverse", n * (n + 1) // 2), n)
        self.j, self.softness = p.input("j", n), p.input("base_yield", 1)
        self.speed = p.input("speed", 1)
        self.kd = p.input("kd", n)
        self.kp = p.input("kp", n) if plan.proportional else None
        self.limits = Limits(p, n) if plan.limited else None
        if plan.rubbing:
            self.reference = p.input("reference", n)
            self.viscous, self.coulomb = p.input("viscous", n), p.input("coulomb", n)
        self.line = Line(p, plan.law, self.dt)
        sizes = {"u": n, "e": n if plan.proportional else 0}
        sizes |= {"hand": 1, "target": 1, "rate": 1, "impulse": 1}
        self.names = [name for name, size in sizes.items() if size]
        self.state: State = tuple(p.memory(k, s) if s else SX(0, 1) for k, s in sizes.items())

    def trace(self) -> Program:
        """Trace the step and its recorded outputs."""
        p = self.p
        rates, force, memory = self.derivative(self.state)
        if rk4 := self.plan.integrator == "rk4":
            new, memory = looped(p, self.state, self.line.memory, self.derivative, self.dt, rk4)
        with p.block("step"):
            if not rk4:
                new = symplectic(self.state, rates, self.hand_speed, self.dt)
            for name, value in zip(self.names, (x for x in new if x.numel()), strict=True):
                p.update(name, value)
            self.line.account(p, force, memory)
            p.update_max("load", self.load())
        with p.block("record"):
            p.output("force", force)
            p.output("deviation", self.state[0])
            p.output("acceleration", rates[0])
        return p

    def hand_speed(self, u: SX, impulse: SX) -> SX:
        """Return v_h, (13) along the direction."""
        return self.speed + inner(self.j, u) - self.softness * impulse

    def derivative(self, state: State) -> Found:
        """Return the rates of the state u, e, x_h, x_t, v_t, impulse by steps 3b to 6b."""
        p = self.p
        u, e, hand, moved, rate, impulse = state
        v_h = self.hand_speed(u, impulse)
        force, memory = self.line.force(hand, v_h, moved, rate)
        with p.block("forces"):
            force = p.let("f", force)
            against = p.let("against", self.held_back(u, e) + self.friction(u) + self.j * force)
        phi_dd = -product(p, self.inverse, against)
        pull = self.line.acceleration(force, moved, rate)
        turning = u if e.numel() else SX(0, 1)
        return (phi_dd, turning, v_h, rate, pull, force), force, memory

    def demanded(self, u: SX, e: SX) -> SX:
        """Return -tau of (10) or (11)."""
        pull = self.kd * u
        return pull if self.kp is None else pull + self.kp * e

    def held_back(self, u: SX, e: SX) -> SX:
        """Return -tau within the limits (12)."""
        pull = self.demanded(u, e)
        return pull if self.limits is None else self.limits.within(pull)

    def load(self) -> SX:
        """Return the largest torque before (12), as a share of its limit."""
        pull = self.demanded(self.state[0], self.state[1])
        return SX(0) if self.limits is None else self.limits.load(pull)

    def friction(self, u: SX) -> SX:
        """Return the joint friction F of (5)."""
        if not self.plan.rubbing:
            return zeros(self.plan.n)
        return joint_friction(self.viscous, self.coulomb, self.reference + u)


class Limits:
    """Torque limits (12) about the carried weight; inputs limit, 1/limit and weight (n)."""

    def __init__(self, p: Program, n: int) -> None:
        self.limit, self.share = p.input("limit", n), p.input("1/limit", n)
        self.weight = p.input("weight", n)

    def within(self, pull: SX) -> SX:
        """Return -tau clamped to its limits."""
        return ca.fmax(self.weight - self.limit, ca.fmin(self.weight + self.limit, pull))

    def load(self, pull: SX) -> SX:
        """Return the largest share of a limit that -tau demands."""
        load = SX(0)
        for share in ca.vertsplit(ca.fabs(self.weight - pull) * self.share):
            load = ca.fmax(load, share)
        return load


def joint_friction(viscous: SX, coulomb: SX, turning: SX) -> SX:
    """Return the friction F of (5), viscous and dry."""
    return viscous * turning + coulomb * turning / ca.fmax(ca.fabs(turning), SLOW)
