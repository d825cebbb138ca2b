"""Boxes 5 to 7 of [Sugihara2006], Fig. 4: joints of the swept problem.

Torque limits, stops and dry friction become rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from heelstrike.contact.solver.joint_rows import DryFriction, Piecewise, Stop, joint_row
from heelstrike.contact.solver.swept import SweptProblem
from heelstrike.dynamics.effective_mass import carried_inertias, joint_inertias
from heelstrike.ir.number import number
from heelstrike.spatial.vector import SX, zeros
from heelstrike.step.state import StepState
from heelstrike.step.torque import Torque, by_joint

SLIDES = 3e-5
"""Speed [rad/s, m/s] from which on a joint whose dry friction is at its limit slides."""


def add_joints(state: StepState, problem: SweptProblem, torques: Sequence[Torque]) -> tuple[SX, SX]:
    """Add the rows of joints; return torque and diagonal of H for the first sweep.

    `torques` get their rows as symbols.
    """
    p, robot = state.program, state.robot
    tau, diagonal = zeros(robot.nv), zeros(robot.nv)
    held = held_inertias(state)
    for limb, i in by_joint(state.inputs.limbs):
        with p.block("torque", limb=limb, member=i):
            straight, fixed = SX(0), state.inputs.armature[i]
            line, slope = SX(0), SX(0)
            rows: list[Piecewise] = []
            for torque in torques:
                straight, fixed = straight + torque.now[i], fixed + torque.slope[i]
                kept: list[Piecewise] = []
                for row in torque.rows.get(i, ()):
                    if isinstance(row, DryFriction):
                        row = held_friction(state, i, row, held[i])
                    kept.append(row.kept(p))
                    now, fall = first_line(kept[-1])
                    line, slope = line + now, slope + fall
                if kept:
                    torque.rows[i] = tuple(kept)
                rows += kept
            line, fixed = p.let("line", line), p.let("fixed", fixed)
            tau[i] = p.let("now", straight + line)
            diagonal[i] = p.variable("diagonal", fixed + slope)
            if rows:
                problem.add_joint(i, joint_row(p, tuple(rows), fixed, slope, line))
    return tau, diagonal


def first_line(row: Piecewise) -> tuple[SX, SX]:
    """Return torque at zero acceleration, and slope, of the piece on which a row is at first.

    Torque limits are as at constant speed, dry friction as the last step left it.
    """
    guessed = isinstance(row, DryFriction | Stop)
    return row.line(SX(row.guess)) if guessed else row.at(SX(0))


def held_inertias(state: StepState) -> np.ndarray:
    """Return the inertia with which dry friction holds each joint, by velocity index [kg m^2, kg].

    It is the geometric mean of the least and the largest inertia that a joint moves: with nothing
    else held, and with its lighter side held. More would let velocities of the size of rounding
    decide on forces that statics leaves open, as those between two feet that stick.
    """
    robot, pose = state.robot, state.plan.pose
    return np.sqrt(joint_inertias(robot, pose) * carried_inertias(robot, pose))


def held_friction(state: StepState, i: int, row: DryFriction, inertia: float) -> DryFriction:
    """Return dry friction `row` of a velocity index as the swept problem has it.

    It holds the joint by the torque of the last step and a damper of `inertia` / dt.
    """
    held = number(inertia)
    return replace(row, now=-held / state.dt * state.v[i], slope=SX(held))


def applied_torque(torque: Torque, state: StepState, a: SX) -> tuple[SX, list[SX]]:
    """Return a torque as it acted, and whether each of its dry frictions slides.

    Dry friction at its limit counts as sliding only where the joint moves.
    """
    applied, sliding = torque.now - torque.slope * a, []
    for i, rows in torque.rows.items():
        for row in rows:
            own, _ = row.at(a[i])
            applied[i] += own
            if isinstance(row, DryFriction):
                after = state.v[i] + state.dt * a[i]
                high = ca.logic_and(own >= row.limit, after < -SLIDES)
                low = ca.logic_and(own <= -row.limit, after > SLIDES)
                sliding.append(ca.logic_or(high, low))
    return applied, sliding
