"""A resolved MJCF as Pinocchio's model: joints, masses, frames, and the shapes they carry."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin

from heelstrike.robot.check import inertia_fault, triangle_fault
from heelstrike.robot.convert import joint_model
from heelstrike.robot.mesh import MeshFile, hull
from heelstrike.robot.mjcf_defaults import Compiler, orientation
from heelstrike.robot.mjcf_geom import HIDDEN, MjGeom, mass_of_geoms
from heelstrike.robot.mjcf_mesh import Meshes
from heelstrike.robot.mjcf_tree import MjBody, MjJoint, Tree
from heelstrike.robot.robot import Shape

KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "free"}

Carriers = list[tuple[int, pin.SE3]]
"""For each body, the joint of the model that carries it and its placement there."""


def build_model(
    tree: Tree, meshes: Meshes, name: str, gravity: float
) -> tuple[pin.Model, Carriers]:
    """The model of all bodies; a body with several joints becomes a chain of them."""
    model = pin.Model()
    model.name = name
    model.gravity.linear = np.array([0.0, 0.0, -gravity])
    carriers: Carriers = []
    for body, inertia in zip(tree.bodies, _masses(tree, meshes), strict=True):
        carrier, place = carriers[body.parent] if body.parent >= 0 else (0, pin.SE3.Identity())
        place = place * pin.SE3(body.rotation, body.pos)
        for joint in body.joints:
            carrier, place = _add_joint(model, joint, carrier, place)
        model.appendBodyToJoint(carrier, inertia, place)
        frame = model.getFrameId(model.names[carrier], pin.FrameType.JOINT) if carrier else 0
        model.addBodyFrame(body.name, carrier, place, frame)
        for site, R, p in body.sites:
            here = place * pin.SE3(R, p)
            model.addFrame(pin.Frame(site, carrier, frame, here, pin.FrameType.OP_FRAME))
        carriers.append((carrier, place))
    return model, carriers


def _add_joint(
    model: pin.Model, joint: MjJoint, carrier: int, place: pin.SE3
) -> tuple[int, pin.SE3]:
    """Add a joint of a body at `place` on `carrier`; returns the same for what the joint moves."""
    kind = KINDS[joint.kind]
    offset = pin.SE3(np.eye(3), joint.pos)
    if kind == "free":  # its coordinates are those of the body in the world
        placement = offset = pin.SE3.Identity()
    elif kind == "revolute":  # qpos = ref where the file draws the joint
        back = pin.SE3(pin.exp3(-joint.ref * joint.axis), np.zeros(3))
        placement = place * offset * back
    elif kind == "prismatic":
        placement = place * offset * pin.SE3(np.eye(3), -joint.ref * joint.axis)
    else:
        placement = place * offset
    new = model.addJoint(carrier, joint_model(kind, joint.axis), placement, joint.name)
    model.addJointFrame(new)
    iq, iv = model.idx_qs[new], model.idx_vs[new]
    nq, nv = model.nqs[new], model.nvs[new]
    spread = np.ones(nv)
    model.armature[iv : iv + nv] = joint.armature * spread
    model.damping[iv : iv + nv] = joint.damping * spread
    model.upperDryFrictionLimit[iv : iv + nv] = joint.friction * spread
    model.lowerDryFrictionLimit[iv : iv + nv] = -joint.friction * spread
    model.lowerPositionLimit[iq : iq + nq] = joint.limits[0]
    model.upperPositionLimit[iq : iq + nq] = joint.limits[1]
    return new, offset.inverse()


def _masses(tree: Tree, meshes: Meshes) -> list[pin.Inertia]:
    """Mass and inertia of each body in its own frame, as MuJoCo's compiler settles them."""
    compiler = tree.compiler
    found = []
    for body in tree.bodies:
        value = _explicit(tree, body)
        if compiler.inertiafromgeom == "true" or (
            body.inertial is None and compiler.inertiafromgeom == "auto"
        ):
            of_geoms = mass_of_geoms(tree.reading, compiler, body.geoms, meshes, body.name)
            value = of_geoms or value
        mass, com, inertia = value
        fault = inertia_fault(mass, inertia)
        if fault:
            tree.reading.fail(f"body '{body.name}' has {fault}; correct its <inertial>")
        inertia = _bounded(compiler, inertia)
        fault = triangle_fault(inertia)
        if fault:
            tree.reading.warn(f"body '{body.name}' has {fault}")
        found.append((max(mass, compiler.boundmass), com, inertia))
    total = sum(mass for mass, _, _ in found)
    scale = compiler.settotalmass / total if compiler.settotalmass > 0 and total > 0 else 1.0
    return [pin.Inertia(scale * mass, com, scale * inertia) for mass, com, inertia in found]


def _bounded(compiler: Compiler, inertia: np.ndarray) -> np.ndarray:
    """An inertia after boundinertia and balanceinertia; no moment stays negative by rounding."""
    moments, axes = np.linalg.eigh(inertia)
    if moments[0] >= 0 and not compiler.boundinertia and not compiler.balanceinertia:
        return inertia
    moments = np.maximum(moments, compiler.boundinertia)
    if compiler.balanceinertia and moments[0] + moments[1] < moments[2]:
        moments[:] = moments.mean()
    return axes @ np.diag(moments) @ axes.T


def _explicit(tree: Tree, body: MjBody) -> tuple[float, np.ndarray, np.ndarray]:
    """What a body's <inertial> says; nothing weighs nothing."""
    element = body.inertial
    if element is None:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    element = Element("inertial", {"name": body.name, **element.attrib})
    reading = tree.reading
    mass = float(reading.numbers(element, "mass", None, 1)[0])
    com = reading.numbers(element, "pos", "0 0 0", 3)
    R = orientation(reading, tree.compiler, element)
    if "fullinertia" in element.attrib:
        xx, yy, zz, xy, xz, yz = reading.numbers(element, "fullinertia", None, 6)
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        inertia = np.diag(reading.numbers(element, "diaginertia", "0 0 0", 3))
    return mass, com, R @ inertia @ R.T


def shapes_of(
    tree: Tree, meshes: Meshes, carriers: Carriers, materials: dict[str, tuple[float, ...] | None]
) -> tuple[Shape, ...]:
    """The shapes of all bodies; those that cannot be had are named if they would touch."""
    shapes, missing = [], []
    for body, (carrier, place) in zip(tree.bodies, carriers, strict=True):
        for geom in body.geoms:
            name = geom.name or body.name
            vertices, file = _mesh_of(geom, meshes)
            if isinstance(vertices, str) or (geom.kind != "mesh" and not len(geom.size)):
                if geom.collides and carrier:
                    missing.append(f"{name} ({vertices or f'a {geom.kind}'})")
                continue
            here = place * pin.SE3(geom.rotation, geom.pos)
            R, p = np.array(here.rotation), np.array(here.translation)
            colour = geom.rgba or materials.get(geom.material)
            visible = geom.group < HIDDEN and (colour is None or colour[3] > 0)
            shapes.append(
                Shape(
                    name, carrier - 1, geom.kind, R, p, geom.size, vertices,
                    collides=geom.collides, meets_floor=geom.meets_floor, visible=visible,
                    colour=colour, file=file,
                )
            )  # fmt: skip
    if missing:
        tree.reading.warn(
            f"{len(missing)} collision shapes left out, they give no contact points: "
            + ", ".join(missing)
        )
    return tuple(shapes)


def _mesh_of(geom: MjGeom, meshes: Meshes) -> tuple[np.ndarray | str | None, MeshFile | None]:
    """(corners of the hull, or why there are none; file) of a geom's mesh. A mesh that is only to
    be seen is not read here, if a file holds it.
    """
    if geom.kind != "mesh":
        return None, None
    file = meshes.file(geom.mesh) if geom.mesh in meshes.elements else None
    if file is not None and not file.path.is_file():
        file = None
    if file is not None and not geom.collides:
        return None, file
    loaded = meshes.load(geom.mesh)
    return (loaded if isinstance(loaded, str) else hull(loaded[0])[0]), file
