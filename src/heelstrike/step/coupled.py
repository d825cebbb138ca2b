"""Steps 5 to 7 of [Sugihara2006], Fig. 4: forces that depend on one another.

The step's acceleration is first found with the last step's impulses; the coupled problem then says
what the impulses really are, and the robot's response to the difference is added:

    V_free = V + dt (acceleration of the bodies) - Lambda^-1 w_last
    a      = a_last + H^-1 J^T (w - w_last) / dt

A point's velocity after the step counts with the turning of its lever, dt w x (w x r), of a sphere
that to its centre: the term that [Sugihara2006] (19) drops.

Whether a joint reaches its torque limit, or dry friction holds it, is judged by the result
(torque.py): a foot that stands makes a joint feel the whole robot's inertia.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca

from heelstrike.contact.solver.coupled import Arm, Row, solve
from heelstrike.contact.solver.criteria import EXACT, USUAL
from heelstrike.contact.solver.least_norm import solve_least_norm
from heelstrike.contact.solver.paper_rule import solve_paper
from heelstrike.contact.surface_law import IMPACT_SPEED, CouplingRule, PaperTerms
from heelstrike.dynamics.aba import ForwardDynamics
from heelstrike.dynamics.coriolis import coriolis_accelerations
from heelstrike.dynamics.kinematics import Kinematics, accelerations
from heelstrike.dynamics.response import (
    force_response,
    force_rows,
    inverse_inertia,
    inverse_inertia_root,
)
from heelstrike.errors import HeelstrikeError
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot
from heelstrike.scene.scene import Scene, bodies_in
from heelstrike.spatial.motion import Force, Motion
from heelstrike.spatial.transform import Transform
from heelstrike.spatial.vector import SX, cross, zeros
from heelstrike.step.detect import Contacts, Touched, add_shares

REMEMBERED = 4
"""Of each point: the last force in its surface's axes [N], and 0 apart, 1 stuck, 2 slid."""
SLIDING = 1 - 1e-3
"""Share of mu_k f_n that friction must reach for a point to go on sliding in the next step; passes
end with less than a thousandth missing, and one that is not known to slide takes twenty of them."""


@dataclass(frozen=True)
class Coupled:
    """What came of it."""

    a: SX
    felt: list[Motion]
    contacts: Contacts
    memory: SX
    rounds: SX
    unfinished: SX
    residual: SX


class Coupling:
    """The coupled pairs of a scene in a step."""

    def __init__(self, p: Program, scene: Scene, memory: SX, tolerance: SX, thorough: bool) -> None:
        self.p, self.scene, self.memory, self.tolerance = p, scene, memory, tolerance
        self.thorough = thorough
        self.pairs = coupled_pairs(scene)
        self.bodies = bodies_in([scene.pairs[k] for k in self.pairs])
        self.rows: list[Row] = []
        self.paper_terms: list[PaperTerms] = []
        self.rule = coupling_rule(scene) or CouplingRule()
        self.last = zeros(6 * len(self.bodies))  # wrench of the last step's forces

    def prepare(
        self,
        contacts: Contacts,
        poses: Sequence[Transform],
        external: list[Force | None],
        gravity: SX,
        dt: SX,
    ) -> None:
        """Makes the rows, and lets the last step's forces act on the bodies."""
        p = self.p
        pushes: list[list[Force]] = [[] for _ in self.bodies]
        for n, k in enumerate(self.pairs):
            with p.block("row", limb="coupled", member=n):
                row = self._row(n, contacts.pairs[k], contacts.motions, gravity, dt)
                self.rows.append(row)
                force = row.axes.T @ row.past / dt
                for arm in row.arms:
                    own = p.let("last", arm.sign * force)
                    moment = p.let("last", cross(arm.lever, own))
                    pushes[arm.body].append(Force(own, moment))
        totals = []
        for n, body in enumerate(self.bodies):
            with p.block("last forces", member=n):
                total = sum(pushes[n], Force(zeros(), zeros()))
                totals.append(p.let("last", total.column))
                force = totals[n]
                own = Force(poses[body].unrotate(force[:3]), poses[body].unrotate(force[3:]))
                total = own + external[body] if external[body] is not None else own  # type: ignore[operator]
                external[body] = Force(p.let("last", total.linear), p.let("last", total.angular))
        self.last = ca.vertcat(*totals)

    def solve(
        self,
        robot: Robot,
        kin: Kinematics,
        poses: Sequence[Transform],
        contacts: Contacts,
        found: ForwardDynamics,
        v: SX,
        gravity: SX,
        dt: SX,
        diagonal: SX,
    ) -> Coupled:
        """The step's acceleration with the right impulses; `diagonal` is what joined that of H."""
        p = self.p
        reach = [force_rows(p, robot, kin, found.joint_terms, b, poses[b]) for b in self.bodies]
        inverse = inverse_inertia(p, robot, found.joint_terms, reach)
        biases = (
            accelerations(p, robot, kin, v, None, base=-gravity)
            if self.rule.bias == "drop"
            else None
        )
        swung = (
            coriolis_accelerations(p, robot, kin, v, diagonal)
            if self.rule.forces == "b-hat"
            else None
        )
        with p.block("coupled free"):
            ahead = []
            for b in self.bodies:
                motion, felt = contacts.motions[b], found.bodies[b]
                if swung is not None:
                    felt = felt + swung[b]
                if biases is not None:
                    ahead.append(self._dropped(motion, poses[b], felt, biases[b], dt))
                else:
                    own = kin.velocities[b]
                    ahead.append(self._after(motion, poses[b], own, felt, gravity, dt))
            free = p.let("free", ca.vertcat(*ahead) - dt * inverse @ self.last)
        problem = inverse, free, self.tolerance, self.thorough
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
        felt_after = [
            body if moved is None else body + moved
            for body, moved in zip(found.bodies, more.bodies, strict=True)
        ]
        merged, memory = self._merged(contacts, solution.impulses, solution.slides, dt)
        ended = solution.rounds, solution.unfinished, solution.residual
        return Coupled(found.a + more.a, felt_after, merged, memory, *ended)

    def _row(
        self, n: int, touched: Touched, motions: Mapping[int, Motion], gravity: SX, dt: SX
    ) -> Row:
        goal = touched.target
        assert goal is not None
        own = self.memory[REMEMBERED * n : REMEMBERED * (n + 1)]
        fresh = ca.logic_or(own[3] == 0, goal.impact)
        known = ca.logic_and(goal.active, ca.logic_not(fresh))
        past = ca.if_else(known, own[:3] * dt, 0)
        slid = ca.logic_and(known, own[3] > 1.5)
        fast = ca.dot(touched.slip, touched.slip) > (IMPACT_SPEED * dt) ** 2 * ca.dot(
            gravity, gravity
        )
        turning = zeros()
        for side in touched.sides if self.rule.bias == "keep" else ():
            spin = motions[side.body].angular
            turning = turning + side.sign * cross(spin, cross(spin, side.turns))
        wanted = touched.axes @ (touched.belt - dt * turning)
        slip = zeros(2) if goal.slip is None else goal.slip
        target = wanted + ca.vertcat(slip, goal.velocity)
        p = self.p
        if (terms := goal.paper) is not None:
            sigma = p.let("sigma", terms.sigma)
            kinetic, lam = p.let("kinetic", terms.kinetic), p.let("lam", SX(terms.lam))
            self.paper_terms.append(PaperTerms(kinetic, sigma, lam))
        return Row(
            arms=tuple(
                Arm(self.bodies.index(side.body), side.lever, side.sign) for side in touched.sides
            ),
            axes=touched.axes,
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

    def _after(
        self, motion: Motion, pose: Transform, velocity: Motion, felt: Motion, gravity: SX, dt: SX
    ) -> SX:
        """A body's twist after the step in world axes, under the last step's forces."""
        seen = felt.linear + cross(velocity.angular, velocity.linear)
        linear = motion.linear + dt * (pose.rotate(seen) + gravity)
        return ca.vertcat(linear, motion.angular + dt * pose.rotate(felt.angular))

    def _dropped(self, motion: Motion, pose: Transform, felt: Motion, bias: Motion, dt: SX) -> SX:
        """The same without what turning alone does to it: V + J a dt, as (19) has it."""
        linear = motion.linear + dt * pose.rotate(felt.linear - bias.linear)
        return ca.vertcat(linear, motion.angular + dt * pose.rotate(felt.angular - bias.angular))

    def _merged(
        self, contacts: Contacts, impulses: Sequence[SX], slides: Sequence[SX], dt: SX
    ) -> tuple[Contacts, SX]:
        """Contacts with the coupled forces added, and what to remember."""
        p, pairs = self.p, list(contacts.pairs)
        remembered, forces = [], {}
        for n, (row, k) in enumerate(zip(self.rows, self.pairs, strict=True)):
            touched = pairs[k]
            with p.block("force", limb="coupled", member=n):
                force = forces[k] = p.let("force", impulses[n] / dt)
                pairs[k] = replace(
                    touched,
                    normal=p.let("normal", touched.normal + force[2]),
                    tangent=p.let("tangent", touched.tangent + force[:2]),
                )
                rubs = ca.dot(force[:2], force[:2]) >= (SLIDING * row.mu_k * force[2]) ** 2
                state = ca.if_else(row.active, ca.if_else(ca.logic_and(slides[n], rubs), 2, 1), 0)
                kept = ca.vertcat(ca.if_else(row.active, force, 0), state)
                remembered.append(p.let("memory", kept))
        shares = dict(contacts.shares)
        for n, body in enumerate(self.bodies):
            with p.block("coupled shares", member=n):
                for k, force in forces.items():
                    own = [side for side in pairs[k].sides if side.body == body]
                    touched = replace(pairs[k], sides=tuple(own))
                    add_shares(shares, touched, contacts.motions, force[2], force[:2])
                normal, tangent = shares[body]
                shares[body] = normal.let(p), tangent.let(p)
        return replace(contacts, pairs=pairs, shares=shares), ca.vertcat(*remembered)


def coupling_rule(scene: Scene) -> CouplingRule | None:
    """Return the rule by which the coupled contacts of a scene are solved, None if it has none."""
    rules = {rule for law in scene.laws.values() if (rule := law.coupling) is not None}
    if len(rules) > 1:
        raise HeelstrikeError(
            "all coupled contacts of a scene are solved together: "
            f"{' and '.join(sorted({rule.rule for rule in rules}))} rules do not mix; give every "
            "surface that couples hs.Signorini, or the same law with the same rule, bias and "
            'forces, or rule="consistent"'
        )
    return next(iter(rules), None)


def coupled_pairs(scene: Scene) -> list[int]:
    """Numbers of the pairs whose law couples."""
    return [k for k, pair in enumerate(scene.pairs) if scene.laws[pair.law].couples]
