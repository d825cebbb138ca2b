"""Contacts between the links of a URDF: all but those of neighbours.

A URDF does not mention self-collision; an SRDF disables it for pairs of links.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

from heelstrike.robot.robot import Joint, Shape
from heelstrike.robot.xml import RobotFile

LinkPairs = set[frozenset[str]]
"""Pairs of names of links."""


def find_srdf(urdf: Path) -> Path | None:
    """Return the SRDF of a URDF's name, in its folder or in the folder srdf beside that."""
    folder = urdf.absolute().parent
    name = f"{urdf.stem}.srdf"
    return next((p for p in (folder / name, folder.parent / "srdf" / name) if p.is_file()), None)


def disabled_pairs(srdf: Path, links: set[str]) -> LinkPairs:
    """Return the pairs of links whose collisions an SRDF disables."""
    file = RobotFile(srdf)
    root = file.parse()
    if root.tag != "robot":
        file.fail(f"starts with <{root.tag}>", value=root.tag, remedy="an SRDF starts with <robot>")
    pairs: LinkPairs = set()
    for element in root.iter("disable_collisions"):
        names = [element.get(key, "") for key in ("link1", "link2")]
        if links.issuperset(names):
            pairs.add(frozenset(names))
    return pairs


def touching_shapes(
    joints: tuple[Joint, ...], shapes: tuple[Shape, ...], disabled: LinkPairs
) -> tuple[tuple[int, int], ...]:
    """Return the pairs of collision shapes, as indices, that may touch."""
    parents = [joint.parent for joint in joints]
    neighbours = {frozenset((i, parent)) for i, parent in enumerate(parents)}
    solid = [i for i, shape in enumerate(shapes) if shape.collides]
    return tuple(
        (i, j)
        for i, j in combinations(solid, 2)
        if shapes[i].body != shapes[j].body
        and frozenset((shapes[i].body, shapes[j].body)) not in neighbours
        and frozenset((shapes[i].link, shapes[j].link)) not in disabled
    )
