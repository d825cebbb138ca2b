"""Surfaces: where they are, how they move, and the law that they carry. One shape a file."""

from heelstrike.scene.surfaces.base import Surface
from heelstrike.scene.surfaces.box import FACES, Box
from heelstrike.scene.surfaces.capsule import Capsule
from heelstrike.scene.surfaces.height_field import HeightField
from heelstrike.scene.surfaces.plane import Plane
from heelstrike.scene.surfaces.sphere import Sphere
from heelstrike.scene.surfaces.stairs import Stairs
from heelstrike.scene.surfaces.treadmill import Treadmill

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
