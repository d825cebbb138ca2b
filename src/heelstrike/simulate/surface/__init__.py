"""Surfaces: where they are, how they move, and the law that they carry. One shape a file."""

from heelstrike.simulate.surface.base import Surface
from heelstrike.simulate.surface.box import FACES, Box
from heelstrike.simulate.surface.capsule import Capsule
from heelstrike.simulate.surface.height_field import HeightField
from heelstrike.simulate.surface.plane import Plane
from heelstrike.simulate.surface.sphere import Sphere
from heelstrike.simulate.surface.stairs import Stairs
from heelstrike.simulate.surface.treadmill import Treadmill

__all__ = [
    "FACES",
    "Box",
    "Capsule",
    "HeightField",
    "Plane",
    "Sphere",
    "Stairs",
    "Surface",
    "Treadmill",
]
