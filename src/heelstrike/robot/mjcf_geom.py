"""Shapes of an MJCF and the mass they give to their body.

A geom weighs `mass` where it or its class says so (0 included), else density times volume.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np

from heelstrike.robot.mjcf_defaults import Compiler, orientation
from heelstrike.robot.mjcf_mesh import Meshes
from heelstrike.robot.rotations import turn_z_to
from heelstrike.robot.xml import RobotFile, label

SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
WEIGHTLESS = ("plane", "hfield")
TYPES = (*SIZES, *WEIGHTLESS, "mesh", "sdf")
HIDDEN = 3
"""The first group of geoms that MuJoCo does not show unless asked."""
CONTACT_BITS = ("contype", "conaffinity")


@dataclass
class MjGeom:
    """A shape in the frame of its body."""

    name: str
    kind: str
    rotation: np.ndarray
    pos: np.ndarray
    size: np.ndarray
    mesh: str
    mass: float | None
    """[kg]; None if the density decides."""
    density: float
    """[kg/m^3]"""
    group: int
    collides: bool
    meets_floor: bool
    """Whether it touches a floor whose contact bits are MuJoCo's default, 1 and 1."""
    shell: bool
    rgba: tuple[float, ...] | None
    material: str


def read_geom(
    reading: RobotFile,
    compiler: Compiler,
    element: Element,
    body: str,
    R: np.ndarray,
    p: np.ndarray,
) -> MjGeom:
    """The geom of a resolved element inside a frame at (R, p) of its body."""
    mesh = element.get("mesh", "")
    kind = element.get("type", "sphere")
    if kind not in TYPES:
        reading.fail(
            f"{label(element)} of body '{body}' has the unknown type '{kind}'; "
            f"types: {', '.join(TYPES)}"
        )
    for key in ("mass", "density"):
        if reading.numbers(element, key, "0", 1)[0] < 0:
            reading.fail(f"{label(element)} of body '{body}' has a negative {key}")
    rotation = orientation(reading, compiler, element)
    pos = reading.numbers(element, "pos", "0 0 0", 3)
    size = np.zeros(0)
    if kind in SIZES and not mesh:
        need = SIZES[kind]
        size = reading.numbers(element, "size", "0 0 0", 1, 9)[:need]
        if "fromto" in element.attrib and kind != "sphere":
            a, b = reading.numbers(element, "fromto", None, 6).reshape(2, 3)
            half = np.linalg.norm(a - b) / 2
            if half == 0:
                reading.fail(f"'fromto' of {label(element)} of body '{body}' has no length")
            rotation, pos = turn_z_to(a - b), (a + b) / 2
            size = np.append(np.full(need - 1, size[0]), half)  # a box is square across
        if len(size) < need or not (size > 0).all():
            reading.fail(
                f"{label(element)} of body '{body}' is a {kind} and needs {need} positive sizes; "
                f"it has '{element.get('size', '')}'"
            )
    mass = element.get("mass")
    bits = [int(reading.numbers(element, key, "1", 1)[0]) for key in CONTACT_BITS]
    return MjGeom(
        name=element.get("name", ""),
        kind=kind,
        rotation=R @ rotation,
        pos=p + R @ pos,
        size=size,
        mesh=mesh,
        mass=None if mass is None else float(reading.numbers(element, "mass", None, 1)[0]),
        density=float(reading.numbers(element, "density", "1000", 1)[0]),
        group=int(reading.numbers(element, "group", "0", 1)[0]),
        collides=any(bits),
        meets_floor=any(bit & 1 for bit in bits),
        shell=element.get("shellinertia") == "true",
        rgba=read_colour(reading, element),
        material=element.get("material", ""),
    )


def read_colour(reading: RobotFile, element: Element) -> tuple[float, ...] | None:
    """Red, green, blue and opacity, if the element has them."""
    if "rgba" not in element.attrib:
        return None
    return tuple(float(part) for part in reading.numbers(element, "rgba", None, 4))


def mass_of_geoms(
    reading: RobotFile, compiler: Compiler, geoms: list[MjGeom], meshes: Meshes, body: str
) -> tuple[float, np.ndarray, np.ndarray] | None:
    """(mass, centre of mass, inertia about it) of a body's geoms together; None if none weighs."""
    low, high = compiler.inertiagroups
    parts = []
    for geom in geoms:
        massless = geom.mass == 0 or (geom.mass is None and geom.density == 0)
        if massless or geom.kind in WEIGHTLESS or not low <= geom.group <= high:
            continue
        volume, centre, inertia = _at_density_one(reading, geom, meshes, body)
        mass = geom.density * volume if geom.mass is None else geom.mass
        if volume > 0 and mass > 0:
            inertia = geom.rotation @ (inertia * mass / volume) @ geom.rotation.T
            parts.append((mass, geom.pos + geom.rotation @ centre, inertia))
    if not parts:
        return None
    total = sum(mass for mass, _, _ in parts)
    com = sum((mass * centre for mass, centre, _ in parts), np.zeros(3)) / total
    inertia = np.zeros((3, 3))
    for mass, centre, own in parts:
        r = centre - com
        inertia += own + mass * (r @ r * np.eye(3) - np.outer(r, r))
    return total, com, inertia


def _at_density_one(
    reading: RobotFile, geom: MjGeom, meshes: Meshes, body: str
) -> tuple[float, np.ndarray, np.ndarray]:
    """(volume, centroid, inertia about it) of one geom in its own frame."""
    what = f"geom '{geom.name}' of body '{body}'" if geom.name else f"a geom of body '{body}'"
    if (
        geom.shell
        or (geom.kind not in SIZES and geom.kind != "mesh")
        or (geom.mesh and geom.kind != "mesh")
    ):
        reading.fail(
            f"{what} decides the mass of its body and is a shell, a fitted mesh or a {geom.kind}; "
            "give the body an <inertial>"
        )
    if geom.kind == "mesh":
        return meshes.volume_inertia(geom.mesh, what)
    volume, diagonal = _solid(geom.kind, geom.size)
    return volume, np.zeros(3), volume * np.diag(diagonal)


def _solid(kind: str, size: np.ndarray) -> tuple[float, np.ndarray]:
    """(volume, principal moments per mass) of a simple solid."""
    if kind == "box":
        s = size**2 / 3
        return 8 * float(size.prod()), s.sum() - s
    if kind in ("sphere", "ellipsoid"):
        radii = np.full(3, size[0]) if kind == "sphere" else size
        s = radii**2 / 5
        return 4 / 3 * np.pi * float(radii.prod()), s.sum() - s
    r, length = size[0], 2 * size[1]
    rod = np.array([(3 * r**2 + length**2) / 12, (3 * r**2 + length**2) / 12, r**2 / 2])
    if kind == "cylinder":
        return np.pi * r**2 * length, rod
    # a capsule: a rod and two half spheres, whose own centroids sit 3/8 r beyond its ends
    rod_volume, ball_volume = np.pi * r**2 * length, 4 / 3 * np.pi * r**3
    across = 2 / 5 * r**2 + length * (3 * r + 2 * length) / 8
    balls = np.array([across, across, 2 / 5 * r**2])
    volume = rod_volume + ball_volume
    return volume, (rod_volume * rod + ball_volume * balls) / volume
