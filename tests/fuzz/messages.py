"""Messages of clients of the viewer: refused, ignored, or in the ranges of the page's controls."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec

from heelstrike.view.browser.messages import WrongMessageError, checked
from tests.fuzz.values import mutated_bytes, odd

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [1.0, 0.0, 0.0],
    "look_at": [0.0, 0.0, 0.0],
    "up_direction": [0.0, 0.0, 1.0],
    "fov": 0.8,
    "near": 0.01,
    "far": 1000.0,
    "image_height": 600,
    "image_width": 800,
}


@dataclass
class Control:
    """A control of a page."""

    value: Any
    min: float = 0.0
    max: float = 10.0
    options: tuple[str, ...] = field(default=("a", "b"))


CONTROLS = {"k": Control(5.0), "n": Control(5), "law": Control("a"), "on": Control(True)}


def message(random: Random) -> str:
    """Check a mutated message."""
    control = random.choice(list(CONTROLS))
    update = {"type": "GuiUpdateMessage", "uuid": control, "updates": {"value": odd(random)}}
    made: dict[str, Any] = dict(random.choice([CAMERA, update]))
    if random.random() < 0.5:
        made[random.choice(list(made))] = odd(random)
    try:
        raw = msgspec.msgpack.encode(made)
    except (TypeError, OverflowError, ValueError):
        raw = b"\x81\xa4type\xc0"
    if random.random() < 0.5:
        raw = mutated_bytes(raw, random)
    try:
        taken = checked(raw, CONTROLS)
    except WrongMessageError:
        return "refused"
    if taken is None:
        return "refused"
    decoded = msgspec.msgpack.decode(taken)
    if decoded["type"] == "GuiUpdateMessage":
        own, value = CONTROLS[decoded["uuid"]], decoded["updates"]["value"]
        assert type(value) is type(own.value)
        assert value in own.options if isinstance(value, str) else own.min <= value <= own.max
    elif decoded["type"] == "ViewerCameraMessage":
        assert all(math.isfinite(x) for x in (*decoded["wxyz"], decoded["fov"], decoded["far"]))
        assert min(decoded["image_width"], decoded["image_height"]) > 0  # viser divides by them
    return "taken"
