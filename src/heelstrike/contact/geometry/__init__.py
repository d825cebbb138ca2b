"""Geometry of contact: depth, normal and points of contact of two convex shapes."""

from heelstrike.contact.geometry.contact import contact_points
from heelstrike.contact.geometry.convex import (
    ContactPoint,
    Convex,
    box,
    capsule,
    cylinder,
    ellipsoid,
    hull,
    sphere,
)

__all__ = [
    "ContactPoint",
    "Convex",
    "box",
    "capsule",
    "contact_points",
    "cylinder",
    "ellipsoid",
    "hull",
    "sphere",
]
