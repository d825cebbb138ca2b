"""Boxes 5 to 7 of [Sugihara2006], Fig. 4: joints of the swept problem.

Torque limits, stops and dry friction become rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from heelstrike.contact.law import where
from heelstrike.contact.solver.criteria import USUAL
from heelstrike.contact.solver.joint_rows import DryFriction, Piecewise, joint_row
from heelstrike.contact.solver.swept import SweptProblem
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.joints import HOLD, STUCK
from heelstrike.step.state import StepState
from heelstrike.step.torque import Torque, by_joint


def add_joints(state: StepState, problem: SweptProblem, torques: Sequence[Torque]) -> tuple[SX, SX]:
    """Add the rows of joints; return torque and diagonal of H for the first sweep.

    `torques` get their rows as symbols.
    """
    p, robot = state.program, state.robot
    tau, diagonal = zeros(robot.nv), zeros(robot.nv)
    for limb, i in by_joint(state.inputs.limbs):
        with p.block("torque", limb=limb, member=i):
            straight, fixed = SX(0), state.inputs.armature[i]
            line, slope, anchor = SX(0), SX(0), SX(0)
            rows: list[Piecewise] = []
            friction: DryFriction | None = None
            for torque in torques:
                straight, fixed = straight + torque.now[i], fixed + torque.slope[i]
                kept: list[Piecewise] = []
                for row in torque.rows.get(i, ()):
                    if isinstance(row, DryFriction):
                        kept.append(row)
                        friction = _softer(state, row)
                        sticks = row.guess == 0
                        anchor = p.let("anchor", where(sticks, row.anchor, row.guess * row.limit))
                        line = line + where(sticks, anchor + friction.now, anchor)
                        slope = slope + where(sticks, friction.slope, 0)
                    else:
                        kept.append(row.kept(p))
                        rows.append(kept[-1])
                        now, fall = kept[-1].line(SX(row.guess))
                        line, slope = line + now, slope + fall
                if kept:
                    torque.rows[i] = tuple(kept)
            line, fixed = p.let("line", line), p.let("fixed", fixed)
            tau[i] = p.let("now", straight + line)
            diagonal[i] = p.variable("diagonal", fixed + slope)
            if rows or friction:
                parts = tuple(rows), friction
                problem.add_joint(i, joint_row(p, *parts, fixed, anchor, slope, line))
    return tau, diagonal


def _softer(state: StepState, row: DryFriction) -> DryFriction:
    """Return dry friction as a pass has it; inside a block."""
    p, share = state.program, HOLD / (STUCK * state.dt)
    return replace(
        row, now=p.let("now", share * row.now), slope=p.let("slope", share * row.slope), anchor=0.0
    )


def applied_torque(
    torque: Torque, problem: SweptProblem, state: StepState, a: SX
) -> tuple[SX, list[SX]]:
    """Return a torque as it acted, and the states of its dry friction.

    Dry friction at its limit counts as sliding only where the joint moves.
    """
    applied, states = torque.now - torque.slope * a, []
    for i, rows in torque.rows.items():
        for row in rows:
            if not isinstance(row, DryFriction):
                applied[i] += row.at(a[i])[0]
                continue
            rubs, after = problem.rows[i].rubs, state.v[i] + state.dt * a[i]
            applied[i] += rubs
            high = ca.logic_and(rubs >= row.limit, after < -USUAL.creeps)
            low = ca.logic_and(rubs <= -row.limit, after > USUAL.creeps)
            states.append(where(high, 1, where(low, -1, 0)))
    return applied, states
