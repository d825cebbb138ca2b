"""One step of a scene: the flowchart of [Sugihara2006], Fig. 4, for elastic laws.

    1 kinematics   2 detect contacts   3 contact velocities, normals, slip   4 elastic forces
    8 acceleration, with what acts at the joints   9 integrate

Steps 5 to 7, coupled forces, are not needed where every law is elastic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import casadi as ca
import numpy as np

from heelstrike.dynamics.aba import ForwardDynamics, forward_dynamics
from heelstrike.dynamics.bodies import varied_inertias
from heelstrike.dynamics.integrate import euler, rk4
from heelstrike.dynamics.kinematics import kinematics, poses
from heelstrike.dynamics.tree import parts
from heelstrike.ir.program import Program
from heelstrike.parameters import with_values
from heelstrike.scene.scene import bodies_in
from heelstrike.spatial.motion import Force
from heelstrike.spatial.vector import SX
from heelstrike.step import joints
from heelstrike.step.account import WORKS
from heelstrike.step.control import Hands
from heelstrike.step.coupled import REMEMBERED, Coupled, Coupling, coupled_pairs
from heelstrike.step.detect import contact_power, contacts
from heelstrike.step.ground import Grounds, memory_size
from heelstrike.step.outputs import Evaluated, record
from heelstrike.step.plan import StepPlan
from heelstrike.step.push import Push, push_power, pushed
from heelstrike.step.torque import drive, each

FRICTION = ("joint friction, expected", "joint friction, last")
"""Memory of joints that rub: see joints.friction_ahead."""
FASTEST = 1e4
"""A world in which a joint moves faster than this [rad/s or m/s] has diverged."""


def step_program(plan: StepPlan, outputs: Sequence[str] = (), thorough: bool = False) -> Program:
    """The step, with memory q, v, work, peaks, impulses and the laws' own, and what is recorded.

    `thorough` is for derivatives: it solves coupled contacts anew however well they began.
    """
    return _Step(plan, thorough).trace(outputs)


class _Step:
    """A step under construction."""

    def __init__(self, plan: StepPlan, thorough: bool) -> None:
        self.plan, self.thorough = plan, thorough
        self.robot = plan.robot
        self.parts = parts(plan.robot)
        self.p = p = Program("step")
        self.q = p.memory("q", self.robot.nq, initial=self.robot.neutral)
        self.v = p.memory("v", self.robot.nv)
        self.work = p.memory("work", len(WORKS))
        self.dt = p.input("dt", 1)
        values = {
            path: p.input(path, value.size)
            for path, value in plan.parameters().items()
            if not path.endswith(".mass")
        }
        self.bodies = varied_inertias(p, self.robot, plan.varied)
        self.gravity = values["gravity"]
        self.stops = plan.stops and with_values(plan.stops, values, "stops.")
        self.grounds = Grounds(p, plan.scene, values)
        self.pushes = [
            (self.robot.body(name), with_values(Push(), values, f"push{k}."))
            for k, name in enumerate(plan.pushes)
        ]
        self.hands = Hands(p, self.robot, plan.control, values, self.dt)
        self.rubbing = joints.rubbing_joints(self.robot) if plan.integrator == "symplectic" else ()
        self.friction = [
            p.memory(name, len(self.rubbing)) for name in FRICTION if len(self.rubbing)
        ]
        self.pairs = plan.scene.pairs
        sizes = [memory_size(plan.scene, pair) for pair in self.pairs]
        self.laws = p.memory("contact memory", sum(sizes)) if sum(sizes) else SX(0, 1)
        ends = np.cumsum([0, *sizes])
        self.remembered = [self.laws[a:b, :] for a, b in pairwise(ends)]
        coupled = len(coupled_pairs(plan.scene))
        self.impulses = p.memory("impulse memory", REMEMBERED * coupled) if coupled else None
        self.tolerance = values.get("solver.tolerance", SX(0))

    def trace(self, outputs: Sequence[str]) -> Program:
        p, dt = self.p, self.dt
        found: list[Evaluated] = []
        if self.plan.integrator == "rk4":
            starts = iter((0.0, 0.5, 0.5, 1.0))

            def acceleration(q: SX, v: SX) -> SX:
                found.append(self.evaluate(q, v, next(starts)))
                return found[-1].a

            q, v = rk4(p, self.robot, self.q, self.v, dt, acceleration)
            with p.block("end"):
                p.update("q", q)
                p.update("v", v)
            shares = [1 / 6, 1 / 3, 1 / 3, 1 / 6]
        else:
            found.append(self.evaluate(self.q, self.v))
            symplectic = self.plan.integrator == "symplectic"
            euler(p, self.robot, self.q, self.v, found[0].a, dt, symplectic)
            shares = [1.0]
        self.account(found, shares)
        self.hands.remember()
        state = self.q, self.v, self.work
        record(p, self.plan, self.gravity, state, found[0], outputs)
        return p

    def evaluate(self, q: SX, v: SX, when: float = 0.0) -> Evaluated:
        """Forces and accelerations at a state, `when` of a step after its start."""
        p, robot, dt = self.p, self.robot, self.dt
        implicit = self.plan.integrator == "symplectic"
        kin = kinematics(p, robot, q, v, self.bodies)
        placed = poses(p, robot, kin)
        grounds, laws = self.grounds.after(when * dt), self.grounds.laws
        since = dt if implicit else when * dt
        touched = contacts(
            p, self.plan.scene, grounds, laws, kin, placed, dt, since, self.gravity, self.remembered
        )
        external: list[Force | None] = [touched.forces.get(i) for i in range(len(robot.joints))]
        shoves = pushed(p, self.pushes, placed, external)
        ahead = dt if implicit else 0.0
        guess = self.friction[0] if self.friction else None
        coupling = self.coupling()
        torques = [
            self.hands.torque(q, v, when),
            joints.damping_torque(robot, v, ahead),
            joints.friction_torque(robot, self.plan.pose, v, dt, guess),
        ]
        if self.stops is not None:
            torques.append(joints.stop_torque(robot, self.stops, q, v, ahead))

        if coupling is not None:
            coupling.prepare(touched, placed, external, self.gravity, dt)
        solved: list[ForwardDynamics] = []
        answers: list[Coupled] = []

        def solve(tau: SX, slope: SX) -> tuple[SX, SX]:
            diagonal = SX(robot.armature) + slope
            solved.append(forward_dynamics(p, robot, kin, v, tau, self.gravity, diagonal, external))
            if coupling is None:
                return solved[0].a, SX(0, 1)
            state = kin, placed, touched, solved[0], v, self.gravity, dt
            answers.append(coupling.solve(robot, *state, diagonal))
            return answers[0].a, ca.vertcat(answers[0].rounds, answers[0].unfinished)

        driven = drive(p, self.parts, torques, solve, 0 if coupling is None else 2)
        a, felt = driven.a, solved[0].bodies
        coupled = None
        if answers:
            rounds, unfinished = ca.vertsplit(driven.counted)
            coupled = replace(answers[0], rounds=rounds, unfinished=ca.fmin(unfinished, 1))
            felt, touched = coupled.felt, coupled.contacts
        half = 0.0 if self.plan.integrator == "rk4" else 0.5 * dt
        normal, tangent = contact_power(p, touched, placed, felt, self.gravity, half)
        middle, applied = v + half * a, [t.now - t.slope * a for t in driven.held]
        works = []
        for name, i in each(self.parts):
            with p.block("work", limb=name, member=i):
                for torque in applied:
                    torque[i] = p.let("torque", torque[i])
                control, damping, friction, *stops = (torque[i] for torque in applied)
                own = ca.vertcat(control, damping + friction, *stops) * middle[i]
                works.append(p.let("work", own))
        shares = []
        for name, of_limb in self.parts:
            with p.block("power", limb=name):
                shares.append(p.let("work", sum((works[i] for i in of_limb), SX(0))))
        with p.block("power"):
            work = ca.vertsplit(sum(shares, SX(0)))
            stops = work[2] if self.stops is not None else SX(0)
            shoved = push_power(self.pushes, shoves, kin, placed, felt, self.gravity, half)
            power = ca.vertcat(normal, tangent, work[0], stops, work[1], shoved)
            power = p.let("power", power)
        rubs = driven.states[2] if driven.states else SX(0, 1), applied[2]
        return Evaluated(kin, placed, touched, a, applied[0], rubs, felt, coupled, power)

    def coupling(self) -> Coupling | None:
        """Of the pairs whose laws couple."""
        if self.impulses is None:
            return None
        return Coupling(self.p, self.plan.scene, self.impulses, self.tolerance, self.thorough)

    def account(self, found: Sequence[Evaluated], shares: Sequence[float]) -> None:
        """Sums, peaks and the laws' memory."""
        p, dt = self.p, self.dt
        bodies = bodies_in(self.plan.scene.pairs)
        speeds = []
        for name, own in self.parts:
            with p.block("account", limb=name):
                most = SX(0)
                for speed in ca.vertsplit(self.v[own]):
                    most = ca.fmax(most, ca.fabs(speed))
                speeds.append(p.let("speed", most))
        for name, i in each(self.parts):
            if i in self.rubbing:
                with p.block("friction", limb=name, member=i):
                    self.expect(found[0], self.rubbing.index(i), i)
        with p.block("account"):
            power = sum((s * e.power for s, e in zip(shares, found, strict=True)), SX(0))
            p.update("work", self.work + dt * power)
            p.fail_when(ca.mmax(ca.vertcat(*speeds)) > FASTEST)
            self.grounds.advance(dt)
            if not self.pairs:
                return
            impulse = p.memory("impulse", 3 * len(bodies))
            totals = [
                sum((s * e.contacts.total(b) for s, e in zip(shares, found, strict=True)), SX(0))
                for b in bodies
            ]
            p.update("impulse", impulse + dt * ca.vertcat(*totals))
            if found[0].coupled is not None:
                p.update("impulse memory", found[0].coupled.memory)
        self.account_pairs(found)

    def account_pairs(self, found: Sequence[Evaluated]) -> None:
        """Peaks, and the laws' memory: under rk4 once, by what its last evaluation says."""
        p, count = self.p, len(self.pairs)
        forces, depths = p.memory("peak_force", count), p.memory("peak_depth", count)
        start = 0
        for k, (first, last) in enumerate(
            zip(found[0].contacts.pairs, found[-1].contacts.pairs, strict=True)
        ):
            with p.block("peaks", member=k):
                p.update_part("peak_force", k, ca.fmax(forces[k], first.normal))
                p.update_part("peak_depth", k, ca.fmax(depths[k], first.depth))
                if size := self.remembered[k].numel():
                    p.update_part("contact memory", start, last.memory)
                    start += size

    def expect(self, found: Evaluated, k: int, i: int) -> None:
        """Remembers what dry friction of joint i did, and what it may do next."""
        state, torque = found.friction
        share = torque[i] / float(self.robot.friction[i])
        _, before = self.friction
        going = before[k], self.v[i], found.a[i], self.dt
        new = joints.friction_ahead(state[k], share, *going)
        for name, value in zip(FRICTION, new, strict=True):
            self.p.update_part(name, k, value)
