"""Box 9 of [Sugihara2006], Fig. 4: integrate.

The methods are those of dynamics/integrate.py: symplectic Euler, as in [Sugihara2006], explicit
Euler, and the classical Runge-Kutta method, as in [Tsujita2009].
"""

from __future__ import annotations

from collections.abc import Callable

from heelstrike.dynamics.integrate import euler, rk4
from heelstrike.spatial.vector import SX
from heelstrike.step.state import Evaluation, StepInputs

STAGES = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))
"""Stages of rk4: time since the start of the step, as a fraction of dt, and weight."""

Evaluate = Callable[[SX, SX, float], Evaluation]
"""(q, v, time since the start of the step as a fraction of dt) -> evaluation"""


def integrate(inputs: StepInputs, evaluate: Evaluate) -> tuple[list[Evaluation], list[float]]:
    """Update the memories q and v; return the evaluations of the step and their weights."""
    p, robot = inputs.program, inputs.plan.robot
    if inputs.plan.integrator != "rk4":
        found = evaluate(inputs.q, inputs.v, 0.0)
        symplectic = inputs.plan.integrator == "symplectic"
        euler(p, robot, inputs.q, inputs.v, found.a, inputs.dt, symplectic)
        return [found], [1.0]
    evaluations: list[Evaluation] = []

    def acceleration(q: SX, v: SX) -> SX:
        evaluations.append(evaluate(q, v, STAGES[len(evaluations)][0]))
        return evaluations[-1].a

    q, v = rk4(p, robot, inputs.q, inputs.v, inputs.dt, acceleration)
    with p.block("end"):
        p.update("q", q)
        p.update("v", v)
    return evaluations, [weight for _, weight in STAGES]
