"""The shapes of a URDF's links, and where its meshes lie."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from heelstrike.robot.mesh import MeshFile, hull
from heelstrike.robot.robot import WORLD, Robot, Shape
from heelstrike.robot.rotations import euler
from heelstrike.robot.xml import Reading


def shapes_of(
    reading: Reading, robot: Robot, root: Element, package_dirs: Sequence[Path]
) -> tuple[Shape, ...]:
    """The shapes of all links; those that would touch and cannot be had are named."""
    shapes, missing = [], []
    links = {link.get("name", ""): link for link in root.findall("link")}
    painted = [e for e in root.iter("material") if e.find("color") is not None]
    colours = {e.get("name", ""): _colour(reading, e) for e in painted}
    for name, link in links.items():
        frame = robot.frames[name]
        for element in (e for e in link if e.tag in ("collision", "visual")):
            collides = element.tag == "collision"
            kind, size, vertices, file = _geometry(reading, element, name, package_dirs)
            if kind == "missing" and frame.body != WORLD:
                missing.append(f"{name} ({vertices})")
            if kind in ("missing", "skipped"):
                continue
            R, p = _origin(reading, element)
            colour = None
            if (material := element.find("material")) is not None:
                colour = _colour(reading, material) or colours.get(material.get("name", ""))
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
                    file=file,
                )
            )
    if missing:
        reading.note(
            f"{len(missing)} collision shapes left out, they give no contact points: "
            + ", ".join(missing)
        )
    return tuple(shapes)


def _origin(reading: Reading, element: Element) -> tuple[np.ndarray, np.ndarray]:
    origin = element.find("origin")
    if origin is None:
        return np.eye(3), np.zeros(3)
    rpy = reading.numbers(origin, "rpy", "0 0 0", 3)
    return euler("XYZ", rpy), reading.numbers(origin, "xyz", "0 0 0", 3)


Geometry = tuple[str, np.ndarray, np.ndarray | str | None, MeshFile | None]
"""(kind, size, vertices, file); kind "missing" gives a reason for vertices, "skipped" nothing."""


def _geometry(
    reading: Reading, element: Element, link: str, package_dirs: Sequence[Path]
) -> Geometry:
    geometry = element.find("geometry")
    shape = None if geometry is None else next(iter(geometry), None)
    none = np.zeros(0)
    left_out = "skipped" if element.tag == "visual" else "missing"
    if shape is None:
        return left_out, none, "without a shape", None

    def positive(key: str, count: int = 1) -> np.ndarray:
        what = f"'{key}' of a {shape.tag} of link '{link}'"
        values = reading.parse_numbers(shape.get(key, ""), what, count)
        if not (values > 0).all():
            reading.fail(f"{what} is '{shape.get(key)}'; sizes must be positive")
        return values

    if shape.tag == "box":
        return "box", positive("size", 3) / 2, None, None
    if shape.tag == "sphere":
        return "sphere", positive("radius"), None, None
    if shape.tag in ("cylinder", "capsule"):
        return shape.tag, np.append(positive("radius"), positive("length") / 2), None, None
    if shape.tag != "mesh":
        return left_out, none, f"a {shape.tag}", None
    scale = reading.numbers(shape, "scale", "1 1 1", 3)
    path = find_mesh(reading.path, shape.get("filename", ""), package_dirs)
    if path is None:
        return left_out, none, f"{shape.get('filename')} not found", None
    file = MeshFile(path, np.zeros(3), np.diag(scale))
    if element.tag == "visual":
        return "mesh", none, None, file
    try:
        return "mesh", none, hull(file.read()[0])[0], file
    except (ValueError, RuntimeError, OSError):
        return "missing", none, f"{path} cannot be read as a mesh", None


def _colour(reading: Reading, material: Element) -> tuple[float, ...] | None:
    """Of a material that says it; one that only names another takes that one's."""
    colour = material.find("color")
    if colour is None:
        return None
    return tuple(float(part) for part in reading.numbers(colour, "rgba", "1 1 1 1", 4))


def find_mesh(urdf: Path, filename: str, package_dirs: Sequence[Path]) -> Path | None:
    """The file of a mesh, or None.

    package://PACKAGE/PATH is sought in package_dirs, then in ROS_PACKAGE_PATH, then in the folders
    above the URDF: in each PACKAGE/PATH first, then PATH alone (that folder is the package).
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
