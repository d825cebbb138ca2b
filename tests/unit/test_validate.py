"""Judging models on measurements: folds, search, scores, floor, verdict, files, the command.

Oracle: a set that is invented, x = a t + noise, whose errors and standard errors are known. Its
laws are lines through 0 and parabolas; the slope that was put in must be found again.
"""

import json
from functools import partial

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.errors import FileError, HeelstrikeError, UnknownNameError
from heelstrike.identification.space import Space
from heelstrike.validation import kept, sets
from heelstrike.validation import validate as module
from heelstrike.validation.files import columns, find
from heelstrike.validation.fit import Effort, Fit
from heelstrike.validation.floor import nearest
from heelstrike.validation.judge import Score, clearly, difference, judge
from heelstrike.validation.measured_set import BASELINE, MUJOCO, Cases, Measure, MeasuredSet
from heelstrike.validation.models import Trajectories
from tests.cli import call

SLOPE, NOISE, FRAMES = 2.0, 0.05, 11


def straight(power, cases, values):
    return cases.given["v0"][:, None, None] * values["slope"] * cases.time[None, :, None] ** power


class Lines(MeasuredSet):
    """Points on lines of one slope, each times its own speed."""

    name, stem, title = "lines", "line", "invented lines"
    columns = ("x", "v0", "ids")
    measures = (Measure("place", "m", aim=0.1), Measure("end", "m"))
    phases = ("early", "late")
    laws = ("line", "parabola")

    def read(self, path):
        data = columns(path, self.columns)
        time = np.linspace(0, 1, FRAMES)
        return Cases(path.name, data["ids"], time, data["x"][..., None], {"v0": data["v0"]})

    def models(self):
        space = Space.of({"slope": (0.2, 20.0)})
        laws = {"line": 1, "parabola": 2, MUJOCO: 3}
        made = {n: partial(Trajectories, space, partial(straight, p)) for n, p in laws.items()}
        still = partial(Trajectories, None, lambda cases, values: 0 * cases.measured)
        return {**made, BASELINE: still}

    def errors(self, cases, predicted):
        off = np.abs(predicted - cases.measured)[..., 0]
        return {"place": off, "end": off[..., -1]}

    def loss(self, cases, errors):
        return np.nanmean(errors["place"], axis=-1)

    def phase(self, cases):
        return np.tile(np.arange(FRAMES) >= FRAMES // 2, (len(cases), 1)).astype(int)

    def disturbed(self, cases, random):
        v0 = cases.given["v0"]
        return cases.with_given(v0=v0 + random.normal(0, NOISE, v0.shape))

    def starts(self, cases):
        return cases.given["v0"][:, None]

    def residuals(self, cases, predicted):
        return {"place": cases.measured - predicted}

    def curves(self, cases, channels, case):
        return {"place [m]": channels[case, :, 0]}


def write(path, ids, seed=0):
    random = np.random.default_rng(seed)
    v0 = random.uniform(1, 2, len(ids))
    x = SLOPE * v0[:, None] * np.linspace(0, 1, FRAMES)
    np.savez(path, x=x + random.normal(0, NOISE, x.shape), v0=v0, ids=np.array(ids))


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
    assert "60 of its cases were used" in again.notes[1]
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
