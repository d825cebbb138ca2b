"""Functions that users write over symbols, laws and controllers: their checks and error messages.

A function that cannot become machine code is reported when it is defined, not during a run.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import casadi as ca
import numpy as np

from heelstrike.contact.law import SX
from heelstrike.errors import TraceError
from heelstrike.ir.graph import graph
from heelstrike.ir.operations import CONST, check_supported

UNTRACEABLE = (RuntimeError, TypeError, ValueError, NotImplementedError, AttributeError)
"""Exceptions that CasADi and Python raise for code that cannot work on symbols."""


def source_of(function: Callable[..., Any]) -> str:
    """Return the text of a function; empty where Python does not know it."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return ""


def check_expression(who: str, inputs: SX, outputs: SX) -> None:
    """Raise TraceError for outputs that do not follow from the inputs or cannot be compiled.

    These are foreign symbols, NaN that a conversion of a symbol to a number leaves, and operations
    without machine code.
    """
    own = {x.element_hash() for x in inputs.nonzeros()}
    foreign = [str(x) for x in ca.symvar(outputs) if x.element_hash() not in own]
    if foreign:
        raise TraceError(
            f"{who} uses the symbol {foreign[0]}, which is not one of its arguments",
            remedy="use only the first argument and the keyword arguments, which are run-time "
            "parameters",
        )
    operations = graph(inputs, outputs).operations
    if any(op.code == CONST and np.isnan(op.value) for op in operations):
        raise TraceError(
            f"{who} converts a symbol to a number, which gives NaN",
            remedy="use CasADi's functions, ca.sin(x) in place of math.sin(x), and never float(x)",
        )
    try:
        check_supported(operations)
    except TraceError as error:
        raise TraceError(f"{who}: {error}") from error


def trace_error(who: str, error: Exception, argument: Any) -> TraceError:
    """Return the error to raise when a function of `argument` failed on symbols.

    It names the line of the user's code and, for the common mistakes, the remedy.
    """
    if isinstance(error, AttributeError) and error.obj is argument:
        derived = [name for name, x in vars(type(argument)).items() if isinstance(x, property)]
        known = ", ".join([*vars(argument), *derived])
        return TraceError(f"{who}: its first argument has no '{error.name}'; it has {known}")
    libraries = [Path(ca.__file__).parent, Path(__file__).parent.parent]
    frames = traceback.extract_tb(error.__traceback__)
    written = [f for f in frames if not any(Path(f.filename).is_relative_to(p) for p in libraries)]
    line = f" in line {written[-1].lineno}: {written[-1].line}" if written else ""
    if _is_truth_test(error.__traceback__):
        return TraceError(
            f"{who} branches on a symbol{line}\nThe function is traced once, for all values: "
            "`if`, `and`, `or`, `not`, `max` and `min` cannot choose. Write\n"
            "    hs.where(c.depth_rate > 0, k * c.depth, 0)\n"
            "for `k * c.depth if c.depth_rate > 0 else 0`, and ca.fmax, ca.fmin, ca.logic_and"
        )
    reason = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
    return TraceError(f"{who} cannot be traced{line}\n{reason}")


def _is_truth_test(trace: TracebackType | None) -> bool:
    """Return whether an error was raised by bool(x) of a symbol x.

    CasADi raises a plain RuntimeError there, so that the innermost frame identifies it.
    """
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code is SX.__bool__.__code__
