"""Files of the step against the list of boxes in the docstring of their package."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import heelstrike.step

FOLDER = Path(heelstrike.step.__file__).parent
FILES = {path.name: path for path in FOLDER.glob("*.py") if path.name != "__init__.py"}


def boxes() -> dict[str, str]:
    """Return the number of the box of each listed file, "5-7" for several."""
    found, number = {}, ""
    for line in heelstrike.step.__doc__.splitlines():
        if row := re.match(r"    (\d+(?:-\d+)?)? +(\w+\.py)  ", line):
            number = row[1] or number
            found[row[2]] = number
    return found


def test_every_file_is_listed():
    assert set(re.findall(r"\w+\.py", heelstrike.step.__doc__)) == set(FILES)


def test_boxes_are_in_order():
    ends = [int(n) for number in boxes().values() for n in number.split("-")]
    starts = [int(number.split("-")[0]) for number in boxes().values()]
    assert starts == sorted(starts)
    assert set(range(1, 11)) == {*ends, 6}


def test_each_file_begins_with_its_box():
    for name, number in boxes().items():
        first = ast.get_docstring(ast.parse(FILES[name].read_text())).splitlines()[0]
        start = f"Boxes {number.replace('-', ' to ')} " if "-" in number else f"Box {number}"
        assert first.startswith(start), name
        assert "[Sugihara2006], Fig. 4: " in first, name
