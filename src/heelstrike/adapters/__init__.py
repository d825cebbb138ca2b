"""Environments for the learners of other libraries, and steps with gradients.

stable_baselines.py    hs.adapters.sb3(envs): a VecEnv of Stable-Baselines3
rsl.py                 hs.adapters.rsl_rl(envs): a VecEnv of rsl_rl
torch_gradient.py      hs.adapters.torch_step(sim, inputs): a step with PyTorch's autograd
jax_gradient.py        hs.adapters.jax_step(sim, inputs): a step with a vjp of JAX
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heelstrike.errors import HeelstrikeError, MissingPackageError, ParameterError

if TYPE_CHECKING:
    from heelstrike.adapters.jax_gradient import JaxStep
    from heelstrike.adapters.rsl import RslVecEnv
    from heelstrike.adapters.stable_baselines import StableBaselinesVecEnv
    from heelstrike.adapters.torch_gradient import TorchStep
    from heelstrike.environments import Environments
    from heelstrike.simulate.adjoint import DifferentiableStep
    from heelstrike.simulate.simulator import Simulator

__all__ = ["jax_step", "rsl_rl", "sb3", "torch_step"]


def sb3(envs: Environments) -> StableBaselinesVecEnv:
    """Return environments as a VecEnv of Stable-Baselines3.

    Args:
        envs: environments with autoreset="same_step".

    Examples:
        >>> envs = hs.Environments("stand", 64, autoreset="same_step")
        >>> PPO("MlpPolicy", hs.adapters.sb3(envs)).learn(100_000)
    """
    _check(envs)
    try:
        from heelstrike.adapters.stable_baselines import StableBaselinesVecEnv
    except ImportError as error:
        raise _missing("hs.adapters.sb3", "stable-baselines3", "sb3") from error
    return StableBaselinesVecEnv(envs)


def rsl_rl(envs: Environments) -> RslVecEnv:
    """Return environments as a VecEnv of rsl_rl, with the observation groups policy and critic.

    Args:
        envs: environments with autoreset="same_step", on a CPU or a GPU.

    Examples:
        >>> envs = hs.Environments("stand", 4096, autoreset="same_step", device="cuda")
        >>> OnPolicyRunner(hs.adapters.rsl_rl(envs), settings, device="cuda").learn(200)
    """
    _check(envs)
    try:
        from heelstrike.adapters.rsl import RslVecEnv
    except ImportError as error:
        raise _missing("hs.adapters.rsl_rl", "rsl-rl-lib", "rsl") from error
    return RslVecEnv(envs)


def torch_step(sim: Simulator, inputs: Sequence[str]) -> TorchStep:
    """Return the step of a simulator as a function of PyTorch's tensors with a gradient.

    Args:
        sim: simulator; docs/derivatives.md has the scenes that are supported.
        inputs: paths of the parameters in u, such as ["servo.q_ref"].

    Examples:
        >>> f = hs.adapters.torch_step(sim, ["servo.q_ref"])
        >>> x, u = torch.tensor(f.step.state(sim)), torch.tensor(f.step.input_values(sim))
        >>> u.requires_grad_()
        >>> f(f(x, u), u).square().sum().backward()
    """
    try:
        from heelstrike.adapters.torch_gradient import TorchStep
    except ImportError as error:
        raise _missing("hs.adapters.torch_step", "torch", "torch") from error
    return TorchStep(_differentiable(sim, inputs))


def jax_step(sim: Simulator, inputs: Sequence[str]) -> JaxStep:
    """Return the step of a simulator as a function of JAX's arrays with a vjp.

    Args:
        sim: simulator; docs/derivatives.md has the scenes that are supported.
        inputs: paths of the parameters in u, such as ["servo.q_ref"].

    Examples:
        >>> f = hs.adapters.jax_step(sim, ["servo.q_ref"])
        >>> slope = jax.grad(lambda u: f(x, u).sum())(u)
    """
    try:
        from heelstrike.adapters.jax_gradient import JaxStep
    except ImportError as error:
        raise _missing("hs.adapters.jax_step", "jax", "jax") from error
    return JaxStep(_differentiable(sim, inputs))


def _differentiable(sim: object, inputs: Sequence[str]) -> DifferentiableStep:
    from heelstrike.simulate.adjoint import DifferentiableStep
    from heelstrike.simulate.simulator import Simulator

    if not isinstance(sim, Simulator):
        raise ParameterError("sim", sim, "hs.Simulator(...)")
    return DifferentiableStep(sim, inputs)


def _check(envs: object) -> None:
    """Raise unless these are environments that begin an episode in the step that ends one."""
    from heelstrike.environments import Environments  # says what to install if Gymnasium is absent

    if not isinstance(envs, Environments):
        raise ParameterError("envs", envs, "hs.Environments(...)")
    if envs.metadata["autoreset_mode"].name != "SAME_STEP":
        raise HeelstrikeError(
            "this library expects worlds to begin an episode in the step that ends one",
            path="autoreset",
            remedy='pass autoreset="same_step" to hs.Environments',
        )


def _missing(what: str, package: str, extra: str) -> MissingPackageError:
    return MissingPackageError(
        f"{what} needs {package}, which is not installed; run pip install 'heelstrike[{extra}]'"
    )
