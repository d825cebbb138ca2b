"""Default classes, includes and orientations of an MJCF, as MuJoCo understands them.

An element takes the attributes of its class (its own `class`, else the nearest `childclass`, else
"main"); a class inherits from the class around it. What stands on the element wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
from scipy.spatial.transform import Rotation

from heelstrike.robot.rotations import euler, turn_z_to
from heelstrike.robot.xml import RobotFile, label

ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
ACTUATORS = (
    "general", "motor", "position", "velocity", "intvelocity", "pid", "orientation", "damper",
    "cylinder", "muscle", "adhesion", "dcmotor", "plugin",
)  # fmt: skip


def expand_includes(
    reading: RobotFile, root: Element, above: tuple[Path, ...] = (), seen: set[Path] | None = None
) -> None:
    """Replace every <include> by the children of the file it names, in place; each file once."""
    folder = reading.path.parent
    seen = set() if seen is None else seen
    for parent in list(root.iter()):
        for child in [c for c in parent if c.tag == "include"]:
            path = (folder / child.get("file", "")).resolve()
            if path in above or path == reading.path.resolve():
                reading.fail(f"includes '{child.get('file')}' within itself; remove that <include>")
            if not path.is_file():
                reading.fail(f"includes '{child.get('file')}', which is not there")
            if path in seen:
                reading.fail(f"includes '{child.get('file')}' twice; a file may be included once")
            seen.add(path)
            included = reading.parse(path)
            expand_includes(reading, included, (*above, path), seen)
            at = list(parent).index(child)
            parent.remove(child)
            for offset, element in enumerate(included):
                parent.insert(at + offset, element)


@dataclass
class Compiler:
    """What <compiler> says about the reading of the rest."""

    degrees: bool = True
    autolimits: bool = True
    eulerseq: str = "xyz"
    meshdir: str = ""
    strippath: bool = False
    inertiafromgeom: str = "auto"
    inertiagroups: tuple[int, int] = (0, 5)
    boundmass: float = 0.0
    boundinertia: float = 0.0
    balanceinertia: bool = False
    settotalmass: float = -1.0

    @classmethod
    def read(cls, reading: RobotFile, root: Element) -> Compiler:
        merged = Element("compiler")
        for element in root.findall("compiler"):
            merged.attrib.update(element.attrib)
        if merged.get("coordinate") == "global":
            reading.fail("uses global coordinates, which MuJoCo no longer reads; convert the file")

        if merged.get("alignfree") == "true":
            reading.warn("alignfree is not followed: free bodies keep their own frames")

        def choice(key: str, *words: str) -> str:
            return one_of(reading, merged, key, words)

        def number(key: str, default: str) -> float:
            return float(reading.numbers(merged, key, default, 1)[0])

        low, high = reading.numbers(merged, "inertiagrouprange", "0 5", 2)
        sequence = merged.get("eulerseq", "xyz")
        if len(sequence) != 3 or set(sequence) - set("xyzXYZ"):
            reading.fail(f"<compiler> has eulerseq '{sequence}'; it takes three of xyzXYZ")
        return cls(
            degrees=choice("angle", "degree", "radian") == "degree",
            autolimits=choice("autolimits", "true", "false") == "true",
            eulerseq=sequence,
            meshdir=merged.get("meshdir", merged.get("assetdir", "")),
            strippath=choice("strippath", "false", "true") == "true",
            inertiafromgeom=choice("inertiafromgeom", "auto", "true", "false"),
            inertiagroups=(int(low), int(high)),
            boundmass=number("boundmass", "0"),
            boundinertia=number("boundinertia", "0"),
            balanceinertia=choice("balanceinertia", "false", "true") == "true",
            settotalmass=number("settotalmass", "-1"),
        )

    def angle(self, value: np.ndarray) -> np.ndarray:
        """An angle of the file [rad]."""
        return np.deg2rad(value) if self.degrees else value

    def span(self, reading: RobotFile, element: Element, key: str, flag: str) -> np.ndarray | None:
        """A pair of limits as it stands in the file, or None if it is not in force.

        A range counts if its flag is true, or is auto and the ends differ.
        """
        limits = reading.numbers(element, key, "0 0", 2)
        limited = one_of(reading, element, flag, ("auto", "true", "false"))
        if limited == "false" or (limited == "auto" and limits[0] == limits[1]):
            return None
        if limits[0] >= limits[1]:
            reading.fail(
                f"{label(element)} has the {key} '{element.get(key, '')}'; "
                "give two numbers, the lower one first"
            )
        if limited == "auto" and not self.autolimits:
            reading.fail(f"{label(element)} has a {key}, but autolimits is off; say {flag}='true'")
        return limits


def one_of(reading: RobotFile, element: Element, key: str, words: tuple[str, ...]) -> str:
    """The word of an attribute, the first of `words` if it is absent."""
    word = element.get(key, words[0])
    if word not in words:
        reading.fail(f"{label(element)} has {key}='{word}'; it takes {', '.join(words)}")
    return word


class Defaults:
    """The default classes of a file, each with all it inherits."""

    def __init__(self, reading: RobotFile, root: Element):
        self.reading = reading
        self.classes: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        self.actuators: dict[str, list[Element]] = {"main": []}
        for element in root.findall("default"):
            if element.get("class", "main") != "main":
                reading.fail(
                    f"the outermost default class is called '{element.get('class')}'; "
                    "leave its name out or call it main"
                )
            self._read(element, "main")

    def _read(self, element: Element, name: str) -> None:
        for child in element:
            if child.tag in ACTUATORS:
                self.actuators[name].append(child)
            elif child.tag != "default":
                own = self.classes[name].setdefault(child.tag, {})
                own.update(_overriding(own, child.attrib))
        for child in element.findall("default"):
            inner = child.get("class")
            if not inner:
                self.reading.fail("a <default> inside a <default> has no class name; give it one")
            if inner not in self.classes:
                self.classes[inner] = {k: dict(v) for k, v in self.classes[name].items()}
                self.actuators[inner] = list(self.actuators[name])
            self._read(child, inner)

    def class_of(self, element: Element, childclass: str) -> str:
        name = element.get("class", childclass)
        if name not in self.classes:
            self.reading.fail(
                f"{label(element)} asks for the default class '{name}', which the file does not "
                f"define; classes: {', '.join(self.classes)}"
            )
        return name

    def apply(self, element: Element, childclass: str) -> Element:
        """A copy of the element with everything it inherits written out."""
        inherited = dict(self.classes[self.class_of(element, childclass)].get(element.tag, {}))
        inherited.update(_overriding(inherited, element.attrib))
        return Element(element.tag, inherited)


def _overriding(inherited: dict[str, str], own: dict[str, str]) -> dict[str, str]:
    """`own`, after taking out of `inherited` any other way to say the same orientation.

    Of sizes the first few may be given: the others are inherited.
    """
    if any(key in own for key in ORIENTATIONS):
        for key in ORIENTATIONS:
            inherited.pop(key, None)
    sizes, rest = own.get("size", "").split(), inherited.get("size", "").split()
    if sizes and len(sizes) < len(rest):
        return {**own, "size": " ".join(sizes + rest[len(sizes) :])}
    return own


def orientation(reading: RobotFile, compiler: Compiler, element: Element) -> np.ndarray:
    """The rotation matrix that an element's quat, axisangle, xyaxes, zaxis or euler gives."""
    given = [key for key in ORIENTATIONS if key in element.attrib]
    if not given:
        return np.eye(3)
    if len(given) > 1:
        reading.fail(f"{label(element)} has both {' and '.join(given)}; leave one")
    key = given[0]
    counts = {"quat": 4, "axisangle": 4, "xyaxes": 6, "zaxis": 3, "euler": 3}
    values = reading.numbers(element, key, None, counts[key])
    if key == "euler":
        return euler(compiler.eulerseq, compiler.angle(values))
    lengths = [np.linalg.norm(values[:3])]
    if key == "quat":
        lengths = [np.linalg.norm(values)]
    elif key == "xyaxes":
        lengths.append(np.linalg.norm(np.cross(values[:3], values[3:])))
    if min(lengths) < 1e-12:
        reading.fail(f"'{key}' of {label(element)} has no direction: '{element.get(key)}'")
    if key == "quat":
        return Rotation.from_quat(values[[1, 2, 3, 0]]).as_matrix()
    if key == "axisangle":
        turn = compiler.angle(values[3]) / lengths[0]
        return Rotation.from_rotvec(turn * values[:3]).as_matrix()
    if key == "zaxis":
        return turn_z_to(values)
    x = values[:3] / lengths[0]
    y = values[3:] - x * (x @ values[3:])
    y /= np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])
