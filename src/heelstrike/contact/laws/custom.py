"""Laws that users write as functions: a force of one contact, traced like the bundled laws.

    @hs.normal_law
    def my_ground(c, k=3e4, alpha=0.3):
        return k * c.depth * (1 + 1.5 * alpha * c.depth_rate)

    hs.Elastic(my_ground)            # with its default values
    hs.Elastic(my_ground(k=1e4))     # with other values

c is a `Contact`. Keyword arguments are run-time parameters with a path (`ground.normal.alpha`), so
that changing them needs no compilation. With `@hs.normal_law(memory=2)` the function returns
(force, next memory) and finds in c.memory what it returned one step before, zero in the first step
of a contact. The function runs once, on symbols, when it is defined; everything else that it reads
is fixed then. custom_coupled.py has the same for laws of the coupled problem.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import casadi as ca
import numpy as np

from heelstrike.checks import function
from heelstrike.contact.law import SX, Answer, Contact, FrictionLaw, Law, NormalLaw
from heelstrike.contact.law_checks import check_finite
from heelstrike.contact.tracing import TracedLaw, trace_force
from heelstrike.contact.user_function import check_expression, source_of
from heelstrike.errors import HeelstrikeError, ParameterError, TraceError, UnknownNameError
from heelstrike.parameters import is_number


@dataclass(frozen=True, repr=False, eq=False)
class Custom(Law):
    """Law that was written as a function."""

    traced: TracedLaw
    values: Mapping[str, Any]
    """Parameters by name."""
    memory_size: int = 0
    source: str = ""
    """Text of the function, where Python knows it."""

    def __post_init__(self) -> None:
        if all(is_number(value) for value in self.values.values()):
            check_finite(self.traced, self.values, self.memory_size)

    def __call__(self, **values: Any) -> Self:
        """Return a copy with other values of the parameters."""
        check_values(self.traced.name, self.values, values)
        return self.with_own_parameters(values)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"{self.traced.name}({values})"

    def own_parameters(self) -> Mapping[str, Any]:
        """Return the values of the parameters by name."""
        return self.values

    def with_own_parameters(self, values: Mapping[str, Any]) -> Self:
        """Return a copy with some values replaced, by numbers or by symbols."""
        return replace(self, values={**self.values, **values})

    def force(self, c: Contact) -> Answer:
        outputs = self.traced.at(c, as_columns(self.values.values()))
        return (outputs["force"], outputs["memory"]) if self.memory_size else outputs["force"]


@dataclass(frozen=True, repr=False, eq=False)
class CustomNormal(Custom, NormalLaw):
    """User's force along the normal."""

    adhesive: bool = False


@dataclass(frozen=True, repr=False, eq=False)
class CustomFriction(Custom, FrictionLaw):
    """User's force in the tangent plane."""


def normal_law(
    function: Callable[..., Any] | None = None, *, memory: int = 0, adhesive: bool = False
) -> Any:
    """Make a normal law of a function `def law(c, k=1e4, ...)`, which returns f_n [N].

    Args:
        function: from a contact c (hs.Contact) and parameters with number defaults to the normal
            force, positive where it repels, or to (force, next memory).
        memory: number of values that a point carries from step to step.
        adhesive: keep f_n < 0, a surface that pulls; otherwise the force is clamped at zero.

    Examples:
        >>> @hs.normal_law
        ... def my_ground(c, k=3e4, alpha=0.3):
        ...     return k * c.depth * (1 + 1.5 * alpha * c.depth_rate)
        >>> floor = hs.Plane(hs.Elastic(my_ground(k=1e4)))
    """

    def made(written: Callable[..., Any]) -> CustomNormal:
        traced, values = _traced("normal_law", written, 1, memory)
        normal_force = traced.inputs[-1 - sum(map(np.size, values.values()))]
        if ca.depends_on(traced.column, normal_force):
            raise TraceError(
                f"law '{traced.name}' uses c.normal_force, which a normal law computes",
                remedy="use c.depth and c.depth_rate",
            )
        return CustomNormal(traced, values, memory, source_of(written), adhesive)

    return made if function is None else made(function)


def friction_law(function: Callable[..., Any] | None = None, *, memory: int = 0) -> Any:
    """Make a friction law of a function `def law(c, mu=0.6, ...)`, which returns f_t [N].

    Args:
        function: from a contact c (hs.Contact) and parameters with number defaults to the force on
            the point along the surface's two tangents, as ca.vertcat(x, y), or to (force, next
            memory).
        memory: number of values that a point carries from step to step.

    Examples:
        >>> @hs.friction_law
        ... def viscous(c, b=20.0):
        ...     return -b * c.slip
        >>> floor = hs.Plane(hs.Elastic(hs.HuntCrossley(), viscous))
    """

    def made(written: Callable[..., Any]) -> CustomFriction:
        traced, values = _traced("friction_law", written, 2, memory)
        return CustomFriction(traced, values, memory, source_of(written))

    return made if function is None else made(function)


def _traced(
    decorator: str, written: Callable[..., Any], force_size: int, memory_size: int
) -> tuple[TracedLaw, dict[str, Any]]:
    """Return the equation of a function and the default values of its parameters."""
    name, values = declared(decorator, written, memory_size)
    traced = trace_force(
        name,
        lambda c, symbols: written(c, **symbols),
        {parameter: np.size(value) for parameter, value in values.items()},
        force_size,
        memory_size,
    )
    check_expression(f"law '{name}'", traced.inputs, traced.column)
    return traced, values


def declared(
    decorator: str, written: Callable[..., Any], memory_size: int
) -> tuple[str, dict[str, Any]]:
    """Return the name of a decorated function and the defaults of its parameters, checked."""
    if not callable(written):
        raise HeelstrikeError(
            f"@hs.{decorator} is put before a function `def law(c, k=1e4): ...`, not {written!r}"
        )
    if isinstance(memory_size, bool) or not isinstance(memory_size, int) or memory_size < 0:
        raise ParameterError(
            "memory", memory_size, "a whole number, at least 0", owner=f"@hs.{decorator}"
        )
    name = written.__name__ if inspect.isroutine(written) else "law"
    return name, _defaults(name, written)


def check_values(name: str, defaults: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Raise an error for values of unknown parameters, or of another size than the defaults."""
    for parameter, value in values.items():
        if parameter not in defaults:
            plural = f"parameters of law '{name}'"
            raise UnknownNameError("parameter", parameter, defaults, plural, path=parameter)
        default = defaults[parameter]
        if not is_number(value) or np.size(value) != np.size(default):
            raise ParameterError(
                parameter, value, f"a number like its default {default!r}", owner=f"law '{name}'"
            )


def as_columns(values: Any) -> list[SX]:
    """Return values of parameters, numbers or symbols, as columns."""
    return [SX(np.asarray(v, dtype=float)) if is_number(v) else v for v in values]


def _defaults(name: str, written: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of a function after the first, each with a number as its default."""
    everything = function(f"law '{name}'", written)
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not everything or everything[0].kind not in places:
        raise HeelstrikeError(f"law '{name}' takes the contact first: def {name}(c, k=1e4)")
    for parameter in everything[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise HeelstrikeError(
                f"law '{name}' takes '{parameter}'; its parameters must be named one by one"
            )
        if not is_number(parameter.default) or not np.all(np.isfinite(parameter.default)):
            shown = "" if parameter.default is parameter.empty else f", not {parameter.default!r}"
            raise HeelstrikeError(
                f"law '{name}': parameter '{parameter.name}' needs a number as its default{shown}, "
                f"e.g. {parameter.name}=1.0; it may change while the law runs"
            )
    return {parameter.name: parameter.default for parameter in everything[1:]}
