"""Several robots and objects as one system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from heelstrike.errors import HeelstrikeError
from heelstrike.robot.robot import Robot

MARK = "frame:"
"""Put before frames while they are appended: Pinocchio 4.1 fails if a link is named as a joint."""
VECTORS_Q = ("lower", "upper")
VECTORS_V = ("armature", "damping", "friction", "velocity_limit", "torque_limit", "kp", "kd")


def combine(robots: Mapping[str, Robot] | Sequence[Robot], name: str = "combined") -> Robot:
    """One Robot that holds several, each with its names behind its key: "cube1/root".

    Of a sequence the keys are the robots' names, counted where one occurs twice. A pose is kept if
    every part has it. The parts stand where their poses put them; a part with a fixed base stands
    where its file puts it.
    """
    import pinocchio as pin

    from heelstrike.robot.convert import from_pinocchio

    parts = dict(robots) if isinstance(robots, Mapping) else _keyed(robots)
    if not parts:
        raise HeelstrikeError("there is nothing to combine; give at least one robot")
    gravities = {part.gravity for part in parts.values()}
    if len(gravities) > 1:
        listed = ", ".join(f"{gravity:g}" for gravity in sorted(gravities))
        raise HeelstrikeError(
            f"the parts differ in gravity ({listed} m/s^2); make them agree with "
            "dataclasses.replace(robot, gravity=...)"
        )
    model = pin.Model()
    for key, part in parts.items():
        model = pin.appendModel(model, _prefixed(key, part), 0, pin.SE3.Identity())
    for frame in model.frames:
        frame.name = frame.name.removeprefix(MARK)
    model.name = name
    model.gravity.linear = np.array([0.0, 0.0, -gravities.pop()])
    robot = _carry(from_pinocchio(model), parts)
    _write_back(robot)
    return robot


def _keyed(robots: Sequence[Robot]) -> dict[str, Robot]:
    names = [robot.name for robot in robots]
    count: dict[str, int] = {}
    keyed = {}
    for name, robot in zip(names, robots, strict=True):
        count[name] = count.get(name, 0) + 1
        key = name if names.count(name) == 1 else f"{name}{count[name]}"
        if key in keyed:
            raise HeelstrikeError(
                f"two parts are called '{key}'; give a mapping with your own keys"
            )
        keyed[key] = robot
    return keyed


def _prefixed(key: str, part: Robot) -> object:
    """A copy of a part's Pinocchio model with the key before every name."""
    import pinocchio as pin

    if part.model is None:
        raise HeelstrikeError(f"'{key}' has no Pinocchio model; load it with heelstrike.load")
    model = part.model.copy()
    for i in range(1, model.njoints):
        model.names[i] = f"{key}/{model.names[i]}"
    for frame in model.frames:
        mark = "" if frame.type == pin.FrameType.JOINT else MARK
        if frame.name != "universe":
            frame.name = f"{mark}{key}/{frame.name}"
    return model


def _carry(whole: Robot, parts: Mapping[str, Robot]) -> Robot:
    """Fill the whole's vectors, points, poses and shapes from its parts, joint by joint by name."""
    where = {joint.name: i for i, joint in enumerate(whole.joints)}
    vectors = {key: getattr(whole, key).copy() for key in (*VECTORS_Q, *VECTORS_V)}
    first = next(iter(parts.values()))
    shared = [pose for pose in first.poses if all(pose in part.poses for part in parts.values())]
    poses = {pose: whole.neutral for pose in shared}
    points, shapes = [], []
    for key, part in parts.items():
        body = [where[f"{key}/{joint.name}"] for joint in part.joints]
        for joint, i in zip(part.joints, body, strict=True):
            new = whole.joints[i]
            in_q, own_q = slice(new.iq, new.iq + new.nq), slice(joint.iq, joint.iq + joint.nq)
            in_v, own_v = slice(new.iv, new.iv + new.nv), slice(joint.iv, joint.iv + joint.nv)
            for vector in VECTORS_Q:
                vectors[vector][in_q] = getattr(part, vector)[own_q]
            for vector in VECTORS_V:
                vectors[vector][in_v] = getattr(part, vector)[own_v]
            for pose in shared:
                poses[pose][in_q] = part.poses[pose][own_q]
        points += [replace(p, name=f"{key}/{p.name}", body=body[p.body]) for p in part.points]
        shapes += [replace(s, name=f"{key}/{s.name}", body=body[s.body]) for s in part.shapes]
    return replace(whole, points=tuple(points), shapes=tuple(shapes), poses=poses, **vectors)


def _write_back(robot: Robot) -> None:
    """Tell the Pinocchio model what appending loses (armature, in 4.1) or may lose."""
    model = robot.model
    assert model is not None
    model.armature = robot.armature
    model.damping = robot.damping
    model.lowerDryFrictionLimit, model.upperDryFrictionLimit = -robot.friction, robot.friction
    model.lowerPositionLimit, model.upperPositionLimit = robot.lower, robot.upper
    model.lowerEffortLimit, model.upperEffortLimit = -robot.torque_limit, robot.torque_limit
    model.lowerVelocityLimit, model.upperVelocityLimit = (
        -robot.velocity_limit,
        robot.velocity_limit,
    )
