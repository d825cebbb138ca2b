"""Force over depth: samples of depth, its rate and the normal force, as of a press or a load cell.

    r = F(d, d'; p) - f_n,      F of any normal law, clamped at zero as in contact/laws/elastic.py

The law's own equation is evaluated, so a number that is part of the compiled code, such as the
exponent n, may be searched as well. Depths and rates are taken as exact. Samples out of contact
(d <= 0) are left out, so a whole recording will do.
Signs: d > 0 inside, d' > 0 going in, f_n > 0 repels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from heelstrike.contact.law import Contact, NormalLaw, force_and_memory
from heelstrike.contact.restitution import Floats
from heelstrike.errors import HeelstrikeError
from heelstrike.identification.space import Space
from heelstrike.identification.tables import columns
from heelstrike.parameters import is_number

COLUMNS = ("depth", "depth_rate", "force")


class Loop:
    """Residuals of a normal law over samples of force and depth."""

    def __init__(self, table: Mapping[str, Any], law: object, space: Space, dt: float) -> None:
        self.samples = _touching(*columns(table, *COLUMNS))
        self.space = space
        normal = getattr(law, "normal", law)
        if not isinstance(normal, NormalLaw):
            raise HeelstrikeError(
                "forces over depth are of a normal law, such as hs.HuntCrossley() or "
                f"hs.Elastic(...), not {type(law).__name__}; of that identify from motions"
            )
        if normal.memory_size:
            raise HeelstrikeError(
                f"{type(normal).__name__} remembers, so samples do not stand for themselves; "
                "identify it from motions"
            )
        self.force = _force(law, space, dt)

    def __call__(self, x: Floats) -> Floats:
        d, rate, f = self.samples
        sets, size = len(x), len(d)
        p = np.repeat(np.exp(x), size, axis=0).T
        both = [np.tile(one, sets)[None] for one in (d, rate)]
        made = np.asarray(self.force(p, *both)).reshape(sets, size)
        return made - f


def _force(law: object, space: Space, dt: float) -> ca.Function:
    """Return the normal force of (p, depth, rate), one column per sample."""
    p, d, rate = ca.SX.sym("p", len(space)), ca.SX.sym("d"), ca.SX.sym("rate")
    model: Any = law
    for i, paths in enumerate(space.paths):
        for path in paths:
            model = changed(model, path, p[i])
    normal = getattr(model, "normal", model)
    none, still = ca.SX(0, 1), ca.SX(ca.DM.zeros(2))
    c = Contact(d, rate, ca.SX(dt), none, still, still, ca.SX(0))
    force, _ = force_and_memory(normal.force(c), none)
    if not normal.adhesive:
        force = ca.fmax(force, 0)
    return ca.Function("force", [p, d, rate], [force])


def changed(law: Any, path: str, value: Any) -> Any:
    """Return a copy of a law with one number replaced, a static one too."""
    name, _, rest = path.partition(".")
    known = [f.name for f in fields(law)] if is_dataclass(law) else []
    if name not in known or not (rest or is_number(getattr(law, name))):
        numbers = [one for one in known if is_number(getattr(law, one))]
        raise HeelstrikeError(
            f"no number '{path}' in {type(law).__name__}; it has {', '.join(numbers or known)}"
        )
    return replace(law, **{name: changed(getattr(law, name), rest, value) if rest else value})


def _touching(d: Floats, rate: Floats, f: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the samples in contact; raise an error if depths have the wrong sign."""
    inside = d > 0
    if float(np.abs(f[~inside]).sum()) > float(np.abs(f[inside]).sum()):
        raise HeelstrikeError(
            "most of the force acts at depths <= 0; depth is penetration, positive inside: perhaps "
            "its sign, or its zero, is to be changed"
        )
    if not inside.any():
        raise HeelstrikeError("no sample is in contact: every depth is <= 0")
    d, rate, f = d[inside], rate[inside], f[inside]
    if not np.any(f > 0):
        raise HeelstrikeError(
            "no sample shows compression: no force is above 0 in contact; f_n > 0 repels"
        )
    entering, leaving = rate > 0, rate < 0
    if entering.any() and leaving.any() and _stiffness(d, f, leaving) > _stiffness(d, f, entering):
        raise HeelstrikeError(
            "the force is larger on the way out than on the way in; depth_rate is positive going "
            "in, perhaps its sign is to be changed"
        )
    return d, rate, f


def _stiffness(d: Floats, f: Floats, of: np.ndarray) -> float:
    """Return the mean force over the mean depth of samples [N/m]."""
    return float(f[of].sum() / d[of].sum())
