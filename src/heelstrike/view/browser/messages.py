"""What a client of the viewer may send: the camera, values of controls, drags of bodies, commands.

Other messages that viser knows are ignored, since no page of ours needs them; whatever is none of
these is a WrongMessageError.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

CAMERA = {
    "wxyz": 4,
    "position": 3,
    "look_at": 3,
    "up_direction": 3,
    "fov": 0,
    "near": 0,
    "far": 0,
    "image_height": 0,
    "image_width": 0,
}
"""Fields of a camera's message: the length of a vector, 0 for a number."""
DRAG = {"start_position": 3, "start_screen_pos": 2, "end_position": 3, "end_screen_pos": 2}
"""Fields of a drag's message, and the lengths of these vectors."""
LARGEST = 1e9
"""Largest coordinate of a camera or a pointer [m]."""
MAX_PIXELS = 65536
MAX_LETTERS = 400
"""Longest text of a control."""
Handles = Callable[[], Mapping[str, Any]]


class WrongMessageError(Exception):
    """A message that no page of ours sends."""


def checked(raw: object, handles: Mapping[str, Any]) -> bytes | None:
    """Return a message as viser reads it; None for one that is to be ignored.

    Args:
        raw: what a client sent.
        handles: controls of the page by their identifiers, as viser keeps them.
    """
    import msgspec

    if not isinstance(raw, bytes):
        raise WrongMessageError("text, not bytes")
    try:
        message = msgspec.msgpack.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeError, ValueError) as error:
        raise WrongMessageError("not MessagePack") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise WrongMessageError("no type")
    kind = message["type"]
    if kind == "ViewerCameraMessage":
        return msgspec.msgpack.encode({"type": kind} | _camera(message))
    if kind == "GuiUpdateMessage":
        found = _update(message, handles)
        return None if found is None else msgspec.msgpack.encode({"type": kind} | found)
    if kind == "CommandTriggerMessage":
        return msgspec.msgpack.encode({"type": kind, "uuid": _text(message.get("uuid"))})
    if kind == "SceneNodeDragMessage":
        return msgspec.msgpack.encode({"type": kind} | _drag(message))
    if kind not in _known():
        raise WrongMessageError("unknown type")
    return None


def _camera(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a camera's message."""
    found: dict[str, Any] = {}
    for name, size in CAMERA.items():
        value = message.get(name)
        if size == 0:
            found[name] = _number(value)
        elif isinstance(value, list) and len(value) == size:
            found[name] = [_number(entry) for entry in value]
        else:
            raise WrongMessageError(f"{name} of a camera")
    if not 0.5 < math.hypot(*found["wxyz"]) < 2.0:
        raise WrongMessageError("a camera without a direction")
    if not 0.0 < found["fov"] < math.pi:
        raise WrongMessageError("fov of a camera")
    for name in ("image_height", "image_width"):
        if not 0 <= found[name] <= MAX_PIXELS:
            raise WrongMessageError(f"{name} of a camera")
        found[name] = max(1, int(found[name]))  # 0 in a window that is folded up
    return found


def _drag(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a drag of a node by the left button."""
    if message.get("phase") not in ("start", "update", "end"):
        raise WrongMessageError("phase of a drag")
    if message.get("button") != "left" or message.get("modifier") is not None:
        raise WrongMessageError("button of a drag")
    if message.get("instance_index") is not None or message.get("owner", "") != "":
        raise WrongMessageError("node of a drag")
    found = {"phase": message["phase"], "button": "left", "modifier": None, "owner": ""}
    found |= {"name": _text(message.get("name")), "instance_index": None}
    for name, size in DRAG.items():
        value = message.get(name)
        if not isinstance(value, list) or len(value) != size:
            raise WrongMessageError(f"{name} of a drag")
        found[name] = [_number(entry) for entry in value]
    return found


def _update(message: Mapping[str, Any], handles: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the fields of an update of a control; None if the control is no more."""
    uuid, updates = _text(message.get("uuid")), message.get("updates")
    if not isinstance(updates, dict) or set(updates) != {"value"}:
        raise WrongMessageError("an update of something but the value of a control")
    handle = handles.get(uuid)
    if handle is None:
        return None
    return {"uuid": uuid, "updates": {"value": _value(updates["value"], handle)}}


def _value(value: Any, handle: Any) -> Any:
    """Return the new value of a control, of its type and in its range."""
    present = handle.value
    if isinstance(present, bool):
        if not isinstance(value, bool):
            raise WrongMessageError("a switch is on or off")
        return value
    if isinstance(present, int | float):
        number = _number(value)
        low, high = getattr(handle, "min", -LARGEST), getattr(handle, "max", LARGEST)
        if not low <= number <= high:
            raise WrongMessageError("a slider beyond its end")
        return type(present)(number)
    if isinstance(present, str):
        text, options = _text(value), getattr(handle, "options", None)
        if options is not None and text not in options:
            raise WrongMessageError("a choice that does not exist")
        return text
    raise WrongMessageError("a control that takes no value")


def _number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise WrongMessageError("no number")
    if not (math.isfinite(value) and abs(value) <= LARGEST):
        raise WrongMessageError("a number out of range")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_LETTERS:
        raise WrongMessageError("no text, or too long")
    return value


def _known() -> set[str]:
    """Return the types of messages that viser knows."""
    from viser import infra

    return {kind.__name__ for kind in infra.Message.get_subclasses()}
