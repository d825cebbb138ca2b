"""Catalogue of the bundled laws: name, source, parameters with units."""

from __future__ import annotations

import re
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any

from heelstrike.contact.law import FrictionLaw, Law, NormalLaw
from heelstrike.contact.laws.bristle import Bristle
from heelstrike.contact.laws.coulomb import Coulomb
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.feedback_linearized import FeedbackLinearized
from heelstrike.contact.laws.hunt_crossley import HuntCrossley
from heelstrike.contact.laws.kinetic import Kinetic
from heelstrike.contact.laws.linear_spring import LinearSpring
from heelstrike.contact.laws.micro_macro import MicroMacro
from heelstrike.contact.laws.poisson_spring import PoissonSpring
from heelstrike.contact.laws.rigid import Rigid
from heelstrike.contact.laws.signorini import Signorini
from heelstrike.contact.laws.timestep_damper import TimestepDamper
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import UnknownNameError
from heelstrike.parameters import MEANING, STATIC, UNIT

LAWS: tuple[type[Law | Coulomb | SurfaceLaw], ...] = (
    LinearSpring,
    HuntCrossley,
    PoissonSpring,
    TimestepDamper,
    Kinetic,
    Bristle,
    Coulomb,
    Elastic,
    Rigid,
    MicroMacro,
    Signorini,
    FeedbackLinearized,
)

REFERENCES = {
    "Cundall1979": "P. A. Cundall, O. D. L. Strack: A discrete numerical model for granular "
    "assemblies, Geotechnique 29(1), 47-65, 1979",
    "Hunt1975": "K. H. Hunt, F. R. E. Crossley: Coefficient of restitution interpreted as damping "
    "in vibroimpact, ASME Journal of Applied Mechanics, 440-445, June 1975",
    "LeLidec2024": "Q. Le Lidec, W. Jallet, L. Montaut, I. Laptev, C. Schmid, J. Carpentier: "
    "Contact models in robotics: a comparative analysis, IEEE Transactions on Robotics 40, "
    "3716-3733, 2024",
    "Marhefka1996": "D. W. Marhefka, D. E. Orin: Simulation of contact using a nonlinear damping "
    "model, IEEE International Conference on Robotics and Automation, 1662-1668, 1996",
    "Moore1988": "M. Moore, J. Wilhelms: Collision detection and response for computer animation, "
    "Computer Graphics 22, 289-298, August 1988",
    "Rengifo2009": "C. Rengifo, Y. Aoustin, C. Chevallereau, F. Plestan: A penalty-based approach "
    "for contact forces computation in bipedal robots, IEEE-RAS International Conference on "
    "Humanoid Robots, 2009",
    "Sugihara2006": "T. Sugihara, Y. Nakamura: Balanced micro/macro contact model for forward "
    "dynamics of rigid multibody, IEEE International Conference on Robotics and Automation, 2006",
}
"""Full references by citation key."""


@dataclass(frozen=True)
class ParameterInfo:
    """Field of a law."""

    name: str
    default: object
    """A number, a named choice, or the name of a law."""
    unit: str
    """Unit; "1" for pure numbers, empty for choices and laws."""
    meaning: str
    static: bool
    """Whether it is part of the compiled code, so that a change needs a compilation."""


@dataclass(frozen=True)
class LawInfo:
    """Entry of the catalogue."""

    name: str
    """Name in kebab case."""
    kind: str
    """Kind of the law: "normal", "friction" or "surface"."""
    law: type[Law | Coulomb | SurfaceLaw]
    what: str
    """Description, the first line of the docstring."""
    sources: tuple[str, ...]
    """Citation keys of REFERENCES."""
    parameters: tuple[ParameterInfo, ...]


def laws() -> list[LawInfo]:
    """Return all bundled laws: normal laws, friction laws, surface laws."""
    return [_info(law) for law in LAWS]


def law_by_name(name: str) -> LawInfo:
    """Return the law of a name, in kebab case or as its class is called."""
    known = {info.name: info for info in laws()}
    wanted = kebab(name.strip()) if "-" not in name else name.strip().lower()
    if wanted in known:
        return known[wanted]
    raise UnknownNameError("law", name, known)


def _info(law: type[Law | Coulomb | SurfaceLaw]) -> LawInfo:
    kinds = {NormalLaw: "normal", FrictionLaw: "friction", Coulomb: "friction"}
    kind = next((kind for base, kind in kinds.items() if issubclass(law, base)), "surface")
    what = (law.__doc__ or "").strip().splitlines()[0]
    infos = tuple(_parameter(f) for f in fields(law))  # type: ignore[arg-type]
    return LawInfo(kebab(law.__name__), kind, law, what, law.sources, infos)


def _parameter(f: Field[Any]) -> ParameterInfo:
    default = f.default
    if f.default_factory is not MISSING:
        default = kebab(type(f.default_factory()).__name__)
    metadata = f.metadata
    return ParameterInfo(
        f.name,
        default,
        metadata.get(UNIT, ""),
        metadata.get(MEANING, ""),
        metadata.get(STATIC, False),
    )


def kebab(name: str) -> str:
    """Return a name in kebab case: hunt-crossley for HuntCrossley and hunt_crossley."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).replace("_", "-").replace(" ", "-").lower()
