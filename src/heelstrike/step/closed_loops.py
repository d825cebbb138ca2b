"""Box 8 of [Sugihara2006], Fig. 4: equality constraints, as rows of the equations of motion.

The symplectic step moves with the new velocity v+ = v + dt a. With phi the rows of a constraint
(dynamics/loop_rows.py) their values after the step are

    phi+ = phi + dt J v+ + dt^2/2 J' v        to the second order in dt

and the step demands phi+ = (1 - beta) phi. This is SHAKE [Ryckaert1977], with one iteration: what
it leaves is of the third order in dt, and the next step takes it up. As everywhere in the
symplectic step, velocities are those of the middle of the last step. Under rk4

    J a + J' v = -2 alpha J v - alpha^2 phi,        alpha = beta / (10 dt)       [Baumgarte1972]
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from heelstrike.dynamics.loop_rows import constraint_rows
from heelstrike.dynamics.loop_sweep import ClosedLoop
from heelstrike.dynamics.loops import loops_of
from heelstrike.robot.constraints import Connect, Weld
from heelstrike.robot.robot import WORLD
from heelstrike.spatial.vector import SX
from heelstrike.step.half_step import Moving
from heelstrike.step.state import StepState

SLOWER = 10.0
"""Steps in which rk4 takes off what a constraint misses."""


def closed_loops(state: StepState, moving: Moving) -> list[ClosedLoop]:
    """Return the loops of the robot, with the accelerations that are wanted of their rows.

    J' v has the velocities of `moving`.
    """
    p, robot, inputs, dt = state.program, state.robot, state.inputs, state.dt
    found = []
    for loop in loops_of(robot):
        limb = inputs.limb_of[loop.meets]
        symplectic, ahead = state.plan.implicit, (moving.kinematics, state.q, moving.v)
        rows = []
        for k in range(len(loop.constraints)):
            own = constraint_rows(p, robot, *ahead, loop, k, limb, symplectic)
            if state.plan.ahead:
                now = robot, state.kinematics, state.q, state.v
                rate = constraint_rows(p, *now, loop, k, limb, symplectic).rate
                own = replace(own, rate=rate)
            rows.append(own)
        targets = []
        for number, own in zip(loop.numbers, rows, strict=True):
            with p.block("constraint target", limb=limb, member=number):
                if symplectic:
                    speed = own.rate + (inputs.correction / dt) * own.error
                    wanted = -speed / dt - 0.5 * own.bias
                else:
                    alpha = inputs.correction / (SLOWER * dt)
                    wanted = -alpha * (2 * own.rate + alpha * own.error) - own.bias
                targets.append(p.let("target", wanted))
        found.append(ClosedLoop(loop, rows, ca.vertcat(*targets), inputs.softness, limb))
    return found


def constraint_errors(state: StepState, loops: list[ClosedLoop]) -> SX:
    """Return by how much each constraint misses, the length of its rows [m, rad]; in a block."""
    found = {
        number: ca.norm_2(own.error)
        for loop in loops
        for number, own in zip(loop.loop.numbers, loop.rows, strict=True)
    }
    return ca.vertcat(*(found[number] for number in sorted(found)))


def constraint_forces(state: StepState, loops: list[ClosedLoop], multipliers: list[SX]) -> SX:
    """Return the forces of all rows, those of points and frames in world axes; in a block."""
    meets = {number: loop.loop.meets for loop in loops for number in loop.loop.numbers}
    found = []
    for number, constraint in enumerate(state.robot.constraints):
        own = multipliers[number]
        if isinstance(constraint, Connect | Weld) and meets[number] != WORLD:
            pose = state.poses[meets[number]]
            own = ca.vertcat(*(pose.rotate(x) for x in ca.vertsplit(own, 3)))
        found.append(own)
    return ca.vertcat(*found)
