"""Choose the numbers of an explicit friction law.

Bristle: as stiff as the surface and critically damped, as far as

    k_t dt^2 / m + c_t dt / m < 1         m: smallest effective mass of the points along the surface

Kinetic: epsilon above half of the slip that friction removes in one step, mu load dt / m; with less
the point would pass through rest back and forth.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from heelstrike.contact.choose.choice import Requirement, Support
from heelstrike.contact.choose.normal import STIFFNESS_SHARE, rounded
from heelstrike.contact.law import FrictionLaw
from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.coulomb import Coulomb
from heelstrike.contact.laws.kinetic import Kinetic
from heelstrike.errors import HeelstrikeError

STOP_MARGIN = 0.6
"""Slip at which a point stops, relative to the slip that friction removes in a step [-]."""


def choose_friction(
    law: FrictionLaw, mu: Coulomb, k: float, support: Support, required: Requirement
) -> tuple[FrictionLaw, str]:
    """Return the friction law for a normal stiffness k [N/m], and the reason."""
    if isinstance(law, Bristle):
        k_t = float(min(k, STIFFNESS_SHARE * support.tangent_mass / required.dt**2))
        most = support.tangent_mass / required.dt - k_t * required.dt
        c_t = float(min(2 * np.sqrt(k_t * support.impact_mass), most))
        made = replace(
            law, mu_s=max(mu.mu_s, mu.mu_k), mu_k=mu.mu_k, k_t=rounded(k_t), c_t=rounded(c_t)
        )
        return made, (
            f"k_t = {k_t:.4g} N/m, c_t = {c_t:.4g} N s/m: the smallest effective mass along the "
            f"surface is {support.tangent_mass:.3g} kg"
        )
    if isinstance(law, Kinetic):
        slowest = max(
            1e-3, STOP_MARGIN * mu.mu_k * support.load * required.dt / support.tangent_mass
        )
        made_kinetic = replace(law, mu=mu.mu_k, epsilon=rounded(slowest))
        return made_kinetic, f"epsilon = {slowest:.3g} m/s: friction stops a point within a step"
    raise HeelstrikeError(
        f"hs.suggest has no rule for the numbers of {type(law).__name__}",
        value=law,
        allowed="Bristle or Kinetic",
    )
