"""Choose the numbers of an explicit normal law for a rest depth, a restitution and stability.

    k = load / depth^n,   c or alpha from the restitution

At every depth of an impact at the stated speed, with k and c the law's slopes there and m the
smallest effective mass of the points along their normals,

    a k dt^2 / m + c dt / m < 1            a = 1; 3 for a TimestepDamper

which is stability, a kappa + 2 gamma < 4 (contact/stability.py), in steps twice as long: near the
limit itself an impact may gain energy. Stiffness may take half of that margin; damping has the
rest. Damping that grows with depth must be stable, kappa + 2 gamma < 4, also where the trunk above
light legs has come down. Numbers that do not fit are reduced, stiffness first, and the reasons
state by how much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from heelstrike.contact.choose.choice import Requirement, Support
from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.hunt_crossley import HuntCrossley
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.contact.laws.poisson_spring import PoissonSpring
from heelstrike.contact.laws.timestep_damper import TimestepDamper
from heelstrike.contact.restitution import damping_ratio, g, linear_restitution, restitution
from heelstrike.errors import HeelstrikeError

STIFFNESS_SHARE = 0.5
"""Share of the stability margin that stiffness may take [-]."""
LIMIT = 4.0
"""Limit of k dt^2 / m + 2 c dt / m [-]."""
MAX_DEPTH = 1.0
"""Largest depth of an impact [m]."""
MAX_LOSS = 1e4
"""Loss of restitution per speed, times speed, beyond which nothing rebounds [-]."""


@dataclass(frozen=True)
class ChosenNormal:
    """Normal law with its numbers."""

    law: NormalLaw
    k: float
    """Stiffness at rest [N/m]."""
    c: float
    """Damping at rest [N s/m]."""
    restitution: float
    """Rebound speed over impact speed [-]."""
    reasons: tuple[str, ...]


def choose_normal(
    law: NormalLaw, support: Support, required: Requirement, implicit: bool = False
) -> ChosenNormal:
    """Return the law with numbers for these points; an implicit law has no stability limit."""
    if isinstance(law, HuntCrossley):
        return _hunt_crossley(law, support, required, implicit)
    if isinstance(law, LinearSpring):
        return _linear(law, support, required, 1.0, implicit)
    if isinstance(law, PoissonSpring):
        return _poisson(law, support, required, implicit)
    if isinstance(law, TimestepDamper) and isinstance(law.law, LinearSpring):
        inner = _linear(law.law, support, required, 3.0, implicit)
        return replace(inner, law=TimestepDamper(inner.law))
    raise HeelstrikeError(
        f"hs.suggest has no rule for the numbers of {type(law).__name__}",
        value=law,
        allowed="LinearSpring, HuntCrossley, PoissonSpring, or TimestepDamper of a LinearSpring",
    )


def stiffness(
    support: Support, required: Requirement, a: float, implicit: bool, share: float = 1.0
) -> tuple[float, tuple[str, ...]]:
    """Return k [N/m] of a spring that carries a share of the load at the depth, and the reasons."""
    wanted = share * support.load / required.depth
    most = np.inf if implicit else STIFFNESS_SHARE * support.normal_mass / (a * required.dt**2)
    part = "" if share == 1 else f"{share:.3g} x "
    why = f"k = {part}{support.load:.4g} N / {_mm(required.depth)} = {wanted:.4g} N/m"
    if wanted <= most:
        return wanted, (why,)
    fits = required.dt * np.sqrt(most / wanted)
    return most, (
        why,
        f"k is reduced to {most:.4g} N/m: k dt^2 / m must not exceed {STIFFNESS_SHARE / a:.2g}; it "
        f"rests at {_mm(share * support.load / most)}, {wanted / most:.2g} times as deep; "
        f"dt <= {fits:.2g} s or 'implicit' keeps the depth",
    )


def _poisson(
    law: PoissonSpring, support: Support, required: Requirement, implicit: bool
) -> ChosenNormal:
    """Choose k and e; at rest the law alternates between two springs and carries by their mean."""
    e = required.restitution
    mean = (1 + e**2) / 2
    k, said = stiffness(support, required, 1.0, implicit, 1 / mean)
    why = (
        f"e = {e:g} is a parameter of this law; at rest it chatters between k and e^2 k, "
        f"{mean:.3g} k in the mean"
    )
    return ChosenNormal(replace(law, k=rounded(k), e=e), mean * k, 0.0, e, (*said, why))


def _linear(
    law: LinearSpring, support: Support, required: Requirement, a: float, implicit: bool
) -> ChosenNormal:
    k, said = stiffness(support, required, a, implicit)
    own = k * required.dt if implicit or a == 3 else 0.0  # such a step damps by k dt
    z = damping_ratio(required.restitution, law.damping, law.adhesive)
    unit = 2 * np.sqrt(k * support.impact_mass)
    wanted = max(z * unit - own, 0.0)
    most = np.inf if implicit else support.normal_mass / required.dt - a * k * required.dt
    c = min(wanted, most)
    e = linear_restitution((c + own) / unit, law.damping, law.adhesive)
    ways = "in and out" if law.damping == "both" else "on the way in"
    why = (
        f"c = {wanted:.4g} N s/m, {ways}, is {z:.2g} of critical for {support.impact_mass:.3g} kg "
        f"per point: e = {required.restitution:g}"
    )
    if own:
        why += f"; less k dt = {own:.3g} N s/m, the damping of the step itself"
    reasons = [*said, why]
    if c < wanted:
        reasons.append(
            f"c is reduced to {c:.4g} N s/m: k dt^2 / m + c dt / m must not exceed 1; e = {e:.2g} "
            f"in place of {required.restitution:g}"
        )
    elif e < required.restitution - 0.005:
        reasons.append(f"the step alone reduces e to {e:.2g}; a smaller dt rebounds higher")
    return ChosenNormal(replace(law, k=rounded(k), c=rounded(c)), k, c, e, tuple(reasons))


def _hunt_crossley(
    law: HuntCrossley, support: Support, required: Requirement, implicit: bool
) -> ChosenNormal:
    n, v = law.n, required.speed
    at_rest, said = stiffness(support, required, 1.0, implicit)
    depth = support.load / at_rest
    k = support.load / depth**n
    if (
        not implicit
        and (
            fits := _largest(
                lambda x: _load_of_step(x, 0.0, n, support, required), k, STIFFNESS_SHARE
            )
        )
        < k
    ):
        k, deeper = fits, (support.load / fits) ** (1 / n)
        said = (
            *said,
            f"k is reduced to {k:.4g} N/m^n: in an impact of {v:g} m/s it grows stiffer; it rests "
            f"at {_mm(deeper)}",
        )
        depth = deeper
    if n != 1:
        said = (*said, f"k = {k:.4g} N/m^{n:g}: {support.load:.4g} N at {_mm(depth)}")
    wanted = alpha_of(required.restitution, v)
    alpha = landed = wanted
    if not implicit:
        landed = _largest(lambda x: _load_when_down(k, x, n, support, required), wanted, LIMIT)
        alpha = _largest(lambda x: _load_of_step(k, x, n, support, required), landed, 1.0)
    e = float(restitution(alpha, v)) if alpha > 0 else 1.0
    reasons = [
        *said,
        f"alpha = {wanted:.3g} s/m: e = {required.restitution:g} at {v:g} m/s, any mass",
    ]
    if alpha < wanted:
        why = (
            "in that impact k dt^2 / m + c dt / m must not exceed 1"
            if alpha < landed
            else "where all that the points carry has come down, k dt^2 / m + 2 c dt / m must not "
            f"exceed {LIMIT:g}"
        )
        reasons.append(
            f"alpha is reduced to {alpha:.3g} s/m: {why}; e = {e:.2g} in place of "
            f"{required.restitution:g}"
        )
    c = 1.5 * alpha * support.load
    reasons.append(f"damping at rest is 3/2 alpha f = {c:.3g} N s/m")
    made = replace(law, k=rounded(k), alpha=rounded(alpha), alpha_restitution=None)
    return ChosenNormal(made, n * support.load / depth, c, e, tuple(reasons))


def alpha_of(e: float, speed: float) -> float:
    """Return the alpha of Hunt and Crossley's law that rebounds at e from a speed [s/m]."""
    if e >= 1:
        return 0.0
    return _largest(lambda x: -float(restitution(x, speed)), MAX_LOSS / speed, -e)


def _load_of_step(
    k: float, alpha: float, n: float, support: Support, required: Requirement
) -> float:
    """Return the largest k' dt^2 / m + c' dt / m during an impact and at rest."""
    a, m, dt = 1.5 * alpha, support.normal_mass, required.dt
    s = a * required.speed * np.linspace(0, 1, 101)
    if alpha > 0:
        left = (g(s[-1:]) - g(s)) / a**2
    else:
        left = required.speed**2 / 2 * (1 - np.linspace(0, 1, 101) ** 2)
    depth = ((n + 1) * support.impact_mass * np.maximum(left, 0) / k) ** (1 / (n + 1))
    depth = np.append(depth, (support.load / k) ** (1 / n))
    s = np.append(s, 0.0)
    kappa = n * k * depth ** (n - 1) * (1 + s) * dt**2 / m
    return float((kappa + a * k * depth**n * dt / m).max())


def _load_when_down(
    k: float, alpha: float, n: float, support: Support, required: Requirement
) -> float:
    """Return k' dt^2 / m + 2 c' dt / m where all the mass that a point carries comes to a stop.

    Legs are light: the mass that a foot stops at once may be a small part of it. It comes down at
    the speed of the impact, at most to where the spring alone stops it.
    """
    m, dt = support.normal_mass, required.dt
    carried = support.load / support.gravity if support.gravity else support.impact_mass

    def share(d: float) -> float:
        work = k * d ** (n + 1) / (n + 1)
        return work / (required.speed**2 / 2 + support.gravity * d)

    depth = _largest(share, MAX_DEPTH, carried)
    kappa, gamma = n * k * depth ** (n - 1) * dt**2 / m, 1.5 * alpha * k * depth**n * dt / m
    return float(kappa + 2 * gamma)


def _largest(value: Callable[[float], float], upper: float, most: float) -> float:
    """Return the largest number up to `upper` at which a rising value does not exceed `most`."""
    if value(upper) <= most:
        return upper
    low, high = upper * 1e-9, upper
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if value(middle) <= most else (low, middle)
    return float(low)


def rounded(number: float) -> float:
    """Round a number to four digits, its accuracy here."""
    return float(f"{number:.4g}")


def _mm(depth: float) -> str:
    return f"{1e3 * depth:.3g} mm"
