"""Boxes 5 to 7 of [Sugihara2006], Fig. 4: the coupled problem by the literal rule of a paper.

The acceleration is first found with the impulses of the last step. The rule then yields
the impulses of this step, and the robot's response to the difference is added:

    V_free = V + dt (acceleration of the bodies) - Lambda^-1 w_last
    a      = a_last + H^-1 J^T (w - w_last) / dt

contact/solver/literal/ holds the rules.

Whether a joint reaches its torque limit, or dry friction holds it, is decided by the result
(limits.py): with a foot on the ground a joint moves the inertia of the whole robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import casadi as ca

from heelstrike.contact.law import where
from heelstrike.contact.solver.criteria import Ended
from heelstrike.contact.solver.literal.least_norm import solve_least_norm
from heelstrike.contact.solver.literal.paper_rule import solve_paper
from heelstrike.dynamics.aba import ForwardDynamics, forward_dynamics
from heelstrike.dynamics.coriolis import coriolis_accelerations
from heelstrike.dynamics.kinematics import accelerations
from heelstrike.dynamics.response import (
    force_response,
    force_rows,
    inverse_inertia,
)
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.vector import SX, cross, zeros
from heelstrike.step.coupled import Coupling
from heelstrike.step.evaluation import Contacts, CoupledSolution
from heelstrike.step.limits import solve_limited
from heelstrike.step.state import StepState
from heelstrike.step.torque import LimitedSolution, Torque


def accelerate_literal(
    state: StepState,
    contacts: Contacts,
    external: list[ForceVector | None],
    torques: Sequence[Torque],
    memory: SX,
) -> tuple[LimitedSolution, CoupledSolution]:
    """Return the accelerations, and the solution of the coupled problem."""
    coupling = LiteralCoupling(state, contacts, memory)
    coupling.add_last_forces(external)
    p, robot, solutions = state.program, state.robot, []

    def solve_with(tau: SX, slope: SX) -> tuple[SX, SX]:
        diagonal = state.inputs.armature + slope
        found = forward_dynamics(
            p, robot, state.kinematics, state.v, tau, state.gravity, diagonal, external
        )
        solutions.append(coupling.solve(found, diagonal))
        limit = solutions[0].ended == Ended.LIMIT
        return solutions[0].a, ca.vertcat(solutions[0].rounds, limit)

    limited = solve_limited(p, state.inputs.limbs, torques, solve_with, 2)
    rounds, unfinished = ca.vertsplit(limited.counted)
    ended = where(unfinished, Ended.LIMIT, solutions[0].ended)
    return limited, replace(solutions[0], rounds=rounds, ended=ended)


class LiteralCoupling(Coupling):
    """The coupled pairs of an evaluation, in the twists of their bodies."""

    def add_last_forces(self, external: list[ForceVector | None]) -> None:
        """Build the rows, and add the last step's forces to those on the bodies, in body frames."""
        p, state = self.state.program, self.state
        self.last = zeros(6 * len(self.bodies))  # wrench of the last step's forces
        pushes: list[list[ForceVector]] = [[] for _ in self.bodies]
        for n in range(len(self.pairs)):
            row = self.row(n, "coupled")
            self.rows.append(row)
            with p.block("last forces", limb="coupled", member=n):
                force = row.axes.T @ row.past / state.dt
                for arm in row.arms:
                    own = p.let("last", arm.sign * force)
                    moment = p.let("last", cross(arm.lever, own))
                    pushes[arm.body].append(ForceVector(own, moment))
        totals = []
        for n, body in enumerate(self.bodies):
            with p.block("last forces", member=n):
                total = sum(pushes[n], ForceVector(zeros(), zeros()))
                totals.append(p.let("last", total.column))
                force = totals[n]
                pose, old = state.poses[body], external[body]
                own = ForceVector(pose.unrotate(force[:3]), pose.unrotate(force[3:]))
                total = own if old is None else own + old
                external[body] = ForceVector(
                    p.let("last", total.linear), p.let("last", total.angular)
                )
        self.last = ca.vertcat(*totals)

    def solve(self, found: ForwardDynamics, diagonal: SX) -> CoupledSolution:
        """Return the accelerations with the impulses of this step.

        `found` are the accelerations under the last step's impulses, `diagonal` is the addition to
        the diagonal of H.
        """
        state = self.state
        p, robot, kin, v = state.program, state.robot, state.kinematics, state.v
        poses, gravity, dt = state.poses, state.gravity, state.dt
        unit = SX(ca.DM.eye(6))
        reach = [
            force_rows(p, robot, kin, found.joint_terms, poses, {b: unit}) for b in self.bodies
        ]
        inverse = inverse_inertia(p, robot, found.joint_terms, reach)
        biases = (
            accelerations(p, robot, kin, v, None, base=-gravity)
            if self.rule.bias == "drop"
            else None
        )
        coriolis = (
            coriolis_accelerations(p, robot, kin, v, diagonal)
            if self.rule.forces == "b-hat"
            else None
        )
        with p.block("coupled free"):
            ahead = []
            for b in self.bodies:
                specific = found.bodies[b]
                if coriolis is not None:
                    specific = specific + coriolis[b]
                if biases is not None:
                    ahead.append(self._without_bias(b, specific, biases[b]))
                else:
                    ahead.append(self._with_bias(b, specific))
            free = p.let("free", ca.vertcat(*ahead) - dt * inverse @ self.last)
        problem = inverse, free, state.inputs.tolerance, state.inputs.thorough
        if self.rule.rule == "sugihara2006":
            solution = solve_paper(p, self.rows, self.paper_terms, *problem)
        else:
            solution = solve_least_norm(p, self.rows, *problem)
        with p.block("coupled change"):
            change = p.let("change", solution.wrenches / dt - self.last)
        forces = [change[6 * n : 6 * n + 6] for n in range(len(self.bodies))]
        more = force_response(p, robot, kin, found.joint_terms, reach, forces)
        specific_after = [
            body if moved is None else body + moved
            for body, moved in zip(found.bodies, more.bodies, strict=True)
        ]
        merged, memory = self.merged(solution.impulses, solution.slides)
        touches = reduce(ca.fmax, (row.active for row in self.rows))
        done = where(touches, Ended.SETTLED, Ended.NO_CONTACT)
        ended = where(solution.unfinished, Ended.LIMIT, done)
        told = solution.rounds, ended, solution.residual
        return CoupledSolution(found.a + more.a, specific_after, merged, memory, *told)

    def _with_bias(self, body: int, specific: MotionVector) -> SX:
        """Return a body's twist after the step in world axes, under the last step's forces."""
        state, motion, pose = self.state, self.state.motions[body], self.state.poses[body]
        velocity = state.kinematics.velocities[body]
        linear = specific.linear + cross(velocity.angular, velocity.linear)
        linear = motion.linear + state.dt * (pose.rotate(linear) + state.gravity)
        return ca.vertcat(linear, motion.angular + state.dt * pose.rotate(specific.angular))

    def _without_bias(self, body: int, specific: MotionVector, bias: MotionVector) -> SX:
        """Return the twist without the effect of turning alone: V + J a dt, as in (19)."""
        motion, pose, dt = self.state.motions[body], self.state.poses[body], self.state.dt
        linear = motion.linear + dt * pose.rotate(specific.linear - bias.linear)
        angular = motion.angular + dt * pose.rotate(specific.angular - bias.angular)
        return ca.vertcat(linear, angular)
