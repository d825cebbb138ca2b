"""What is given when the numbers of a law are chosen, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass

from heelstrike.contact.surface_law import SurfaceLaw


@dataclass(frozen=True)
class Felt:
    """What each of the points that touch together feels of its robot."""

    points: int
    load: float
    """At rest [N]."""
    gravity: float
    """[m/s^2]"""
    struck: float
    """Mass that a point stops when all of them strike together [kg]."""
    mass: float
    """In the lightest way in which they move along their normals together, 1 / lambda_max [kg]."""
    along: float
    """The same along the surface [kg]."""


@dataclass(frozen=True)
class Wish:
    """What a law is to do."""

    dt: float
    depth: float
    """Of a point at rest [m]."""
    restitution: float
    speed: float
    """Of the impact that is to rebound so [m/s]."""


@dataclass(frozen=True)
class Choice:
    """A law, what it will do, and why its numbers are what they are."""

    law: SurfaceLaw
    k: float | None
    """Stiffness of a point [N/m]; None where the law has none."""
    c: float | None
    """Its damping, of Hunt and Crossley's at rest [N s/m]."""
    depth: float
    """Of a point at rest [m]; 0: where it first touched."""
    restitution: float
    reasons: tuple[str, ...]
