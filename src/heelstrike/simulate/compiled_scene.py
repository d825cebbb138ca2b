"""A scene's compiled step, and the arrays of the worlds that it works on.

What is compiled depends on the plan and on what is recorded; parameters and state are carried over
whenever one of these changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heelstrike.errors import ParameterError
from heelstrike.parameters import parameters, with_values
from heelstrike.runtime.cuda.kernel import CudaKernel
from heelstrike.runtime.kernel import Kernel
from heelstrike.scene.servo import ServoPlan
from heelstrike.scene.surfaces import HeightField
from heelstrike.simulate.parameters import Parameters
from heelstrike.simulate.state import State
from heelstrike.simulate.target import Target, Worlds
from heelstrike.spatial.vector import SX
from heelstrike.step.control import REFERENCE
from heelstrike.step.ground import heights_name
from heelstrike.step.outputs import output_name
from heelstrike.step.plan import StepPlan
from heelstrike.step.step import step_program


class Machine:
    """The worlds of a simulator."""

    def __init__(self, plan: StepPlan, dt: float, worlds: int, target: Target) -> None:
        self.plan = plan
        self.target = target
        self.worlds = worlds
        values = {"dt": np.array([dt])} | plan.parameters()
        self.parameters = Parameters(values, self._check, self._set)
        self.parameters.worlds = worlds
        self.begin = {"q": plan.pose, "v": np.zeros(plan.robot.nv)}
        """The state that a reset goes back to."""
        self.outputs: tuple[str, ...] | None = None
        self.state: State
        self.failed: np.ndarray | None = None
        """A view of when the only world failed; None of many worlds, or on a GPU."""
        self._batch: Worlds | None = None
        self._kernels: dict[tuple[object, ...], Kernel | CudaKernel] = {}

    @property
    def dt(self) -> np.ndarray:
        """Of each world [s]."""
        return np.broadcast_to(self.parameters["dt"].reshape(-1, 1)[:, 0], (self.worlds,))

    @property
    def clock(self) -> np.ndarray:
        """Steps that each world has made since its start; compiles nothing."""
        return np.zeros(self.worlds) if self._batch is None else self._batch.get("clock")[:, 0]

    def ready(self, outputs: tuple[str, ...] | None = None) -> Worlds:
        """The batch, compiled for these outputs (None: whichever it has)."""
        if self._batch is not None and outputs in (None, self.outputs):
            return self._batch
        old, outputs = self._batch, outputs or ()
        batch = self.new_batch(outputs)
        if old is not None:
            batch.share(old)
        else:
            batch.reset(**self.begin)
        self._attach(batch, outputs)
        return batch

    def resize(self, worlds: int) -> None:
        """Another number of worlds, which all start anew; parameters stay, the first world's where
        they were given world by world.
        """
        self.worlds = worlds
        self.parameters.for_worlds(worlds)
        self.begin = {name: x[0] if x.ndim == 2 else x for name, x in self.begin.items()}
        self._batch = self.outputs = None

    def grow(self, **changes: Any) -> None:
        """A larger program; state and parameters stay."""
        self.plan = replace(self.plan, **changes)
        self.parameters.add(self.plan.parameters())
        if self._batch is not None:
            batch = self.new_batch(())
            batch.share(self._batch)
            self._attach(batch, ())

    def observed(self, outputs: Sequence[str]) -> dict[str, np.ndarray]:
        """Plain outputs at the present state, by a step that is thrown away."""
        old = self.ready()
        batch = self.new_batch(tuple(outputs))
        inputs = [port.name for port in old.layout.inputs]  # with what was written into views
        batch.set(**old.state(), **{name: old.get(name) for name in inputs})
        batch.run()
        return {name: batch.get(output_name(name))[:, 0] for name in outputs}

    def new_batch(self, outputs: tuple[str, ...]) -> Worlds:
        """Worlds at their initial values, with the present parameters."""
        batch = self._kernel(outputs).batch(self.worlds)
        batch.set(**dict(self.parameters.items()), **self.tables())
        return batch

    def tables(self) -> dict[str, np.ndarray]:
        """What all worlds share: heights of the ground, the motion that a servo follows."""
        surfaces, control = self.plan.scene.surfaces, self.plan.control
        found = {heights_name(s): s.table for s in surfaces if isinstance(s, HeightField)}
        if isinstance(control, ServoPlan) and control.table is not None:
            found[REFERENCE] = control.table
        return found

    def _kernel(self, outputs: tuple[str, ...]) -> Kernel | CudaKernel:
        plan, width = self.plan, 1 if self.worlds == 1 else None
        wanted = (plan.pushes, plan.varied, outputs, width)
        if wanted not in self._kernels:
            names = [output_name(name) for name in outputs]
            self._kernels[wanted] = self.target.kernel(
                plan.key(), lambda: step_program(plan, outputs), names, width
            )
        return self._kernels[wanted]

    def _attach(self, batch: Worlds, outputs: tuple[str, ...]) -> None:
        self._batch, self.outputs = batch, outputs
        self.state = State(batch)
        self.failed = batch.view("failed")

    def _check(self, path: str, value: np.ndarray) -> None:
        """Refuses what the law, the surface or the step itself would not take."""
        if path == "dt" and not np.all((value > 0) & (value < 10)):
            raise ParameterError("dt", value, "time steps above 0 s")
        scene = self.plan.scene
        nodes: dict[str, object] = {**{s.name: s for s in scene.surfaces}, **scene.materials}
        for name, node in nodes.items():
            own = f"{name}."
            if path.startswith(own) and value.shape[-1] == 1:
                # the others as symbols: two that vary together may pass through odd pairs
                others = {n: SX.sym("x", x.size) for n, x in parameters(node, own).items()}
                for extreme in (value.min(), value.max()):
                    with_values(node, others | {path: float(extreme)}, own)

    def _set(self, path: str) -> None:
        if self._batch is not None:
            self._batch.set(**{path: self.parameters[path]})
