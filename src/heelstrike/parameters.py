"""Parameters by path: the numbers of a law, a surface or a servo that may change at run time.

A frozen dataclass is a node, its number fields are parameters, and its dataclass fields are nodes:
`ground.normal.k` is the field k of the law in the field `normal` of the surface called ground.
Fields marked `static`, and all that are not numbers, are part of the compiled code.

A node whose parameters are not its fields implements `OwnParameters`; a node whose compiled code
does not depend on its fields alone implements `OwnStructure`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, field, fields, is_dataclass, replace
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from heelstrike.checks import array_of_numbers
from heelstrike.errors import ParameterError

T = TypeVar("T")

MAX_SHOWN = 3
"""Largest number of values that an error shows; of more, the first that does not fit."""
STATIC = "static"
UNIT = "unit"
MEANING = "meaning"


@runtime_checkable
class OwnParameters(Protocol):
    """A node that lists its parameters itself."""

    def own_parameters(self) -> Mapping[str, Any]:
        """Return the values of the parameters by name; a value may be a node."""
        ...

    def with_own_parameters(self, values: Mapping[str, Any]) -> Self:
        """Return a copy with some values replaced, by numbers or by symbols."""
        ...


@runtime_checkable
class OwnStructure(Protocol):
    """A node that defines itself what its compiled code depends on."""

    def structure(self) -> object:
        """Return what the compiled code depends on, without the parameters."""
        ...


def parameter(default: Any, unit: str, meaning: str) -> Any:
    """Declare a field that may change at run time.

    Args:
        default: its value unless another is passed.
        unit: its unit; "1" if it has none.
        meaning: what it stands for.
    """
    return field(default=default, metadata={UNIT: unit, MEANING: meaning})


def static(default: Any = MISSING, unit: str = "", meaning: str = "") -> Any:
    """Declare a field that is part of the compiled code, such as an exponent or a named choice."""
    return field(default=default, metadata={STATIC: True, UNIT: unit, MEANING: meaning})


def parameters(node: object, path: str = "") -> dict[str, np.ndarray]:
    """Return the values by path, each as a vector; `path` is a prefix that ends with a dot.

    Raises:
        ParameterError: several numbers are passed to a field whose default is one.
    """
    found: dict[str, np.ndarray] = {}
    single = {f.name for f in fields(node) if isinstance(f.default, int | float)}  # type: ignore[arg-type]
    for name, value in _own(node).items():
        if _is_node(value):
            found |= parameters(value, f"{path}{name}.")
        elif is_number(value):
            vector = found[f"{path}{name}"] = np.atleast_1d(np.asarray(value, dtype=float))
            if name in single and vector.size != 1:
                remedy = "pass values of worlds by vary= of a run, or sim.parameters"
                raise ParameterError(f"{path}{name}", value, "one number", remedy)
    return found


def units(node: object, path: str = "") -> dict[str, str]:
    """Return the units by path of the parameters whose fields declare one."""
    found: dict[str, str] = {}
    declared = {f.name: f.metadata.get(UNIT, "") for f in fields(node)}  # type: ignore[arg-type]
    for name, value in _own(node).items():
        if _is_node(value):
            found |= units(value, f"{path}{name}.")
        elif declared.get(name):
            found[f"{path}{name}"] = declared[name]
    return found


def with_values(node: T, values: Mapping[str, Any], path: str = "") -> T:
    """Return a copy whose parameters are replaced, by symbols for tracing or by other numbers."""
    new: dict[str, Any] = {}
    for name, value in _own(node).items():
        if _is_node(value):
            new[name] = with_values(value, values, f"{path}{name}.")
        elif is_number(value) and f"{path}{name}" in values:
            new[name] = values[f"{path}{name}"]
    if isinstance(node, OwnParameters):
        return node.with_own_parameters(new)
    return replace(node, **new)  # type: ignore[type-var]


def structure(node: object) -> object:
    """Return what decides the compiled code: classes and static values, without the parameters."""
    if not _is_node(node):
        return node
    return node.structure() if isinstance(node, OwnStructure) else structure_of_fields(node)


def structure_of_fields(node: object, **replaced: object) -> object:
    """Return the structure of a dataclass field by field; `replaced` stands for some of them."""
    parts = {}
    for f in fields(node):  # type: ignore[arg-type]
        value = getattr(node, f.name)
        if f.name in replaced:
            parts[f.name] = replaced[f.name]
        elif _is_node(value):
            parts[f.name] = structure(value)
        elif f.metadata.get(STATIC) or not is_number(value):
            parts[f.name] = value.tolist() if isinstance(value, np.ndarray) else value
        else:
            parts[f.name] = np.size(value)
    return [f"{type(node).__module__}.{type(node).__qualname__}", parts]


def check_numbers(node: object, **limits: tuple[float, float]) -> None:
    """Raise ParameterError for a field that is not finite, or outside its (least, most).

    Fields with limits must be numbers. Symbols pass, and so does None where it is the default.
    """
    for f in fields(node):  # type: ignore[arg-type]
        value = getattr(node, f.name)
        if value is None and f.default is None:
            continue
        least, most = limits.get(f.name, (-np.inf, np.inf))
        if f.name in limits and not (is_number(value) or is_symbol(value)):
            raise ParameterError(f.name, value, "a number", owner=type(node).__name__)
        if not is_number(value):
            continue
        array = array_of_numbers(value)
        if array is None or (f.name in limits and not array.size):
            array = np.array(np.nan)
        fits = np.isfinite(array) & (array >= least) & (array <= most)
        if np.all(fits):
            continue
        allowed = f"{least:g} to {most:g}" if f.name in limits else "finite numbers"
        shown = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
        if array.size > MAX_SHOWN:
            shown = float(array[~fits].flat[0])
        raise ParameterError(f.name, shown, allowed, owner=type(node).__name__)


def check_choice(node: object, **choices: tuple[object, ...]) -> None:
    """Raise ParameterError for a field whose value is not among its choices."""
    for name, known in choices.items():
        value = getattr(node, name)
        if isinstance(value, np.ndarray) or value not in known:
            listed = " or ".join(repr(choice) for choice in known)
            raise ParameterError(name, value, listed, owner=type(node).__name__)


def _own(node: object) -> Mapping[str, Any]:
    """Return the values that may be parameters or nodes, by name."""
    if isinstance(node, OwnParameters):
        return node.own_parameters()
    kept = [f for f in fields(node) if not f.metadata.get(STATIC)]  # type: ignore[arg-type]
    return {f.name: getattr(node, f.name) for f in kept}


def _is_node(value: object) -> bool:
    return is_dataclass(value) and not isinstance(value, type)


def is_number(value: object) -> bool:
    """Return whether a value is a number, or an array, list or tuple of numbers; bools are not."""
    if isinstance(value, bool | str) or value is None:
        return False
    if isinstance(value, int | float | np.number):
        return True
    try:
        return (
            isinstance(value, np.ndarray | tuple | list) and np.asarray(value).dtype.kind in "fiu"
        )
    except ValueError:  # rows of different lengths
        return False


def is_symbol(value: object) -> bool:
    """Return whether a value is a CasADi expression."""
    return type(value).__module__.startswith("casadi")
