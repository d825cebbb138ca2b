"""Combining several robots and objects into one system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heelstrike.checks import instance, label
from heelstrike.errors import HeelstrikeError
from heelstrike.robot.actuators import Actuator, Arms, Path, SpatialTendon, Tendon
from heelstrike.robot.constraints import moved
from heelstrike.robot.mirror import with_mirrored
from heelstrike.robot.robot import WORLD, Joint, Robot, Shape, first_duplicate

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

    instance("name", name, str, "a name")
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
    moved_parts: list[dict[str, list[Any]]] = []
    earlier: list[Shape] = []  # shapes of the parts before, in the order of the whole
    touching: list[int] = []  # those of them that touch shapes of other parts
    first = iq = iv = 0
    for key, part in parts.items():
        fields = _moved_part(part, key, first, iq, iv, len(earlier))
        own = [i for i, shape in enumerate(part.shapes) if _touches(part, shape)]
        fields["self_pairs"] += [
            (i, j + len(earlier))
            for i in touching
            for j in own
            if earlier[i].body != WORLD or part.shapes[j].body != WORLD
        ]
        touching += [i + len(earlier) for i in own]
        earlier += fields["shapes"]
        first, iq, iv = first + len(part.joints), iq + part.nq, iv + part.nv
        moved_parts.append(fields)
    joined: dict[str, Any] = {
        field: tuple(entry for fields in moved_parts for entry in fields[field])
        for field in moved_parts[0]
    }
    frames = dict(joined.pop("frames"))
    vectors: dict[str, Any] = {
        key: np.concatenate([getattr(part, key) for part in parts.values()]) for key in VECTORS
    }
    whole = Robot(
        name=name,
        poses=_poses(list(parts.values())),
        controls=_controls(parts),
        frames=frames,
        gravity=gravities.pop(),
        tilted_gravity=next(iter(parts.values())).tilted_gravity,
        source=_source(parts),
        **joined,
        **vectors,
    )
    return with_mirrored(replace(whole, model=to_pinocchio(whole)))


def _moved_part(
    part: Robot, key: str, first: int, iq: int, iv: int, shapes: int
) -> dict[str, list[Any]]:
    """Return the entries of a part by field, with names and indices as in the whole.

    Before it are `first` joints and bodies, `iq` coordinates, `iv` velocities and `shapes` shapes.
    """

    def joint(own: Joint) -> Joint:
        parent = _shifted(own.parent, first)
        name = f"{key}/{own.name}"
        return replace(own, name=name, parent=parent, iq=own.iq + iq, iv=own.iv + iv)

    def shape(own: Shape) -> Shape:
        name, link = f"{key}/{own.name}", f"{key}/{own.link}"
        return replace(own, name=name, link=link, body=_shifted(own.body, first))

    def tendon(own: Tendon) -> Tendon:
        return replace(own, name=f"{key}/{own.name}", arms=_moved(own.arms, iv))

    def cord(own: SpatialTendon) -> SpatialTendon:
        return replace(own, name=f"{key}/{own.name}", path=_moved_path(own.path, first))

    def pairs(own: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        return [(i + shapes, j + shapes) for i, j in own]

    return {
        "joints": [joint(x) for x in part.joints],
        "bodies": [replace(x, name=f"{key}/{x.name}") for x in part.bodies],
        "points": [replace(x, name=f"{key}/{x.name}", body=x.body + first) for x in part.points],
        "shapes": [shape(x) for x in part.shapes],
        "self_pairs": pairs(part.self_pairs),
        "overlapping": pairs(part.overlapping),
        "ground_shapes": [i + shapes for i in part.ground_shapes],
        "frames": [
            (f"{key}/{link}", replace(x, body=_shifted(x.body, first)))
            for link, x in part.frames.items()
        ],
        "constraints": [moved(x, f"{key}/", first) for x in part.constraints],
        "springs": [replace(x, joint=x.joint + first) for x in part.springs],
        "cones": [replace(x, joint=x.joint + first) for x in part.cones],
        "tendons": [tendon(x) for x in part.tendons],
        "spatial_tendons": [cord(x) for x in part.spatial_tendons],
        "drags": [replace(x, body=x.body + first) for x in part.drags],
        "actuators": [_moved_actuator(x, key, first, iv) for x in part.actuators],
        "fidelity": [replace(x, what=f"{key}: {x.what}") for x in part.fidelity],
    }


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


def _controls(parts: Mapping[str, Robot]) -> dict[str, dict[str, float]]:
    """Return the controls of the poses in which every part with actuators has some."""
    driven = {key: part.controls for key, part in parts.items() if part.actuators}
    shared = [
        pose for pose in next(iter(driven.values()), {}) if all(pose in x for x in driven.values())
    ]
    return {
        pose: {f"{key}/{name}": u for key, own in driven.items() for name, u in own[pose].items()}
        for pose in shared
    }


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
        if isinstance(robots, Mapping):
            label("name of a part", key)
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
