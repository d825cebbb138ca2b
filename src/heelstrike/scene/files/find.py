"""Where a scene's file is: one that comes with Heelstrike, or a path."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import resources
from pathlib import Path

from heelstrike.errors import SceneError, UnknownNameError
from heelstrike.robot import bundled
from heelstrike.scene.files.document import Document, read_document

SUFFIX = ".toml"


def read_scene(source: str | os.PathLike[str]) -> Document:
    """The document of a bundled name or of a path."""
    text = str(source)
    if text in scenes():
        place = resources.files("heelstrike") / "scenes" / f"{text}{SUFFIX}"
        return replace(read_document(Path(str(place))), name=f"{text}{SUFFIX}")
    path = Path(text).expanduser()
    if path.exists():
        return read_document(path)
    if path.suffix == SUFFIX or os.sep in text:
        raise SceneError(f"{text}: no such file; check the path (relative to {Path.cwd()})")
    if text in bundled():
        raise SceneError(
            f"'{text}' is a robot, not a scene; run it alone: heelstrike run --robot {text}"
        )
    unknown = UnknownNameError("scene", text, scenes())
    raise SceneError(unknown.problem, path=text, remedy=unknown.remedy)


def scenes() -> list[str]:
    """Names of the scenes that come with Heelstrike."""
    folder = resources.files("heelstrike") / "scenes"
    if not folder.is_dir():
        return []
    names = [file.name for file in folder.iterdir()]
    return sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))
