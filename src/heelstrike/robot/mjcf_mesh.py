"""The mesh assets of an MJCF, read when they are needed."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
from scipy.spatial.transform import Rotation

from heelstrike.robot.mesh import MeshFile, hull, volume_inertia
from heelstrike.robot.mjcf_defaults import Compiler, Defaults, one_of
from heelstrike.robot.xml import RobotFile, label

RULES = ("legacy", "exact", "convex", "shell")


class Meshes:
    """Meshes by name; vertices are moved by refpos and refquat and scaled, as MuJoCo does."""

    def __init__(self, reading: RobotFile, compiler: Compiler, defaults: Defaults, root: Element):
        self.reading = reading
        self.compiler = compiler
        self.elements: dict[str, Element] = {}
        for element in root.findall("asset/mesh"):
            resolved = defaults.apply(element, "main")
            name = resolved.get("name") or Path(resolved.get("file", "")).stem
            self.elements[name] = resolved

    def load(self, name: str) -> tuple[np.ndarray, np.ndarray] | str:
        """(vertices, triangles) in the geom's frame, or why they cannot be had."""
        if name not in self.elements:
            return f"the file has no mesh '{name}'"
        element, file = self.elements[name], self.file(name)
        if "vertex" in element.attrib:
            vertices, triangles = self._written(element)
            return file.placed(vertices), file.outward(triangles)
        if not file.path.is_file():
            return f"{file.path} is missing"
        try:
            return file.read()
        except (ValueError, RuntimeError, OSError):
            return f"{file.path} cannot be read as a mesh"

    def file(self, name: str) -> MeshFile:
        """Where a mesh lies, and how MuJoCo moves its vertices."""
        element, numbers = self.elements[name], self.reading.numbers
        quat = numbers(element, "refquat", "1 0 0 0", 4)
        if not quat.any():
            self.reading.fail(f"'refquat' of {label(element)} is all zero, which is no rotation")
        turn = Rotation.from_quat(quat[[1, 2, 3, 0]]).as_matrix()
        shift, scale = numbers(element, "refpos", "0 0 0", 3), numbers(element, "scale", "1 1 1", 3)
        return MeshFile(self._path(element.get("file", "")), shift, turn * scale)

    def _written(self, element: Element) -> tuple[np.ndarray, np.ndarray]:
        """Of a mesh whose vertices stand in the file itself."""
        vertices = self._triples(element, "vertex", 12)
        if "face" not in element.attrib:
            return hull(vertices)
        triangles = self._triples(element, "face", 3).astype(int)
        if triangles.min() < 0 or triangles.max() >= len(vertices):
            self.reading.fail(
                f"'face' of {label(element)} names a vertex that is not there; "
                f"the mesh has vertices 0 to {len(vertices) - 1}"
            )
        return vertices, triangles

    def _triples(self, element: Element, key: str, least: int) -> np.ndarray:
        """The numbers of an attribute in rows of three."""
        values = self.reading.numbers(element, key, None, least, 10**7)
        if len(values) % 3:
            self.reading.fail(
                f"'{key}' of {label(element)} has {len(values)} numbers, not a multiple of 3"
            )
        return values.reshape(-1, 3)

    def volume_inertia(self, name: str, what: str) -> tuple[float, np.ndarray, np.ndarray]:
        """(volume, centroid, inertia) at density 1 by the rule that the mesh asks for."""
        loaded = self.load(name)
        if isinstance(loaded, str):
            self.reading.fail(
                f"{what} decides the mass of its body, but {loaded}; "
                "supply the mesh or give the body an <inertial>"
            )
        rule = one_of(self.reading, self.elements[name], "inertia", RULES)
        if rule == "shell":
            self.reading.fail(f"{what} has a mesh with inertia='shell'; give it an <inertial>")
        vertices, triangles = hull(loaded[0]) if rule == "convex" else loaded
        volume, centre, inertia = volume_inertia(vertices, triangles, absolute=rule == "legacy")
        if volume <= 0:
            self.reading.fail(f"{what} has a mesh without volume; give the body an <inertial>")
        return volume, centre, inertia

    def _path(self, file: str) -> Path:
        if self.compiler.strippath:
            file = Path(file.replace("\\", "/")).name
        return self.reading.path.parent / self.compiler.meshdir / file
