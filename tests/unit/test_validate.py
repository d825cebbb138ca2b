"""Judging models on measurements: folds, search, scores, floor, verdict, files, the command.

Oracle: a set that is invented, x = a t + noise, whose errors and standard errors are known. Its
laws are lines through 0 and parabolas; the slope that was put in must be found again.
"""

import json

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.errors import FileError, HeelstrikeError, UnknownNameError
from heelstrike.validation import kept, sets
from heelstrike.validation import validate as module
from heelstrike.validation.files import find
from heelstrike.validation.fit import Effort, Fit
from heelstrike.validation.floor import nearest
from heelstrike.validation.judge import Score, clearly, difference, judge
from heelstrike.validation.measured_set import BASELINE, MUJOCO, Cases
from tests.cli import call
from tests.lines import FRAMES, NOISE, SLOPE, Lines, write


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """The set, with a training file of 80 cases and a fit that is kept."""
    folder = tmp_path_factory.mktemp("lines")
    write(folder / "line_train.npz", [k for k in range(100) if k % 5])
    (folder / "new").mkdir()
    write(folder / "new" / "line_test.npz", range(0, 100, 5), seed=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEELSTRIKE_DATA", str(folder))
        patch.setitem(sets.SETS, "lines", "lines:Lines")
        patch.setattr(module, "measured_set", lambda name: Lines())
        patch.setattr(kept, "FOLDER", folder / "fits")
        kept.FOLDER.mkdir()
        found = hs.validate("lines", effort=Effort(sets=12, rounds=6))
        values = found.as_dict() | {"trained": list(found.trained)}
        (kept.FOLDER / "lines.json").write_text(json.dumps(values))
        yield folder, found


def test_a_law_is_found_and_told_from_others(lines):
    _, found = lines
    assert len(found.cases) == 20
    assert all(found.cases.ids % 5 == 1)
    assert len(found.trained) == 60
    line = found.models["line"]
    # the noise of 660 points over the mean of t v0: 0.1 %; the search ends at 0.3 %
    assert line.fit.values["slope"] == pytest.approx(SLOPE, rel=0.01)
    # mean |noise| is sqrt(2 / pi) of its deviation; 220 values scatter by 5 % of it
    assert line.score("place").mean == pytest.approx(NOISE * np.sqrt(2 / np.pi), rel=0.15)
    for other in ("parabola", MUJOCO, BASELINE):
        assert clearly(difference(found.models[other], line, "place")) == 1
    assert clearly(difference(line, line, "place")) == 0
    said = " ".join(found.verdict)
    assert "place: line has the least error" in said
    assert "Worse by more than that: parabola" in said
    assert "mujoco has" in said
    assert "better: line" in said
    assert "The aim, 0.1 m, is met by 1 of 2 laws" in said
    assert "lines: invented lines" in str(found)


def test_the_floor_is_the_noise_of_the_start_and_of_what_does_not_repeat(lines):
    _, found = lines
    assert found.floor.law == "line"
    # |slope t noise|, mean over t from 0 to 1, of 120 draws
    expected = SLOPE * 0.5 * NOISE * np.sqrt(2 / np.pi)
    assert found.floor.start_noise["place"].mean == pytest.approx(expected, rel=0.2)
    # residuals are white: pairs differ as much as any, by |N| of deviation sqrt(2), over sqrt(2)
    near = found.floor.repeatability["place"]
    assert near.mean == pytest.approx(NOISE * np.sqrt(2 / np.pi), rel=0.5)


def test_sets_are_found_by_the_names_of_files(tmp_path, monkeypatch):
    monkeypatch.delitem(sets.SETS, "lines", raising=False)
    with pytest.raises(FileError, match="holds no file of a data set; names begin with cube_toss"):
        sets.sets_in(tmp_path)
    for name in ("icub_sway_b.npz", "cube_toss_test.npz"):
        (tmp_path / name).touch()
    assert sets.sets_in(tmp_path) == ["cube", "icub-sway"]
    assert sets.sets_in(tmp_path / "cube_toss_test.npz") == ["cube"]


def test_neighbours_are_the_nearest():
    pairs = nearest(np.array([[0.0], [1.0], [1.1], [5.0], [5.05], [9.0], [20.0], [33.0]]))
    assert pairs[:2].tolist() == [[3, 4], [1, 2]]


def test_scores_leave_out_what_diverged():
    score = Score.of(np.array([1.0, 3.0, np.inf, np.nan]))
    assert (score.mean, score.error, score.median) == (2.0, 1.0, 2.0)
    assert Score.of(np.array([np.inf])).as_dict()["mean"] is None
    about = Lines()
    cases = Cases("f", np.arange(2), np.linspace(0, 1, FRAMES), np.zeros((2, FRAMES, 1)))
    predicted = np.ones((2, FRAMES, 1))
    predicted[1] = np.inf
    made = judge(about, cases, "law", Fit({}, {}), predicted)
    assert made.diverged == 1
    assert made.phases["place"] == {"early": 1.0, "late": 1.0}
    assert made.errors["end"].tolist() == [1.0, np.inf]


def test_other_files_are_judged_with_kept_parameters(lines):
    """Every case of a file that was held back; of the training file, what was held out."""
    folder, found = lines
    new = hs.validate("lines", data=folder / "new")
    assert new.file == "line_test.npz"
    assert len(new.cases) == 20
    assert new.effort is None
    assert new.models["line"].fit == found.models["line"].fit
    again = hs.validate("lines", ["line"], data=folder, mujoco=False)
    assert list(again.models) == ["line", BASELINE]
    assert np.array_equal(again.cases.ids, found.cases.ids)
    assert "60 of its cases, or copies of them, were used" in again.notes[1]
    with np.load(folder / "new" / "line_test.npz") as file:
        twice = {name: np.concatenate([array, array]) for name, array in file.items()}
    np.savez(folder / "twice.npz", **twice)
    both = hs.validate("lines", ["line"], data=folder / "twice.npz", mujoco=False)
    assert len(both.cases) == 20
    assert both.notes[1] == "20 more are copies of others: left out."
    write(folder / "new" / "renamed.npz", [1, 2, 3], seed=9)  # ids alone do not count
    assert len(hs.validate("lines", data=folder / "new" / "renamed.npz").cases) == 3


def test_what_cannot_be_judged_is_a_sentence(lines, tmp_path, monkeypatch):
    folder, _ = lines
    with pytest.raises(FileError, match=r"holds no file line\*\.npz; name the folder of the data"):
        hs.validate("lines", data=tmp_path)
    with pytest.raises(FileError, match="neither a folder nor a file"):
        hs.validate("lines", data=tmp_path / "none")
    for name in ("line_a.npz", "line_b.npz"):
        write(tmp_path / name, [1])
    with pytest.raises(FileError, match=r"several files: line_a\.npz, line_b\.npz; name one"):
        find("line", tmp_path)
    with pytest.raises(UnknownNameError, match="law 'lime'"):
        hs.validate("lines", ["lime"])
    with pytest.raises(HeelstrikeError, match=r"every case of .* was used to fit"):
        hs.validate("lines", data=folder, refit=True, effort=Effort(2, 1))
    monkeypatch.delenv("HEELSTRIKE_DATA")
    with pytest.raises(HeelstrikeError, match=r"no file line_train\.npz to fit laws on; set HEEL"):
        hs.validate("lines")
    monkeypatch.undo()
    with pytest.raises(UnknownNameError, match="data set 'cub'"):
        sets.measured_set("cub")


def test_the_command_prints_a_table_and_writes_a_report(lines, tmp_path, capsys):
    folder, _ = lines
    place = ("validate", "lines", "--data", str(folder / "new" / "line_test.npz"))
    code, out, _ = call(capsys, *place, "--report", str(tmp_path))
    assert code == 0
    assert "mean +- standard error (median)" in out
    assert max(len(line) for line in out.splitlines() if not line.startswith("report")) <= 80
    page = (tmp_path / "report.md").read_text()
    assert "| line |" in page
    assert "![lines-cases](lines-cases.png)" in page
    assert {path.name for path in tmp_path.glob("*.png")} == {
        "lines-scores.png", "lines-errors.png", "lines-cases.png",
    }  # fmt: skip
    numbers = json.loads(call(capsys, *place, "--json")[1])[0]
    assert numbers["models"]["line"]["scores"]["place"]["mean"] < 0.1


def test_a_report_that_cannot_be_written_is_refused_before_anything_is_fitted(tmp_path, capsys):
    (tmp_path / "taken").write_text("")
    code, out, said = call(capsys, "validate", "cube", "--report", str(tmp_path / "taken"))
    assert (code, out) == (1, "")
    assert "cannot create the folder" in said
