"""Compilation of an MJCF by MuJoCo.

A model means what it means in MuJoCo, because MuJoCo parses and compiles the file (after the checks
of mjcf_files.py). Meshes that do not decide a mass, height fields, textures and skins are set aside
before compilation: they may be missing, and large ones take long. Their geoms become weightless
spheres, which the compiler places where the meshes were.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

import mujoco
import numpy as np
from mujoco import mjtGeom, mjtInertiaFromGeom
from scipy.spatial.transform import Rotation

from heelstrike.robot.mesh import MeshFile
from heelstrike.robot.mjcf_files import ReferencedFiles
from heelstrike.robot.xml import RobotFile

HANDLER = threading.Lock()
"""Held while MuJoCo's warnings are caught: it has one handler for all threads."""
ERRORS = (ValueError, RuntimeError, MemoryError, mujoco.FatalError, mujoco.UnexpectedError)
"""Errors that MuJoCo raises about a file."""


@dataclass(frozen=True)
class Geom:
    """Data of a geom that the compiled model does not keep."""

    kind: int
    """Type of the geom in the file, an mjtGeom."""
    mesh: str
    """Name of its mesh, or ""."""
    compiled: bool
    """False if its mesh or height field was set aside."""


@dataclass(frozen=True)
class Compiled:
    """An MJCF as MuJoCo compiled it."""

    spec: mujoco.MjSpec
    model: mujoco.MjModel
    geoms: dict[int, Geom]
    """By the index of the geom in the model."""
    meshes: dict[str, MeshFile]
    """Mesh files by the name of the mesh, whether they exist or not."""


def compile_mjcf(file: RobotFile, root: Element) -> Compiled:
    """Return the compiled model of a file whose root element was parsed."""
    referenced = ReferencedFiles(file)
    referenced.check(root)
    with HANDLER, _messages(file):
        spec = _parse(file, referenced.found)
        meshes = _mesh_files(file, spec, {path.parent for path in referenced.found.values()})
        geoms = _set_aside_geoms(file, spec, meshes)
        _delete_unneeded_assets(spec, meshes)
        spec.compiler.fusestatic = False  # links that are fixed to a body stay frames
        spec.compiler.discardvisual = False
        spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE  # of muscles, which are left out
        sizes = {key.name: len(key.qpos) for key in spec.keys}  # compiling pads them
        model = spec.compile()
    for name, size in sizes.items():
        if size not in (0, model.nq):
            file.fail(
                f"keyframe '{name}' has {size} values of qpos", value=size, allowed=str(model.nq)
            )
    kept = {geom.id: record for geom, record in zip(spec.geoms, geoms, strict=True)}
    return Compiled(spec, model, kept, meshes)


def _parse(file: RobotFile, referenced: dict[str, Path]) -> mujoco.MjSpec:
    """Return the specification of a file; MuJoCo itself accepts no suffix but .xml."""
    if file.path.suffix == ".xml":
        return mujoco.MjSpec.from_file(str(file.path))
    text = file.path.read_text(encoding="utf-8")
    include = {name: path.read_bytes() for name, path in referenced.items()}
    spec = mujoco.MjSpec.from_string(text, include=include)
    spec.modelfiledir = f"{file.path.parent}/"
    return spec


def _mesh_files(file: RobotFile, spec: mujoco.MjSpec, folders: set[Path]) -> dict[str, MeshFile]:
    """Return the files of the meshes that have one; those of attached models lie beside them."""
    meshes = {}
    for mesh in spec.meshes:
        if not mesh.file:
            continue
        name = Path(mesh.file.replace("\\", "/")).name if spec.strippath else mesh.file
        places = [
            folder / mesh.compiler.meshdir / name for folder in (file.path.parent, *sorted(folders))
        ]
        path = next((place for place in places if place.is_file()), places[0])
        if not np.any(mesh.refquat):
            file.fail(f"'refquat' of mesh '{mesh.name}' is zero, which is not a rotation")
        turn = Rotation.from_quat(mesh.refquat[[1, 2, 3, 0]]).as_matrix()
        meshes[mesh.name] = MeshFile(path, np.array(mesh.refpos), turn * mesh.scale)
    return meshes


def _set_aside_geoms(
    file: RobotFile, spec: mujoco.MjSpec, meshes: dict[str, MeshFile]
) -> list[Geom]:
    """Replace geoms that need not be compiled, and return every geom as the file has it."""
    geoms = []
    for geom in spec.geoms:
        kind, weighs = mjtGeom(geom.type), _weighs(geom)
        mesh_file = meshes.get(geom.meshname)
        missing = mesh_file is not None and not mesh_file.path.is_file()
        if mesh_file is not None and missing and weighs:
            what = f"geom '{geom.name}'" if geom.name else "a geom"
            file.fail(
                f"{what} of body '{geom.parent.name}' decides the mass of its body, but "
                f"{mesh_file.path} is missing",
                value=str(mesh_file.path),
                remedy="supply the mesh or give the body an <inertial>",
            )
        unneeded = kind == mjtGeom.mjGEOM_MESH and mesh_file is not None and not weighs
        aside = missing or unneeded or kind == mjtGeom.mjGEOM_HFIELD
        geoms.append(Geom(kind, geom.meshname, not aside))
        if aside:
            geom.type, geom.size = mjtGeom.mjGEOM_SPHERE, [1e-3, 0, 0]
            geom.meshname = geom.hfieldname = ""
            geom.mass = geom.density = 0
    return geoms


def _delete_unneeded_assets(spec: mujoco.MjSpec, meshes: dict[str, MeshFile]) -> None:
    """Delete textures, height fields, skins, sensors, and the files of meshes that no geom uses."""
    used = {geom.meshname for geom in spec.geoms}
    for site in spec.sites:
        if site.meshname in meshes:
            site.type, site.meshname = mjtGeom.mjGEOM_SPHERE, ""
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for light in spec.lights:
        light.texture = ""
    unused = [mesh for mesh in spec.meshes if mesh.name in meshes and mesh.name not in used]
    for element in [*spec.textures, *spec.hfields, *spec.skins, *spec.sensors, *unused]:
        spec.delete(element)


def _weighs(geom: mujoco.MjsGeom) -> bool:
    """Return whether a geom's volume decides the mass or the inertia of its body."""
    rule = geom.compiler.inertiafromgeom
    explicit = rule == mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE or (
        rule == mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO and geom.parent.explicitinertial
    )
    low, high = geom.compiler.inertiagrouprange
    massless = geom.mass == 0 or (np.isnan(geom.mass) and geom.density == 0)
    in_world = geom.parent.name == "world"
    return not (explicit or massless or in_world) and bool(low <= geom.group <= high)


@contextmanager
def _messages(file: RobotFile) -> Iterator[None]:
    """Keep MuJoCo's warnings as warnings of the file, and raise its errors as LoadError.

    Without a handler of its own MuJoCo would write its warnings to MUJOCO_LOG.TXT.
    """
    previous = mujoco.get_mju_user_warning()
    messages: list[str] = []
    mujoco.set_mju_user_warning(messages.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            yield
        messages += [str(warning.message) for warning in caught]
    except ERRORS as error:
        first, *more = (str(error).strip() or type(error).__name__).splitlines()
        where = f" ({', '.join(part.strip() for part in more)})" if more else ""
        line = re.search(r"\bline (\d+)", where)
        file.fail(
            f"MuJoCo reports: {re.sub('^(XML )?(Error: )+', '', first)}{where}",
            line=(int(line[1]) or None) if line else None,  # 0: somewhere in an included file
        )
    finally:
        mujoco.set_mju_user_warning(previous)
    for message in dict.fromkeys(messages):
        file.warn(f"MuJoCo warns: {message}", concerns="file")
