"""A law's equation as a graph: from what a law is given, and its parameters, to what it returns.

Tracing is where a law is checked. A law that cannot become machine code, or that has no finite
value where a point may well be, is refused with a sentence when it is defined, not during a run.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from heelstrike.contact.law import SX, Answer, Contact, FrictionLaw, Law
from heelstrike.errors import HeelstrikeError, TraceError
from heelstrike.ir.graph import Graph, graph
from heelstrike.ir.operations import CONST, check_supported
from heelstrike.parameters import parameters, with_values

SIZES = {"depth": 1, "depth_rate": 1, "dt": 1, "slip": 2, "position": 2, "normal_force": 1}
"""What a law is given, without its memory."""

UNTRACEABLE = (RuntimeError, TypeError, ValueError, NotImplementedError, AttributeError)
"""What CasADi and Python raise on code that cannot work on symbols."""

Equation = Callable[[Contact, Mapping[str, SX]], Answer]
"""From a contact and parameters by name."""


@dataclass(frozen=True)
class Traced:
    """An equation over symbols."""

    name: str
    given: SX
    """All that goes in: what Contact holds, then the parameters, in one column."""
    force: SX
    memory: SX

    @cached_property
    def graph(self) -> Graph:
        """The operations from what is given to force and memory."""
        return graph(self.given, ca.vertcat(self.force, self.memory))

    @cached_property
    def function(self) -> ca.Function:
        """(given) -> force, next memory."""
        return ca.Function("law", [self.given], [self.force, self.memory])


def column(c: Contact, values: Sequence[Any]) -> SX:
    """What a law is given as one column, in the order of `Traced.given`."""
    return ca.vertcat(*(getattr(c, f.name) for f in fields(Contact)), *values)


def trace_law(law: Law) -> Traced:
    """A law's equation, with symbols for its parameters."""
    sizes = {path: value.size for path, value in parameters(law).items()}
    force_size = 2 if isinstance(law, FrictionLaw) else 1

    def equation(c: Contact, symbols: Mapping[str, SX]) -> Answer:
        return with_values(law, symbols).force(c)

    return trace(type(law).__name__, equation, sizes, force_size, law.memory_size)


def operations(law: Law) -> object:
    """A law's equation as plain data, without the values of its parameters."""
    sizes = {path: value.size for path, value in parameters(law).items()}
    clamped = not getattr(law, "adhesive", False)
    found = trace_law(law).graph
    return [law.memory_size, clamped, sizes, found.operations, found.outputs]


def trace(
    name: str, equation: Equation, sizes: Mapping[str, int], force_size: int, memory_size: int
) -> Traced:
    """Runs an equation on symbols: parameters of these sizes, and a contact."""
    c = Contact(memory=SX.sym("memory", memory_size), **{n: SX.sym(n, k) for n, k in SIZES.items()})
    symbols = {parameter: SX.sym(parameter, size) for parameter, size in sizes.items()}
    try:
        answer = equation(c, symbols)
    except UNTRACEABLE as error:
        raise explained(f"law '{name}'", error, c) from error
    force, memory = _parts(name, answer, force_size, memory_size)
    return Traced(name, column(c, list(symbols.values())), force, memory)


def check_traced(who: str, given: SX, answer: SX) -> None:
    """Refuses symbols from elsewhere, NaN made of symbols, and what cannot be compiled."""
    own = {x.element_hash() for x in given.nonzeros()}
    foreign = [str(x) for x in ca.symvar(answer) if x.element_hash() not in own]
    if foreign:
        raise TraceError(
            f"{who} uses the symbol {foreign[0]}, which it is not given; it may use its first "
            "argument and its keyword arguments, which are run-time parameters"
        )
    operations = graph(given, answer).operations
    if any(op.code == CONST and np.isnan(op.value) for op in operations):
        raise TraceError(
            f"{who} turns a symbol into a number, which gives NaN: use CasADi's "
            "functions, ca.sin(x) instead of math.sin(x), and never float(x)"
        )
    try:
        check_supported(operations)
    except TraceError as error:
        raise TraceError(f"{who}: {error}") from error


def check_finite(traced: Traced, values: Mapping[str, Any], memory_size: int) -> None:
    """Refuses a law that returns no finite number at a place where a point may be.

    The places: touching or 1 mm deep, going in, resting or coming out at 0.1 m/s, sliding or not,
    loaded or not, at the first step of a contact and at the second.
    """
    function = traced.function
    own = [np.atleast_1d(np.asarray(value, dtype=float)) for value in values.values()]
    for depth, rate, slip, load in product((0, 1e-3), (0, 0.1, -0.1), (0, 0.1), (0, 10)):
        memory = np.zeros(memory_size)
        for step in ("first", "second"):
            c = Contact(depth, rate, 1e-3, memory, np.array([slip, 0]), np.zeros(2), load)
            force, memory = (np.array(x).ravel() for x in function(column(c, own)))
            if np.all(np.isfinite(force)) and np.all(np.isfinite(memory)):
                continue
            raise HeelstrikeError(
                f"law '{traced.name}' returns no finite number at depth {depth:g} m, depth_rate "
                f"{rate:g} m/s, slip {slip:g} m/s, normal_force {load:g} N, in the {step} step of "
                "a contact: make what it divides by safe, e.g. c.slip_speed or "
                "ca.fmax(c.depth, 1e-9)"
            )


def _parts(name: str, answer: object, force_size: int, memory_size: int) -> tuple[SX, SX]:
    """Force and memory as columns of the declared sizes."""
    if not isinstance(answer, tuple):
        answer = (answer, SX(0, 1)) if memory_size == 0 else (answer,)
    elif memory_size == 0:
        raise TraceError(
            f"law '{name}' returns a tuple but declares no memory; return ca.vertcat(...) for "
            "several components, or declare @hs.friction_law(memory=2) or @hs.normal_law(memory=2)"
        )
    if len(answer) != 2:
        raise TraceError(
            f"law '{name}' declares memory={memory_size}, so it must return (force, next memory)"
        )
    force = _column(name, "a force", answer[0], force_size)
    return force, _column(name, "a memory", answer[1], memory_size)


def _column(name: str, what: str, value: object, size: int) -> SX:
    try:
        found = ca.densify(ca.vec(SX(value)))
    except (NotImplementedError, TypeError, RuntimeError):
        found = None
    if found is not None and found.numel() == size:
        return found
    given = value if found is None else found.numel()
    raise TraceError(
        f"law '{name}' must return {what} of {size} component{'s' * (size != 1)}, not {given}"
        + "; use ca.vertcat(x, y)" * (size > 1)
    )


def explained(who: str, error: Exception, given: Any) -> TraceError:
    """What went wrong while tracing a function of `given`, as a sentence with the line that did
    it.
    """
    if isinstance(error, AttributeError) and error.obj is given:
        derived = [name for name, x in vars(type(given)).items() if isinstance(x, property)]
        known = ", ".join([*vars(given), *derived])
        return TraceError(f"{who}: its first argument has no '{error.name}'; it has {known}")
    libraries = [Path(ca.__file__).parent, Path(__file__).parent.parent]
    frames = traceback.extract_tb(error.__traceback__)
    written = [f for f in frames if not any(Path(f.filename).is_relative_to(p) for p in libraries)]
    line = f" in line {written[-1].lineno}: {written[-1].line}" if written else ""
    if "truth value" in str(error):
        return TraceError(
            f"{who} branches on a symbol{line}\nIt is traced once, for all values: `if`, "
            "`and`, `or`, `not`, `max` and `min` cannot choose. Write\n"
            "    hs.where(c.depth_rate > 0, k * c.depth, 0)\n"
            "for `k * c.depth if c.depth_rate > 0 else 0`, and ca.fmax, ca.fmin, ca.logic_and"
        )
    reason = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
    return TraceError(f"{who} cannot be traced{line}\n{reason}")
