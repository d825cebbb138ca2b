"""Shapes of a URDF's links, and the search for its meshes."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from heelstrike.robot.collision_hull import (
    CollisionHull,
    collision_hull,
    corners_each,
    warn_concave,
    warn_left_out,
)
from heelstrike.robot.mesh import MeshFile
from heelstrike.robot.robot import WORLD, Robot, Shape
from heelstrike.robot.rotations import euler
from heelstrike.robot.xml import RobotFile

SIZES = {
    "box": (("size", 3),),
    "sphere": (("radius", 1),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
}
"""Attributes that hold the sizes of a geometry, and how many numbers each has."""


def shapes_of(
    file: RobotFile, robot: Robot, root: Element, package_dirs: Sequence[Path]
) -> tuple[Shape, ...]:
    """Return the shapes of all links; warn about collision shapes that are missing."""
    shapes, missing, growths = [], [], []
    links = {link.get("name", ""): link for link in root.findall("link")}
    meshes = sum(e.find("geometry/mesh") is not None for e in root.iter("collision"))
    painted = [e for e in root.iter("material") if e.find("color") is not None]
    colours = {e.get("name", ""): _colour(file, e) for e in painted}
    for name, link in links.items():
        frame = robot.frames[name]
        for element in (e for e in link if e.tag in ("collision", "visual")):
            collides = element.tag == "collision"
            geometry = _geometry(file, element, name, package_dirs, corners_each(meshes))
            if isinstance(geometry, str):
                if collides and frame.body != WORLD:
                    missing.append(f"{name} ({geometry})")
                continue
            kind, size, convex, mesh_file = geometry
            if convex is not None:
                growths.append((name, convex.growth))
            R, p = _origin(file, element)
            colour = None
            if (material := element.find("material")) is not None:
                colour = _colour(file, material) or colours.get(material.get("name", ""))
            shapes.append(
                Shape(
                    name=element.get("name") or name,
                    body=frame.body,
                    kind=kind,
                    rotation=frame.rotation @ R,
                    translation=frame.translation + frame.rotation @ p,
                    size=size,
                    link=name,
                    collides=collides,
                    meets_floor=collides,
                    visible=not collides,
                    colour=colour,
                    file=mesh_file,
                    **({} if convex is None else convex.of_shape()),
                )
            )
    warn_left_out(file, missing, _package_remedy(missing))
    warn_concave(file, growths, "hull")
    _warn_apart(file, shapes)
    return tuple(shapes)


def _package_remedy(missing: Sequence[str]) -> str:
    """Return what to do about meshes of a ROS package that were not found, or ""."""
    packages = [m[1] for text in missing if (m := re.search(r"package://([^/]+)/.* not f", text))]
    if not packages:
        return ""
    return (
        f"; name the folder that holds '{packages[0]}' in ROS_PACKAGE_PATH or by package_dirs of "
        "hs.load or of a scene's [[robot]]"
    )


def _warn_apart(file: RobotFile, shapes: Sequence[Shape]) -> None:
    """Warn about meshes that collide farther from where their link shows them than they are long.

    A distance of <origin> that was meant to be an angle does this.
    """
    drawn = {(s.link, s.file.path): s for s in shapes if s.visible and s.file is not None}
    for shape in shapes:
        if not shape.collides or shape.file is None or shape.vertices is None:
            continue
        shown = drawn.get((shape.link, shape.file.path))
        if shown is None:
            continue
        distance = float(np.linalg.norm(shape.translation - shown.translation))
        if distance > np.linalg.norm(np.ptp(shape.vertices, axis=0)):
            file.warn(
                f"{shape.file.path.name} of link '{shape.link}' collides {distance:.3g} m from "
                "where it is drawn; check the <origin> of its <collision>",
                concerns="file",
            )


def _origin(file: RobotFile, element: Element) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotation and the translation of an <origin>."""
    origin = element.find("origin")
    if origin is None:
        return np.eye(3), np.zeros(3)
    rpy = file.numbers(origin, "rpy", "0 0 0", 3)
    return euler("XYZ", rpy), file.numbers(origin, "xyz", "0 0 0", 3)


Geometry = tuple[str, np.ndarray, CollisionHull | None, MeshFile | None]
"""(kind, size, hull of a mesh, mesh file)."""


def _geometry(
    file: RobotFile, element: Element, link: str, package_dirs: Sequence[Path], most: int
) -> Geometry | str:
    """Return the geometry of a <visual> or <collision>, or the reason why it has none.

    `most` is the largest number of corners of a hull.
    """
    geometry = element.find("geometry")
    shape = None if geometry is None else next(iter(geometry), None)
    if shape is None:
        return "without a shape"
    if shape.tag in SIZES:
        size = np.concatenate([_sizes(file, shape, link, *key) for key in SIZES[shape.tag]])
        halves = {"box": 0.5, "sphere": 1.0}.get(shape.tag, np.array([1.0, 0.5]))
        return (shape.tag, size * halves, None, None) if size.all() else f"a {shape.tag} of size 0"
    if shape.tag != "mesh":
        return f"a {shape.tag}"
    scale = file.numbers(shape, "scale", "1 1 1", 3)
    path = find_mesh(file.path, shape.get("filename", ""), package_dirs)
    if path is None:
        return f"{shape.get('filename')} not found"
    mesh_file = MeshFile(path, np.zeros(3), np.diag(scale))
    if element.tag == "visual":
        return "mesh", np.zeros(0), None, mesh_file
    try:
        return "mesh", np.zeros(0), collision_hull(*mesh_file.read(), most), mesh_file
    except (ValueError, RuntimeError, OSError):
        return f"{path} cannot be read as a mesh"


def _sizes(file: RobotFile, shape: Element, link: str, key: str, count: int) -> np.ndarray:
    """Return the sizes that an attribute holds, 0 or more [m]."""
    what = f"'{key}' of a {shape.tag} of link '{link}'"
    values = file.parse_numbers(shape.get(key, ""), what, count)
    if (values < 0).any():
        file.fail(
            f"{what} is '{shape.get(key)}'",
            value=shape.get(key),
            remedy="sizes must not be negative",
        )
    return values


def _colour(file: RobotFile, material: Element) -> tuple[float, ...] | None:
    """Return the colour of a material, or None if it only refers to another one."""
    colour = material.find("color")
    if colour is None:
        return None
    return tuple(float(part) for part in file.numbers(colour, "rgba", "1 1 1 1", 4))


def find_mesh(urdf: Path, filename: str, package_dirs: Sequence[Path]) -> Path | None:
    """Return the file of a mesh, or None.

    package://PACKAGE/PATH is searched in package_dirs, then in ROS_PACKAGE_PATH, then in the
    folders above the URDF: in each PACKAGE/PATH first, then PATH alone (the folder is the package).
    """
    for scheme in ("package://", "model://"):
        if filename.startswith(scheme):
            relative = Path(filename.removeprefix(scheme))
            ros = [Path(p) for p in os.environ.get("ROS_PACKAGE_PATH", "").split(":") if p]
            folders = [*package_dirs, *ros, *urdf.resolve().parents]
            within = Path(*relative.parts[1:])
            tries = [folder / part for folder in folders for part in (relative, within)]
            return next((path for path in tries if path.is_file()), None)
    path = urdf.parent / filename.removeprefix("file://")
    return path if path.is_file() else None
