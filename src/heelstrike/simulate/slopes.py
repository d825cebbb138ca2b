"""Derivatives of a simulator's step (dynamics/linearize.py), compiled when first asked for."""

from __future__ import annotations

import numpy as np

from heelstrike.dynamics.linearize import Linearizer, Slopes
from heelstrike.simulate.machine import Machine
from heelstrike.simulate.step import step_program


class StepSlopes:
    """Of the first world."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._linearizers: dict[tuple[object, ...], Linearizer] = {}

    def __call__(self, *inputs: str) -> Slopes:
        """At the present state, with respect to it and to the named parameters."""
        machine = self._machine
        for path in inputs:
            machine.parameters.known(path)
        linearizer = self._linearizer(inputs)
        values = {path: np.atleast_2d(value)[0] for path, value in machine.parameters.items()}
        values |= {name: value[0] for name, value in machine.ready().state().items()}
        taken = {port.name for port in linearizer.batch.layout.inputs}
        return linearizer(
            **{name: value for name, value in values.items() if name in taken}, **machine.tables()
        )

    def _linearizer(self, inputs: tuple[str, ...]) -> Linearizer:
        plan = self._machine.plan
        wanted = (plan.pushes, plan.varied, inputs)
        if wanted not in self._linearizers:
            program = step_program(plan, thorough=True)
            self._linearizers[wanted] = Linearizer(plan.robot, program, inputs)
        return self._linearizers[wanted]
