"""Laws for the tossed cube: what of each is searched, and what was found on the training tosses.

Found by `python -m benchmarks.cubes`; Signorini has Rigid's numbers, whose problem it solves (a
search takes it a quarter of an hour). One mu serves sliding and sticking. Ranges are wide, so that
no law is helped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import heelstrike as hs
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.identification.space import Search
from heelstrike.papers.marhefka1996.tosses import SUBSTEPS, simulator

STIFF, DAMPED, ROUGH, BOUNCY = (300.0, 5e4), (0.5, 200.0), (0.03, 0.8), (0.01, 0.9)
"""Ranges of k [N/m], c [N s/m], mu and e [-]."""
MU = ("ground.friction.mu_s", "ground.friction.mu_k")
"""One number."""
THIN_MU = (
    "ground.membrane.friction.mu",
    "ground.rigid.friction.mu_s",
    "ground.rigid.friction.mu_k",
)
SPRING = {
    "ground.normal.k": STIFF,
    "ground.normal.c": DAMPED,
}


@dataclass(frozen=True)
class Candidate:
    """A law, what is searched, and what was found."""

    law: SurfaceLaw
    ranges: Search
    found: Mapping[str, float]
    """By the first path of each range."""

    def simulator(self, substeps: int = SUBSTEPS) -> hs.Simulator:
        """Return the law with the identified parameters."""
        sim = simulator(self.law, substeps)
        for key in self.ranges:
            paths = (key,) if isinstance(key, str) else key
            for path in paths:
                sim.parameters[path] = self.found[paths[0]]
        return sim


def _springy(normal: hs.LinearSpring) -> hs.Elastic:
    return hs.Elastic(normal, hs.Kinetic())


SLIDING = {"ground.friction.mu": ROUGH}
CANDIDATES = {
    "hunt-crossley": Candidate(
        hs.Elastic(hs.HuntCrossley(), hs.Kinetic()),
        {"ground.normal.k": STIFF, "ground.normal.alpha": (0.05, 20.0), **SLIDING},
        {"ground.normal.k": 25110.0, "ground.normal.alpha": 2.814, "ground.friction.mu": 0.1774},
    ),
    "linear, in and out": Candidate(
        _springy(hs.LinearSpring(damping="both")),
        SPRING | SLIDING,
        {"ground.normal.k": 22000.0, "ground.normal.c": 89.23, "ground.friction.mu": 0.1773},
    ),
    "linear, in only": Candidate(
        _springy(hs.LinearSpring()),
        SPRING | SLIDING,
        {"ground.normal.k": 6198.0, "ground.normal.c": 104.3, "ground.friction.mu": 0.1773},
    ),
    "poisson spring": Candidate(
        hs.Elastic(hs.PoissonSpring(), hs.Kinetic()),
        {"ground.normal.k": STIFF, "ground.normal.e": BOUNCY, **SLIDING},
        {"ground.normal.k": 33160.0, "ground.normal.e": 0.2303, "ground.friction.mu": 0.1773},
    ),
    "timestep damper": Candidate(
        hs.Elastic(hs.TimestepDamper(hs.LinearSpring()), hs.Kinetic()),
        {"ground.normal.law.k": STIFF, "ground.normal.law.c": DAMPED, **SLIDING},
        {
            "ground.normal.law.k": 12360.0,
            "ground.normal.law.c": 112.0,
            "ground.friction.mu": 0.1784,
        },
    ),
    "implicit, linear": Candidate(
        hs.Elastic(hs.LinearSpring(damping="both"), hs.Coulomb(), implicit=True),
        {**SPRING, MU: ROUGH},
        {"ground.normal.k": 7746.0, "ground.normal.c": 47.65, "ground.friction.mu_s": 0.1768},
    ),
    "micro-macro": Candidate(
        hs.MicroMacro(hs.Elastic(hs.LinearSpring(), hs.Kinetic())),
        {
            "ground.membrane.normal.k": STIFF,
            "ground.membrane.normal.c": DAMPED,
            "ground.thickness": (1e-4, 5e-3),
            "ground.rigid.restitution": BOUNCY,
            THIN_MU: ROUGH,
        },
        {
            "ground.membrane.normal.k": 2304.0,
            "ground.membrane.normal.c": 47.74,
            "ground.thickness": 0.002555,
            "ground.rigid.restitution": 0.1692,
            "ground.membrane.friction.mu": 0.1784,
        },
    ),
    "rigid": Candidate(
        hs.Rigid(),
        {"ground.restitution": BOUNCY, MU: ROUGH},
        {"ground.restitution": 0.1389, "ground.friction.mu_s": 0.1789},
    ),
    "signorini": Candidate(
        hs.Signorini(),
        {"ground.restitution": BOUNCY, MU: ROUGH},
        {"ground.restitution": 0.1389, "ground.friction.mu_s": 0.1789},
    ),
    "feedback-linearized": Candidate(
        hs.FeedbackLinearized(),
        {"ground.kp": (100.0, 1e5), "ground.kv": (5.0, 1e3), MU: ROUGH},
        {"ground.kp": 15820.0, "ground.kv": 337.8, "ground.friction.mu_s": 0.1796},
    ),
}
