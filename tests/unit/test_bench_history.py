"""Results by commit, and what became slower.

Oracle: results whose times were multiplied by known factors.
"""

import copy
import errno
import json
import re
from pathlib import Path

import pytest

from heelstrike.bench import history
from heelstrike.bench.steps import PEER_BATCH, PEER_ONE
from heelstrike.cli.bench import SLOWER
from heelstrike.errors import FileError
from tests.cli import call


def result(ours=1.0, machine=1.0, spread=1.01):
    """A machine that is slower by a factor is so for both; `ours` slows down one figure alone."""

    def spent(us):
        return {"us": machine * us, "spread": spread}

    def pool(us):
        return spent(us) | {"cpu_us": 2 * machine * us}

    ways = {PEER_ONE: spent(30.0), PEER_BATCH: pool(16.0)}
    ways |= {"one world, run": spent(ours * 2.5), "batch, run": pool(0.4)}
    laws = {
        "rigid": {"one": spent(3.0), "batch": pool(0.5), "said": ""},
        "signorini": {"one": None, "batch": None, "said": "fell"},
    }
    return {
        "date": "2026-11-18",
        "machine": {"cpu": "znver4"},
        "quick": False,
        "robots": {"g1": {"ways": ways, "laws": laws}},
    }


def test_figures_are_ratios_to_mujoco_on_as_many_threads():
    found = history.figures(result(spread=1.1))
    assert set(found) == {
        "g1: one world, run",
        "g1: batch, run",
        "g1, rigid: one",
        "g1, rigid: batch",
    }
    assert found["g1: one world, run"] == pytest.approx((12.0, 1.21))
    assert found["g1: batch, run"] == pytest.approx((40.0, 1.21))


def test_another_machine_is_no_change():
    before = history.entry(result(), "abc")
    assert not any(change.verdict for change in history.compare(before, result(machine=3.0)))


@pytest.mark.parametrize(
    ("ours", "spread", "verdict"),
    [
        (1.2, 1.01, "slower"),
        (1.02, 1.0, ""),  # below 3 %
        (1.2, 1.06, ""),  # the noise of four contenders is 1.06^4 = 1.26
        (0.8, 1.01, "faster"),
    ],
)
def test_a_change_counts_beside_the_noise(ours, spread, verdict):
    before = history.entry(result(spread=spread), "abc")
    changes = history.compare(before, result(ours, spread=spread))
    (one,) = [change for change in changes if change.name == "g1: one world, run"]
    assert one.factor == pytest.approx(ours)
    assert one.verdict == verdict
    assert not any(change.verdict for change in changes if change is not one)
    assert changes[0 if ours > 1 else -1] is one


def test_a_history_grows_by_lines(tmp_path):
    path = tmp_path / "history.jsonl"
    history.append(path, result())
    history.append(path, result(2.0))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 2
    assert re.fullmatch(r"[0-9a-f]{7,40}\+?|installed", lines[0]["commit"])
    assert history.read_entry(path)["figures"]["g1: one world, run"][0] == pytest.approx(6.0)


def test_the_command_names_what_became_slower(tmp_path, monkeypatch, capsys):
    """Beside a kept result of another machine; the measurement itself is replaced."""
    kept = tmp_path / "before.json"
    kept.write_text(json.dumps(result(machine=2.0)))
    monkeypatch.setattr("heelstrike.bench.bench.bench", lambda *args: copy.deepcopy(result(1.5)))
    past = tmp_path / "history.jsonl"
    code, _, err = call(capsys, "bench", "--json", "--against", str(kept), "--history", str(past))
    assert code == SLOWER
    assert "1 of 4 figures became slower" in err
    assert re.search(r"g1: one world, run +12\.0 +8\.0 +x 1\.50", err)
    code, out, err = call(capsys, "bench", "--against", str(past), "--json")
    assert code == 0
    assert "0 of 4 figures" in err
    assert len(json.loads(out)["changes"]) == 4


LINE = {"commit": "a", "date": "b", "cpu": "c", "quick": True, "figures": {"a": [2.0, 1.1]}}


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        ("none.json", None, "there is no file"),
        ("text.json", "no JSON", "neither a history nor a result"),
        ("other.json", '{"robots": {"g1": {}}}', "neither a history nor a result"),
        ("empty.jsonl", "", "neither a history nor a result"),
        ("list.jsonl", "[]", "neither a history nor a result"),
        ("deep.json", "[" * 100_000, "neither a history nor a result"),
        ("words.jsonl", json.dumps(LINE | {"figures": {"a": ["x", 1]}}), "neither a history nor"),
        ("zero.jsonl", json.dumps(LINE | {"figures": {"a": [0.0, 1]}}), "neither a history nor"),
        ("cut.jsonl", f"{json.dumps(LINE)}\n{json.dumps(LINE)[:30]}", "neither a history nor"),
    ],
)
def test_mistakes_are_sentences(name, text, hint, tmp_path, capsys):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    code, _, err = call(capsys, "bench", "--against", str(path))
    assert code == 1
    assert hint in err


def test_no_history_is_begun_in_another_file_nor_half_a_line_left(tmp_path, monkeypatch, capsys):
    """A file of others is found before the measurement; a full disk leaves the lines that were."""
    other = tmp_path / "other.jsonl"
    other.write_text("my notes\n")
    code, _, err = call(capsys, "bench", "--history", str(other))
    assert code == 1
    assert "neither a history" in err
    assert other.read_text() == "my notes\n"
    path = tmp_path / "history.jsonl"
    history.append(path, result())
    before = path.read_bytes()
    whole = Path.write_text

    def full(part, text):
        whole(part, text[: len(text) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(FileError, match="No space left"):
        history.append(path, result())
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir() if file != other] == ["history.jsonl"]


def test_a_device_is_no_history(capsys):
    """/dev/zero was read for ever."""
    code, _, err = call(capsys, "bench", "--against", "/dev/zero")
    assert code == 1
    assert "device" in err
