"""Surfaces of the world: where they are, how they move, and the law that they carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import casadi as ca
import numpy as np

from heelstrike.contact.elastic import Elastic
from heelstrike.contact.parameters import check_numbers, static
from heelstrike.contact.surface_law import SurfaceLaw
from heelstrike.errors import HeelstrikeError
from heelstrike.spatial.vector import SX, constant


@dataclass(frozen=True)
class Plane:
    """A half-space: everything below a plane is solid.

    d = nu . (point - p) for a point p of a robot          [Sugihara2006] (4)
    """

    law: SurfaceLaw = field(default_factory=Elastic)
    name: str = static("ground")
    normal: Sequence[float] = static((0.0, 0.0, 1.0))
    """Out of the surface; of any length but zero."""
    point: Sequence[float] = (0.0, 0.0, 0.0)
    """A point of the plane [m]."""
    velocity: Sequence[float] = (0.0, 0.0, 0.0)
    """Of the surface, as of a belt [m/s]: the plane stays where it is, its material moves."""

    def __post_init__(self) -> None:
        if not isinstance(self.law, SurfaceLaw):
            raise HeelstrikeError(
                f"surface '{self.name}' takes a law such as hs.Elastic(normal, friction), not "
                f"{self.law!r}; wrap a normal law: hs.Elastic(hs.HuntCrossley(), hs.Bristle())"
            )
        if not self.name or "." in self.name:
            raise HeelstrikeError(f"a surface's name has no dots and is not empty: '{self.name}'")
        normal = np.asarray(self.normal, dtype=float)
        if normal.shape != (3,) or not np.all(np.isfinite(normal)) or not normal.any():
            raise HeelstrikeError(
                f"the normal of surface '{self.name}' is three numbers, not all 0: {self.normal}"
            )
        check_numbers(self, point=(-1e6, 1e6), velocity=(-1e3, 1e3))
        for word in ("point", "velocity"):
            if (
                isinstance(getattr(self, word), Sequence | np.ndarray)
                and len(getattr(self, word)) != 3
            ):
                raise HeelstrikeError(f"the {word} of surface '{self.name}' is three numbers")

    def own_parameters(self) -> dict[str, Any]:
        """The law's fields stand beside the surface's own: ground.normal.k, ground.velocity."""
        law = {f.name: getattr(self.law, f.name) for f in fields(self.law)}  # type: ignore[arg-type]
        return law | {"point": self.point, "velocity": self.velocity}

    def with_own(self, values: Mapping[str, Any]) -> Plane:
        """A copy with other values under those names."""
        own = {name: value for name, value in values.items() if name in ("point", "velocity")}
        law = {name: value for name, value in values.items() if name not in own}
        changed: SurfaceLaw = replace(self.law, **law)  # type: ignore[type-var]
        return replace(self, law=changed, **own)

    @property
    def axes(self) -> np.ndarray:
        """Rows: two tangents and the normal, right-handed; the first tangent lies along x seen from
        above, or along y where the normal is near x.
        """
        nu = np.asarray(self.normal, dtype=float)
        nu = nu / np.linalg.norm(nu)
        along = np.array([1.0, 0, 0]) if abs(nu[0]) < 0.9 else np.array([0, 1.0, 0])
        first = along - nu * (along @ nu)
        first /= np.linalg.norm(first)
        return np.array([first, np.cross(nu, first), nu])

    def depth(self, place: SX) -> SX:
        """Signed depth of a place in the world [m]."""
        return ca.dot(constant(self.axes[2]), SX(self.point) - place)
