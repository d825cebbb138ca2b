"""Laws for bodies that are thrown onto a plane called ground, and what of each is searched.

Ranges are wide, so that no law is helped. One mu serves sliding and sticking. They are of a body of
MASS; stiffness and damping of another one are in proportion to its mass.
"""

from __future__ import annotations

from collections.abc import Mapping

import heelstrike as hs
from heelstrike.validation.models import Candidate

MASS = 0.37
"""Mass that the ranges of k and c are made for [kg], the cube's."""
STIFF, DAMPED, ROUGH, BOUNCY = (300.0, 5e4), (0.5, 200.0), (0.03, 0.8), (0.01, 0.9)
"""Ranges of k [N/m], c [N s/m], mu and e [-]."""
MU = ("ground.friction.mu_s", "ground.friction.mu_k")
"""One number."""
THIN_MU = (
    "ground.membrane.friction.mu",
    "ground.rigid.friction.mu_s",
    "ground.rigid.friction.mu_k",
)


def candidates(
    mass: float = MASS,
    harder: float = 1.0,
    softer: float = 1.0,
    rough: tuple[float, float] = ROUGH,
) -> Mapping[str, Candidate]:
    """Return the laws by name.

    Args:
        mass: mass of the body [kg].
        harder: factor by which the stiffest ground of the search is stiffer than STIFF.
        softer: factor by which the softest one is softer.
        rough: range of mu.
    """
    share = mass / MASS
    stiff = STIFF[0] * share / softer, STIFF[1] * share * harder
    damped = DAMPED[0] * share, DAMPED[1] * share * harder**0.5
    spring = {"ground.normal.k": stiff, "ground.normal.c": damped}
    sliding = {"ground.friction.mu": rough}
    return {
        "hunt-crossley": Candidate(
            hs.Elastic(hs.HuntCrossley(), hs.Kinetic()),
            {"ground.normal.k": stiff, "ground.normal.alpha": (0.05, 20.0), **sliding},
        ),
        "linear-both": Candidate(
            hs.Elastic(hs.LinearSpring(damping="both"), hs.Kinetic()), {**spring, **sliding}
        ),
        "linear-in": Candidate(hs.Elastic(hs.LinearSpring(), hs.Kinetic()), {**spring, **sliding}),
        "poisson-spring": Candidate(
            hs.Elastic(hs.PoissonSpring(), hs.Kinetic()),
            {"ground.normal.k": stiff, "ground.normal.e": BOUNCY, **sliding},
        ),
        "timestep-damper": Candidate(
            hs.Elastic(hs.TimestepDamper(hs.LinearSpring()), hs.Kinetic()),
            {"ground.normal.law.k": stiff, "ground.normal.law.c": damped, **sliding},
        ),
        "implicit": Candidate(
            hs.Elastic(hs.LinearSpring(damping="both"), hs.Coulomb(), implicit=True),
            {**spring, MU: rough},
        ),
        "micro-macro": Candidate(
            hs.MicroMacro(hs.Elastic(hs.LinearSpring(), hs.Kinetic())),
            {
                "ground.membrane.normal.k": stiff,
                "ground.membrane.normal.c": damped,
                "ground.thickness": (1e-4, 5e-3),
                "ground.rigid.restitution": BOUNCY,
                THIN_MU: rough,
            },
        ),
        "rigid": Candidate(hs.Rigid(), {"ground.restitution": BOUNCY, MU: rough}),
        "signorini": Candidate(hs.Signorini(), {"ground.restitution": BOUNCY, MU: rough}),
        "feedback-linearized": Candidate(
            hs.FeedbackLinearized(),
            {
                "ground.kp": (100.0 / softer, 1e5 * harder),
                "ground.kv": (5.0, 1e3 * harder**0.5),
                MU: rough,
            },
        ),
    }


DEFAULT = tuple(name for name in candidates() if name != "signorini")
"""Laws that are compared: `Signorini` solves the problem of `Rigid` and takes ten times as long."""
QUICK = ("hunt-crossley", "poisson-spring", "implicit", "rigid")
"""Laws of a quick run: one of each kind."""
