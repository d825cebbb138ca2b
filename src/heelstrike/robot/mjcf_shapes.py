"""Shapes of a compiled MJCF."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from mujoco import mjtGeom

from heelstrike.robot.collision_hull import (
    CollisionHull,
    collision_hull,
    corners_each,
    warn_concave,
    warn_left_out,
)
from heelstrike.robot.mesh import MeshFile
from heelstrike.robot.mjcf_compile import Compiled
from heelstrike.robot.mjcf_contacts import is_ground, meets_ground, paired_geoms, touching_geoms
from heelstrike.robot.mjcf_model import Carriers, name_of, placement
from heelstrike.robot.robot import WORLD, Shape
from heelstrike.robot.xml import RobotFile

KINDS = {
    mjtGeom.mjGEOM_SPHERE: ("sphere", 1),
    mjtGeom.mjGEOM_CAPSULE: ("capsule", 2),
    mjtGeom.mjGEOM_CYLINDER: ("cylinder", 2),
    mjtGeom.mjGEOM_ELLIPSOID: ("ellipsoid", 3),
    mjtGeom.mjGEOM_BOX: ("box", 3),
    mjtGeom.mjGEOM_MESH: ("mesh", 0),
}
"""Our kind of each type of geom, and its number of sizes."""
FIRST_HIDDEN_GROUP = 3
"""First group of geoms that MuJoCo does not draw by default."""
NO_COLOUR = (0.5, 0.5, 0.5, 1.0)
"""Colour of geoms that have none."""


Pairs = tuple[tuple[int, int], ...]
"""Pairs of indices of shapes."""


def read_shapes(
    file: RobotFile, compiled: Compiled, carriers: Carriers
) -> tuple[tuple[Shape, ...], Pairs]:
    """Return the shapes of all bodies, and the pairs that may touch; warn about missing ones."""
    model = compiled.model
    shapes: list[Shape] = []
    missing, growths, index = [], [], {}
    ground, ground_geoms = meets_ground(compiled), is_ground(model)
    collides = (model.geom_contype | model.geom_conaffinity) != 0
    collides[[geom for pair in paired_geoms(model) for geom in pair]] = True
    kinds = (compiled.geoms[i].kind for i in range(model.ngeom))
    is_mesh = np.array([kind == mjtGeom.mjGEOM_MESH for kind in kinds], dtype=bool)
    most = corners_each(int((collides & is_mesh).sum()))
    for i in range(model.ngeom):
        body = int(model.geom_bodyid[i])
        if body == 0 and ground_geoms[i]:
            continue
        name = model.geom(i).name or name_of(model, body)
        shape = _shape(compiled, i, bool(collides[i]), most)
        carrier, place = carriers[body]
        if isinstance(shape, str):
            if collides[i] and carrier:
                missing.append(f"{name} ({shape})")
            continue
        kind, size, convex, mesh_file, inner = shape
        if convex is not None and collides[i]:
            growths.append((name, convex.growth))
        index[i] = len(shapes)
        here = place * inner
        colour = _colour(compiled, i)
        hidden = model.geom_group[i] >= FIRST_HIDDEN_GROUP or (colour and colour[3] == 0)
        shapes.append(
            Shape(
                name=name,
                body=carrier - 1,
                kind=kind,
                rotation=np.array(here.rotation),
                translation=np.array(here.translation),
                size=size,
                link=name_of(model, body),
                collides=bool(collides[i]),
                meets_floor=bool(ground[i]),
                visible=not hidden,
                colour=colour,
                file=mesh_file,
                **({} if convex is None else convex.of_shape()),
            )
        )
    warn_left_out(file, missing)
    warn_concave(file, growths, "file")  # MuJoCo takes the hull as well
    _warn_contacts(file, shapes)
    touching = [pair for pair in touching_geoms(model) if index.keys() >= set(pair)]
    return tuple(shapes), tuple((index[i], index[j]) for i, j in touching)


def _warn_contacts(file: RobotFile, shapes: list[Shape]) -> None:
    """Warn if no geom touches the ground."""
    moving = [shape for shape in shapes if shape.body != WORLD]
    if moving and not any(shape.meets_floor for shape in moving):
        file.warn(
            "no geom touches the ground: contype and conaffinity do not match it, and no <pair> "
            "names it; load the scene file that has the floor, or name shapes by collide=[...]",
            concerns="file",
        )


Placed = tuple[str, np.ndarray, CollisionHull | None, MeshFile | None, pin.SE3]
"""(kind, size, hull of a mesh, mesh file, placement on the body)."""


def _shape(compiled: Compiled, i: int, collides: bool, most: int) -> Placed | str:
    """Return a geom's shape, its hull reduced to `most` corners, or why it has none."""
    model, geom = compiled.model, compiled.geoms[i]
    kind = mjtGeom(model.geom_type[i]) if geom.compiled else mjtGeom(geom.kind)
    mesh_file = compiled.meshes.get(geom.mesh)
    missing = mesh_file is not None and not mesh_file.path.is_file()
    if mesh_file is not None and missing:
        return f"{mesh_file.path} is missing"
    if kind not in KINDS:
        return f"a {kind.name.removeprefix('mjGEOM_').lower()}"
    inner = placement(model.geom_quat[i], model.geom_pos[i])
    name, count = KINDS[kind]
    size = np.array(model.geom_size[i][:count])
    if name != "mesh":
        return name, size, None, None, inner
    at = int(model.geom_dataid[i])
    if geom.compiled:  # MuJoCo moves a mesh to its centroid and principal axes
        inner = inner * placement(model.mesh_quat[at], model.mesh_pos[at]).inverse()
    if mesh_file is None:
        rows = slice(model.mesh_vertadr[at], model.mesh_vertadr[at] + model.mesh_vertnum[at])
        moved = placement(model.mesh_quat[at], model.mesh_pos[at])
        vertices = model.mesh_vert[rows] @ moved.rotation.T + moved.translation
        faces = slice(model.mesh_faceadr[at], model.mesh_faceadr[at] + model.mesh_facenum[at])
        return name, size, collision_hull(vertices, model.mesh_face[faces], most), None, inner
    if not collides:
        return name, size, None, mesh_file, inner
    try:
        return name, size, collision_hull(*mesh_file.read(), most), mesh_file, inner
    except (ValueError, RuntimeError, OSError):
        return f"{mesh_file.path} cannot be read as a mesh"


def _colour(compiled: Compiled, i: int) -> tuple[float, ...] | None:
    """Return the colour of a geom, else of its material, else None."""
    model = compiled.model
    colour = _rgba(model.geom_rgba[i])
    if colour != NO_COLOUR:
        return colour
    material = int(model.geom_matid[i])
    return _rgba(model.mat_rgba[material]) if material >= 0 else None


def _rgba(single: np.ndarray) -> tuple[float, ...]:
    """Return the numbers that the file has; MuJoCo keeps them in single precision."""
    return tuple(float(str(part)) for part in single)
