"""Checks of an MJCF and the files it refers to, before MuJoCo reads them.

Each file is parsed as untrusted XML (xml.py). References in a circle and excessive counts are
refused: MuJoCo would crash on the first, and run out of memory or time on the second.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from heelstrike.robot.xml import RobotFile, label

XML_SUFFIXES = (".xml", ".mjcf", ".urdf")
"""Suffixes of attached models that are checked; MuJoCo has binary formats as well."""
MAX_COUNT = 10_000
"""Largest count in a file: copies by <replicate> in all, keyframes, rows of a height field, ..."""
COUNTS = {
    "size": ("nkey", "nuserdata", *(
        f"nuser_{kind}" for kind in ("body", "jnt", "geom", "site", "cam", "tendon", "actuator",
                                     "sensor")
    )),
    "hfield": ("nrow", "ncol"),
    "mesh": ("params",),
    "general": ("actdim", "nsample"),
    **{kind: ("nsample",) for kind in ("motor", "position", "velocity", "intvelocity", "damper")},
    "numeric": ("size",),
}  # fmt: skip
"""Attributes with counts, by element."""
REFUSED = ("flexcomp", "flex")
"""Elements of flexible bodies."""


@dataclass
class ReferencedFiles:
    """The files that an MJCF includes and attaches, each checked once."""

    main: RobotFile
    found: dict[str, Path] = field(default_factory=dict)
    """Files by their name as written."""

    def check(self, root: Element) -> None:
        """Check the main file, whose root element was parsed, and all that it refers to."""
        self._check(self.main, root, (self.main.path.resolve(),))

    def _check(self, file: RobotFile, root: Element, above: tuple[Path, ...]) -> None:
        """Check one file; `above` are the files by way of which it was reached, and itself."""
        _check_counts(file, root, 1)
        for element in root.iter():
            _check_formats(file, element)
            name = element.get("file", "") if element.tag in ("include", "model") else ""
            for path in self._candidates(file, name):
                if path.resolve() in above:
                    file.fail(
                        f"<{element.tag}> of '{name}' closes a circle of files",
                        value=name,
                        remedy=f"remove that <{element.tag}>",
                    )
                known = path in self.found.values()
                self.found[name] = path
                if not known:
                    self._check(RobotFile(path), file.parse(path), (*above, path.resolve()))

    def _candidates(self, file: RobotFile, name: str) -> list[Path]:
        """Return the files that MuJoCo may mean: beside the main file, or the one that refers."""
        if not name or Path(name).suffix.lower() not in XML_SUFFIXES:
            return []
        paths = (self.main.path.parent / name, file.path.parent / name)
        return [path for path in dict.fromkeys(paths) if path.is_file()]


def _check_formats(file: RobotFile, element: Element) -> None:
    """Refuse a percent sign: MuJoCo prints some names as formats, and %n ends the process."""
    for key, text in element.attrib.items():
        if "%" in text:
            file.fail(
                f"'{key}' of {label(element)} has a percent sign: '{text:.60}'",
                value=text,
                remedy="write the name without it",
            )


def _check_counts(file: RobotFile, element: Element, copies: float) -> None:
    """Refuse counts beyond MAX_COUNT in an element that occurs `copies` times."""
    if element.tag in REFUSED:
        file.fail("has flexible bodies, which are not simulated", remedy="remove them")
    if element.tag == "replicate":
        copies *= max(_largest(element.get("count", "")), 1.0)
    counts = [_largest(element.get(key, "")) for key in COUNTS.get(element.tag, ())]
    largest = max([copies, *counts])
    if largest > MAX_COUNT:
        file.fail(
            f"<{element.tag}> has a count of {largest:g}",
            value=largest,
            allowed=f"up to {MAX_COUNT}",
        )
    for child in element:
        _check_counts(file, child, copies)


def _largest(text: str) -> float:
    """Return the largest number of an attribute; MuJoCo reports text that is not numbers."""
    try:
        return max((float(word) for word in text.split()), default=0.0)
    except ValueError:
        return 0.0
