"""Rows with a status, items in several processes, and the report of a paper.

Oracles: the items themselves, made in this process; the counts of rows.
"""

import json
import signal
import subprocess
import sys
import time

import pytest

from heelstrike.cli import main
from heelstrike.errors import HeelstrikeError
from heelstrike.papers import NAMES, paper
from heelstrike.papers.document import document, in_words
from heelstrike.papers.making import FAMILIES, LONG, Made, Task, make, make_one
from heelstrike.papers.report import FAULT, Result, Row, Status, meets, near, shown, unknown


def test_statuses():
    """Only what has something of the paper beside it is reproduced."""
    rows = (
        shown("a", 1, True, "is one"),
        shown("b", 1, False, "2", "too small"),
        unknown("c", "fast", "no machine is named", ours=3),
        unknown("d", None, "not given"),
        near("e", 1.0, 2.0, 0.1),
        near("f", 1.0, 1.0, 0.1, fault=True),
        near("g", 1.0, None, 0.1, theirs=1.0),
        meets("h", 1.0, least=0.5),
        meets("i", 1.0, most=0.5),
    )
    result = Result("x", "", "", rows)
    assert [row.status.name for row in rows] == [
        "reproduced", "differs", "unknown", "unknown", "differs", "agrees", "reproduced", "meets",
        "differs"
    ]  # fmt: skip
    assert [result.count(status) for status in Status] == [2, 1, 1, 3, 2]
    assert result.held == 4
    assert [row.why for row in rows][1:6] == [
        "too small", "no machine is named", "not given", "not explained yet", FAULT
    ]  # fmt: skip
    assert [row.within for row in rows][5:] == ["0.1", "0.1", "at least 0.5", "at most 0.5"]
    assert [row["holds"] for row in result.as_dict()["rows"]][:5] == [
        True,
        False,
        None,
        None,
        False,
    ]
    assert result.as_dict()["rows"][3]["ours"] is None
    assert in_words(rows).startswith("Of 9 rows 4 have a printed number or a statement beside them")


def test_rows_that_make_no_sense_are_refused():
    with pytest.raises(HeelstrikeError, match="its remark must say why"):
        unknown("speed", 1.0, "")
    with pytest.raises(HeelstrikeError, match="has no criterion"):
        meets("speed", 1.0)
    with pytest.raises(HeelstrikeError, match="no number of ours to judge"):
        Row("speed", None, False, 1.0, remark="none")


def tasks(folder, *names):
    return [Task("marhefka1996", name, folder / f"{name}.png") for name in names]


@pytest.mark.nightly
def test_results_do_not_depend_on_the_number_of_processes(tmp_path):
    """Numbers and pictures, bit for bit: three families in two processes, beside one."""
    names = ("operations", "fig5", "fig7", "two-alphas")
    found = []
    for jobs in (1, 2):
        folder = tmp_path / str(jobs)
        folder.mkdir()
        made = {one.task.item: one for one in make(tasks(folder, *names), jobs)}
        pictures = {path.name: path.read_bytes() for path in folder.iterdir()}
        found.append(({item: one.result for item, one in made.items()}, pictures))
    assert found[0] == found[1]
    assert set(found[0][0]) == set(names)
    assert set(found[0][1]) == {"fig5.png", "fig7.png", "two-alphas.png"}


def test_items_of_a_family_stay_together(tmp_path):
    """Those that share simulations: of one module, or as FAMILIES says."""
    fig4, fig7 = tasks(tmp_path, "fig4", "fig7")
    assert fig4.family == fig7.family == ("marhefka1996", "hysteresis")
    for name, item in (*FAMILIES, *LONG):
        assert item in paper(name).items


def test_an_item_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    def fail(*_):
        raise HeelstrikeError("the ground gave way")

    monkeypatch.setattr("heelstrike.papers.Paper.run", fail)
    made = make_one(tasks(tmp_path, "fig5")[0])
    assert (made.result, made.error) == (None, "the ground gave way")
    page = document([made], 1.0, 1)
    assert "could not be made: the ground gave way" in page.blocks[3].text


def test_document_counts(tmp_path):
    """Every row of two papers is in the page, and the counts at its top are of them."""
    rows = (near("a", 1.0, 1.0, 0.1), shown("b", 1, False, "x", "why"), unknown("c", None, "gone"))
    made = [
        Made(Task(name, item, tmp_path / "x.png"), 1.0, Result(item, item, "It is so.", rows))
        for name, item in (
            ("marhefka1996", "fig1"),
            ("marhefka1996", "fig2"),
            ("rengifo2009", "fig2"),
        )
    ]
    page = document(made, 3.0, 2)
    summary = page.blocks[1]
    assert [line.cells for line in summary.rows] == [
        ("marhefka1996", "2", "6", "0", "2", "0", "2", "2"),
        ("rengifo2009", "1", "3", "0", "1", "0", "1", "1"),
        ("all", "3", "9", "0", "3", "0", "3", "3"),
    ]
    anchors = [section.anchor for section in page.all_sections()]
    assert [a for a in anchors if a.endswith(("fig1", "fig2"))] == [
        "marhefka1996-fig1", "marhefka1996-fig2", "rengifo2009-fig2"
    ]  # fmt: skip
    assert [a for a in anchors if a.endswith("errata")] == [
        "marhefka1996-errata",
        "rengifo2009-errata",
    ]
    first = page.sections[0].sections[0].blocks[1]
    assert [(line.cells[5], line.cells[6]) for line in first.rows] == [
        ("agrees with the closed form", ""), ("differs", "why"), ("cannot be known", "gone")
    ]  # fmt: skip


def command(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    printed = capsys.readouterr()
    return ended.value.code or 0, printed.out, printed.err


def test_report_of_one_item(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ("paper", "marhefka1996", "fig5", "--report", "r", "--json")
    code, out, err = command(capsys, *arguments)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["report"] == "r/report.html"
    assert found["reproduced"] + found["agrees"] == found["rows"]
    assert (found["meets"], found["differs"], found["unknown"]) == (0, 0, 0)
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == [
        "fig5.png", "report.html", "report.md"
    ]  # fmt: skip
    assert "fig5: force against depth" in (tmp_path / "r" / "report.html").read_text()
    assert "](<fig5.png>)" in (tmp_path / "r" / "report.md").read_text()


def test_a_report_that_has_no_folder(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("a file")
    code, out, err = command(capsys, "paper", "marhefka1996", "fig5", "--report", "taken/r")
    assert (code, out) == (1, "")
    assert "--report" in err


def test_all_is_of_every_paper(capsys, tmp_path, monkeypatch):
    """Without running them: what is asked for, and how it is told."""
    monkeypatch.chdir(tmp_path)
    asked = []

    def quick(some, jobs):
        asked.extend(some)
        rows = (near("a", 1.0, 1.0, 0.1),)
        return (Made(task, 1.0, Result(task.item, "", "", rows)) for task in some)

    monkeypatch.setattr("heelstrike.papers.making.make", quick)
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = command(capsys, "paper", "all", "--report", "r")
    assert (code, err) == (0, "")
    assert [(task.paper, task.item) for task in asked] == [
        (name, item) for name in NAMES for item in paper(name).items
    ]
    assert asked[0].picture.parts == ("r", "marhefka1996", "poisson.png")
    assert max(map(len, out.splitlines())) <= 80
    assert f"0 of {len(asked)} rows reproduced, {len(asked)} agree with the closed form" in out
    code, out, err = command(capsys, "paper", "all", "--json")
    assert [one["paper"] for one in json.loads(out)["papers"]] == list(NAMES)
    code, out, err = command(capsys, "paper", "all", "fig5")
    assert (code, out) == (1, "")
    assert "'fig5' belongs to one paper" in err


def test_interrupted(tmp_path):
    """Ctrl-C, once two processes are at work, ends all of them and leaves no report."""
    arguments = ("paper", "marhefka1996", "--jobs", "2", "--report", str(tmp_path / "r"))
    process = subprocess.Popen(
        [sys.executable, "-m", "heelstrike", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 180
    while not list(tmp_path.glob("r/*.png")) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)  # to the one that waits alone: it has to end the others
    _, err = process.communicate(timeout=60)  # waits for all that hold its standard error
    assert process.returncode != 0
    assert "Traceback" not in err
    assert not (tmp_path / "r" / "report.html").exists()
