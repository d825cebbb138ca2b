"""The mesh assets of an MJCF, read when they are needed."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
from scipy.spatial.transform import Rotation

from heelstrike.robot.mesh import hull, read_mesh, volume_inertia
from heelstrike.robot.mjcf_defaults import Compiler, Defaults
from heelstrike.robot.xml import Reading


class Meshes:
    """Meshes by name; vertices are moved by refpos and refquat and scaled, as MuJoCo does."""

    def __init__(self, reading: Reading, compiler: Compiler, defaults: Defaults, root: Element):
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
        element = self.elements[name]
        if "vertex" in element.attrib:
            values = self.reading.numbers(element, "vertex", None, 12, 10**7)
            vertices = values[: len(values) // 3 * 3].reshape(-1, 3)
            if "face" in element.attrib:
                faces = self.reading.numbers(element, "face", None, 3, 10**7).astype(int)
                triangles = faces.reshape(-1, 3)
            else:
                vertices, triangles = hull(vertices)
        else:
            path = self._path(element.get("file", ""))
            if not path.is_file():
                return f"{path} is missing"
            try:
                vertices, triangles = read_mesh(path)
            except (ValueError, RuntimeError, OSError):
                return f"{path} cannot be read as a mesh"
        vertices = vertices - self.reading.numbers(element, "refpos", "0 0 0", 3)
        quat = self.reading.numbers(element, "refquat", "1 0 0 0", 4)
        vertices = vertices @ Rotation.from_quat(quat[[1, 2, 3, 0]]).as_matrix()
        scale = self.reading.numbers(element, "scale", "1 1 1", 3)
        if scale.prod() < 0:
            triangles = triangles[:, ::-1]
        return vertices * scale, triangles

    def volume_inertia(self, name: str, what: str) -> tuple[float, np.ndarray, np.ndarray]:
        """(volume, centroid, inertia) at density 1 by the rule that the mesh asks for."""
        loaded = self.load(name)
        if isinstance(loaded, str):
            self.reading.fail(
                f"{what} decides the mass of its body, but {loaded}; "
                "supply the mesh or give the body an <inertial>"
            )
        rule = self.elements[name].get("inertia", "legacy")
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
