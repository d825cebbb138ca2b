"""Every example runs, and prints what it promises; each is under 60 lines.

Oracles: Coulomb's tan of the friction angle, the robot's weight, the bits of the simulator, and for
the rest that the number is there and of the right size.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread

import heelstrike as hs

ROOT = Path(__file__).parents[2]
EXAMPLES, DOCS = ROOT / "examples", ROOT / "docs"
PRINTED = {
    "aim": r"misses by [\d.]+e-0[6-9] mm\n$",
    "ankles": r"10 N: servo +[2-4]\d%, feedback +(9\d|100)%",
    "balance": r"servo +8\d% +1\d% .*\npolicy +(9\d|100)% +([5-9]\d|100)% ",
    "compare_laws": r"creep along",
    "export_step": r"agree to the last bit",
    "friction_sweep": r"holds from mu = 0\.36[3-5] .*\n.* 0\.295 m/s; Coulomb: 0\.295",
    "hit": r"0\.20 m/s:  6\.00 N, impulse 0\.138",
    "materials": r"together 49\.0[456] N; the robot weighs 49\.05",
    "own_law": r"mine, b = 1e7 +\d{3}\.\d N",
    "punch": r"planned +0\.800 kg",
    "pushes": r"fells it +1[34]\.\d+ N",
    "rays": r"nearest 0\.\d+ m; the stairs rise to 0\.120 m",
    "stand": r"failed +none",
    "terrain": r"64 of 64",
    "walk": r"walked 2\d mm",
}
SHORT = {"balance": ["40"]}
"""Arguments that make an example short."""
STRIPS = ("drop", "dominoes", "kick", "roll", "grip", "right", "cassie")
"""Examples that draw a film strip of their name, which the documentation shows."""
LONG = {*STRIPS, "portraits"}  # half a minute each


def run(name: str, folder: Path) -> str:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *SHORT.get(name, [])]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return made.stdout


LEARNING = {
    "learning/stand_up": r"cosine: .* 3\d0 ms\niLQR: .* 2\d0 ms\n\d+ iterations per CPU second",
    "learning/identify_by_gradient": r"k = (79|80)\d\d, true 8000\n.*alpha = 0\.(39|40)",
}
"""Those by derivatives; that of walking, whose learner takes minutes, is in test_walk.py."""


@pytest.mark.nightly
@pytest.mark.parametrize("name", LEARNING)
def test_example_by_derivatives_runs(name, tmp_path):
    if "import torch" in (EXAMPLES / f"{name}.py").read_text():
        pytest.importorskip("torch", reason="torch is not installed")
    assert re.search(LEARNING[name], run(name, tmp_path))


def test_none_is_forgotten_or_long():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(PRINTED) | LONG
    for path in EXAMPLES.glob("*.py"):
        assert len(path.read_text().splitlines()) < 60, path.name


SLOW = ("ankles", "balance", "compare_laws", "materials", "punch", "pushes", "rays", "walk")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.nightly if n in SLOW else ()) for n in PRINTED]
)
def test_example_runs(name, tmp_path):
    assert re.search(PRINTED[name], run(name, tmp_path))
    if name == "stand":
        assert hs.Recording.load(tmp_path / "stand.nc").data["failed"].item() == -1
        assert (tmp_path / "stand.png").stat().st_size > 10_000


@pytest.mark.nightly
def test_notebook_runs(tmp_path):
    """From top to bottom; its own assertions hold, and it draws two pictures."""
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    client = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    book = nbformat.read(EXAMPLES / "tour.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells)  # kept small: none is committed
    resources = {"metadata": {"path": str(tmp_path)}}
    client.NotebookClient(book, timeout=120, resources=resources).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2


@pytest.mark.nightly
@pytest.mark.parametrize("name", STRIPS)
def test_strips_of_the_documentation_are_drawn(name, tmp_path):
    """As it shows them: as large, and not another picture."""
    if run(name, tmp_path).startswith("skipped"):
        pytest.skip("its model is not here")
    shown, made = (imread(folder / f"{name}.png") for folder in (DOCS / "images", tmp_path))
    assert shown.shape == made.shape
    assert abs(shown - made).mean() < 0.01  # fonts and last bits may differ


@pytest.mark.nightly
def test_portraits_are_drawn(tmp_path):
    run("portraits", tmp_path)
    assert {path.name for path in tmp_path.glob("*.png")} >= {"hoap1.png", "objects.png"}
