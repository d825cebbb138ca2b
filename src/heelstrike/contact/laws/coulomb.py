"""Dry friction of coupled contacts.

Whether a point sticks or slides is found with the impulses (contact/solver/passes.py); it slides
only if no impulses inside all cones hold it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from heelstrike.errors import ParameterError
from heelstrike.parameters import check_numbers, is_number, parameter


@dataclass(frozen=True)
class Coulomb:
    """Dry friction of coupled contacts, with true rest.

        |f_t| <= mu_s f_n     while the point sticks                        [Sugihara2006] (35)
        |f_t| =  mu_k f_n     against the slip that sticking would leave     (36)

    It is the friction of hs.Rigid, hs.Signorini, hs.FeedbackLinearized and implicit hs.Elastic.

    Args:
        mu_s: coefficient of friction at rest [-].
        mu_k: coefficient of friction while sliding [-].

    Examples:
        >>> floor = hs.Plane(hs.Rigid(friction=hs.Coulomb(mu_s=0.6, mu_k=0.5)))
        >>> sim = hs.Simulator(hs.Scene(hs.load("box"), floor), dt=1e-3)
    """

    mu_s: float = parameter(1.0, "1", "coefficient of friction at rest")
    mu_k: float = parameter(0.8, "1", "coefficient of friction while sliding")

    sources: ClassVar[tuple[str, ...]] = ("Sugihara2006",)

    def __post_init__(self) -> None:
        check_numbers(self, mu_s=(0, 1e3), mu_k=(0, 1e3))
        check_sliding(self, self.mu_s, self.mu_k, without_static=True)


def check_sliding(owner: object, mu_s: Any, mu_k: Any, without_static: bool = False) -> None:
    """Raise ParameterError if friction would rise when sliding begins; symbols pass.

    Equal coefficients may differ by the rounding of float32. mu_s = 0 may stand for no static
    friction: points slide from the start, [Sugihara2006] section IV-D.
    """
    if not (is_number(mu_s) and is_number(mu_k)):
        return
    rises = np.greater(mu_k, np.multiply(mu_s, 1 + 1e-7))
    if np.any(rises & np.not_equal(mu_s, 0) if without_static else rises):
        raise ParameterError(
            "mu_k",
            mu_k,
            f"at most mu_s, which is {mu_s}",
            "friction must not rise when sliding begins",
            owner=type(owner).__name__,
        )


def check_coulomb(owner: str, friction: object, allowed: str = "hs.Coulomb(mu_s, mu_k)") -> None:
    """Raise ParameterError if the friction of a coupled law is not hs.Coulomb."""
    if not isinstance(friction, Coulomb):
        remedy = "hs.Kinetic and hs.Bristle belong to hs.Elastic"
        raise ParameterError("friction", friction, allowed, remedy, owner=owner)
