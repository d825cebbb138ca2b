"""Environments for the learners of other libraries.

stable_baselines.py    hs.adapters.sb3(envs): a VecEnv of Stable-Baselines3
rsl.py                 hs.adapters.rsl_rl(envs): a VecEnv of rsl_rl
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from heelstrike.errors import HeelstrikeError, MissingPackageError, ParameterError

if TYPE_CHECKING:
    from heelstrike.adapters.rsl import RslVecEnv
    from heelstrike.adapters.stable_baselines import StableBaselinesVecEnv
    from heelstrike.environments import Environments

__all__ = ["rsl_rl", "sb3"]


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
