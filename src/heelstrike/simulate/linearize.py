"""Derivatives of a simulator's step (dynamics/linearize.py), compiled when first needed and kept
in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.dynamics.linearize import directional
from heelstrike.ir.program import Program
from heelstrike.robot.robot import Robot
from heelstrike.runtime.cache import cached_kernel
from heelstrike.runtime.compiler import compile_program
from heelstrike.simulate.compiled_scene import CompiledScene
from heelstrike.step.step import step_program


@dataclass(frozen=True)
class StepDerivatives:
    """Derivatives of one step: dx+ = A dx + B du, with x = (motion of the joints, v)."""

    state: np.ndarray
    """Matrix A, (2 nv, 2 nv)."""
    inputs: Mapping[str, np.ndarray]
    """Columns of B by input, (2 nv, size)."""


class Linearizer:
    """Compiled derivative of a step program with memory q and v."""

    def __init__(
        self,
        robot: Robot,
        step: Program | Callable[[], Program],
        inputs: Sequence[str] = (),
        key: object = None,
    ) -> None:
        """Compile the derivatives of `step` with respect to its state and the named inputs.

        With a `key` that identifies it, the step may be a function, and is traced only if the
        derivatives are not in the cache.
        """

        def traced() -> Program:
            return directional(robot, step() if callable(step) else step, inputs)

        self.robot = robot
        self.kernel = compile_program(traced()) if key is None else cached_kernel(key, traced)
        ports = {port.name: port.size for port in self.kernel.layout.inputs}
        self.inputs = {name: ports[f"direction of {name}"] for name in inputs}
        sizes = [2 * robot.nv, *self.inputs.values()]
        self.directions = np.eye(sum(sizes))
        self.batch = self.kernel.batch(sum(sizes))
        parts = np.split(self.directions, np.cumsum(sizes)[:-1], axis=1)
        names = ["direction", *(f"direction of {name}" for name in self.inputs)]
        self.batch.set(**dict(zip(names, parts, strict=True)))

    def __call__(self, **values: ArrayLike) -> StepDerivatives:
        """Return the derivatives at a state and inputs of one world; omitted values are kept."""
        self.batch.set(**values)
        self.batch.run()
        tiles = self.batch.device_array("change")[:, 0]  # (tiles, 2 nv, W), a direction a lane
        columns = tiles.transpose(1, 0, 2).reshape(tiles.shape[1], -1)
        end = 2 * self.robot.nv
        state, inputs = columns[:, :end], {}
        for name, size in self.inputs.items():
            inputs[name] = columns[:, end : end + size]
            end += size
        return StepDerivatives(state, inputs)


class SceneLinearizer:
    """Derivatives of the step of a compiled scene, in its first world."""

    def __init__(self, compiled: CompiledScene) -> None:
        self._compiled = compiled
        self._linearizers: dict[tuple[object, ...], Linearizer] = {}

    def __call__(self, *inputs: str) -> StepDerivatives:
        """Return the derivatives at the present state, with respect to it and to parameters."""
        compiled = self._compiled
        for path in inputs:
            compiled.parameters.known(path)
        linearizer = self._linearizer(inputs)
        values = compiled.parameters.of_world(0)
        values |= {name: value[0] for name, value in compiled.batch().state().items()}
        taken = {port.name for port in linearizer.batch.layout.inputs}
        return linearizer(
            **{name: value for name, value in values.items() if name in taken}, **compiled.tables()
        )

    def _linearizer(self, inputs: tuple[str, ...]) -> Linearizer:
        plan = self._compiled.plan
        wanted = (plan.pushes, plan.varied, plan.freed, inputs)
        if wanted not in self._linearizers:
            self._linearizers[wanted] = Linearizer(
                plan.robot,
                lambda: step_program(plan, thorough=True),
                inputs,
                ("derivative of a step", plan.key(), list(inputs)),
            )
        return self._linearizers[wanted]
