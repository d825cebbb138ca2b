"""Choose the numbers of any of the laws.

elastic                k, c, and friction (normal.py, friction.py)
implicit               the same without a limit: an implicit spring is stable at any step
micro-macro            thickness = depth; the membrane carries half of the load there
feedback-linearized    kp = g / depth, kv = 2 z sqrt(kp): an impact as on a spring that carries any
                       mass at that depth; rests at epsilon, [Rengifo2009] (17)
rigid, signorini       restitution; they rest where they first touch
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from heelstrike.contact.catalog import law_by_name
from heelstrike.contact.choose.choice import ChosenLaw, Requirement, Support
from heelstrike.contact.choose.friction import choose_friction
from heelstrike.contact.choose.normal import choose_normal, rounded, stiffness
from heelstrike.contact.law import FrictionLaw, NormalLaw
from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.coulomb import Coulomb
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.feedback_linearized import FeedbackLinearized
from heelstrike.contact.laws.hunt_crossley import HuntCrossley
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.contact.laws.micro_macro import MicroMacro
from heelstrike.contact.laws.rigid import Rigid
from heelstrike.contact.laws.signorini import Signorini
from heelstrike.contact.laws.timestep_damper import TimestepDamper
from heelstrike.contact.restitution import damping_ratio
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.parameters import parameters

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
"""Names of the laws whose numbers can be chosen: those of `heelstrike list laws`, and "implicit"
for a linear spring in Elastic(implicit=True)."""
MEMBRANE_SHARE = 0.5
"""Share of the load that a membrane carries at its bottom, so that the floor is reached [-]."""
MIN_RESTITUTION = 0.05
"""Smallest restitution that damping is chosen for [-]: with less a spring returns slowly."""


def template(law: str | SurfaceLaw | NormalLaw) -> SurfaceLaw:
    """Return the law of a name, hs.Elastic with a normal law, or a surface law unchanged."""
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
        return MicroMacro(Elastic(LinearSpring(), Bristle()), Rigid())
    made = kind()
    if isinstance(made, NormalLaw):
        return Elastic(made, Bristle())
    if isinstance(made, SurfaceLaw):
        return made
    raise HeelstrikeError(f"'{law}' is a friction law", value=law, allowed=", ".join(NAMES))


def friction_of(law: SurfaceLaw) -> Coulomb:
    """Return the coefficients of friction of a law, for a membrane those of its floor."""
    if isinstance(law, MicroMacro):
        return law.rigid.friction
    if isinstance(law, Rigid | Signorini | FeedbackLinearized):
        return law.friction
    if isinstance(law, Elastic) and law.friction is None:
        return Coulomb(0.0, 0.0)
    own = law.friction if isinstance(law, Elastic) else law
    values = {name: value.item() for name, value in parameters(own).items() if value.size == 1}
    mu_s, mu_k = (values.get(name, values.get("mu")) for name in ("mu_s", "mu_k"))
    if mu_s is None or mu_k is None:
        raise HeelstrikeError(
            f"{own!r:.60} has no coefficient of friction mu, or mu_s and mu_k",
            path="friction",
            remedy="pass friction=hs.Coulomb(0.8, 0.6)",
        )
    return Coulomb(mu_s, mu_k)


def choose(
    law: SurfaceLaw, support: Support, required: Requirement, friction: Coulomb | None = None
) -> ChosenLaw:
    """Return the law with numbers for a support and a requirement, and the reasons for them.

    `friction` replaces the coefficients of friction of the law.
    """
    mu = friction or friction_of(law)
    if isinstance(law, Elastic | MicroMacro | FeedbackLinearized):
        return _soft(law, mu, support, required)
    if isinstance(law, Rigid | Signorini):
        e, said = (
            required.restitution,
            "no stiffness to choose: a point rests where it first touches",
        )
        one = Coulomb(mu.mu_k, mu.mu_k) if isinstance(law, Signorini) else mu
        made = replace(law, restitution=e, friction=one)
        return ChosenLaw(made, None, None, 0.0, e, (said, f"e = {e:g} is a parameter of this law"))
    raise HeelstrikeError(
        f"hs.suggest has no rule for the numbers of {type(law).__name__}",
        value=law,
        allowed=", ".join(NAMES),
    )


def _soft(
    law: Elastic | MicroMacro | FeedbackLinearized,
    mu: Coulomb,
    support: Support,
    required: Requirement,
) -> ChosenLaw:
    attainable = replace(required, restitution=max(required.restitution, MIN_RESTITUTION))
    if isinstance(law, Elastic):
        made = _elastic(law, mu, support, attainable)
    elif isinstance(law, MicroMacro):
        made = _membrane(law, mu, support, attainable)
    else:
        made = _imposed(law, mu, support, attainable)
    if required.restitution >= MIN_RESTITUTION:
        return made
    why = f"e is at least {MIN_RESTITUTION:g}: with more damping it takes longer to settle"
    return replace(made, reasons=(*made.reasons, why))


def _elastic(law: Elastic, mu: Coulomb, support: Support, required: Requirement) -> ChosenLaw:
    normal = choose_normal(law.normal, support, required, law.implicit)
    friction, reasons = law.friction, list(normal.reasons)
    if mu == Coulomb(0.0, 0.0):
        friction = None
    elif isinstance(friction, FrictionLaw):
        friction, why = choose_friction(friction, mu, normal.k, support, required)
        reasons.append(why)
    elif friction is not None:
        friction = mu
    made = replace(law, normal=normal.law, friction=friction)
    depth = support.load / normal.k
    if isinstance(normal.law, HuntCrossley):
        depth *= normal.law.n
    return ChosenLaw(made, normal.k, normal.c, depth, normal.restitution, tuple(reasons))


def _membrane(law: MicroMacro, mu: Coulomb, support: Support, required: Requirement) -> ChosenLaw:
    spring = law.membrane.normal
    if not isinstance(spring, LinearSpring):
        raise HeelstrikeError(
            f"hs.suggest has no rule for a membrane of {type(spring).__name__}",
            path="membrane.normal",
            value=spring,
            allowed="LinearSpring",
        )
    k, said = stiffness(support, required, 1.0, False, MEMBRANE_SHARE)
    unit = 2 * np.sqrt(k * support.impact_mass)
    z = damping_ratio(required.restitution, spring.damping, spring.adhesive)
    c = float(min(z * unit, support.normal_mass / required.dt - k * required.dt))
    friction, reasons = law.membrane.friction, list(said)
    if isinstance(friction, FrictionLaw):
        friction, why = choose_friction(friction, mu, k, support, required)
        reasons.append(why)
    membrane = replace(
        law.membrane, normal=replace(spring, k=rounded(k), c=rounded(c)), friction=friction
    )
    floor = replace(law.rigid, restitution=required.restitution, friction=mu)
    reasons += [
        f"thickness = {1e3 * required.depth:.3g} mm: the membrane carries half of the load there, "
        "the floor the rest",
        f"c = {c:.4g} N s/m and e = {required.restitution:g} of the floor: a hard impact loses "
        "energy to both",
    ]
    made = replace(law, membrane=membrane, rigid=floor, thickness=required.depth)
    return ChosenLaw(made, k, c, required.depth, required.restitution, tuple(reasons))


def _imposed(
    law: FeedbackLinearized, mu: Coulomb, support: Support, required: Requirement
) -> ChosenLaw:
    z = damping_ratio(required.restitution)
    kp = support.gravity / required.depth
    kv = 2 * z * np.sqrt(kp)
    made = replace(law, kp=rounded(kp), kv=rounded(kv), friction=mu)
    reasons = (
        f"kp = g / {1e3 * required.depth:.3g} mm = {kp:.4g} 1/s^2: an impact goes as deep as on a "
        "spring that carries any mass at that depth",
        f"it rests at epsilon, {1e3 * law.epsilon:.3g} mm, whatever the load; a larger one "
        "reduces e",
        f"kv = {kv:.4g} 1/s is {z:.2g} of critical: e = {required.restitution:g} for any mass",
    )
    return ChosenLaw(made, None, None, law.epsilon, required.restitution, reasons)
