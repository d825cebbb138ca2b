"""Surfaces that robots touch: their shape, their motion and their contact law. One shape a file."""

from heelstrike.scene.surfaces.base import Surface
from heelstrike.scene.surfaces.box import FACES, Box
from heelstrike.scene.surfaces.capsule import Capsule
from heelstrike.scene.surfaces.cylinder import Cylinder
from heelstrike.scene.surfaces.height_field import HeightField
from heelstrike.scene.surfaces.mesh import Mesh
from heelstrike.scene.surfaces.plane import Plane
from heelstrike.scene.surfaces.sphere import Sphere
from heelstrike.scene.surfaces.stairs import Stairs
from heelstrike.scene.surfaces.treadmill import Treadmill

SURFACES: tuple[type[Surface], ...] = (
    Box,
    Capsule,
    Cylinder,
    HeightField,
    Mesh,
    Plane,
    Sphere,
    Stairs,
    Treadmill,
)
"""Every kind of surface."""

__all__ = [
    "FACES",
    "SURFACES",
    "Box",
    "Capsule",
    "Cylinder",
    "HeightField",
    "Mesh",
    "Plane",
    "Sphere",
    "Stairs",
    "Surface",
    "Treadmill",
]
