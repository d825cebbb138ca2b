"""The command line, as a user meets it.

Oracle: what it promises. Results on standard output and nothing else there, errors as one sentence
on standard error, exit code 1 (2 where the command line cannot be read), 80 columns without colour.
"""

import json
import subprocess
import sys

import pytest

import heelstrike
from heelstrike.cli.app import commands
from tests.cli import call

pytestmark = pytest.mark.usefixtures("plain")
LARGE = {
    "casadi", "h5py", "llvmlite", "matplotlib", "numpy", "pinocchio", "rich", "scipy", "xarray"
}  # fmt: skip


def test_help_needs_no_large_package():
    """`heelstrike --help` answers in under 0.5 s: it imports nothing that takes long."""
    script = (
        "import sys\nfrom heelstrike.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as left:\n    assert not left.code\n"
        f"loaded = {LARGE!r} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "paper" in done.stdout
    assert "list" in done.stdout


def test_as_a_module():
    command = [sys.executable, "-m", "heelstrike", "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == f"heelstrike {heelstrike.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("paper", "marhefka96"), "did you mean 'marhefka1996'?"),
        (("paper", "marhefka1996", "fgi3"), "did you mean 'fig3'?"),
        (("paper", "zzz"), "papers: marhefka1996"),
    ],
)
def test_unknown_names_are_one_sentence(capsys, arguments, hint):
    code, out, err = call(capsys, *arguments)
    assert code == 1
    assert out == ""
    assert hint in err
    assert err.count("\n") == 1
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "arguments", [("list", "lows"), ("papre",), ("paper", "--nonsense"), ("list", "--json=3")]
)
def test_usage_errors(capsys, arguments):
    code, out, err = call(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert "Traceback" not in err


def test_the_overview_fits_80_columns(capsys, monkeypatch):
    """No line of the overview is cut, which would end in dots."""
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = call(capsys, "--help")
    commands = out.partition("Commands:\n")[2].splitlines()
    assert code == 0
    assert len(commands) == 14
    assert all(line.endswith(".") and not line.endswith("...") for line in commands)


def test_nearest_command(capsys):
    assert "list" in call(capsys, "lsit")[2]


def test_list_json(capsys):
    code, out, err = call(capsys, "list", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert set(found) == {"scenes", "robots", "surfaces", "laws", "papers"}
    assert "stand" in [scene["name"] for scene in found["scenes"]]
    assert "plane" in [surface["name"] for surface in found["surfaces"]]
    law = next(law for law in found["laws"] if law["name"] == "hunt-crossley")
    assert {"name": "alpha", "unit": "s/m", "default": 0.2}.items() <= law["parameters"][1].items()
    assert "Marhefka1996" in law["sources"]
    foot = next(robot for robot in found["robots"] if robot["name"] == "foot")
    assert (foot["velocities"], foot["mass"]) == (1, 25.0)
    assert "fig8" in found["papers"][0]["items"]


@pytest.mark.parametrize("kind", ["scenes", "robots", "surfaces", "laws", "papers"])
def test_list_fits_80_columns(capsys, kind):
    code, out, _ = call(capsys, "list", kind)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out


def test_paper_table(capsys, tmp_path):
    code, out, err = call(capsys, "paper", "marhefka1996", "operations")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    assert "6 of 7 rows reproduced" in out
    assert "DIFFERS" in out


def test_paper_json_and_picture(capsys, tmp_path):
    out_folder = tmp_path / "a" / "b"
    code, out, err = call(
        capsys, "paper", "marhefka1996", "fig5", "--json", "--out", str(out_folder)
    )
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["paper"] == "marhefka1996"
    (item,) = found["items"]
    assert found["rows"] == len(item["rows"]) == found["reproduced"] + found["agrees"]
    assert found["reproduced"] == 1  # the areas are the same; the paper prints no number
    assert set(item["rows"][0]) == {
        "quantity", "theirs", "closed_form", "ours", "tolerance", "least", "most", "holds",
        "status", "fault", "remark"
    }  # fmt: skip
    assert item["figure"] == str(out_folder / "fig5.png")
    (picture,) = out_folder.iterdir()
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert data.rstrip().endswith(b"IEND\xaeB`\x82")


def test_default_folder(capsys, tmp_path):
    _, out, _ = call(capsys, "paper", "marhefka1996", "fig5")
    assert "heelstrike-runs/papers/marhefka1996" in out
    assert (tmp_path / "heelstrike-runs" / "papers" / "marhefka1996" / "fig5.png").is_file()


def test_folder_that_cannot_be_made(capsys, tmp_path):
    (tmp_path / "taken").write_text("a file")
    code, out, err = call(capsys, "paper", "marhefka1996", "fig5", "--out", "taken/pictures")
    assert (code, out) == (1, "")
    assert "--out" in err


def test_paper_without_a_name_lists_papers(capsys):
    code, out, _ = call(capsys, "paper")
    assert code == 0
    assert "marhefka1996" in out


def test_every_command_has_json():
    """`--json` means the same on every verb: a flag, after which JSON alone is printed."""
    for name, command in commands().commands.items():
        (flag,) = [x for x in command.params if "--json" in x.opts]
        assert (flag.is_flag, flag.help) == (True, "Print JSON only."), name
