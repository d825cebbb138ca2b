"""A scene handed over to MuJoCo: the same bodies, joints, contact points and friction.

Contact points become spheres, of their own radius or of 10 nm, or ellipsoids, those of a hull one
mesh; surfaces become geoms; the scene's pairs of both become MuJoCo's pairs, and nothing else
touches. Each pair has the friction of its law: mu_k in three dimensions, and the radii of hs.Patch.
All else of MuJoCo's contact is at its defaults but the elliptic cone. `handed_over` checks masses,
places and friction on the compiled model.

What MuJoCo has no likeness of is refused with a sentence: stairs, height fields and belts, points
of the world, planar joints. So is what is handed over by `Robot.to_mjcf` alone: springs at joints,
fixed tendons, ranges of ball joints, constraints and fluids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from heelstrike.contact.choose import friction_of
from heelstrike.errors import HeelstrikeError
from heelstrike.robot.convert import to_pinocchio
from heelstrike.robot.hull import Hull
from heelstrike.robot.robot import WORLD, Joint, Point, Robot
from heelstrike.scene.scene import Pair, Scene
from heelstrike.scene.surfaces import Box, Capsule, Cylinder, Plane, Sphere, Surface
from heelstrike.step.surfaces import patch_of

if TYPE_CHECKING:
    import mujoco

SMALLEST = 1e-8
"""Radius of a sphere that stands for a point [m]."""
KINDS = {"revolute": "mjJNT_HINGE", "continuous": "mjJNT_HINGE", "prismatic": "mjJNT_SLIDE"}


def module() -> Any:
    """Return the module mujoco, imported when it is first needed."""
    import mujoco

    return mujoco


def handed_over(scene: Scene, dt: float, q: np.ndarray) -> mujoco.MjModel:
    """Return MuJoCo's model of a scene, checked in a pose."""
    mj = module()
    spec = mj.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = dt
    spec.option.cone = mj.mjtCone.mjCONE_ELLIPTIC
    spec.option.gravity = scene.gravity
    spec.option.disableflags = int(mj.mjtDisableBit.mjDSBL_AUTORESET)
    _refuse_others(scene.robot)
    bodies = _bodies(mj, spec, scene.robot)
    _springs(spec, bodies, scene.robot)
    for surface in scene.surfaces:
        _surface(mj, spec, bodies, surface, scene.robot)
    _points(mj, spec, bodies, scene)
    for k, pair in enumerate(_handed_pairs(scene)):
        law = scene.laws[pair.law]
        mu, patch = friction_of(law).mu_k, patch_of(law, pair.point.roundness)
        radii = (0, 0) if patch is None else (patch.spinning, patch.rolling)
        spec.add_pair(
            name=f"pair{k}",
            geomname1=_surface_name(scene, pair.surface),
            geomname2=_point_name(pair.point),
            condim=3 if patch is None else 6,
            friction=[mu, mu, radii[0], radii[1], radii[1]],
        )
    try:
        model = spec.compile()
    except ValueError as error:
        raise HeelstrikeError(f"MuJoCo does not take this scene: {error}") from error
    _check(mj, model, scene, q)
    return model


def _bodies(mj: Any, spec: Any, robot: Robot) -> list[Any]:
    made: list[Any] = []
    for i, (joint, body) in enumerate(zip(robot.joints, robot.bodies, strict=True)):
        parent = spec.worldbody if joint.parent == WORLD else made[joint.parent]
        inertia = body.inertia
        made.append(
            parent.add_body(
                name=_body_name(i),
                pos=joint.translation,
                quat=_quaternion(joint.rotation),
                mass=body.mass,
                ipos=body.com,
                fullinertia=[*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]],
                explicitinertial=True,
            )
        )
        _joint(mj, made[-1], robot, joint)
    return made


def _refuse_others(robot: Robot) -> None:
    """Raise for what acts on a robot and is not handed over."""
    parts = {
        "springs at joints": robot.springs,
        "fixed tendons": robot.tendons,
        "ranges of ball joints": robot.cones,
        "equality constraints": robot.constraints,
        "a fluid around it": robot.drags,
    }
    if found := [name for name, has in parts.items() if has]:
        raise HeelstrikeError(
            f"{robot.name} has {' and '.join(found)}, which are not handed over to MuJoCo",
            path="robot",
            value=robot.name,
            remedy="write it by robot.to_mjcf(FILE) and run that in MuJoCo",
        )


def _springs(spec: Any, bodies: list[Any], robot: Robot) -> None:
    """Add springs between bodies, and other tendons that run straight from point to point."""
    for k, tendon in enumerate(robot.spatial_tendons):
        made = spec.add_tendon(name=f"spring{k}", springlength=tendon.rest)
        made.stiffness[0], made.damping[0] = tendon.stiffness, tendon.damping
        if tendon.limit is not None:
            made.limited, made.range = True, tendon.limit
        for n, (body, place) in enumerate(tendon.path):
            site, holder = f"spring{k}.{n}", spec.worldbody if body == WORLD else bodies[body]
            holder.add_site(name=site, pos=place)
            made.wrap_site(site)


def _joint(mj: Any, body: Any, robot: Robot, joint: Joint) -> None:
    at = joint.v_slice
    if joint.kind == "free":
        if joint.parent != WORLD or joint.translation.any():
            raise HeelstrikeError(f"MuJoCo has no free joint inside a tree, as '{joint.name}' is")
        kind, axis = mj.mjtJoint.mjJNT_FREE, np.array([0.0, 0.0, 1.0])
    elif joint.kind == "spherical":
        kind, axis = mj.mjtJoint.mjJNT_BALL, np.array([0.0, 0.0, 1.0])
    elif joint.kind in KINDS:
        kind, axis = getattr(mj.mjtJoint, KINDS[joint.kind]), joint.axis
    else:
        raise HeelstrikeError(f"MuJoCo has no {joint.kind} joint, as '{joint.name}' is")
    made = body.add_joint(
        name=joint.name,
        type=kind,
        axis=axis,
        armature=float(robot.armature[at][0]),
        damping=float(robot.damping[at][0]),
        frictionloss=float(robot.friction[at][0]),
    )
    low, high = (float(x[joint.iq]) for x in (robot.lower, robot.upper))
    if joint.kind in ("revolute", "prismatic") and np.isfinite(low) and np.isfinite(high):
        made.limited, made.range = True, [low, high]


def _surface(mj: Any, spec: Any, bodies: list[Any], surface: Surface, robot: Robot) -> None:
    holder = spec.worldbody if surface.body is None else bodies[robot.body(surface.body)]
    if any(surface.velocity) or len(surface.parts) != 1:
        raise HeelstrikeError(
            f"surface '{surface.name}' cannot be handed over to MuJoCo: it moves or has parts"
        )
    shape: dict[str, Any]
    if isinstance(surface, Plane):
        turn = _quaternion(surface.axes.T)
        shape = {"type": mj.mjtGeom.mjGEOM_PLANE, "size": [0, 0, 1], "quat": turn}
    elif isinstance(surface, Box):
        shape = {"type": mj.mjtGeom.mjGEOM_BOX, "size": np.asarray(surface.size) / 2}
    elif isinstance(surface, Sphere):
        shape = {"type": mj.mjtGeom.mjGEOM_SPHERE, "size": [surface.radius, 0, 0]}
    elif isinstance(surface, Capsule | Cylinder):
        kinds = {Capsule: mj.mjtGeom.mjGEOM_CAPSULE, Cylinder: mj.mjtGeom.mjGEOM_CYLINDER}
        size = [surface.radius, surface.length / 2, 0]
        turn = _quaternion(surface.solids()[0].axes.T)
        shape = {"type": kinds[type(surface)], "size": size, "quat": turn}
    else:
        kind = type(surface).__name__
        raise HeelstrikeError(
            f"surface '{surface.name}' cannot be handed over to MuJoCo: a {kind} has no likeness "
            "there; planes, boxes, spheres, capsules and cylinders have"
        )
    holder.add_geom(
        name=f"surface {surface.name}",
        pos=np.asarray(surface.point, dtype=float),
        contype=0,
        conaffinity=0,
        **shape,
    )


def _quaternion(matrix: np.ndarray) -> list[float]:
    """Return a rotation matrix as a quaternion in MuJoCo's order, w first."""
    turned = pin.Quaternion(matrix)
    return [turned.w, turned.x, turned.y, turned.z]


def _handed_pairs(scene: Scene) -> list[Pair]:
    """Return the pairs that MuJoCo gets: of the contact points of a hull, one for all."""
    return [pair for pair in scene.pairs if pair.point.hull is None or pair.point.side == 0]


def _points(mj: Any, spec: Any, bodies: list[Any], scene: Scene) -> None:
    if scene.points:
        raise HeelstrikeError("points of the world cannot be handed over to MuJoCo")
    for point in {pair.point.name: pair.point for pair in _handed_pairs(scene)}.values():
        name = _point_name(point)
        shape = _shape(mj, point) if point.hull is None else _mesh(mj, spec, name, point.hull)
        bodies[point.body].add_geom(name=name, contype=0, conaffinity=0, **shape)


def _mesh(mj: Any, spec: Any, name: str, hull: Hull) -> dict[str, Any]:
    """Return the geom of a hull, with its corners in the frame of the body."""
    places = hull.cells.corners() @ hull.rotation.T + hull.translation
    spec.add_mesh(name=name, uservert=places.ravel())
    return {"type": mj.mjtGeom.mjGEOM_MESH, "meshname": name}


def _shape(mj: Any, point: Point) -> dict[str, Any]:
    """Return the geom of a contact point; half axes are those of a rotated ellipsoid."""
    place = {"pos": point.position}
    if point.half_axes is None:
        radius = max(point.radius, SMALLEST)
        return {"type": mj.mjtGeom.mjGEOM_SPHERE, "size": [radius, 0, 0], **place}
    if point.radius:
        raise HeelstrikeError(
            f"point '{point.name}' cannot be handed over to MuJoCo: it is a rounded ellipsoid"
        )
    turn, size, _ = np.linalg.svd(point.half_axes)
    quat = _quaternion(turn * np.array([1.0, 1.0, np.linalg.det(turn)]))
    return {"type": mj.mjtGeom.mjGEOM_ELLIPSOID, "size": size, "quat": quat, **place}


def _check(mj: Any, model: Any, scene: Scene, q: np.ndarray) -> None:
    """Check masses, positions of points and friction against the scene."""
    data, robot = mj.MjData(model), scene.robot
    data.qpos[:] = positions_of(model, robot, q)
    mj.mj_kinematics(model, data)
    own = to_pinocchio(robot)
    placed = own.createData()
    pin.forwardKinematics(own, placed, q)
    for i, body in enumerate(robot.bodies):
        assert abs(model.body(_body_name(i)).mass[0] - body.mass) <= 1e-12 * body.mass
    for k, pair in enumerate(_handed_pairs(scene)):
        geom, at = data.geom(_point_name(pair.point)), placed.oMi[pair.point.body + 1]
        if pair.point.hull is None:
            place = at.act(np.asarray(pair.point.position, dtype=float))
            assert np.abs(geom.xpos - place).max() < 1e-9
        else:
            _check_hull(model, geom, at, pair.point.hull)
        mu = friction_of(scene.laws[pair.law]).mu_k
        assert np.array_equal(model.pair_friction[k][:2], [mu, mu])


def _check_hull(model: Any, geom: Any, at: pin.SE3, hull: Hull) -> None:
    """Check the corners of a hull, which MuJoCo keeps as float32 in a frame of its own."""
    mesh = model.mesh(geom.name)
    first, count = int(mesh.vertadr[0]), int(mesh.vertnum[0])
    found = model.mesh_vert[first : first + count] @ geom.xmat.reshape(3, 3).T + geom.xpos
    own = hull.cells.corners() @ hull.rotation.T + hull.translation
    places = own @ at.rotation.T + at.translation
    ends = [np.concatenate([x.min(axis=0), x.max(axis=0)]) for x in (found, places)]
    assert np.abs(ends[0] - ends[1]).max() < 1e-5 * max(1.0, hull.radius)


def positions_of(model: Any, robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return MuJoCo's qpos of our q."""
    found = np.zeros(model.nq)
    for joint in robot.joints:
        at, own = int(model.joint(joint.name).qposadr[0]), q[joint.q_slice]
        if joint.kind == "free":
            found[at : at + 7] = [*own[:3], own[6], *own[3:6]]
        elif joint.kind == "spherical":
            found[at : at + 4] = [own[3], *own[:3]]
        elif joint.kind == "continuous":
            found[at] = np.arctan2(own[1], own[0])
        else:
            found[at] = own[0]
    return found


def pair_geoms(model: Any, scene: Scene) -> list[tuple[int, int]]:
    """Return the geoms of each pair: the surface's and the point's; points of a hull share one."""
    return [
        (
            int(model.geom(_surface_name(scene, pair.surface)).id),
            int(model.geom(_point_name(pair.point)).id),
        )
        for pair in scene.pairs
    ]


def body_ids(model: Any, robot: Robot) -> list[int]:
    """Return MuJoCo's number of each body."""
    return [int(model.body(_body_name(i)).id) for i in range(len(robot.bodies))]


def _body_name(i: int) -> str:
    return f"body {i}"


def _point_name(point: Point) -> str:
    return f"point {point.name}" if point.hull is None else f"hull {id(point.hull)}"


def _surface_name(scene: Scene, k: int) -> str:
    return f"surface {scene.surfaces[k].name}"
