"""Boxes 5 to 7 of [Sugihara2006], Fig. 4: contacts and torques as they were, for reverse sweeps.

Accelerations, forces of contacts and torques of dry friction of a step that was made are inputs.
What they are for a neighbouring state follows from the equations that they solve, with the active
set held (contact/solver/held.py): no loop is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from heelstrike.contact.law import where
from heelstrike.contact.solver.criteria import SINGLE
from heelstrike.contact.solver.held import HeldPoint, held_point, solve_transposed
from heelstrike.contact.solver.joint_rows import DryFriction
from heelstrike.contact.solver.start import SOFT
from heelstrike.dynamics.aba import forward_dynamics
from heelstrike.dynamics.kinematics import accelerations
from heelstrike.dynamics.rnea import rnea
from heelstrike.dynamics.sweep import Sweep, body_load, set_stiffness
from heelstrike.ir.adjoint import Implicit
from heelstrike.ir.guard import left, reopened
from heelstrike.ir.program import Program
from heelstrike.spatial.motion import ForceVector, MotionVector
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.coupled import Coupling
from heelstrike.step.evaluation import Contacts, CoupledSolution
from heelstrike.step.state import StepState
from heelstrike.step.surfaces import IMPULSE_MEMORY
from heelstrike.step.swept_bodies import coasts_of
from heelstrike.step.swept_joints import held_friction, held_inertias
from heelstrike.step.torque import LimitedSolution, Torque, by_joint


def accelerate_held(
    state: StepState,
    contacts: Contacts,
    external: Sequence[ForceVector | None],
    torques: Sequence[Torque],
    memory: SX,
) -> tuple[LimitedSolution, CoupledSolution]:
    """Return the accelerations, forces and torques of the step that was made."""
    p, inputs, a = state.program, state.inputs, state.inputs.held
    assert a is not None
    coupling = Coupling(state, contacts, memory)
    columns = ca.vertsplit(inputs.held_contacts, IMPULSE_MEMORY)
    forces = [column[:3] for column in columns]
    motion = p, state.robot, state.kinematics, state.v, a
    moved = accelerations(*motion, base=-state.gravity)
    points, residuals, wrenches = _contacts(state, coupling, columns, moved)
    line, slope, applied, sliding = _torques(state, torques, a)
    diagonal = inputs.armature + slope
    with p.block("held diagonal"):
        diagonal = p.let("diagonal", diagonal)
    pushed = [
        wrench if force is None else force if wrench is None else force + wrench
        for force, wrench in zip(external, map(wrenches.get, range(len(external))), strict=True)
    ]
    missed = rnea(*motion, state.gravity, pushed)
    with p.block("residual"):
        missed = p.let("residual", missed + diagonal * a - line)
        whole = ca.vertcat(missed, *(residuals[n] for n in range(len(forces))))

    def transposed(program: Program, rates: SX) -> SX:
        nv = state.robot.nv
        by_force = dict(enumerate(ca.vertsplit(rates[nv:], 3)))
        tree = _factored(program, state, points, diagonal)
        cotangents = rates[:nv], by_force
        options = state.dt, inputs.tolerance
        z, found = solve_transposed(program, tree, points, *cotangents, *options)
        return ca.vertcat(z, *(found[n] for n in range(len(forces))))

    unknowns = ca.vertcat(a, *forces)
    inputs.implicit = Implicit(len(p.statements), unknowns, whole, transposed)
    specific = accelerations(*motion, base=-state.gravity)  # what follows takes a as it is
    impulses = [state.dt * force for force in forces]
    slides = [column[3] > 1.5 for column in columns]
    merged, kept = coupling.merged(impulses, slides, contacts.guards)
    none = SX(0)
    coupled = CoupledSolution(a, specific, merged, kept, none, none, none)
    return LimitedSolution(a, applied, sliding, SX(0, 1)), coupled


def _contacts(
    state: StepState,
    coupling: Coupling,
    columns: Sequence[SX],
    specific: Sequence[MotionVector],
) -> tuple[dict[int, list[HeldPoint]], dict[int, SX], dict[int, ForceVector]]:
    """Return the contacts by body, their residuals, and the forces on bodies in their frames."""
    p, scene, inputs = state.program, state.scene, state.inputs
    guards, rows = coupling.contacts.guards, {}
    points: dict[int, list[HeldPoint]] = {}
    residuals: dict[int, SX] = {}
    wrenches: dict[int, ForceVector] = {}
    before = coasts_of(state, coupling)
    for n, (body,) in enumerate(state.plan.coupled_groups):
        limb, pose, own = inputs.limb_of[body], state.poses[body], inputs.compliances[n]
        moved = specific[body]
        with p.block("held twist", limb=limb, member=body):
            turned = ca.vertcat(pose.rotate(moved.linear), pose.rotate(moved.angular))
            twist = p.let("twist", before[body] + state.dt * turned)
        points[body] = []
        with reopened(p, guards[(body,)]) as guard:
            wrench = zeros(6)
            for j in [j for j, k in enumerate(coupling.pairs) if scene.group_of(k) == (body,)]:
                row = rows[j] = coupling.row(j, limb)
                force, slides = columns[j][:3], columns[j][3] > 1.5
                with p.block("held contact", limb=limb, member=j):
                    share = ca.fmax(row.smoothing, where(inputs.tolerance > SINGLE, SOFT, 0))
                    rho = p.let("rho", share * own)
                    known = force, slides, (own, rho), twist, state.dt
                    point, residual = held_point(p, row, j, *known)
                    points[body].append(point)
                    residuals[j] = left(p, guard, "residual", residual)
                    wrench = p.let("wrench", wrench + point.map.T @ force)
            with p.block("held wrench", limb=limb, member=body):
                whole = left(p, guard, "wrench", wrench)
        with p.block("held force", limb=limb, member=body):
            linear, angular = pose.unrotate(whole[:3]), pose.unrotate(whole[3:])
            wrenches[body] = ForceVector(p.let("force", linear), p.let("force", angular))
    coupling.rows = [rows[j] for j in range(len(rows))]
    return points, residuals, wrenches


def _torques(state: StepState, torques: Sequence[Torque], a: SX) -> tuple[SX, SX, list[SX], SX]:
    """Return line and slope of all torques, the torques as they acted, and which joints slide."""
    p, inputs = state.program, state.inputs
    line = sum((torque.now for torque in torques), SX(0))
    slope = sum((torque.slope for torque in torques), SX(0))
    applied = [torque.now - torque.slope * a for torque in torques]
    line, slope = ca.densify(SX(line)), ca.densify(SX(slope))
    last = dict(zip(state.plan.friction_joints, ca.vertsplit(inputs.held_friction), strict=True))
    inertias = held_inertias(state)
    slides = {}
    for limb, i in by_joint(inputs.limbs):
        with p.block("held torque", limb=limb, member=i):
            for torque, acted in zip(torques, applied, strict=True):
                for row in torque.rows.get(i, ()):
                    if isinstance(row, DryFriction):
                        slides[i] = ca.fabs(last[i]) >= row.limit
                        piece = where(slides[i], ca.sign(last[i]), 0)
                        now, fall = held_friction(state, i, row, inertias[i]).line(piece)
                        line[i], slope[i] = line[i] + now, slope[i] + fall
                        acted[i] += now - fall * a[i]
                    else:
                        state_held = row.state(a[i])
                        now, fall = row.line(state_held)
                        line[i], slope[i] = line[i] + now, slope[i] + fall
                        acted[i] += row.on(state_held, a[i])
            line[i], slope[i] = p.let("line", line[i]), p.let("slope", slope[i])
    sliding = ca.vertcat(SX(0, 1), *(slides[i] for i in state.plan.friction_joints))
    return line, slope, applied, sliding


def _factored(
    p: Program, state: StepState, points: Mapping[int, Sequence[HeldPoint]], diagonal: SX
) -> Sweep:
    """Return the tree with the factor of H, the diagonal and the weights of contacts."""
    robot, kin, limb_of = state.robot, state.kinematics, state.inputs.limb_of
    loads = {}
    for body, own in points.items():
        with p.block("held load", limb=limb_of[body], member=body):
            loads[body] = body_load(p, state.poses[body], True)
        with p.block("held weight", limb=limb_of[body], member=body):
            stiffness = sum((x.map.T @ x.weight @ x.map for x in own), zeros(6, 6))
            set_stiffness(p, loads[body], stiffness)
    inertias = {body: load.inertia for body, load in loads.items() if load.inertia is not None}
    none = zeros(robot.nv)
    first = forward_dynamics(p, robot, kin, none, none, zeros(), diagonal, added=inertias)
    return Sweep(p, robot, kin, state.poses, first, loads, range(robot.nv))
