"""Broken scene and robot files: each is answered by one sentence and a non-zero exit code.

The files are in tests/broken, what is to be said of each in tests/broken/answers.toml; where a
line of a scene is at fault, its number is part of it.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from heelstrike.cli import main

BROKEN = Path(__file__).parents[1] / "broken"
ANSWERS = tomllib.loads((BROKEN / "answers.toml").read_text())


@pytest.fixture(autouse=True)
def plain(monkeypatch, tmp_path):
    """80 columns, no colour, in an empty folder."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)


def arguments(path):
    return ["run", str(path)] if path.suffix == ".toml" else ["run", "--robot", str(path)]


def test_there_are_a_hundred_and_each_file_has_its_answer():
    files = [p for p in BROKEN.rglob("*") if p.suffix in (".toml", ".urdf", ".xml")]
    names = {str(p.relative_to(BROKEN)) for p in files} - {"answers.toml"}
    assert names == set(ANSWERS)
    assert len(names) >= 100


@pytest.mark.parametrize("name", ANSWERS)
def test_a_sentence_and_no_traceback(capsys, tmp_path, name):
    with pytest.raises(SystemExit) as left:
        main(arguments(BROKEN / name))
    out, err = capsys.readouterr()
    assert left.value.code == 1
    assert out == ""
    assert "Traceback" not in err
    for part in ANSWERS[name]:
        assert part in err
    assert not list(tmp_path.rglob("*.nc"))


@pytest.mark.parametrize("kind", ["scenes", "robots"])
def test_a_folder(capsys, kind):
    flag = ["--robot"] if kind == "robots" else []
    with pytest.raises(SystemExit) as left:
        main(["run", *flag, str(BROKEN / kind)])
    assert left.value.code == 1
    assert "is a folder; name the" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["scenes/negative-stiffness.toml", "scenes/junk.toml", "robots/entity-bomb.xml"]
)
def test_as_a_process(name):
    command = [sys.executable, "-m", "heelstrike", *arguments(BROKEN / name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert all(part in done.stderr for part in ANSWERS[name])
