"""Section 1: Poisson's hypothesis (2), and the two springs by which [Moore1988] applies it.

    e = P_r / P_c                                                                      (2)

P_c and P_r are the impulses of the ground while the depth grows and while it falls; for a single
mass (2) reduces to (1), v_o = -e v_i. They are sums of recorded forces here, not speeds. The two
springs have k_receding = e k_compressing as printed, which gives the root of e.
"""

from __future__ import annotations

import numpy as np

import heelstrike as hs
from heelstrike.contact.law import NormalLaw
from heelstrike.papers.marhefka1996.impact import Impacts, impacts, time_scale
from heelstrike.papers.report import Result, Row, near

MASS, STIFFNESS, SPEED = 1.0, 1e4, 1.0
"""[kg], [N/m], [m/s] of fig 4."""
STEPS = 2000
"""In the time scale of an impact."""
CLOSE = 1e-4
"""Of e: the force of a two-spring law and of a linear damper jumps within a step."""
LAWS: dict[str, NormalLaw] = {
    "nonlinear (6), alpha 0.4 s/m": hs.HuntCrossley(k=STIFFNESS, alpha=0.4, adhesive=True),
    "linear (3), b 50 N s/m": hs.LinearSpring(STIFFNESS, 50.0, damping="both", adhesive=True),
    "two springs, e 0.5": hs.PoissonSpring(k=STIFFNESS, e=0.5),
}
RESTITUTIONS = (0.25, 0.5, 0.8)


def bounce(law: NormalLaw) -> Impacts:
    """One impact, every step recorded."""
    dt = float(time_scale(SPEED, MASS, STIFFNESS)) / STEPS
    # begun inside by next to nothing: the force of a linear damper jumps at the first touch
    return impacts(
        law, SPEED, m=MASS, dt=dt, steps=9 * STEPS, depth=1e-15, integrator="rk4", every=1
    )


def impulses(run: Impacts) -> tuple[float, float]:
    """Return P_c and P_r [N s]."""
    assert run.curves is not None
    t, force, rate = run.curves.t[0], run.curves.force[0], run.curves.rate[0]
    inward = rate > 0
    turn = int(np.flatnonzero(inward)[-1]) + 1
    return (
        float(np.trapezoid(force[:turn], t[:turn])),
        float(np.trapezoid(force[turn:], t[turn:])),
    )


def poisson() -> Result:
    """(2) beside (1) under three laws, and two springs as printed and as meant."""
    rows: list[Row] = []
    for name, law in LAWS.items():
        run = bounce(law)
        inward, outward = impulses(run)
        e = float(run.e[0])
        rows.append(near(f"{name}: P_r / P_c less e of (1)", outward / inward - e, 0.0,
                         2 / STEPS, "(2) reduces to (1)",
                         f"e is {e:.4g}. The step in which the mass turns round belongs to "
                         "neither impulse."))  # fmt: skip
    for e in RESTITUTIONS:
        printed = float(bounce(hs.PoissonSpring(k=STIFFNESS, e=np.sqrt(e))).e[0])
        meant = float(bounce(hs.PoissonSpring(k=STIFFNESS, e=e)).e[0])
        rows += [
            near(f"k_receding = {e:g} k_compressing, as printed: e", printed, None, CLOSE, e,
                 f"Does not hold as printed: a spring gives sqrt(k_r/k_c) = {np.sqrt(e):.4g}."),
            near(f"k_receding = {e:g}^2 k_compressing: e", meant, None, CLOSE, e,
                 "The square is meant: work of the springs is k d^2 / 2 in, e^2 k d^2 / 2 out."),
        ]  # fmt: skip
    return Result(
        "poisson",
        "Poisson's hypothesis, and two springs",
        "(2) reduces to (1) in simple cases; two springs with k_receding = e k_compressing "
        "realise it.",
        tuple(rows),
    )
