"""What tells one robot from another in the cache of compiled programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from heelstrike.robot.robot import Robot

NOT_TRACED = {"model", "shapes", "source"}
"""Fields that no traced program reads: Pinocchio's view says the same once more, shapes are there
for contact points and pictures.
"""


def fingerprint(robot: Robot) -> tuple[object, ...]:
    """Everything of a robot that tracing may read, as plain data.

    Taken field by field, so what a robot will have one day is in it from that day on.
    """
    kept = [f.name for f in fields(robot) if f.name not in NOT_TRACED]
    return ("Robot", *((name, _plain(getattr(robot, name))) for name in kept))


def _plain(value: object) -> object:
    """Dataclasses, tuples and mappings as nested tuples and dicts; the rest as it is."""
    if is_dataclass(value):
        own = ((f.name, _plain(getattr(value, f.name))) for f in fields(value))
        return (type(value).__name__, *own)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
