"""Laws of the coupled problem that users write as functions.

    @hs.coupled_law
    def bouncing(s, e=0.5, mu=0.6):
        return hs.ContactTarget(velocity=e * ca.fmax(s.depth_rate, 0), mu_s=mu, mu_k=mu)

    hs.Plane(bouncing)               # with its default values
    hs.Plane(bouncing(e=0.2))        # with other values

s is a `PointState`. Keyword arguments are run-time parameters with a path (`ground.e`). With
`@hs.coupled_law(memory=2)` the function returns (target, next memory). The decorator makes a frozen
dataclass whose fields are the parameters, and returns it with their default values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, fields, make_dataclass, replace
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np

from heelstrike.contact.law import SX
from heelstrike.contact.law_checks import check_target
from heelstrike.contact.laws.custom import as_columns, check_values, declared
from heelstrike.contact.surface_law import ContactForce, ContactTarget, PointState, SurfaceLaw
from heelstrike.contact.tracing import TracedLaw, trace_target
from heelstrike.contact.user_function import check_expression, source_of
from heelstrike.errors import HeelstrikeError
from heelstrike.parameters import is_number


class CustomCoupled(SurfaceLaw):
    """Surface law that was written as a function; its subclasses are dataclasses of parameters."""

    traced: ClassVar[TracedLaw]
    memory_size: ClassVar[int]
    source: ClassVar[str]
    """Text of the function, where Python knows it."""

    def __post_init__(self) -> None:
        values = self.own_parameters()
        if all(is_number(value) for value in values.values()):
            check_target(self.traced, values, self.memory_size)

    def __call__(self, **values: Any) -> Self:
        """Return a copy with other values of the parameters."""
        check_values(self.traced.name, self.own_parameters(), values)
        return self.with_own_parameters(values)

    def with_own_parameters(self, values: Mapping[str, Any]) -> Self:
        """Return a copy with some values replaced, by numbers or by symbols."""
        return replace(self, **values)  # type: ignore[type-var]

    @property
    def acts_apart(self) -> bool:
        return "active" in self.traced.outputs

    def force(self, state: PointState) -> ContactForce:
        memory = ca.if_else(state.depth > 0, self._outputs(state)["memory"], 0)
        return replace(ContactForce.none(state), memory=memory if self.memory_size else SX(0, 1))

    def target(self, state: PointState) -> ContactTarget:
        outputs = self._outputs(state)
        return ContactTarget(**{name: x for name, x in outputs.items() if name != "memory"})

    def own_parameters(self) -> dict[str, Any]:
        """Return the values of the parameters by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def _outputs(self, state: PointState) -> dict[str, SX]:
        return self.traced.at(state, as_columns(self.own_parameters().values()))


def coupled_law(function: Callable[..., Any] | None = None, *, memory: int = 0) -> Any:
    """Make a surface law of a function `def law(s, e=0.5, ...)`, which returns a ContactTarget.

    The impulses of all such points are found together, with those of hs.Rigid and the like.

    Args:
        function: from the state s of a point (hs.PointState) and parameters with number defaults
            to its target (hs.ContactTarget), or to (target, next memory).
        memory: number of values that a point carries from step to step.

    Examples:
        >>> @hs.coupled_law
        ... def bouncing(s, e=0.5, mu=0.6):
        ...     return hs.ContactTarget(velocity=e * ca.fmax(s.depth_rate, 0), mu_s=mu, mu_k=mu)
        >>> floor = hs.Plane(bouncing(e=0.2))
    """

    def made(written: Callable[..., Any]) -> CustomCoupled:
        name, values = declared("coupled_law", written, memory)
        for parameter in {*values} & {*dir(CustomCoupled), "traced", "memory_size", "source"}:
            raise HeelstrikeError(
                f"law '{name}': the parameter '{parameter}' has the name of an attribute of laws",
                path=parameter,
                remedy="give it another name",
            )
        sizes = {parameter: np.size(value) for parameter, value in values.items()}
        traced = trace_target(name, lambda s, symbols: written(s, **symbols), sizes, memory)
        check_expression(f"law '{name}'", traced.inputs, traced.column)
        parameters = [
            (parameter, Any, field(default=tuple(value) if np.ndim(value) else value))
            for parameter, value in values.items()
        ]
        attributes = {
            "traced": traced,
            "memory_size": memory,
            "source": source_of(written),
            "__doc__": written.__doc__ or f"Coupled law {name}.",
        }
        kind = make_dataclass(
            name, parameters, bases=(CustomCoupled,), namespace=attributes, frozen=True
        )
        return kind()

    return made if function is None else made(function)
