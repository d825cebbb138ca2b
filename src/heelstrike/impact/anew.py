"""Steps 1a to 6a of [Tsujita2009]: inertia and Jacobian anew in every evaluation.

    1a  H*, J*    2a  tau, J*^T F, F    3a  phi_dd (9)    4a  v_h' = J* phi_dd (15)    5a  integrate

What simplified.py keeps is made anew here; the rest is the same, and so is what (9) and (15) leave
out. It is there to count and to compare: the angles move, nothing else is added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
from numpy.typing import ArrayLike

from heelstrike.compile.cache import cached_kernel
from heelstrike.compile.loop import counted
from heelstrike.compile.program import Program
from heelstrike.dynamics.fingerprint import fingerprint
from heelstrike.dynamics.integrate import coordinate_rates, normalized
from heelstrike.dynamics.jacobian import body_jacobian, point_jacobian
from heelstrike.dynamics.kinematics import poses
from heelstrike.impact.hit import Hit
from heelstrike.impact.reduced import grounded, reduced
from heelstrike.impact.run import Ran, finish
from heelstrike.impact.simplified import Plan, rubbed
from heelstrike.impact.stepping import SHARES
from heelstrike.impact.target import Line, account
from heelstrike.spatial.vector import SX, zeros


def anew(
    hit: Hit,
    plan: Plan,
    inputs: Mapping[str, ArrayLike],
    start: Mapping[str, ArrayLike],
    outputs: Sequence[str],
    hits: int,
    steps: int,
    every: int,
    threads: int = 1,
    dtype: str = "float64",
) -> Ran:
    """Runs scheme (a)."""
    own = ("anew", hit.body, hit.candidates, hit.base.fixed, fingerprint(hit.robot))
    names = ("force", *outputs)
    kernel = cached_kernel((*own, plan.key()), lambda: anew_program(hit, plan), names, dtype=dtype)
    begin = {**start, "q": inputs["q"], "hand_speed": inputs["speed"]}
    return finish(kernel, inputs, begin, hits, steps, every, threads)


def anew_program(hit: Hit, plan: Plan) -> Program:
    """Memory: q, u, hand_speed, hand, target, rate, impulse, and what `account` keeps."""
    return _Anew(hit, plan).trace()


NAMES = ("q", "u", "e", "hand_speed", "hand", "target", "rate", "impulse")


class _Anew:
    def __init__(self, hit: Hit, plan: Plan) -> None:
        self.hit, self.plan = hit, plan
        self.p = p = Program("anew")
        n, robot = plan.n, hit.robot
        self.dt, self.reference = p.input("dt", 1), p.input("reference", n)
        self.point, self.direction = p.input("point", 3), p.input("direction", 3)
        self.kd, self.kp = p.input("kd", n), p.input("kp", n)
        self.limit = p.input("limit", n)
        self.viscous, self.coulomb = p.input("viscous", n), p.input("coulomb", n)
        self.bodies = None if hit.base.fixed else grounded(p, robot, hit.candidates)[0]
        self.line = Line(p, plan.law, self.dt)
        sizes = dict.fromkeys(NAMES, 1) | {"q": robot.nq, "u": n, "e": n}
        self.state = tuple(
            p.memory(name, size, robot.neutral if name == "q" else 0.0)
            for name, size in sizes.items()
        )

    def trace(self) -> Program:
        p, dt = self.p, self.dt
        stages = SHARES if self.plan.integrator == "rk4" else ((1.0, 0.0),)
        shares = ca.DM(stages)
        with counted(p, "stages", len(stages)) as loop:
            step = loop.constants(shares.full())
            at = tuple(loop.carry(k, x) for k, x in zip(NAMES, self.state, strict=True))
            totals = tuple(loop.carry(k, 0 * x) for k, x in zip(NAMES, self.state, strict=True))
            forces = loop.carry("forces", SX(0))
            first = loop.carry("first", SX(1))
            early = loop.carry("early", zeros(self.plan.n))
            memory = loop.carry("memory", self.line.memory) if self.line.memory.numel() else None
            rates, force, kept = self.derivative(at)
            with p.block("stage"):
                for x, state, total, rate in zip(at, self.state, totals, rates, strict=True):
                    loop.next(total, total + step[0] * rate)
                    loop.next(x, state + step[1] * dt * rate)
                loop.next(forces, ca.if_else(first > 0, force, forces))
                loop.next(early, ca.if_else(first > 0, rates[1], early))
                loop.next(first, SX(0))
                if memory is not None:
                    loop.next(memory, kept)
        with p.block("account"):
            for name, x, total in zip(NAMES, self.state, totals, strict=True):
                new = x + dt * total
                p.update(name, normalized(self.hit.robot, new) if name == "q" else new)
            if memory is not None:
                p.update("law memory", memory)
            account(p, forces, dt)
            load = SX(0)
            for share in ca.vertsplit(ca.fabs(self.demanded(self.state)) / self.limit):
                load = ca.fmax(load, share)
            p.update_max("load", load)
        with p.block("record"):
            p.output("force", forces)
            p.output("deviation", self.state[1])
            p.output("acceleration", early)
        return p

    def demanded(self, state: tuple[SX, ...]) -> SX:
        """(10) or (11)."""
        tau = -self.kd * state[1]
        return tau - self.kp * state[2] if self.plan.proportional else tau

    def derivative(self, state: tuple[SX, ...]) -> tuple[tuple[SX, ...], SX, SX]:
        p, robot = self.p, self.hit.robot
        q, u, _, v_h, hand, moved, rate, _ = state
        red = reduced(p, robot, q, self.hit.candidates, self.hit.base.fixed, self.bodies)  # 1a
        own = body_jacobian(p, robot, red.kin, self.hit.body)
        pose = poses(p, robot, red.kin)[self.hit.body]
        linear = ca.densify(point_jacobian(p, pose, own, self.point))
        with p.block("forces"):  # 2a
            j = p.let("j", red.generalized(linear).T @ self.direction)
            softness = red.base_yield(self.direction.T @ linear)
            force, memory = self.line.force(hand, v_h, moved, rate)
            force = p.let("f", force)
            tau = self.demanded(state)
            if self.plan.limited:
                tau = ca.fmax(-self.limit, ca.fmin(self.limit, tau))
            turning = p.let("phi_d", self.reference + u)
            if self.plan.rubbing:
                tau = tau - rubbed(self.viscous, self.coulomb, turning)
            right = p.let("right", tau - j * force)
        with p.block("solve"):  # 3a, 4a
            phi_dd = p.let("phi_dd", ca.mac(red.inverse, right, zeros(self.plan.n)))
            pushed = p.let("v_h'", ca.dot(j, phi_dd) - softness * force)
            v = p.let("v", ca.vertcat(red.base @ turning if red.nb else SX(0, 1), turning))
            turned = p.let("q'", coordinate_rates(robot, q, v))
            pull = p.let("v_t'", self.line.acceleration(force, moved, rate))
        return (turned, phi_dd, u, pushed, v_h, rate, pull, force), force, memory
