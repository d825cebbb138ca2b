"""Loading a robot by its bundled name or from a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heelstrike.checks import instance, paths
from heelstrike.errors import HeelstrikeWarning, LoadError, nearest
from heelstrike.robot.fidelity import lost
from heelstrike.robot.robot import WORLD, Robot

if TYPE_CHECKING:
    from heelstrike.robot.points import PointLike
    from heelstrike.robot.xml import RobotFile

SUFFIXES = (".urdf", ".xml", ".mjcf")
BASES = ("auto", "floating", "fixed")
MAX_NAMED = 3
"""Pairs of shapes, at most, that a warning names."""
MIN_ARMATURE = 1e-5
"""Armature of joints that move neither mass nor inertia [kg m^2 or kg]."""


def load(
    source: str | os.PathLike[str],
    base: str = "auto",
    points: str | Sequence[PointLike] | None = None,
    package_dirs: Sequence[str | os.PathLike[str]] = (),
    edge_points: int = 0,
    srdf: str | os.PathLike[str] | None = None,
    collide: str | Sequence[str] | None = None,
    strict: bool = False,
) -> Robot:
    """Load a robot from a bundled name (see `bundled`), or from a URDF or MJCF file.

    Args:
        source: bundled name, or path of the file.
        base: "floating", "fixed", or "auto": an MJCF as it defines, a URDF floating unless its
            root link is called world.
        points: your own contact points in place of shapes, a list of (link, position [m],
            radius [m], half axes [m]); "feet" and "all" mean collide="feet" and "all".
        package_dirs: folders that are searched first for package:// of a URDF.
        edge_points: number of points added to each edge of a box, evenly between its corners.
        srdf: file with the pairs of a URDF's links that do not collide; none: a file of the URDF's
            name beside it or in ../srdf, if there is one.
        collide: shapes that collide: "all" (the default), "feet", or a list of names of bodies,
            links and shapes; see docs/loading.md.
        strict: whether to refuse a file if anything of it that concerns motion or contact is
            left out or simulated otherwise.

    Raises LoadError if the file cannot be used, and warns (HeelstrikeWarning) about everything that
    is simulated otherwise than the file says: `Robot.fidelity` has it as data.
    """
    if not isinstance(base, str) or base not in BASES:
        raise LoadError(
            f"base is {base!r}", path="base", value=base, allowed="'auto', 'floating' or 'fixed'"
        )
    package_dirs = paths("package_dirs", package_dirs)
    instance("strict", strict, bool, "True or False")
    path = find_file(source)

    from heelstrike.robot.collision_hull import warn_reduced
    from heelstrike.robot.mjcf import read_mjcf
    from heelstrike.robot.points import with_contact_points
    from heelstrike.robot.urdf import read_urdf
    from heelstrike.robot.xml import RobotFile

    file = RobotFile(path)
    root = file.parse()
    if root.tag == "mujoco":
        if srdf is not None:
            file.fail("is an MJCF", value=srdf, remedy="an SRDF belongs to a URDF: remove srdf")
        robot = read_mjcf(file, root, base)
    elif root.tag == "robot":
        folders = [Path(d).expanduser() for d in package_dirs]
        own = None if srdf is None else Path(srdf).expanduser()
        robot = read_urdf(file, root, base, folders, own)
    else:
        file.fail(
            f"starts with <{root.tag}>",
            value=root.tag,
            remedy="a URDF starts with <robot>, an MJCF with <mujoco>",
        )
    robot = replace(robot, name=robot.name or path.stem)
    _check(file, robot)
    robot = _with_inertia(file, robot)
    robot = with_contact_points(robot, points, edge_points, collide)
    touching = {i for pair in robot.self_pairs for i in pair} | {*robot.ground_shapes}
    warn_reduced(file, (robot.shapes[i] for i in sorted(touching)))
    robot = _with_overlaps(file, robot)
    origin = _source(source, base, package_dirs) | {"edge_points": edge_points}
    if points is None or isinstance(points, str):
        chosen = points or ("all" if collide is None else collide)
        origin["collide"] = chosen if isinstance(chosen, str) else list(chosen)
    else:
        origin["points"] = _listed(robot)
    if srdf is not None:
        origin["srdf"] = str(Path(srdf).expanduser().absolute())
    robot = replace(robot, source=origin, fidelity=tuple(file.differences))
    if strict and (found := lost(robot.fidelity, "motion", "contact")):
        file.fail(
            f"is not simulated as it says: {'; '.join(map(str, found))}",
            value=found,
            remedy="change the file, or load it with strict=False",
        )
    for difference in robot.fidelity:
        warnings.warn(f"{path.name}: {difference}", HeelstrikeWarning, stacklevel=2)
    return robot


def _with_overlaps(file: RobotFile, robot: Robot) -> Robot:
    """Return the robot with the pairs of shapes that overlap in its poses, with a warning."""
    if not robot.self_pairs:
        return robot
    from heelstrike.robot.overlaps import overlaps

    found: dict[tuple[int, int], float] = {}
    for q in robot.poses.values():
        for pair, depth in overlaps(robot, q).items():
            found[pair] = max(depth, found.get(pair, 0.0))
    if not found:
        return robot
    worst = sorted(found, key=lambda pair: -found[pair])
    named = [
        f"{robot.shapes[i].name} and {robot.shapes[j].name} ({1e3 * found[i, j]:.2g} mm)"
        for i, j in worst[:MAX_NAMED]
    ]
    more = f" and {len(worst) - MAX_NAMED} more pairs" if len(worst) > MAX_NAMED else ""
    file.warn(
        "shapes that overlap in a pose of the file do not touch before they have parted, in runs "
        f"that start so: {', '.join(named)}{more}",
        concerns="file",
    )
    return replace(robot, overlapping=tuple(pair for pair in robot.self_pairs if pair in found))


def _check(file: RobotFile, robot: Robot) -> None:
    """Raise a LoadError if the robot cannot move, or has impossible inertias."""
    from heelstrike.robot.check import inertia_fault

    if not robot.joints:
        file.fail("has no moving joint", remedy="use base='floating' to let it move")
    for body in robot.bodies:
        fault = inertia_fault(body.mass, body.inertia)
        if fault:
            links = f" ({'; '.join(file.inertia_faults)})" if file.inertia_faults else ""
            file.fail(
                f"body '{body.name}', with everything fixed to it, has {fault}",
                value=body.name,
                remedy=f"correct the inertia{links}",
            )


def _with_inertia(file: RobotFile, robot: Robot) -> Robot:
    """Return the robot with a small armature at joints that move neither mass nor inertia."""
    from heelstrike.robot.check import is_point_mass, massless_joint, singular_joint

    given = []
    while (name := massless_joint(robot)) is not None:
        joint = next(joint for joint in robot.joints if joint.name == name)
        if joint.nv > 1 or name in given:
            file.fail(
                f"joint '{name}' moves a body without mass or inertia, so its acceleration is "
                "undefined",
                value=name,
                remedy="give its link a mass, or load it with base='fixed'"
                if joint.parent == WORLD
                else "give the body an inertia, or the joint an armature, or make it fixed",
            )
        armature = np.array(robot.armature)
        armature[joint.iv] = MIN_ARMATURE
        robot = replace(robot, armature=armature)
        assert robot.model is not None
        robot.model.armature = armature
        given.append(name)
    if given:
        file.warn(
            f"the bodies of {', '.join(given)} have neither mass nor inertia; these joints move an "
            f"armature of {MIN_ARMATURE:g} kg m^2 (kg where they slide)"
        )
    points = [body.name for body in robot.bodies if is_point_mass(body.mass, body.inertia)]
    if not given and points and (singular := singular_joint(robot)) is not None:
        joint_name, pose = singular
        file.warn(
            f"joint '{joint_name}' moves almost no inertia in the pose '{pose}', so that contacts "
            "beyond it may diverge at any step; give inertias to bodies that are mere point "
            f"masses: {', '.join(points)}",
            concerns="file",
        )
    return robot


def reload(source: Mapping[str, Any]) -> Robot:
    """Load the robot of a `Robot.source` from the present state of its files."""
    if "parts" in source:
        from heelstrike.robot.combine import combine

        return combine({key: reload(part) for key, part in source["parts"].items()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeelstrikeWarning)
        return load(
            source["file"],
            base=source["base"],
            points=source.get("points"),
            package_dirs=source["package_dirs"],
            edge_points=source.get("edge_points", 0),
            srdf=source.get("srdf"),
            collide=source.get("collide"),
        )


def _listed(robot: Robot) -> list[list[Any]]:
    """Return the contact points as the argument `points` of `load` takes them."""
    found = []
    for point in robot.points:
        entry = [robot.bodies[point.body].name, list(map(float, point.position)), point.radius]
        found.append(
            entry if point.half_axes is None else [*entry, np.asarray(point.half_axes).tolist()]
        )
    return found


def _source(
    source: str | os.PathLike[str], base: str, package_dirs: Sequence[str | os.PathLike[str]]
) -> dict[str, Any]:
    """Return what `reload` needs: a bundled name as it is, and absolute paths."""
    named = isinstance(source, str) and source in bundled()
    return {
        "file": source if named else str(Path(source).expanduser().absolute()),
        "base": base,
        "package_dirs": [str(Path(d).expanduser().absolute()) for d in package_dirs],
    }


def bundled() -> list[str]:
    """Return the names of the robots and objects that come with Heelstrike."""
    folder = resources.files("heelstrike.robot") / "models"
    if not folder.is_dir():
        return []
    return sorted(f.name.removesuffix(".xml") for f in folder.iterdir() if f.name.endswith(".xml"))


def find_file(source: str | os.PathLike[str]) -> Path:
    """Return the file of a bundled name or a path; a Path to an existing file comes first."""
    names = bundled()
    listed = f"bundled: {', '.join(names)}; or pass a path to .urdf or .xml"
    if not isinstance(source, str | os.PathLike) or not str(source):
        raise LoadError(f"{source!r} is not a robot", value=source, remedy=listed)
    text = str(source)
    path = Path(text).expanduser()
    if text in names and (isinstance(source, str) or not os.path.exists(path)):
        return Path(str(resources.files("heelstrike.robot") / "models" / f"{text}.xml"))
    if os.path.isdir(path):
        remedy = "name the .urdf or .xml file inside it"
        raise LoadError(f"{text} is a folder", path=text, value=source, remedy=remedy)
    if os.path.isfile(path):
        return path
    if path.suffix.lower() in SUFFIXES or os.sep in text:
        remedy = f"check the path (relative to {Path.cwd()})"
        raise LoadError(f"{text}: no such file", path=text, value=source, remedy=remedy)
    close = nearest(text, names)
    hint = f"did you mean '{close}'? " if close else ""
    raise LoadError(f"no robot '{text}'", value=source, remedy=hint + listed)
