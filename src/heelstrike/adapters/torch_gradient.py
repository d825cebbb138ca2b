"""The step of a simulator as a function of PyTorch's tensors that has a gradient."""

from __future__ import annotations

from typing import Any

import torch

from heelstrike.errors import ParameterError
from heelstrike.simulate.adjoint import DifferentiableStep


class TorchStep:
    """A step x+ = f(x, u) of all worlds, on which `backward` makes a reverse sweep.

    Attributes:
        step: the step and its adjoint on NumPy's arrays, with the parts of x and u by name.
    """

    def __init__(self, step: DifferentiableStep) -> None:
        self.step = step

    def __call__(self, x: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
        """Return the states after a step, (worlds, n), for states and inputs (worlds, m)."""
        for name, given in (("x", x), ("u", u)):
            if not isinstance(given, torch.Tensor) or not given.is_floating_point():
                raise ParameterError(name, given, "a tensor of real numbers, such as torch.float64")
        after: torch.Tensor = _Step.apply(x, u, self.step)
        return after


class _Step(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, u: torch.Tensor, step: DifferentiableStep) -> Any:
        after = _tensor(step(_array(x), _array(u)), x)
        ctx.step = step
        ctx.save_for_backward(x, u, after)
        return after

    @staticmethod
    def backward(ctx: Any, w: torch.Tensor) -> Any:
        x, u, after = ctx.saved_tensors
        back = ctx.step.pullback(_array(x), _array(u), _array(after), _array(w))
        return _tensor(back[0], x), _tensor(back[1], u), None


def _array(x: torch.Tensor) -> Any:
    return x.detach().cpu().numpy()


def _tensor(array: Any, like: torch.Tensor) -> torch.Tensor:
    return torch.as_tensor(array, dtype=like.dtype, device=like.device)
