"""Any of the laws with numbers: which ones a kind of law has, and what follows for them.

elastic                k, c, and friction          normal.py, friction.py
implicit               the same without a limit: an implicit spring is stable at any step
micro-macro            thickness = depth; its membrane carries half of the load there
feedback-linearized    kp = g / depth, kv = 2 z sqrt(kp): an impact as that of a spring which
                       carries any mass at that depth; rests at epsilon, [Rengifo2009] (17)
rigid, signorini       restitution; they rest where they first touch
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from heelstrike.contact import damped
from heelstrike.contact.catalog import law_by_name
from heelstrike.contact.choose.felt import Choice, Felt, Wish
from heelstrike.contact.choose.friction import rubbing
from heelstrike.contact.choose.normal import chosen, rounded, stiffness
from heelstrike.contact.law import FrictionLaw, NormalLaw
from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.coulomb import Coulomb
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.feedback_linearized import FeedbackLinearized
from heelstrike.contact.laws.kinetic import Kinetic
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.contact.laws.micro_macro import MicroMacro
from heelstrike.contact.laws.rigid import Rigid
from heelstrike.contact.laws.signorini import Signorini
from heelstrike.contact.laws.timestep_damper import TimestepDamper
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError

IMPLICIT = "implicit"
NAMES = (
    "linear-spring",
    "hunt-crossley",
    "poisson-spring",
    "timestep-damper",
    IMPLICIT,
    "micro-macro",
    "feedback-linearized",
    "rigid",
    "signorini",
)
"""Laws that numbers are chosen for: as `heelstrike list laws` calls them, and elastic with
implicit=True."""
MEMBRANE = 0.5
"""Of the load: what a membrane carries at its bottom, so that the floor is reached."""


DEADEST = 0.05
"""Least restitution that damping is chosen for: beyond, springs only come back more slowly."""


def template(law: str | SurfaceLaw | NormalLaw) -> SurfaceLaw:
    """The law of a name, or around a normal law; a surface's law as it is."""
    if isinstance(law, SurfaceLaw):
        return law
    if isinstance(law, NormalLaw):
        return Elastic(law, Bristle())
    if law == IMPLICIT:
        return Elastic(LinearSpring(damping="both"), Coulomb(), implicit=True)
    kind = law_by_name(law).law
    if kind is TimestepDamper:
        return Elastic(TimestepDamper(LinearSpring(damping="both")), Bristle())
    if kind is MicroMacro:
        return MicroMacro(Elastic(LinearSpring(), Kinetic()), Rigid())
    made = kind()
    if isinstance(made, NormalLaw):
        return Elastic(made, Bristle())
    if isinstance(made, SurfaceLaw):
        return made
    raise HeelstrikeError(f"'{law}' is friction alone; laws to choose for: {', '.join(NAMES)}")


def friction_of(law: SurfaceLaw) -> Coulomb:
    """The coefficients of a law; of a membrane its floor's."""
    if isinstance(law, MicroMacro):
        return law.rigid.friction
    friction = getattr(law, "friction", None)
    if friction is None:
        return Coulomb(0.0, 0.0)
    mu = getattr(friction, "mu", None)
    mu_s, mu_k = (getattr(friction, name, mu) for name in ("mu_s", "mu_k"))
    if mu_s is None or mu_k is None:
        raise HeelstrikeError(
            f"{type(friction).__name__} names no coefficient of friction, mu or mu_s and mu_k; "
            "give one: friction=hs.Coulomb(0.8, 0.6)"
        )
    return Coulomb(mu_s, mu_k)


def choose(law: SurfaceLaw, felt: Felt, wish: Wish, friction: Coulomb | None = None) -> Choice:
    """The law with numbers, and with other coefficients of friction if they are given."""
    mu = friction or friction_of(law)
    if isinstance(law, Elastic | MicroMacro | FeedbackLinearized):
        return _soft(law, mu, felt, wish)
    if isinstance(law, Rigid | Signorini):
        e, said = wish.restitution, "no stiffness to choose: it rests where it first touches"
        one = Coulomb(mu.mu_k, mu.mu_k) if isinstance(law, Signorini) else mu
        made = replace(law, restitution=e, friction=one)
        return Choice(made, None, None, 0.0, e, (said, f"e = {e:g} is a number of this law"))
    raise HeelstrikeError(
        f"no numbers are known for {type(law).__name__}; hs.suggest takes {', '.join(NAMES)}"
    )


def _soft(
    law: Elastic | MicroMacro | FeedbackLinearized, mu: Coulomb, felt: Felt, wish: Wish
) -> Choice:
    damped_wish = replace(wish, restitution=max(wish.restitution, DEADEST))
    if isinstance(law, Elastic):
        made = _elastic(law, mu, felt, damped_wish)
    elif isinstance(law, MicroMacro):
        made = _membrane(law, mu, felt, damped_wish)
    else:
        made = _imposed(law, mu, felt, damped_wish)
    if wish.restitution >= DEADEST:
        return made
    why = f"e is {DEADEST:g} at least: with more damping it takes longer to settle"
    return replace(made, reasons=(*made.reasons, why))


def _elastic(law: Elastic, mu: Coulomb, felt: Felt, wish: Wish) -> Choice:
    normal = chosen(law.normal, felt, wish, law.implicit)
    friction, reasons = law.friction, list(normal.reasons)
    if mu == Coulomb(0.0, 0.0):
        friction = None
    elif isinstance(friction, FrictionLaw):
        friction, why = rubbing(friction, mu, normal.k, felt, wish)
        reasons.append(why)
    elif friction is not None:
        friction = mu
    made = replace(law, normal=normal.law, friction=friction)
    depth = felt.load / normal.k
    if hasattr(normal.law, "n"):
        depth *= normal.law.n
    return Choice(made, normal.k, normal.c, depth, normal.restitution, tuple(reasons))


def _membrane(law: MicroMacro, mu: Coulomb, felt: Felt, wish: Wish) -> Choice:
    spring = law.membrane.normal
    if not isinstance(spring, LinearSpring):
        raise HeelstrikeError("hs.suggest takes a membrane of a LinearSpring")
    k, said = stiffness(felt, wish, 1.0, False, MEMBRANE)
    unit = 2 * np.sqrt(k * felt.struck)
    z = damped.ratio(wish.restitution, spring.damping, spring.adhesive)
    c = float(min(z * unit, felt.mass / wish.dt - k * wish.dt))
    friction, reasons = law.membrane.friction, list(said)
    if isinstance(friction, FrictionLaw):
        friction, why = rubbing(friction, mu, k, felt, wish)
        reasons.append(why)
    membrane = replace(
        law.membrane, normal=replace(spring, k=rounded(k), c=rounded(c)), friction=friction
    )
    floor = replace(law.rigid, restitution=wish.restitution, friction=mu)
    reasons += [
        f"thickness = {1e3 * wish.depth:.3g} mm: the membrane carries half of the load there, the "
        "floor the rest",
        f"c = {c:.4g} N s/m and e = {wish.restitution:g} of the floor: what strikes hard loses to "
        "both",
    ]
    made = replace(law, membrane=membrane, rigid=floor, thickness=wish.depth)
    return Choice(made, k, c, wish.depth, wish.restitution, tuple(reasons))


def _imposed(law: FeedbackLinearized, mu: Coulomb, felt: Felt, wish: Wish) -> Choice:
    z = damped.ratio(wish.restitution)
    kp = felt.gravity / wish.depth
    kv = 2 * z * np.sqrt(kp)
    made = replace(law, kp=rounded(kp), kv=rounded(kv), friction=mu)
    reasons = (
        f"kp = g / {1e3 * wish.depth:.3g} mm = {kp:.4g} 1/s^2: an impact goes as deep as on a "
        "spring that carries any mass at that depth",
        f"it rests at epsilon, {1e3 * law.epsilon:.3g} mm, whatever the load; a larger one "
        "takes from e",
        f"kv = {kv:.4g} 1/s is {z:.2g} of critical: e = {wish.restitution:g}, whatever the mass",
    )
    return Choice(made, None, None, law.epsilon, wish.restitution, reasons)
