"""The packages import only what lies below them.

The oracle is the drawing in CONTRIBUTING.md, "The packages": a line `package: what it imports`.
Lazy imports and those for type checking count, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import heelstrike

ROOT = Path(heelstrike.__file__).parent
DRAWING = Path(__file__).parents[2] / "CONTRIBUTING.md"
SHARED = {
    "checks",
    "errors",
    "files",
    "finite",
    "interrupts",
    "machine",
    "netcdf",
    "npz",
    "parameters",
    "progress",
}
"""Modules beside the packages that any package may import."""
CONVENIENCES = {
    ("record/recording.py", "view"): "run.plot(), run.film_strip() and run.film()",
    ("environments/environments.py", "view"): "envs.render()",
    ("robot/robot.py", "view"): "a robot in a notebook",
    ("scene/scene.py", "view"): "a scene in a notebook",
    ("simulate/simulator.py", "view"): "a simulator in a notebook",
    ("sweeps/outcome.py", "view"): "sweep.plot()",
}
"""Methods that draw: they import the view when they are called, and nothing else of it is used."""


def drawn() -> dict[str, set[str]]:
    """Return what each package may import, by the table of CONTRIBUTING.md."""
    text = DRAWING.read_text()
    rows = re.findall(r"^\| `(\w+)` \| [^|]* \| ([^|]*)\|$", text, re.MULTILINE)
    return {package: set(re.findall(r"`(\w+)`", below)) for package, below in rows}


def imports(path: Path) -> Iterator[str]:
    """Yield the packages of Heelstrike that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for module in modules:
            package, _, rest = module.partition(".")
            if package == "heelstrike":
                yield rest.split(".")[0]


def packages() -> list[str]:
    return sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))


def test_every_package_is_drawn():
    assert set(drawn()) == set(packages())
    assert {path.stem for path in ROOT.glob("*.py")} - {"__init__", "__main__"} == SHARED


def test_the_drawing_has_no_cycle():
    """Packages can be put in a row in which each imports only from its left."""
    left, below = [], drawn()
    while len(left) < len(below):
        free = [name for name, own in below.items() if name not in left and own <= set(left)]
        assert free, f"a cycle among {set(below) - set(left)}"
        left += free


@pytest.mark.parametrize("package", packages())
def test_a_package_imports_only_what_is_drawn_below_it(package):
    allowed = drawn()[package] | SHARED | {package, "", "__version__"}
    wrong = []
    for path in sorted((ROOT / package).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        wrong += [
            f"{name} imports {other}"
            for other in imports(path)
            if other not in allowed and (name, other) not in CONVENIENCES
        ]
    assert not wrong


def test_modules_beside_the_packages_import_none_of_them():
    for name in SHARED:
        assert set(imports(ROOT / f"{name}.py")) <= SHARED


def test_files_that_contributing_names_exist():
    """Every file named in CONTRIBUTING.md, relative to the package or to the repository."""
    named = re.findall(r"`([\w/]+(?:\.py|\.md|\.toml))`", DRAWING.read_text())
    assert len(named) > 20
    for name in named:
        assert (ROOT / name).exists() or (DRAWING.parent / name).exists(), name


def private_uses(path: Path) -> Iterator[str]:
    """Yield underscored names of another object's or module's that a file uses."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and re.match(r"_[^_]", node.attr):
            owner = ast.unparse(node.value)
            if owner not in ("self", "cls"):
                yield f"{node.lineno} {owner}.{node.attr}"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("heelstrike"):
            for alias in node.names:
                if re.match(r"_[^_]", alias.name):
                    yield f"{node.lineno} import {alias.name}"


def test_nothing_touches_another_objects_private_names():
    """An object may reach into another of its own class, in the class's file alone."""
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        own = set(re.findall(r"self\.(_[a-z]\w*)", path.read_text()))
        wrong += [
            f"{path.relative_to(ROOT)}:{use}"
            for use in private_uses(path)
            if use.rpartition(".")[2] not in own
        ]
    assert not wrong
