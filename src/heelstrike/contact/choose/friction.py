"""Numbers of a friction law that acts at once.

Bristle: as stiff as the surface and critically damped, as far as

    k_t dt^2 / m + c_t dt / m < 1         m: in the lightest way in which points move along it

Kinetic: epsilon above half of what friction takes off the slip in one step, mu load dt / m; below,
it would pass through rest back and forth.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from heelstrike.contact.choose.felt import Felt, Wish
from heelstrike.contact.choose.normal import ROOM, rounded
from heelstrike.contact.law import FrictionLaw
from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.coulomb import Coulomb
from heelstrike.contact.laws.kinetic import Kinetic
from heelstrike.errors import HeelstrikeError

CAUGHT = 0.6
"""Of what friction takes off the slip in a step: slip below which it rests."""


def rubbing(
    law: FrictionLaw, mu: Coulomb, k: float, felt: Felt, wish: Wish
) -> tuple[FrictionLaw, str]:
    """The friction law beside a stiffness k, and why."""
    if isinstance(law, Bristle):
        k_t = float(min(k, ROOM * felt.along / wish.dt**2))
        room = felt.along / wish.dt - k_t * wish.dt
        c_t = float(min(2 * np.sqrt(k_t * felt.struck), room))
        made = replace(
            law, mu_s=max(mu.mu_s, mu.mu_k), mu_k=mu.mu_k, k_t=rounded(k_t), c_t=rounded(c_t)
        )
        return made, (
            f"k_t = {k_t:.4g} N/m, c_t = {c_t:.4g} N s/m: along the surface the points feel "
            f"{felt.along:.3g} kg"
        )
    if isinstance(law, Kinetic):
        slowest = max(1e-3, CAUGHT * mu.mu_k * felt.load * wish.dt / felt.along)
        made_kinetic = replace(law, mu=mu.mu_k, epsilon=rounded(slowest))
        return made_kinetic, f"epsilon = {slowest:.3g} m/s: one step of friction does not pass rest"
    raise HeelstrikeError(
        f"no numbers are known for {type(law).__name__}; hs.suggest takes Bristle or Kinetic"
    )
