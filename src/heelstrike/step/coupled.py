"""Boxes 5 to 7 of [Sugihara2006], Fig. 4: the coupled problem, forces that depend on one another.

The acceleration is first found with the impulses of the last step. The coupled problem then yields
the impulses of this step, and the robot's response to the difference is added:

    V_free = V + dt (acceleration of the bodies) - Lambda^-1 w_last
    a      = a_last + H^-1 J^T (w - w_last) / dt

The velocity of a point after the step includes the turning of its lever, dt w x (w x r), of a
sphere that to its centre: the term that [Sugihara2006] (19) drops. contact/solver/ solves the
problem: paper_rule.py holds eq. (33).

Whether a joint reaches its torque limit, or dry friction holds it, is decided by the result
(torque.py): with a foot on the ground a joint moves the inertia of the whole robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from heelstrike.contact.solver.coupled import Arm, Row, solve
from heelstrike.contact.solver.criteria import EXACT, USUAL
from heelstrike.contact.solver.least_norm import solve_least_norm
from heelstrike.contact.solver.paper_rule import solve_paper
from heelstrike.contact.surface_law import IMPACT_SPEED, CouplingRule, PaperTerms
from heelstrike.dynamics.aba import ForwardDynamics
from heelstrike.dynamics.coriolis import coriolis_accelerations
from heelstrike.dynamics.kinematics import accelerations
from heelstrike.dynamics.response import (
    force_response,
    force_rows,
    inverse_inertia,
    inverse_inertia_root,
)
from heelstrike.scene.scene import bodies_in
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.vector import SX, cross, zeros
from heelstrike.step.elastic import add_force
from heelstrike.step.plan import coupling_rule
from heelstrike.step.state import IMPULSE_MEMORY, Contacts, CoupledSolution, PairState, StepState

SLIDING = 1 - 1e-3
"""Fraction of mu_k f_n that friction must reach for a point to count as sliding in the next step.
Passes end within a thousandth; a point that is not known to slide takes twenty of them."""


class Coupling:
    """The coupled pairs of an evaluation."""

    def __init__(self, state: StepState, contacts: Contacts, memory: SX) -> None:
        self.state, self.contacts, self.memory = state, contacts, memory
        self.pairs = state.plan.coupled_pairs
        self.bodies = bodies_in([state.scene.pairs[k] for k in self.pairs])
        self.rows: list[Row] = []
        self.paper_terms: list[PaperTerms] = []
        self.rule = coupling_rule(state.scene) or CouplingRule()
        self.last = zeros(6 * len(self.bodies))  # wrench of the last step's forces

    def add_last_forces(self, external: list[ForceVector | None]) -> None:
        """Build the rows, and add the last step's forces to those on the bodies, in body frames."""
        p, state = self.state.program, self.state
        pushes: list[list[ForceVector]] = [[] for _ in self.bodies]
        for n, k in enumerate(self.pairs):
            with p.block("row", limb="coupled", member=n):
                row = self._row(n, self.contacts.pairs[k])
                self.rows.append(row)
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
        reach = [force_rows(p, robot, kin, found.joint_terms, b, poses[b]) for b in self.bodies]
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
        elif self.rule.rule == "rengifo2009":
            solution = solve_least_norm(p, self.rows, *problem)
        else:
            half = inverse_inertia_root(p, robot, found.joint_terms, reach)
            accuracy = EXACT if self.rule.exact else USUAL
            solution = solve(p, self.rows, *problem, accuracy, half)
        with p.block("coupled change"):
            change = p.let("change", solution.wrenches / dt - self.last)
        forces = [change[6 * n : 6 * n + 6] for n in range(len(self.bodies))]
        more = force_response(p, robot, kin, found.joint_terms, reach, forces)
        specific_after = [
            body if moved is None else body + moved
            for body, moved in zip(found.bodies, more.bodies, strict=True)
        ]
        merged, memory = self._merged(solution.impulses, solution.slides)
        ended = solution.rounds, solution.unfinished, solution.residual
        return CoupledSolution(found.a + more.a, specific_after, merged, memory, *ended)

    def _row(self, n: int, pair: PairState) -> Row:
        goal, gravity, dt = pair.target, self.state.gravity, self.state.dt
        assert goal is not None
        own = self.memory[IMPULSE_MEMORY * n : IMPULSE_MEMORY * (n + 1)]
        fresh = ca.logic_or(own[3] == 0, goal.impact)
        known = ca.logic_and(goal.active, ca.logic_not(fresh))
        past = ca.if_else(known, own[:3] * dt, 0)
        slid = ca.logic_and(known, own[3] > 1.5)
        fast = ca.dot(pair.slip, pair.slip) > (IMPACT_SPEED * dt) ** 2 * ca.dot(gravity, gravity)
        turning = zeros()
        for side in pair.sides if self.rule.bias == "keep" else ():
            spin = self.state.motions[side.body].angular
            turning = turning + side.sign * cross(spin, cross(spin, side.turning_lever))
        wanted = pair.axes @ (pair.flow - dt * turning)
        slip = zeros(2) if goal.slip is None else goal.slip
        target = wanted + ca.vertcat(slip, goal.velocity)
        p = self.state.program
        if (terms := goal.paper) is not None:
            sigma = p.let("sigma", terms.sigma)
            kinetic, lam = p.let("kinetic", terms.kinetic), p.let("lam", SX(terms.lam))
            self.paper_terms.append(PaperTerms(kinetic, sigma, lam))
        return Row(
            arms=tuple(
                Arm(self.bodies.index(side.body), side.lever, side.sign) for side in pair.sides
            ),
            axes=pair.axes,
            active=p.let("active", goal.active),
            target=p.let("target", target),
            mu_s=p.let("mu", SX(goal.mu_s)),
            mu_k=p.let("mu", SX(goal.mu_k)),
            smoothing=p.let("smoothing", SX(goal.smoothing)),
            past=p.let("past", past),
            slid=p.let("slid", slid),
            moves=p.let("moves", ca.logic_or(fresh, ca.logic_or(slid, fast))),
            compliance=None if goal.compliance is None else p.let("soft", goal.compliance),
            leaving=None if goal.compliance_out is None else p.let("soft", goal.compliance_out),
            rest=p.let("rest", -goal.velocity),
        )

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

    def _merged(self, impulses: Sequence[SX], slides: Sequence[SX]) -> tuple[Contacts, SX]:
        """Return the contacts with the coupled forces added, and the memory of the pairs."""
        p, contacts = self.state.program, self.contacts
        pairs = list(contacts.pairs)
        remembered, forces = [], {}
        for n, (row, k) in enumerate(zip(self.rows, self.pairs, strict=True)):
            pair = pairs[k]
            with p.block("force", limb="coupled", member=n):
                force = forces[k] = p.let("force", impulses[n] / self.state.dt)
                pairs[k] = replace(
                    pair,
                    normal=p.let("normal", pair.normal + force[2]),
                    tangent=p.let("tangent", pair.tangent + force[:2]),
                )
                limit = SLIDING * row.mu_k * force[2]
                sliding = ca.logic_and(slides[n], ca.dot(force[:2], force[:2]) >= limit**2)
                state = ca.if_else(row.active, ca.if_else(sliding, 2, 1), 0)
                kept = ca.vertcat(ca.if_else(row.active, force, 0), state)
                remembered.append(p.let("memory", kept))
        loads = dict(contacts.loads)
        for n, body in enumerate(self.bodies):
            with p.block("coupled loads", member=n):
                for k, force in forces.items():
                    own = [side for side in pairs[k].sides if side.body == body]
                    pair = replace(pairs[k], sides=tuple(own))
                    add_force(self.state, loads, pair, force[2], force[:2])
                normal, tangent = loads[body]
                loads[body] = normal.let(p), tangent.let(p)
        return replace(contacts, pairs=pairs, loads=loads), ca.vertcat(*remembered)
