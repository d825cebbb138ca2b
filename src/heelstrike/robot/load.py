"""Loading a robot by name or from a file."""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heelstrike.errors import HeelstrikeWarning, LoadError
from heelstrike.robot.robot import Robot

if TYPE_CHECKING:
    from heelstrike.robot.points import PointLike

SUFFIXES = (".urdf", ".xml", ".mjcf")


def load(
    source: str | os.PathLike[str],
    base: str = "auto",
    points: str | Sequence[PointLike] = "feet",
    package_dirs: Sequence[str | os.PathLike[str]] = (),
    edge_points: int = 0,
) -> Robot:
    """A robot from a bundled name (see `bundled`), or a path to a URDF or an MJCF.

    base: "floating", "fixed", or "auto": an MJCF as it says, a URDF floating unless its root link
    is called world. points: "feet", "all", or a list of (link, position [m], radius [m]); see
    docs/loading.md. package_dirs: where package:// of a URDF is sought first. edge_points: more
    points on each edge of a box, evenly between its corners.

    Raises LoadError where the file cannot be used; warns (HeelstrikeWarning) of all it leaves out.
    """
    if base not in ("auto", "floating", "fixed"):
        raise LoadError(f"base='{base}' is unknown; give 'auto', 'floating' or 'fixed'")
    path = find_file(source)

    from heelstrike.robot.check import inertia_fault, unmoved_joint
    from heelstrike.robot.mjcf import read_mjcf
    from heelstrike.robot.points import with_contact_points
    from heelstrike.robot.urdf import read_urdf
    from heelstrike.robot.xml import Reading

    reading = Reading(path)
    root = reading.parse()
    if root.tag == "mujoco":
        robot = read_mjcf(reading, root, base)
    elif root.tag == "robot":
        robot = read_urdf(reading, root, base, [Path(d).expanduser() for d in package_dirs])
    else:
        reading.fail(f"starts with <{root.tag}>; a URDF starts with <robot>, an MJCF with <mujoco>")
    robot = replace(robot, name=robot.name or path.stem, source=_source(source, base, package_dirs))
    if not robot.joints:
        reading.fail("has no moving joint; use base='floating' to let it move")
    for body in robot.bodies:
        fault = inertia_fault(body.mass, body.inertia)
        if fault:
            whose = "; ".join(note for note in reading.notes if "principal moment" in note)
            reading.fail(
                f"body '{body.name}', with all fixed to it, has {fault}; correct the inertia"
                + (f" ({whose})" if whose else "")
            )
    joint = unmoved_joint(robot)
    if joint is not None:
        reading.fail(
            f"joint '{joint}' moves a body without mass or inertia, so its acceleration has no "
            "value; give the body an inertia, or the joint an armature, or make it fixed"
        )
    robot = with_contact_points(robot, points, edge_points)
    for note in reading.notes:
        warnings.warn(f"{path.name}: {note}", HeelstrikeWarning, stacklevel=2)
    return robot


def reload(source: Mapping[str, Any]) -> Robot:
    """The robot that a `Robot.source` tells of, as its files are now."""
    if "parts" in source:
        from heelstrike.robot.combine import combine

        return combine({key: reload(part) for key, part in source["parts"].items()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        return load(source["file"], base=source["base"], package_dirs=source["package_dirs"])


def _source(
    source: str | os.PathLike[str], base: str, package_dirs: Sequence[str | os.PathLike[str]]
) -> dict[str, Any]:
    """A bundled name as it is, paths in full."""
    named = isinstance(source, str) and source in bundled()
    return {
        "file": source if named else str(Path(source).expanduser().absolute()),
        "base": base,
        "package_dirs": [str(Path(d).expanduser().absolute()) for d in package_dirs],
    }


def bundled() -> list[str]:
    """Names of the robots and objects that come with Heelstrike."""
    folder = resources.files("heelstrike.robot") / "models"
    if not folder.is_dir():
        return []
    return sorted(f.name.removesuffix(".xml") for f in folder.iterdir() if f.name.endswith(".xml"))


def find_file(source: str | os.PathLike[str]) -> Path:
    """The file that a bundled name or a path means; of a Path, a file of that name comes first."""
    names = bundled()
    if not isinstance(source, str | os.PathLike) or not str(source):
        raise LoadError(
            f"{source!r} names no robot; give a path to .urdf or .xml, or one of {', '.join(names)}"
        )
    text = str(source)
    path = Path(text).expanduser()
    if text in names and (isinstance(source, str) or not path.exists()):
        return Path(str(resources.files("heelstrike.robot") / "models" / f"{text}.xml"))
    if path.is_dir():
        raise LoadError(f"{text} is a folder; name the .urdf or .xml file inside it")
    if path.is_file():
        return path
    if path.suffix.lower() in SUFFIXES or os.sep in text:
        raise LoadError(f"{text}: no such file; check the path (relative to {Path.cwd()})")
    close = difflib.get_close_matches(text, names, n=1, cutoff=0.5)
    hint = f"; did you mean '{close[0]}'?" if close else "."
    raise LoadError(
        f"no robot '{text}'{hint} Bundled: {', '.join(names)}; or give a path to .urdf or .xml"
    )
