"""Combining several robots and objects into one system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.actuators import Actuator, Arms, Path, SpatialTendon, Tendon
from heelstrike.robot.constraints import Constraint, moved
from heelstrike.robot.fidelity import Difference
from heelstrike.robot.mirror import with_mirrored
from heelstrike.robot.robot import WORLD, Body, Frame, Joint, Point, Robot, Shape, first_duplicate
from heelstrike.robot.springs import Cone, Spring

VECTORS = (
    "lower", "upper", "armature", "damping", "friction", "velocity_limit", "torque_limit",
    "kp", "kd",
)  # fmt: skip


def combine(robots: Mapping[str, Robot] | Sequence[Robot], name: str = "combined") -> Robot:
    """Return one robot that holds several; names are prefixed with the key: "cube1/root".

    The keys of a sequence are the robots' names, numbered where one occurs twice. A pose is kept if
    every part has it. The parts stand where their poses place them; a part with a fixed base stands
    where its file places it. Collision shapes of different parts touch one another: of a part that
    was loaded with a list of shapes those that are named, with feet or points none. All values are
    those of the parts, including edits, and a new Pinocchio model is built from them.
    """
    from heelstrike.robot.convert import to_pinocchio

    parts = _parts(robots)
    gravities = {part.gravity for part in parts.values()}
    if len({tuple(part.gravity_vector) for part in parts.values()}) > 1:
        listed = ", ".join(f"{gravity:g}" for gravity in sorted(gravities))
        raise HeelstrikeError(
            f"the parts differ in gravity ({listed} m/s^2)",
            path="gravity",
            value=gravities,
            remedy="make them equal with dataclasses.replace(robot, gravity=...)",
        )
    joints: list[Joint] = []
    bodies: list[Body] = []
    points: list[Point] = []
    shapes: list[Shape] = []
    self_pairs: list[tuple[int, int]] = []
    overlapping: list[tuple[int, int]] = []
    ground_shapes: list[int] = []
    touching: list[int] = []  # shapes that touch those of other parts
    frames: dict[str, Frame] = {}
    constraints: list[Constraint] = []
    springs: list[Spring] = []
    cones: list[Cone] = []
    tendons: list[Tendon] = []
    cords: list[SpatialTendon] = []
    actuators: list[Actuator] = []
    fidelity: list[Difference] = []
    iq = iv = 0
    for key, part in parts.items():
        first = len(joints)
        for joint in part.joints:
            parent = _shifted(joint.parent, first)
            own_joint = replace(joint, parent=parent, iq=joint.iq + iq, iv=joint.iv + iv)
            joints.append(replace(own_joint, name=f"{key}/{joint.name}"))
        bodies += [replace(b, name=f"{key}/{b.name}") for b in part.bodies]
        points += [replace(p, name=f"{key}/{p.name}", body=p.body + first) for p in part.points]
        own = [i for i, shape in enumerate(part.shapes) if _touches(part, shape)]
        self_pairs += [(i + len(shapes), j + len(shapes)) for i, j in part.self_pairs]
        fixed = {j for j in own if part.shapes[j].body == WORLD}
        self_pairs += [
            (i, j + len(shapes))
            for i in touching
            for j in own
            if shapes[i].body != WORLD or j not in fixed
        ]
        overlapping += [(i + len(shapes), j + len(shapes)) for i, j in part.overlapping]
        ground_shapes += [i + len(shapes) for i in part.ground_shapes]
        touching += [i + len(shapes) for i in own]
        shapes += [
            replace(
                s,
                name=f"{key}/{s.name}",
                link=f"{key}/{s.link}",
                body=_shifted(s.body, first),
            )
            for s in part.shapes
        ]
        for tendon in part.tendons:
            arms = _moved(tendon.arms, iv)
            tendons.append(replace(tendon, name=f"{key}/{tendon.name}", arms=arms))
        for cord in part.spatial_tendons:
            path = _moved_path(cord.path, first)
            cords.append(replace(cord, name=f"{key}/{cord.name}", path=path))
        actuators += [_moved_actuator(a, key, first, iv) for a in part.actuators]
        cones += [replace(c, joint=c.joint + first) for c in part.cones]
        springs += [replace(s, joint=s.joint + first) for s in part.springs]
        fidelity += [replace(d, what=f"{key}: {d.what}") for d in part.fidelity]
        for link, frame in part.frames.items():
            frames[f"{key}/{link}"] = replace(frame, body=_shifted(frame.body, first))
        constraints += [moved(constraint, f"{key}/", first) for constraint in part.constraints]
        iq, iv = iq + part.nq, iv + part.nv
    whole = Robot(
        name=name,
        joints=tuple(joints),
        bodies=tuple(bodies),
        points=tuple(points),
        poses=_poses(list(parts.values())),
        frames=frames,
        shapes=tuple(shapes),
        self_pairs=tuple(self_pairs),
        overlapping=tuple(overlapping),
        ground_shapes=tuple(ground_shapes),
        constraints=tuple(constraints),
        gravity=gravities.pop(),
        tilted_gravity=next(iter(parts.values())).tilted_gravity,
        springs=tuple(springs),
        cones=tuple(cones),
        tendons=tuple(tendons),
        spatial_tendons=tuple(cords),
        actuators=tuple(actuators),
        fidelity=tuple(fidelity),
        source=_source(parts),
        **{key: np.concatenate([getattr(p, key) for p in parts.values()]) for key in VECTORS},
    )
    return with_mirrored(replace(whole, model=to_pinocchio(whole)))


def _shifted(body: int, first: int) -> int:
    """Return the index of a part's body in the whole."""
    return body if body == WORLD else body + first


def _moved(arms: Arms, iv: int) -> Arms:
    """Return a part's moment arms by velocity index of the whole."""
    return tuple((at + iv, arm) for at, arm in arms)


def _moved_actuator(actuator: Actuator, key: str, first: int, iv: int) -> Actuator:
    """Return a part's actuator in the whole."""
    own = actuator.wrench
    wrench = None if own is None else replace(own, body=own.body + first)
    name, path = f"{key}/{actuator.name}", _moved_path(actuator.path, first)
    return replace(actuator, name=name, arms=_moved(actuator.arms, iv), wrench=wrench, path=path)


def _moved_path(path: Path, first: int) -> Path:
    """Return the points of a part's tendon in the whole."""
    return tuple((_shifted(body, first), place) for body, place in path)


def _touches(part: Robot, shape: Shape) -> bool:
    """Return whether a shape of a part touches shapes of other parts.

    These are the shapes that collide, of those that the part was loaded with.
    """
    if not shape.collides:
        return False
    own = shape.link if shape.body == WORLD else part.bodies[shape.body].name
    return _is_chosen(part.source, (own, shape.link, shape.name))


def _is_chosen(source: Mapping[str, Any] | None, names: Sequence[str]) -> bool:
    """Return whether `collide` of a robot's source has one of the names of a shape."""
    if source is None:
        return True
    for key, own in source.get("parts", {}).items():
        if names[0].startswith(f"{key}/"):
            return _is_chosen(own, [name.removeprefix(f"{key}/") for name in names])
    collide = source.get("collide") or ()
    return collide == "all" or (not isinstance(collide, str) and not {*names}.isdisjoint(collide))


def _source(parts: Mapping[str, Robot]) -> dict[str, Any] | None:
    """Return the sources of the parts, or None if one has none."""
    known = {key: part.source for key, part in parts.items()}
    return {"parts": known} if all(known.values()) else None


def _poses(parts: list[Robot]) -> dict[str, np.ndarray]:
    """Return the poses that every part has."""
    shared = [pose for pose in parts[0].poses if all(pose in part.poses for part in parts)]
    return {pose: np.concatenate([part.poses[pose] for part in parts]) for pose in shared}


def _parts(robots: Any) -> dict[str, Robot]:
    """Return the robots by key, after checking that they are robots."""
    if isinstance(robots, Robot):
        raise HeelstrikeError(
            f"combine takes a list of robots, not one robot ({robots.name})",
            remedy="pass combine([robot, ...])",
        )
    if isinstance(robots, str) or not isinstance(robots, Mapping | Sequence):
        raise HeelstrikeError(
            f"combine takes a list of robots or a mapping of names to robots, not a "
            f"{type(robots).__name__}"
        )
    items = list(robots.items() if isinstance(robots, Mapping) else enumerate(robots))
    if not items:
        raise HeelstrikeError("there is nothing to combine", remedy="pass at least one robot")
    for key, robot in items:
        if not isinstance(robot, Robot):
            raise HeelstrikeError(
                f"part {key!r} is {robot!r}, not a robot",
                path=str(key),
                value=robot,
                remedy="load it first: heelstrike.load(...)",
            )
        if isinstance(robots, Mapping) and not (isinstance(key, str) and key):
            raise HeelstrikeError(
                f"the key {key!r} is not a name",
                value=key,
                remedy="use a different non-empty string for each part",
            )
    return dict(items) if isinstance(robots, Mapping) else _keyed([robot for _, robot in items])


def _keyed(robots: list[Robot]) -> dict[str, Robot]:
    """Return the robots by name, numbered where a name occurs twice."""
    names = [robot.name for robot in robots]
    keys = [
        name if names.count(name) == 1 else f"{name}{names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    ]
    duplicate = first_duplicate(keys)
    if duplicate is not None:
        raise HeelstrikeError(
            f"two parts are called '{duplicate}'",
            value=duplicate,
            remedy="pass a mapping with your own keys",
        )
    return dict(zip(keys, robots, strict=True))
