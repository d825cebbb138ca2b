"""Parts of the ground that shapes of bodies touch between their contact points, and which do."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from heelstrike.scene.ridge_lines import Ridges


@dataclass(frozen=True, eq=False)
class SolidPart:
    """A part of a surface, whose edges or round sides shapes may touch."""

    name: str
    surface: int
    """Index in the scene's surfaces."""
    number: int
    """Index in the surface's solids."""
    closed: np.ndarray
    """Whether each face can be touched, see Solid."""
    is_round: bool = False
    """Whether it is more than a box."""
    has_disc: bool = False
    """Whether it is a cylinder."""


@dataclass(frozen=True)
class EdgePair:
    """A shape and a solid that it may touch."""

    shape: int
    solid: int
    law: str
    """Surface, or key of the scene's materials, whose law applies."""


@dataclass(frozen=True, eq=False)
class RidgePart:
    """A surface whose ridges shapes may touch."""

    name: str
    surface: int
    """Index in the scene's surfaces."""
    ridges: Ridges


@dataclass(frozen=True)
class RidgePair:
    """A shape and a surface whose ridges it may touch."""

    shape: int
    part: int
    """Index in `Ground.fields`."""
    law: str
    """Surface, or key of the scene's materials, whose law applies."""


@dataclass
class Ground:
    """Parts of the ground that shapes may touch between their contact points, and by which."""

    solids: list[SolidPart] = field(default_factory=list)
    edges: list[EdgePair] = field(default_factory=list)
    fields: list[RidgePart] = field(default_factory=list)
    ridges: list[RidgePair] = field(default_factory=list)
