"""Broken scene and robot files: each is answered by one sentence and a non-zero exit code.

The files are in tests/broken, what is to be said of each in tests/broken/answers.toml; where a
line of a scene is at fault, its number is part of it.
"""

from __future__ import annotations

import copy
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import heelstrike as hs
from heelstrike.cli import main
from heelstrike.scene.files.document import Document

BROKEN = Path(__file__).parents[1] / "broken"
ANSWERS = tomllib.loads((BROKEN / "answers.toml").read_text())
pytestmark = pytest.mark.usefixtures("plain")


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


PLACES = {name: re.match(r"line (\d+), ([\w.]+)", parts[0]) for name, parts in ANSWERS.items()}


@pytest.mark.parametrize("name", [name for name, place in PLACES.items() if place])
def test_errors_carry_their_place(name):
    """The line and the key that the sentence names are attributes of the error."""
    with pytest.raises(hs.SceneError) as refused:
        hs.load_scene(BROKEN / name).run(progress=False)
    line, key = PLACES[name].groups()
    assert refused.value.line == int(line)
    assert refused.value.path == key


@pytest.mark.parametrize("kind", ["scenes", "robots"])
def test_a_folder(capsys, kind):
    flag = ["--robot"] if kind == "robots" else []
    with pytest.raises(SystemExit) as left:
        main(["run", *flag, str(BROKEN / kind)])
    assert left.value.code == 1
    assert "is a folder; name the" in capsys.readouterr().err


def places(data, inside=()):
    """Every key of a scene, at any depth."""
    for word, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield (*inside, word)
        if isinstance(value, dict | list):
            yield from places(value, (*inside, word))


@pytest.mark.parametrize("value", [float("nan"), -1, "x", [], {"a": 1}, [{"a": 1}], True, 10**30])
def test_no_value_of_any_key_is_a_traceback(value):
    """A whole scene, in which each key in turn has a value that may make no sense."""
    whole = tomllib.loads(hs.load_scene("foot").text())
    told = []
    for place in places(whole):
        data = copy.deepcopy(whole)
        table = data
        for word in place[:-1]:
            table = table[word]
        table[place[-1]] = value
        try:
            hs.SceneFile(Document("odd", data)).simulator()
        except hs.HeelstrikeError as error:
            told.append(str(error))
    assert told
    assert all(sentence.startswith("odd") for sentence in told)  # each names where


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("scenes/negative-stiffness.toml", marks=pytest.mark.nightly),
        "scenes/junk.toml",
        "robots/entity-bomb.xml",
    ],
)
def test_as_a_process(name):
    command = [sys.executable, "-m", "heelstrike", *arguments(BROKEN / name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert all(part in done.stderr for part in ANSWERS[name])
