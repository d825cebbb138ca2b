"""The step of a simulator as a function of JAX's arrays that has a gradient."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from heelstrike.errors import ParameterError
from heelstrike.simulate.adjoint import DifferentiableStep


class JaxStep:
    """A step x+ = f(x, u) of all worlds, whose vjp is a reverse sweep; it may be jitted.

    Attributes:
        step: the step and its adjoint on NumPy's arrays, with the parts of x and u by name.
    """

    def __init__(self, step: DifferentiableStep) -> None:
        self.step = step
        function = jax.custom_vjp(self._after)
        function.defvjp(self._forward, self._backward)
        self._function = function

    def __call__(self, x: Any, u: Any) -> Any:
        """Return the states after a step, (worlds, n), for states and inputs (worlds, m)."""
        for name, given in (("x", x), ("u", u)):
            if np.dtype(getattr(given, "dtype", object)).kind != "f":
                raise ParameterError(name, given, "an array of real numbers, such as float64")
        return self._function(x, u)

    def _after(self, x: Any, u: Any) -> Any:
        def call(x: Any, u: Any) -> Any:
            return np.asarray(self.step(np.asarray(x), np.asarray(u)), dtype=x.dtype)

        return jax.pure_callback(call, jax.ShapeDtypeStruct(x.shape, x.dtype), x, u)

    def _forward(self, x: Any, u: Any) -> Any:
        after = self._after(x, u)
        return after, (x, u, after)

    def _backward(self, kept: Any, w: Any) -> Any:
        def call(*arrays: Any) -> Any:
            back = self.step.pullback(*(np.asarray(array) for array in arrays))
            return tuple(np.asarray(x, dtype=w.dtype) for x in back)

        x, u, _ = kept
        shapes = tuple(jax.ShapeDtypeStruct(part.shape, part.dtype) for part in (x, u))
        return jax.pure_callback(call, shapes, *kept, w)
