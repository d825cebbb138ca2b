"""Steps 1a to 6a of [Tsujita2009]: inertia and Jacobian computed in every evaluation.

    1a  H*, J*    2a  tau, J*^T F, F    3a  phi_dd (9)    4a  v_h' = J* phi_dd (15)    5a  integrate

simplified.py keeps inertia and Jacobian constant; this scheme recomputes them as the angles move.
The terms that (9) and (15) leave out are left out here, too. It serves to count and to compare.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from heelstrike.dynamics.integrate import coordinate_rates, normalized
from heelstrike.dynamics.jacobian import body_jacobian, point_jacobian
from heelstrike.dynamics.kinematics import poses
from heelstrike.impact.hit import Hit
from heelstrike.impact.kernels import HitResult, KernelRun
from heelstrike.impact.reduced_inertia import grounded, reduced
from heelstrike.impact.simplified import Limits, Plan, joint_friction
from heelstrike.impact.stepping import Found, State, looped
from heelstrike.impact.target import Line
from heelstrike.ir.program import Program
from heelstrike.robot.fingerprint import fingerprint
from heelstrike.spatial.vector import SX, zeros


def run_full_inertia(hit: Hit, plan: Plan, run: KernelRun) -> HitResult:
    """Run scheme (a)."""
    own = ("anew", hit.body, hit.candidates, hit.base.fixed, fingerprint(hit.robot), plan.key())
    start = {**run.start, "q": run.inputs["q"], "hand_speed": run.inputs["speed"]}
    return replace(run, start=start).run(own, lambda: full_inertia_program(hit, plan))


def full_inertia_program(hit: Hit, plan: Plan) -> Program:
    """Return the program of scheme (a).

    Its memory is q, u, hand_speed, hand, target, rate, impulse, and what `account` keeps.
    """
    return _FullInertia(hit, plan).trace()


NAMES = ("q", "u", "e", "hand_speed", "hand", "target", "rate", "impulse")


class _FullInertia:
    def __init__(self, hit: Hit, plan: Plan) -> None:
        self.hit, self.plan = hit, plan
        self.p = p = Program("anew")
        n, robot = plan.n, hit.robot
        self.dt, self.reference = p.input("dt", 1), p.input("reference", n)
        self.point, self.direction = p.input("point", 3), p.input("direction", 3)
        self.kd, self.kp = p.input("kd", n), p.input("kp", n)
        self.limits = Limits(p, n)
        self.viscous, self.coulomb = p.input("viscous", n), p.input("coulomb", n)
        self.bodies = None if hit.base.fixed else grounded(p, robot, hit.candidates)
        self.line = Line(p, plan.law, self.dt)
        sizes = dict.fromkeys(NAMES, 1) | {"q": robot.nq, "u": n, "e": n}
        self.state = tuple(
            p.memory(name, size, robot.neutral if name == "q" else 0.0)
            for name, size in sizes.items()
        )

    def trace(self) -> Program:
        p, dt = self.p, self.dt
        rk4 = self.plan.integrator == "rk4"
        new, memory = looped(p, self.state, self.line.memory, self.derivative, dt, rk4)
        with p.block("account"):
            for name, value in zip(NAMES, new, strict=True):
                p.update(name, normalized(self.hit.robot, value) if name == "q" else value)
            _, u, _, v_h, hand, moved, rate, _ = self.state
            force = self.line.force(hand, v_h, moved, rate)[0]
            self.line.account(p, force, memory)
            p.update_max("load", self.limits.load(self.demanded(self.state)))
        with p.block("record"):
            p.output("force", force)
            p.output("deviation", u)
            p.output("acceleration", (new[1] - u) / dt)
        return p

    def demanded(self, state: State) -> SX:
        """Return -tau of (10) or (11)."""
        pull = self.kd * state[1]
        return pull + self.kp * state[2] if self.plan.proportional else pull

    def derivative(self, state: State) -> Found:
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
            pull = self.demanded(state)
            if self.plan.limited:
                pull = self.limits.within(pull)
            turning = p.let("phi_d", self.reference + u)
            if self.plan.rubbing:
                pull = pull + joint_friction(self.viscous, self.coulomb, turning)
            right = p.let("right", -pull - j * force)
        with p.block("solve"):  # 3a, 4a
            phi_dd = p.let("phi_dd", ca.mac(red.inverse, right, zeros(self.plan.n)))
            pushed = p.let("v_h'", ca.dot(j, phi_dd) - softness * force)
            v = p.let("v", ca.vertcat(red.base @ turning if red.nb else SX(0, 1), turning))
            turned = p.let("q'", coordinate_rates(robot, q, v))
            pull = p.let("v_t'", self.line.acceleration(force, moved, rate))
        return (turned, phi_dd, u, pushed, v_h, rate, pull, force), force, memory
