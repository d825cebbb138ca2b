"""Tracing of laws: the equation of a law as a graph, from its inputs and parameters to its outputs.

Laws that cannot work on symbols, or return something else than they declare, are reported here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, TypeVar

import casadi as ca

from heelstrike.contact.law import SX, Answer, Contact, FrictionLaw, Law, NormalLaw
from heelstrike.contact.surface_law import ContactTarget, PointState, SurfaceLaw
from heelstrike.contact.user_function import UNTRACEABLE, trace_error
from heelstrike.errors import TraceError
from heelstrike.ir.graph import Graph, graph
from heelstrike.parameters import parameters, with_values

State = TypeVar("State", Contact, PointState)

SIZES = {
    "depth": 1,
    "depth_rate": 1,
    "slip": 2,
    "position": 2,
    "dt": 1,
    "gravity": 1,
    "loaded": 1,
    "fall": 1,
    "passing": 1,
    "normal_force": 1,
}
"""Number of components of each input of a law, its memory not counted."""

TARGET_SIZES = {
    "velocity": 1,
    "mu_s": 1,
    "mu_k": 1,
    "active": 1,
    "slip": 2,
    "compliance": 1,
    "compliance_out": 1,
    "smoothing": 1,
    "impact": 1,
}
"""Number of components of each field of a target."""


class TracedLaw:
    """Equation of a law over symbols of its own: to a routine's arguments, one constant."""

    def __init__(self, name: str, inputs: SX, outputs: Mapping[str, SX]) -> None:
        self.name = name
        self.inputs = inputs
        """Fields of the state (Contact or PointState), then the parameters, in one column."""
        self.outputs = outputs
        """Results by name, the next memory among them."""

    @cached_property
    def column(self) -> SX:
        """All outputs in one column."""
        return ca.vertcat(*self.outputs.values())

    @cached_property
    def graph(self) -> Graph:
        """Operations from the inputs to the outputs."""
        return graph(self.inputs, self.column)

    @cached_property
    def function(self) -> ca.Function:
        """CasADi function from the inputs to each output in turn."""
        return ca.Function("law", [self.inputs], list(self.outputs.values()))

    def at(self, state: Contact | PointState, values: Sequence[Any]) -> dict[str, Any]:
        """Return the outputs by name at a state, for values of the parameters."""
        results = self.function(column(state, values))
        results = results if isinstance(results, tuple) else (results,)
        return dict(zip(self.outputs, results, strict=True))


def column(state: Contact | PointState, values: Sequence[Any]) -> SX:
    """Return a state and parameters as one column, in the order of `TracedLaw.inputs`."""
    return ca.vertcat(*(getattr(state, f.name) for f in fields(state)), *values)


def trace_law(law: Law) -> TracedLaw:
    """Return the equation of a normal or friction law, with symbols for its parameters."""
    force_size = 2 if isinstance(law, FrictionLaw) else 1

    def equation(c: Contact, symbols: Mapping[str, SX]) -> Answer:
        return with_values(law, symbols).force(c)

    return trace_force(type(law).__name__, equation, _sizes(law), force_size, law.memory_size)


def trace_force(
    name: str,
    equation: Callable[[Contact, Mapping[str, SX]], Answer],
    sizes: Mapping[str, int],
    force_size: int,
    memory_size: int,
) -> TracedLaw:
    """Run an equation for a force on symbols; `sizes` are those of its parameters."""
    c, symbols = _state(Contact, memory_size), _symbols(sizes)
    answer = _run(name, equation, c, symbols)
    if memory_size == 0 and isinstance(answer, tuple):
        raise TraceError(
            f"law '{name}' returns a tuple but declares no memory; return ca.vertcat(...) for "
            "several components, or declare @hs.friction_law(memory=2) or @hs.normal_law(memory=2)"
        )
    force, memory = _with_memory(name, "force", answer, memory_size)
    outputs = {"force": _column(name, "a force", force, force_size), "memory": memory}
    return TracedLaw(name, column(c, list(symbols.values())), outputs)


def trace_target(
    name: str,
    equation: Callable[[PointState, Mapping[str, SX]], ContactTarget | tuple[ContactTarget, SX]],
    sizes: Mapping[str, int],
    memory_size: int,
) -> TracedLaw:
    """Run an equation for a target on symbols; fields that it leaves out are not among the outputs.

    Args:
        name: name of the law, for errors.
        equation: from a state and parameters to a target, or to (target, next memory).
        sizes: numbers of components of the parameters.
        memory_size: number of values that a point carries from step to step.
    """
    state, symbols = _state(PointState, memory_size), _symbols(sizes)
    answer = _run(name, equation, state, symbols)
    target, memory = _with_memory(name, "hs.ContactTarget", answer, memory_size)
    if not isinstance(target, ContactTarget) or target.paper is not None:
        raise TraceError(
            f"law '{name}' must return hs.ContactTarget(velocity=..., mu_s=..., mu_k=...), not "
            f"{target!r:.60}"
        )
    outputs = _target_columns(name, target) | {"memory": memory}
    return TracedLaw(name, column(state, list(symbols.values())), outputs)


def operations(law: Law) -> object:
    """Return the equation of a normal or friction law as plain data, without parameter values."""
    clamped = not (isinstance(law, NormalLaw) and law.adhesive)
    found = trace_law(law).graph
    return [law.memory_size, clamped, _order(law), found.operations, found.outputs]


def surface_operations(law: SurfaceLaw) -> object:
    """Return the equations of a surface law as plain data, without parameter values."""
    state, symbols = _state(PointState, law.memory_size), _symbols(_sizes(law))
    name, rule = type(law).__name__, law.coupling
    names: list[str] = []

    def equations(state: PointState, symbols: Mapping[str, SX]) -> list[SX]:
        traced = with_values(law, symbols)
        force = traced.force(state)
        found = [force.touching, force.normal, force.tangent, force.memory]
        if law.couples:
            target = traced.target(state).completed(state)
            extra = {} if target.paper is None else vars(target.paper)
            goals = _target_columns(name, target) | extra
            found += [SX(goals[goal]) for goal in goals]
            names.extend(goals)
        return found

    answers = _run(name, equations, state, symbols)
    sizes = [answer.numel() for answer in answers]
    inputs = column(state, list(symbols.values()))
    found = graph(inputs, ca.vertcat(*(ca.densify(ca.vec(answer)) for answer in answers)))
    kind = [law.memory_size, law.accelerates, law.implicit, None if rule is None else vars(rule)]
    return [kind, names, sizes, _order(law), found.operations, found.outputs]


def _order(law: Law | SurfaceLaw) -> list[list[object]]:
    """Return names and sizes of the parameters in order, by which the graph refers to them."""
    return [[name, size] for name, size in _sizes(law).items()]


def _run(name: str, equation: Callable[..., Any], state: State, symbols: Mapping[str, SX]) -> Any:
    """Return what an equation answers on symbols; report what cannot work on them."""
    try:
        return equation(state, symbols)
    except UNTRACEABLE as error:
        raise trace_error(f"law '{name}'", error, state) from error


def _sizes(law: object) -> dict[str, int]:
    return {path: value.size for path, value in parameters(law).items()}


def _symbols(sizes: Mapping[str, int]) -> dict[str, SX]:
    return {parameter: SX.sym(parameter, size) for parameter, size in sizes.items()}


def _state(kind: type[State], memory_size: int) -> State:
    """Return a state of symbols."""
    sizes = SIZES | {"memory": memory_size}
    return kind(**{f.name: SX.sym(f.name, sizes[f.name]) for f in fields(kind)})


def _with_memory(name: str, what: str, answer: object, memory_size: int) -> tuple[Any, SX]:
    """Return the answer of a law and its next memory as a column of the declared size."""
    if memory_size == 0:
        return answer, SX(0, 1)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise TraceError(
            f"law '{name}' declares memory={memory_size}, so it must return ({what}, next memory)"
        )
    return answer[0], _column(name, "a memory", answer[1], memory_size)


def _target_columns(name: str, target: ContactTarget) -> dict[str, SX]:
    """Return the fields of a target that are set, as columns of the right sizes."""
    values = {field: getattr(target, field) for field in TARGET_SIZES}
    return {
        field: _column(name, f"{'an' if field[0] in 'aeiou' else 'a'} {field}", value, size)
        for field, size in TARGET_SIZES.items()
        if (value := values[field]) is not None
    }


def _column(name: str, what: str, value: object, size: int) -> SX:
    try:
        found = ca.densify(ca.vec(SX(value)))
    except (NotImplementedError, TypeError, RuntimeError):
        found = None
    if found is not None and found.numel() == size:
        return found
    returned = value if found is None else found.numel()
    raise TraceError(
        f"law '{name}' must return {what} of {size} component{'s' * (size != 1)}, not {returned}"
        + "; use ca.vertcat(x, y)" * (size > 1)
    )
