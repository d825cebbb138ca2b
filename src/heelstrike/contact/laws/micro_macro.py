"""A thin elastic membrane over a rigid floor: the balanced micro/macro model of [Sugihara2006].

Where the floor carries a point the membrane exerts no friction: the floor's friction holds it. The
paper leaves open whether the membrane still presses there: `below="both"` says yes,
`below="rigid"` no. What the membrane carries there is lost to friction: a 5 kg box on k = 2e4 N/m,
0.5 mm, mu_s = 0.6 slides away under 20 N with "both", where the cone allows 29 N, and holds with
"rigid", the default.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import casadi as ca

from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.patch import Patch
from heelstrike.contact.laws.rigid import Rigid
from heelstrike.contact.surface_law import (
    ContactForce,
    ContactTarget,
    CouplingRule,
    PointState,
    SurfaceLaw,
)
from heelstrike.errors import ParameterError
from heelstrike.parameters import MEANING, check_choice, check_numbers, parameter, static


@dataclass(frozen=True)
class MicroMacro(SurfaceLaw):
    """Elastic membrane over a rigid floor.

        0 < d <= thickness    the membrane alone: normal law and friction      [Sugihara2006]
        d > thickness         the floor carries the point

    Args:
        membrane: law of the membrane, hs.Elastic(...).
        rigid: law of the floor, hs.Rigid(...).
        thickness: thickness of the membrane [m].
        below: "rigid": in the floor the membrane exerts no force; "both": it still presses.

    Examples:
        >>> floor = hs.MicroMacro(hs.Elastic(hs.LinearSpring(), hs.Kinetic()), hs.Rigid())
        >>> sim = hs.Simulator(hs.Scene(hs.load("hoap1"), hs.Plane(floor)), control=hs.Servo())
    """

    membrane: Elastic = field(default_factory=Elastic, metadata={MEANING: "hs.Elastic(...)"})
    rigid: Rigid = field(default_factory=Rigid, metadata={MEANING: "hs.Rigid(...)"})
    thickness: float = parameter(5e-4, "m", "thickness of the membrane")
    below: str = static(
        "rigid", meaning='"rigid": the floor alone carries; "both": the membrane too'
    )

    sources: ClassVar[tuple[str, ...]] = ("Sugihara2006",)

    def __post_init__(self) -> None:
        if not isinstance(self.membrane, Elastic):
            raise ParameterError("membrane", self.membrane, "hs.Elastic(...)", owner="MicroMacro")
        if self.membrane.patch is not None:
            raise ParameterError(
                "membrane.patch",
                self.membrane.patch,
                "None",
                "friction against rolling and spinning belongs to the floor, rigid.patch",
                owner="MicroMacro",
            )
        if not isinstance(self.rigid, Rigid):
            raise ParameterError("rigid", self.rigid, "hs.Rigid(...)", owner="MicroMacro")
        check_numbers(self, thickness=(0, 1))
        check_choice(self, below=("both", "rigid"))

    @property
    def patch(self) -> Patch | None:
        """Friction against rolling and spinning: that of the floor."""
        return self.rigid.patch

    @property
    def memory_size(self) -> int:
        return self.membrane.memory_size

    @property
    def coupling(self) -> CouplingRule:
        """The rule of the rigid floor."""
        return self.rigid.coupling

    @property
    def acts_apart(self) -> bool:
        return False

    def force(self, state: PointState) -> ContactForce:
        found = self.membrane.force(state)
        carried = self._floor(state).touching
        normal = found.normal
        if self.below == "rigid":
            normal = ca.if_else(carried, 0, normal)
        return replace(found, normal=normal, tangent=ca.if_else(carried, 0, found.tangent))

    def target(self, state: PointState) -> ContactTarget:
        floor = self._floor(state)
        return self.rigid.target(floor).completed(floor)

    def _floor(self, state: PointState) -> PointState:
        """Return the state of the point relative to the rigid floor."""
        return replace(state, depth=state.depth - self.thickness)
