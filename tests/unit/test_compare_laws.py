"""A scene under several laws: the same in every run but the law.

Oracle of the forces: the momentum of the ball, impulse = m (g T + v_end - v_start), whatever the
law. The table of docs/choosing.md is what its JSON file says.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import heelstrike as hs
from benchmarks import choosing
from heelstrike.measure.laws import law_names
from heelstrike.measure.table import GROUPS, cell, failure, written
from heelstrike.measure.verdict import verdict
from tests.cli import call

ROOT = Path(__file__).parents[2]
BALL = """
about = "a ball falls"
[simulation]
duration = 0.4
[[object]]
model = "ball"
drop = 0.05
[[surface]]
type = "plane"
law = { type = "elastic", friction = { type = "bristle", mu_s = 0.5, mu_k = 0.4 } }
"""
WALL = """
[[surface]]
type = "plane"
name = "wall"
point = [1.0, 0.0, 0.0]
normal = [-1.0, 0.0, 0.0]
law = { type = "rigid", friction = { mu_s = 0.7, mu_k = 0.7 } }
"""


@pytest.fixture(autouse=True)
def scenes(plain, tmp_path):
    (tmp_path / "ball.toml").write_text(BALL)
    (tmp_path / "two.toml").write_text(BALL + WALL)
    (tmp_path / "same.toml").write_text(BALL + WALL.replace("0.7", "0.4"))


def test_every_run_is_of_the_same_ball():
    found = hs.compare_laws("ball.toml", ["scene", "rigid"], dt=[1e-3, 2e-3], mujoco=True)
    assert list(found) == [
        "scene, 1 ms",
        "scene, 2 ms",
        "rigid, 1 ms",
        "rigid, 2 ms",
        "mujoco, 1 ms",
        "mujoco, 2 ms",
    ]
    for column in found.columns:
        data = column.run.data
        assert np.array_equal(data["q0"].values, found["scene, 1 ms"].run.data["q0"].values)
        speed = data["v"].values[0, :, 2]
        momentum = 1.0 * (9.81 * 0.4 + speed[-1] - speed[0])
        # MuJoCo's free joint is in the world, ours in the ball: which turns a little
        assert column.measures.impulse == pytest.approx(momentum, rel=1e-6), column.name
    rigid, mujoco = found["rigid, 1 ms"], found["mujoco, 1 ms"]
    assert rigid.run.info["parameters"]["ground.friction.mu_s"] == [0.4]
    assert mujoco.run.info["parameters"]["ground.friction.mu"] == [0.4]
    assert rigid.measures.stable_dt == pytest.approx(0.02)
    assert 0 < rigid.measures.step_time < 1e-3
    assert set(found.table) == set(found)
    assert "deepest point" in str(found)


@pytest.mark.nightly
def test_laws_of_several_surfaces_are_all_told(capsys):
    """Each surface keeps its own mu_k, so each has numbers of its own."""
    code, out, _ = call(capsys, "compare", "two.toml", "--laws", "rigid", "--html", "two.html")
    assert code == 0
    told = " ".join(out.split())
    assert re.search(
        r"rigid: ground: Rigid\([^;]*mu_k=0\.4[^;]*; wall: Rigid\([^;]*mu_k=0\.7", told
    )
    assert "wall: Rigid" in Path("two.html").read_text()
    same = hs.compare_laws("same.toml", "rigid")["rigid"].words
    assert same.count("Rigid") == 1


def test_what_cannot_run_says_why(tmp_path):
    stiff = BALL.replace('type = "elastic"', 'type = "elastic", normal = { k = 1e8 }')
    (tmp_path / "stiff.toml").write_text(stiff)
    found = hs.compare_laws("stiff.toml", "scene")
    assert "above the largest stable step" in found["scene"].said[0]
    assert failure(found.as_dict()["columns"][0]) == "refused"
    with pytest.raises(hs.HeelstrikeError, match="no law 'hertz'"):
        hs.compare_laws("ball.toml", "hertz")
    assert len(law_names("all,rigid")) == 9


def test_the_command_line_prints_tables_and_writes_a_page(capsys, tmp_path):
    code, out, err = call(
        capsys, "compare", "ball.toml", "--laws", "hunt-crossley", "--html", "ball.html"
    )
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    for part in (*GROUPS, "hunt-crossley", "stable dt", "N s", "HuntCrossley(k=9810"):
        assert part in out
    page = (tmp_path / "ball.html").read_text()
    assert page.count("data:image/png;base64,") == 2
    assert not re.search(r"(src|href)=.?https?:", page)
    for part in ("Known limitations", "Film strips", "llvmlite", "hs.suggest"):
        assert part in page


def test_json_holds_what_the_table_shows(capsys):
    code, out, _ = call(capsys, "compare", "ball.toml", "--laws", "rigid", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["machine"]["heelstrike"]
    (column,) = told["columns"]
    assert column["yardsticks"]["failed"] == -1
    for entries in GROUPS.values():
        for entry in entries:
            assert cell(column, entry)
    assert written(880.4) == "880"
    assert written(-0.0) == "0"
    assert written(2.94e-8) == "2.9e-8"


def test_stability_of_the_command_line(capsys, tmp_path):
    code, out, _ = call(
        capsys, "stability", "ball.toml", "--law", "hunt-crossley", "--picture", "map.png", "--json"
    )
    told = json.loads(out)
    assert code == 0
    assert told["mass"] == pytest.approx(1.0)
    assert told["largest_dt"] == pytest.approx(told["largest_dt_closed_form"], rel=0.3)
    assert np.shape(told["map"]["unstable"]) == (24, 21)
    assert (tmp_path / "map.png").stat().st_size > 5_000
    code, out, _ = call(capsys, "stability", "ball.toml", "--law", "rigid")
    assert code == 0
    assert "no limit by the closed form: the law is solved with the motion" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "ball.toml", "--laws", "hertz"), "no law 'hertz'"),
        (
            ("compare", "ball.toml", "--dt", "fast"),
            "not a list of numbers; allowed: time steps in seconds",
        ),
        (("compare", "ball.toml", "--html", "page.txt"), "names that end in .html"),
        (("stability", "ball.toml", "--law", "all"), "one law"),
        (("stability", "ball.toml", "--picture", "map.doc"), "allowed: names that end in .png or"),
    ],
)
def test_mistakes_are_sentences(capsys, arguments, said):
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (1, "")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize("verb", ["compare", "stability"])
def test_a_scene_without_a_surface_has_no_law(capsys, tmp_path, verb):
    (tmp_path / "none.toml").write_text('[robot]\nmodel = "ball"\n')
    law = ("--law", "scene") if verb == "stability" else ()
    code, _, err = call(capsys, verb, str(tmp_path / "none.toml"), *law)
    assert code == 1
    assert "has no surface, so no law" in err


def test_the_page_says_what_the_file_says():
    results = json.loads((ROOT / "benchmarks/results/choosing.json").read_text())
    page = (ROOT / "docs/choosing.md").read_text()
    assert choosing.placed(page, choosing.marked(choosing.tables(results))) == page
    for scene in choosing.SCENES:
        names = [column["name"] for column in results["scenes"][scene]["columns"]]
        assert len(names) == 10
        assert not [c["name"] for c in results["scenes"][scene]["columns"] if failure(c)]


def test_verdict_in_words():
    """Least and most by hand; runs that diverged are named; equal numbers are stated once."""

    def column(name, peak, failed=-1, creep=0.1):
        ends = {"failed": failed, "seconds": 1.0, "peak_force": peak, "step_time": 1e-6}
        return {
            "name": name,
            "yardsticks": ends | {"mean_depth": 1e-3, "creep_tangential": creep},
            "measures": {},
        }

    said = verdict([column("a", 50.0), column("b", 200.0, creep=30.0), column("c", 1.0, failed=7)])
    assert said[0] == "2 of 3 runs ended; not c (diverged at step 7)."
    assert "Peak force: 50 N (a) to 200 N (b)." in said
    assert "Depth at rest: 1 mm in all runs." in said
    assert "Points at rest creep under b (30 um/s); the others hold them." in said
