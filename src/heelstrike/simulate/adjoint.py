"""Reverse gradient of a simulator's step, of all worlds at once, compiled when first needed.

    x+ = f(x, u),      (df/dx)^T w,  (df/du)^T w

x holds all memory of a world, q and v first; u the named parameters. The pieces on which torque
limits, stops and dry friction are stay those of the step, and so do the contacts that touch, stick
and slide under laws that couple them (step/held.py). Shapes of bodies that are apart stay apart: a
world whose shapes touch one another has no reverse gradient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from heelstrike.checks import array_of_numbers, names
from heelstrike.errors import HeelstrikeError, ParameterError
from heelstrike.ir.adjoint import Adjoint, memories_of
from heelstrike.ir.code import CLOCK, FAILED
from heelstrike.ir.program import Program
from heelstrike.simulate.adaptive import refuse
from heelstrike.simulate.simulator import Simulator
from heelstrike.spatial.vector import zeros
from heelstrike.step.inputs import (
    FRICTION_LAST,
    HELD,
    HELD_CONTACTS,
    HELD_FRICTION,
    IMPULSES,
    SLOT_KEYS,
)
from heelstrike.step.plan import StepPlan
from heelstrike.step.step import held_step_program

ACCELERATION = "acceleration"
"""Name of the step's output that the reverse sweep of coupled laws reads."""
PAIR, FORCE = "self_pair", "self_force"
"""Names of the step's outputs of contacts between shapes."""
COTANGENT, GRADIENT = "cotangent of ", "gradient of "
"""Beginnings of the names of the program's inputs and outputs."""


class DifferentiableStep:
    """The step of a simulator as a function of its state and of parameters, with its adjoint."""

    def __init__(self, sim: Simulator, inputs: Sequence[str] | str) -> None:
        """Compile the step and its reverse sweep.

        Args:
            sim: simulator; its worlds and parameters are taken as they are now.
            inputs: paths of the parameters in u, such as "servo.q_ref".
        """
        self.inputs = names("inputs", inputs)
        compiled = sim.compiled
        refuse(compiled.accuracy, "a gradient")
        for path in self.inputs:
            compiled.parameters.known(path)
        _check(sim)
        plan = compiled.plan
        key = ("reverse sweep of a step", plan.key(), list(self.inputs))
        self.worlds = sim.worlds
        self._couples, self._contact = plan.couples, sim.scene.shape_contact
        outputs = [ACCELERATION] if self._couples else []
        outputs += [PAIR, FORCE] if self._contact is not None else []
        self._forward = compiled.new_batch(tuple(outputs))
        memory = {port.name: port.size for port in self._forward.layout.memory}
        self.sizes = {name: n for name, n in memory.items() if name != FAILED}
        """Entries of x by name of the memory, in order."""
        made = [GRADIENT + name for name in (*self.sizes, *self.inputs) if name != CLOCK]
        kernel = compiled.target.kernel(
            key, lambda: gradient_program(plan, self.inputs, self.sizes), made, None
        )
        self.reverse_batch = kernel.batch(sim.worlds)
        """The worlds of the reverse sweep."""
        taken = {port.name for port in kernel.layout.inputs}
        tables = {port.name for port in kernel.layout.tables}
        values = {path: x for path, x in compiled.parameters.items() if path in taken}
        values |= {name: x for name, x in compiled.tables().items() if name in tables}
        self.reverse_batch.set(**values)
        self._dt = sim.dt[:, None].copy()
        self.input_sizes = {path: compiled.parameters.size(path) for path in self.inputs}
        """Entries of u by path, in order."""
        self._taken = taken
        self._made = {port.name for port in kernel.layout.outputs}

    def state(self, sim: Simulator) -> np.ndarray:
        """Return x of a simulator's worlds, (worlds, n)."""
        found = sim.compiled.batch().state()
        return np.hstack([found[name] for name in self.sizes]).astype(float)

    def input_values(self, sim: Simulator) -> np.ndarray:
        """Return u of a simulator's worlds, (worlds, m)."""
        own = [np.atleast_2d(sim.parameters[path]) for path in self.inputs]
        rows = [np.broadcast_to(x, (self.worlds, x.shape[1])) for x in own]
        return np.hstack([np.zeros((self.worlds, 0)), *rows])

    def __call__(self, x: ArrayLike, u: ArrayLike) -> np.ndarray:
        """Return x after a step."""
        batch = self._forward
        batch.reset()
        batch.set(**self._parts(x, self.sizes, "x"), **self._parts(u, self.input_sizes, "u"))
        batch.run()
        return np.hstack([batch.get(name) for name in self.sizes])

    def pullback(
        self, x: ArrayLike, u: ArrayLike, after: ArrayLike, w: ArrayLike
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return gradients with respect to x and u for that with respect to x after the step.

        Args:
            x: state before the step, (worlds, n).
            u: parameters, (worlds, m).
            after: state after it, as the call returned it.
            w: gradient of a number with respect to `after`, (worlds, n).
        """
        before, later = self._parts(x, self.sizes, "x"), self._parts(after, self.sizes, "after")
        values = before | self._parts(u, self.input_sizes, "u")
        near = SLOT_KEYS in later and later[SLOT_KEYS].any()
        if self._couples or near:
            self(x, u)  # for its accelerations and forces
        if near:
            self._check_apart()
        values |= self._held(before, later)
        values |= {COTANGENT + k: part for k, part in self._parts(w, self.sizes, "w").items()}
        batch = self.reverse_batch
        batch.set(**{name: part for name, part in values.items() if name in self._taken})
        batch.run()
        return self._gradient(self.sizes), self._gradient(self.input_sizes)

    def _held(
        self, before: dict[str, np.ndarray], later: dict[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return what the step found; of coupled laws, the step that was made last."""
        if not self._couples:
            return {HELD: (later["v"] - before["v"]) / self._dt}
        found = {HELD: self._forward.output(ACCELERATION)[:, -1], HELD_CONTACTS: later[IMPULSES]}
        if FRICTION_LAST in later:
            found[HELD_FRICTION] = later[FRICTION_LAST]
        return found

    def _check_apart(self) -> None:
        """Raise if shapes of bodies pushed one another in the step that was made last."""
        touching = (self._forward.output(FORCE)[:, -1] != 0).any(axis=-1)
        if self._contact is not None and touching.any():
            world, slot = np.argwhere(touching)[0]
            pair = self._contact.pair_names[int(self._forward.output(PAIR)[world, -1, slot])]
            raise HeelstrikeError(
                f"reverse gradients do not support contact between shapes, and {pair} touches in "
                f"world {world}",
                path="self_contact",
                remedy="leave that world out, use sim.linearize(...), or pass self_contact=False "
                "and edges=False to hs.Scene",
            )

    def _gradient(self, sizes: dict[str, int]) -> np.ndarray:
        parts = [np.zeros((self.worlds, 0))]
        for name, size in sizes.items():
            known = GRADIENT + name in self._made
            found = self.reverse_batch.output(GRADIENT + name) if known else 0.0
            parts.append(np.broadcast_to(found, (self.worlds, size)))
        return np.hstack(parts)

    def _parts(self, whole: ArrayLike, sizes: dict[str, int], name: str) -> dict[str, np.ndarray]:
        """Return the parts of x or u by name."""
        found, size = array_of_numbers(whole), sum(sizes.values())
        if found is None or found.shape != (self.worlds, size):
            raise ParameterError(name, whole, f"numbers of shape ({self.worlds}, {size})")
        ends = np.cumsum(list(sizes.values())).astype(int)
        return dict(zip(sizes, np.split(found, ends, axis=1)[:-1], strict=True))


def gradient_program(plan: StepPlan, inputs: Sequence[str], sizes: Mapping[str, int]) -> Program:
    """Return the program of the reverse sweep of a step whose memories have these sizes."""
    source, implicit = held_step_program(plan)
    adjoint = Adjoint(source, "step_gradient")
    p, memories = adjoint.program, memories_of(source)
    cotangents = {name: p.input(COTANGENT + name, size) for name, size in memories.items()}
    adjoint.trace(cotangents, implicit)
    with p.block("gradient"):
        for name in (*memories, *inputs):
            p.output(GRADIENT + name, adjoint.of(name))
        for name in sorted(sizes.keys() - {CLOCK, *memories}):  # of contact between shapes
            p.output(GRADIENT + name, zeros(sizes[name]))
    return p


def _check(sim: Simulator) -> None:
    """Raise if a step has no reverse sweep."""
    plan = sim.plan
    found = {
        "closed loops under coupled laws": plan.couples and plan.robot.constraints,
        "rolling friction of coupled laws": plan.turning_pairs,
        "coupled laws between moving bodies": any(len(x) > 1 for x in plan.coupled_groups),
        "a coupled law of contact between shapes beside ground without one": plan.slots_couple
        and not plan.coupled_pairs,
        "literal rules of papers": plan.couples and not plan.is_swept,
    }
    if causes := [cause for cause, present in found.items() if present]:
        raise HeelstrikeError(
            f"reverse gradients do not support {' and '.join(causes)}",
            path="law",
            remedy="use sim.linearize(...), which takes every scene, or an elastic law",
        )
    if any(pair.point.half is not None for pair in sim.scene.pairs):
        raise HeelstrikeError(
            "reverse gradients do not support capsules on ridges of height fields and meshes",
            path="edges",
            remedy="pass edges=False to hs.Scene",
        )
