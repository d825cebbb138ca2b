"""Numbers of a normal law that acts at once, so that it rests at a depth, rebounds, and is stable.

    k = load / depth^n,   c or alpha from the restitution

At every place of an impact at the stated speed, with k and c the law's slopes there and m the mass
of the lightest way in which the points move together,

    a k dt^2 / m + c dt / m < 1            a = 1; 3 for a TimestepDamper

which is stability, a kappa + 2 gamma < 4 (contact/stability.py), in steps twice as long: near the
limit itself an impact may gain. Stiffness may take half of that room; damping has the rest. What
does not fit gives way, stiffness first, and it is said by how much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from heelstrike.contact import damped
from heelstrike.contact.choose.felt import Felt, Wish
from heelstrike.contact.law import NormalLaw
from heelstrike.contact.laws.hunt_crossley import HuntCrossley
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.contact.laws.poisson_spring import PoissonSpring
from heelstrike.contact.laws.timestep_damper import TimestepDamper
from heelstrike.contact.restitution import g, restitution
from heelstrike.errors import HeelstrikeError

ROOM = 0.5
"""Of what is stable in twice the step: what stiffness may take."""
STRONGEST = 1e4
"""Loss of restitution per speed, times speed, beyond which nothing rebounds [-]."""


@dataclass(frozen=True)
class Chosen:
    """A normal law with its numbers."""

    law: NormalLaw
    k: float
    c: float
    restitution: float
    reasons: tuple[str, ...]


def chosen(law: NormalLaw, felt: Felt, wish: Wish, implicit: bool = False) -> Chosen:
    """The law with numbers for these points; an implicit one has no limit."""
    if isinstance(law, HuntCrossley):
        return _hunt_crossley(law, felt, wish, implicit)
    if isinstance(law, LinearSpring):
        return _linear(law, felt, wish, 1.0, implicit)
    if isinstance(law, PoissonSpring):
        return _poisson(law, felt, wish, implicit)
    if isinstance(law, TimestepDamper) and isinstance(law.law, LinearSpring):
        inner = _linear(law.law, felt, wish, 3.0, implicit)
        return replace(inner, law=TimestepDamper(inner.law))
    raise HeelstrikeError(
        f"no numbers are known for {type(law).__name__}; hs.suggest takes LinearSpring, "
        "HuntCrossley, PoissonSpring, or TimestepDamper of a LinearSpring"
    )


def stiffness(
    felt: Felt, wish: Wish, a: float, implicit: bool, share: float = 1.0
) -> tuple[float, tuple[str, ...]]:
    """k of a spring that carries a share of the load at the depth, and why [N/m]."""
    wanted = share * felt.load / wish.depth
    most = np.inf if implicit else ROOM * felt.mass / (a * wish.dt**2)
    part = "" if share == 1 else f"{share:.3g} x "
    why = f"k = {part}{felt.load:.4g} N / {_mm(wish.depth)} = {wanted:.4g} N/m"
    if wanted <= most:
        return wanted, (why,)
    fits = wish.dt * np.sqrt(most / wanted)
    return most, (
        why,
        f"k gives way, {most:.4g} N/m: k dt^2 / m may be {ROOM / a:.2g} at most; it rests at "
        f"{_mm(share * felt.load / most)}, {wanted / most:.2g} times as deep; dt <= {fits:.2g} s, "
        "or 'implicit', would keep the depth",
    )


def _poisson(law: PoissonSpring, felt: Felt, wish: Wish, implicit: bool) -> Chosen:
    """At rest it goes from spring to spring, and carries by their mean."""
    e = wish.restitution
    mean = (1 + e**2) / 2
    k, said = stiffness(felt, wish, 1.0, implicit, 1 / mean)
    why = (
        f"e = {e:g} is a number of this law; at rest it chatters between k and e^2 k, {mean:.3g} k "
        "in the mean"
    )
    return Chosen(replace(law, k=rounded(k), e=e), mean * k, 0.0, e, (*said, why))


def _linear(law: LinearSpring, felt: Felt, wish: Wish, a: float, implicit: bool) -> Chosen:
    k, said = stiffness(felt, wish, a, implicit)
    own = k * wish.dt if implicit or a == 3 else 0.0  # as if it were a damper
    z = damped.ratio(wish.restitution, law.damping, law.adhesive)
    unit = 2 * np.sqrt(k * felt.struck)
    wanted = max(z * unit - own, 0.0)
    most = np.inf if implicit else felt.mass / wish.dt - a * k * wish.dt
    c = min(wanted, most)
    e = damped.restitution((c + own) / unit, law.damping, law.adhesive)
    ways = "in and out" if law.damping == "both" else "on the way in"
    why = (
        f"c = {wanted:.4g} N s/m, {ways}, is {z:.2g} of critical for {felt.struck:.3g} kg a point: "
        f"e = {wish.restitution:g}"
    )
    if own:
        why += f"; less k dt = {own:.3g} N s/m, by which such a step damps"
    reasons = [*said, why]
    if c < wanted:
        reasons.append(
            f"c gives way, {c:.4g} N s/m: k dt^2 / m + c dt / m may be 1 at most; e = {e:.2g} for "
            f"{wish.restitution:g}"
        )
    elif e < wish.restitution - 0.005:
        reasons.append(f"the step alone damps to e = {e:.2g}; a smaller dt rebounds higher")
    return Chosen(replace(law, k=rounded(k), c=rounded(c)), k, c, e, tuple(reasons))


def _hunt_crossley(law: HuntCrossley, felt: Felt, wish: Wish, implicit: bool) -> Chosen:
    n, v = law.n, wish.speed
    at_rest, said = stiffness(felt, wish, 1.0, implicit)
    depth = felt.load / at_rest
    k = felt.load / depth**n
    if not implicit and (fits := _largest(lambda x: _room(x, 0.0, n, felt, wish), k, ROOM)) < k:
        k, deeper = fits, (felt.load / fits) ** (1 / n)
        said = (
            *said,
            f"k gives way, {k:.4g} N/m^n: in an impact of {v:g} m/s it grows stiffer; rests at "
            f"{_mm(deeper)}",
        )
        depth = deeper
    if n != 1:
        said = (*said, f"k = {k:.4g} N/m^{n:g}: {felt.load:.4g} N at {_mm(depth)}")
    wanted = alpha_of(wish.restitution, v)
    alpha = wanted
    if not implicit:
        alpha = _largest(lambda x: _room(k, x, n, felt, wish), wanted, 1.0)
    e = float(restitution(alpha, v)) if alpha > 0 else 1.0
    reasons = [*said, f"alpha = {wanted:.3g} s/m: e = {wish.restitution:g} at {v:g} m/s, any mass"]
    if alpha < wanted:
        reasons.append(
            f"alpha gives way, {alpha:.3g} s/m: in that impact k dt^2 / m + c dt / m may be 1 at "
            f"most; e = {e:.2g} for {wish.restitution:g}"
        )
    c = 1.5 * alpha * felt.load
    reasons.append(f"at rest it damps by 3/2 alpha f = {c:.3g} N s/m")
    made = replace(law, k=rounded(k), alpha=rounded(alpha), alpha_restitution=None)
    return Chosen(made, n * felt.load / depth, c, e, tuple(reasons))


def alpha_of(e: float, speed: float) -> float:
    """The alpha of Hunt and Crossley that rebounds at e from a speed [s/m]."""
    if e >= 1:
        return 0.0
    return _largest(lambda x: -float(restitution(x, speed)), STRONGEST / speed, -e)


def _room(k: float, alpha: float, n: float, felt: Felt, wish: Wish) -> float:
    """Largest k' dt^2 / m + c' dt / m on the way of an impact, and at rest."""
    a, m, dt = 1.5 * alpha, felt.mass, wish.dt
    s = a * wish.speed * np.linspace(0, 1, 101)
    if alpha > 0:
        left = (g(s[-1:]) - g(s)) / a**2
    else:
        left = wish.speed**2 / 2 * (1 - np.linspace(0, 1, 101) ** 2)
    depth = ((n + 1) * felt.struck * np.maximum(left, 0) / k) ** (1 / (n + 1))
    depth = np.append(depth, (felt.load / k) ** (1 / n))
    s = np.append(s, 0.0)
    kappa = n * k * depth ** (n - 1) * (1 + s) * dt**2 / m
    return float((kappa + a * k * depth**n * dt / m).max())


def _largest(value: Callable[[float], float], upper: float, most: float) -> float:
    """The largest number up to `upper` at which a rising value is no more than `most`."""
    if value(upper) <= most:
        return upper
    low, high = upper * 1e-9, upper
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if value(middle) <= most else (low, middle)
    return float(low)


def rounded(number: float) -> float:
    """To four digits: nothing here is known better."""
    return float(f"{number:.4g}")


def _mm(depth: float) -> str:
    return f"{1e3 * depth:.3g} mm"
