"""Data for choosing the numbers of a law: the support of a robot, the requirement, the result."""

from __future__ import annotations

from dataclasses import dataclass

from heelstrike.contact.surface_law import SurfaceLaw


@dataclass(frozen=True)
class Support:
    """Points that carry a robot together, with their load and effective masses."""

    points: int
    """Number of points."""
    load: float
    """Load of each point at rest [N]."""
    gravity: float
    """Magnitude of gravity [m/s^2]."""
    impact_mass: float
    """Mass that each point stops when all of them strike together [kg]."""
    normal_mass: float
    """Smallest effective mass along the normals, 1 / lambda_max of their block [kg]."""
    tangent_mass: float
    """Smallest effective mass along the surface [kg]."""


@dataclass(frozen=True)
class Requirement:
    """Behaviour that is required of a law."""

    dt: float
    """Time step [s]."""
    depth: float
    """Depth of a point at rest [m]."""
    restitution: float
    """Rebound speed over impact speed [-]."""
    speed: float
    """Speed of the impact for which the restitution is required [m/s]."""


@dataclass(frozen=True)
class ChosenLaw:
    """Law with its numbers, its behaviour, and the reasons for the numbers."""

    law: SurfaceLaw
    k: float | None
    """Stiffness of a point [N/m]; None where the law has none."""
    c: float | None
    """Damping of a point, for Hunt and Crossley's law at rest [N s/m]; None where it has none."""
    depth: float
    """Depth of a point at rest [m]; 0: the point rests where it first touched."""
    restitution: float
    """Rebound speed over impact speed [-]."""
    reasons: tuple[str, ...]
    """One sentence for each number."""
