"""Shapes of a URDF's links, and the search for its meshes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from heelstrike.robot.mesh import MeshFile, hull
from heelstrike.robot.robot import WORLD, Robot, Shape
from heelstrike.robot.rotations import euler
from heelstrike.robot.xml import RobotFile


def shapes_of(
    file: RobotFile, robot: Robot, root: Element, package_dirs: Sequence[Path]
) -> tuple[Shape, ...]:
    """Return the shapes of all links; warn about collision shapes that are missing."""
    shapes, missing = [], []
    links = {link.get("name", ""): link for link in root.findall("link")}
    painted = [e for e in root.iter("material") if e.find("color") is not None]
    colours = {e.get("name", ""): _colour(file, e) for e in painted}
    for name, link in links.items():
        frame = robot.frames[name]
        for element in (e for e in link if e.tag in ("collision", "visual")):
            collides = element.tag == "collision"
            kind, size, vertices, mesh_file = _geometry(file, element, name, package_dirs)
            if kind == "missing" and frame.body != WORLD:
                missing.append(f"{name} ({vertices})")
            if kind in ("missing", "skipped"):
                continue
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
                    vertices=None if isinstance(vertices, str) else vertices,
                    collides=collides,
                    visible=not collides,
                    colour=colour,
                    file=mesh_file,
                )
            )
    if missing:
        file.warn(
            f"{len(missing)} collision shapes left out, they give no contact points: "
            + ", ".join(missing)
        )
    return tuple(shapes)


def _origin(file: RobotFile, element: Element) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotation and the translation of an <origin>."""
    origin = element.find("origin")
    if origin is None:
        return np.eye(3), np.zeros(3)
    rpy = file.numbers(origin, "rpy", "0 0 0", 3)
    return euler("XYZ", rpy), file.numbers(origin, "xyz", "0 0 0", 3)


Geometry = tuple[str, np.ndarray, np.ndarray | str | None, MeshFile | None]
"""(kind, size, vertices, mesh file); vertices of kind "missing" or "skipped" are the reason."""


def _geometry(
    file: RobotFile, element: Element, link: str, package_dirs: Sequence[Path]
) -> Geometry:
    """Return the geometry of a <visual> or <collision>."""
    geometry = element.find("geometry")
    shape = None if geometry is None else next(iter(geometry), None)
    none = np.zeros(0)
    left_out = "skipped" if element.tag == "visual" else "missing"
    if shape is None:
        return left_out, none, "without a shape", None

    def positive(key: str, count: int = 1) -> np.ndarray:
        what = f"'{key}' of a {shape.tag} of link '{link}'"
        values = file.parse_numbers(shape.get(key, ""), what, count)
        if not (values > 0).all():
            file.fail(
                f"{what} is '{shape.get(key)}'",
                value=shape.get(key),
                remedy="sizes must be positive",
            )
        return values

    if shape.tag == "box":
        return "box", positive("size", 3) / 2, None, None
    if shape.tag == "sphere":
        return "sphere", positive("radius"), None, None
    if shape.tag in ("cylinder", "capsule"):
        return shape.tag, np.append(positive("radius"), positive("length") / 2), None, None
    if shape.tag != "mesh":
        return left_out, none, f"a {shape.tag}", None
    scale = file.numbers(shape, "scale", "1 1 1", 3)
    path = find_mesh(file.path, shape.get("filename", ""), package_dirs)
    if path is None:
        return left_out, none, f"{shape.get('filename')} not found", None
    mesh_file = MeshFile(path, np.zeros(3), np.diag(scale))
    if element.tag == "visual":
        return "mesh", none, None, mesh_file
    try:
        return "mesh", none, hull(mesh_file.read()[0])[0], mesh_file
    except (ValueError, RuntimeError, OSError):
        return "missing", none, f"{path} cannot be read as a mesh", None


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
