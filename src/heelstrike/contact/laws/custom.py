"""A user's own law: a function of the contact, traced like ours.

    @hs.normal_law
    def my_ground(c, k=3e4, alpha=0.3):
        return k * c.depth * (1 + 1.5 * alpha * c.depth_rate)

    hs.Elastic(my_ground)            # as it is
    hs.Elastic(my_ground(k=1e4))     # with other values

c is a `Contact`. Keyword arguments are run-time parameters with a path (`ground.normal.alpha`), so
changing them costs no compilation. With `@hs.normal_law(memory=2)` the function returns (force,
next memory), and finds in c.memory what it returned one step before, zero when contact has just
begun. The function runs once, on symbols, when it is defined; whatever else it reads is fixed then.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import casadi as ca
import numpy as np

from heelstrike.contact.law import SX, Answer, Contact, FrictionLaw, Law, NormalLaw
from heelstrike.contact.tracing import Traced, check_finite, check_traced, column, trace
from heelstrike.errors import HeelstrikeError, TraceError
from heelstrike.parameters import is_number


@dataclass(frozen=True, repr=False, eq=False)
class Custom(Law):
    """A law that was written as a function."""

    traced: Traced
    values: Mapping[str, Any]
    """Parameters by name."""
    memory_size: int = 0
    source: str = ""
    """The function's text, where it can be found."""

    def __post_init__(self) -> None:
        if all(is_number(value) for value in self.values.values()):
            check_finite(self.traced, self.values, self.memory_size)

    def __call__(self, **values: Any) -> Self:
        """The same law with other values."""
        name = self.traced.name
        for parameter, value in values.items():
            if parameter not in self.values:
                known = ", ".join(self.values) or "none"
                raise HeelstrikeError(
                    f"law '{name}' has no parameter '{parameter}'; it has {known}"
                )
            if not is_number(value) or np.size(value) != np.size(self.values[parameter]):
                raise HeelstrikeError(
                    f"law '{name}': {parameter} must be a number like its default "
                    f"{self.values[parameter]!r}, not {value!r}"
                )
        return self.with_own(values)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"{self.traced.name}({values})"

    def own_parameters(self) -> Mapping[str, Any]:
        """Values by name."""
        return self.values

    def with_own(self, values: Mapping[str, Any]) -> Self:
        """A copy with some values replaced, by numbers or by symbols."""
        return replace(self, values={**self.values, **values})

    def force(self, c: Contact) -> Answer:
        own = [SX(np.asarray(v, dtype=float)) if is_number(v) else v for v in self.values.values()]
        force, memory = self.traced.function(column(c, own))
        return (force, memory) if self.memory_size else force


@dataclass(frozen=True, repr=False, eq=False)
class CustomNormal(Custom, NormalLaw):
    """A user's force along the normal."""

    adhesive: bool = False


@dataclass(frozen=True, repr=False, eq=False)
class CustomFriction(Custom, FrictionLaw):
    """A user's force in the tangent plane."""


def normal_law(
    function: Callable[..., Any] | None = None, *, memory: int = 0, adhesive: bool = False
) -> Any:
    """Makes a normal law of `def law(c, k=1e4, ...)`, which returns f_n [N], > 0 repels.

    `memory` is how many values it carries from step to step; `adhesive` keeps f_n < 0.
    """

    def made(written: Callable[..., Any]) -> CustomNormal:
        traced, values = _traced("normal_law", written, 1, memory)
        normal_force = traced.given[-1 - sum(map(np.size, values.values()))]
        if ca.depends_on(ca.vertcat(traced.force, traced.memory), normal_force):
            raise TraceError(
                f"law '{traced.name}' uses c.normal_force, which is what a normal law computes; "
                "use c.depth and c.depth_rate"
            )
        return CustomNormal(traced, values, memory, source_of(written), adhesive)

    return made if function is None else made(function)


def friction_law(function: Callable[..., Any] | None = None, *, memory: int = 0) -> Any:
    """Makes a friction law of `def law(c, mu=0.6, ...)`, which returns the force on the point [N]
    along the surface's two tangents, as ca.vertcat(x, y).
    """

    def made(written: Callable[..., Any]) -> CustomFriction:
        traced, values = _traced("friction_law", written, 2, memory)
        return CustomFriction(traced, values, memory, source_of(written))

    return made if function is None else made(function)


def _traced(
    decorator: str, written: Callable[..., Any], force_size: int, memory_size: int
) -> tuple[Traced, dict[str, Any]]:
    """A function's equation and the default values of its parameters."""
    if not callable(written):
        raise HeelstrikeError(
            f"@hs.{decorator} is put before a function `def law(c, k=1e4): ...`, not {written!r}"
        )
    if isinstance(memory_size, bool) or not isinstance(memory_size, int) or memory_size < 0:
        raise HeelstrikeError(f"@hs.{decorator}: memory is a whole number, not {memory_size!r}")
    name = getattr(written, "__name__", "law")
    values = _defaults(name, written)
    traced = trace(
        name,
        lambda c, symbols: written(c, **symbols),
        {parameter: np.size(value) for parameter, value in values.items()},
        force_size,
        memory_size,
    )
    check_traced(f"law '{name}'", traced.given, ca.vertcat(traced.force, traced.memory))
    return traced, values


def source_of(function: Callable[..., Any]) -> str:
    """A function's text; empty where Python does not know it."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return ""


def _defaults(name: str, written: Callable[..., Any]) -> dict[str, Any]:
    """The parameters of a function after the first, each with a number as its default."""
    everything = list(inspect.signature(written).parameters.values())
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
