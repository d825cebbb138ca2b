"""Processes of ours that start in a folder of a stranger run no module of that folder.

Python runs `python -m` and the processes of a pool with the present folder before all others.
Oracle: modules there that leave a mark when they are imported.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from heelstrike.bench.growth import in_a_process
from heelstrike.bench.memory import peak
from heelstrike.bench.standing import case
from heelstrike.papers.making import Task, make
from heelstrike.scene.files.document import read_scene
from heelstrike.view.browser.prepare import prepare
from heelstrike.view.browser.scene_choice import Choice

NAMES = ("numpy", "casadi", "multiprocessing", "pickle", "heelstrike")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(f"open('mark of {name}', 'w')\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def marks(folder: Path) -> list[str]:
    return [path.name for path in folder.glob("mark of *")]


def test_the_viewer_compiles_another_scene(folder):
    document = read_scene("bouncing-ball")
    assert prepare(Choice(document, "bouncing-ball")) == document
    assert marks(folder) == []


def test_figures_in_several_processes(folder):
    tasks = [Task("marhefka1996", name, folder / f"{name}.png") for name in ("fig3", "fig5")]
    assert len(list(make(tasks, 2))) == 2
    assert marks(folder) == []


@pytest.mark.nightly
def test_bench_measures_memory_and_growth(folder):
    assert peak(case("hoap1"), 2) > 0
    assert "us" in in_a_process("joints", 1, 1)
    assert marks(folder) == []
