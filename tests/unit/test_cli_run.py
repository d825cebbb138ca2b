"""`heelstrike run`, `cite` and `export`: what they print, leave behind, and return.

A scene of one ball stands for all. Files are whole or not there: a run that is killed while it
writes leaves none of its name; one that is interrupted keeps what it computed.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.cli.cite import bibtex
from heelstrike.contact.catalog import REFERENCES
from heelstrike.runtime.exported import load_exported
from heelstrike.simulate import simulator
from tests.cli import call

ROOT = Path(__file__).parents[2]
BALL = '[[object]]\nmodel = "ball"\ndrop = 0.1\n[[surface]]\ntype = "plane"\n'


@pytest.fixture(autouse=True)
def scenes(plain, tmp_path):
    (tmp_path / "ball.toml").write_text(BALL)


def test_run_leaves_a_recording_and_a_picture(capsys, tmp_path):
    code, out, err = call(capsys, "run", "ball.toml", "--duration", "0.3")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    files = re.findall(r"^(recording|picture) +(.*)$", out, re.MULTILINE)
    assert dict(files) == {
        "recording": "heelstrike-runs/ball.nc",
        "picture": "heelstrike-runs/ball.png",
    }
    run = hs.Recording.load(tmp_path / "heelstrike-runs" / "ball.nc")
    assert run.info["steps"] == 300
    assert (tmp_path / "heelstrike-runs" / "ball.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in (tmp_path / "heelstrike-runs").iterdir()) == [
        "ball.nc",
        "ball.png",
    ]


def test_names_with_dots_do_not_replace_one_another(capsys, tmp_path):
    """drop.v1.toml and drop.v2.toml both went to drop.nc."""
    names = ["drop.v1", "drop.v2", "drop.v1"]
    for name in names:
        (tmp_path / f"{name}.toml").write_text(BALL)
        options = ("--duration", "0.01", "--no-picture")
        assert call(capsys, "run", f"{name}.toml", *options)[0] == 0
    kept = sorted(path.name for path in (tmp_path / "heelstrike-runs").iterdir())
    assert kept == ["drop.v1-2.nc", "drop.v1.nc", "drop.v2.nc"]


def test_the_present_folder_is_no_recording(capsys):
    code, _, err = call(capsys, "run", "ball.toml", "--out", ".")
    assert code == 1
    assert "names that end in .nc" in err


def test_run_as_json(capsys, tmp_path):
    options = ("--json", "--no-picture", "-o", "mine/b.nc", "--set", "ground.normal.k=3e4")
    code, out, err = call(capsys, "run", "ball.toml", *options)
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["recording"], found["picture"]) == ("mine/b.nc", None)
    assert (found["interrupted"], found["summary"]["failures"]) == (False, [])
    assert found["summary"]["laws"]["ground"]["normal"]["k"] == 3e4
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["b.nc"]


@pytest.mark.parametrize("kept", ['"final"', '["torque"]', '["com", "force"]'])
def test_whatever_is_recorded_has_a_picture(capsys, tmp_path, kept):
    short = ("--duration", "0.05", "--set", f"recording.variables={kept}")
    assert call(capsys, "run", "ball.toml", *short)[0] == 0
    assert (tmp_path / "heelstrike-runs" / "ball.png").stat().st_size > 1000


def test_a_film_strip(capsys, tmp_path):
    pytest.importorskip("embreex")
    code, out, _ = call(capsys, "run", "ball.toml", "--duration", "0.05", "--strip")
    assert code == 0
    assert "strip         heelstrike-runs/ball-strip.png" in out
    assert (tmp_path / "heelstrike-runs" / "ball-strip.png").stat().st_size > 1000


def test_a_robot_alone(capsys):
    options = ("--law", "linear-spring", "--drop", "0.05", "--no-picture", "--json")
    code, out, _ = call(capsys, "run", "--robot", "ball", *options)
    found = json.loads(out)["summary"]
    assert code == 0
    assert found["laws"]["ground"]["normal"]["kind"] == "LinearSpring"
    run = hs.Recording.load("heelstrike-runs/ball.nc")
    # the centre starts one radius and the drop above the ground
    assert abs(run.data["q"].sel(coordinate="root.z").values[0, 0] - 0.1) < 1e-12


def test_a_robot_with_gains_has_its_servo(capsys):
    _, out, _ = call(capsys, "run", "--robot", "hoap1", "--print")
    assert "[servo]" in out
    assert "drop = 0.0" in out
    _, out, _ = call(capsys, "run", "--robot", "box", "--print")
    assert "[servo]" not in out.replace("a table [servo]", "")


def test_print_is_a_scene(capsys, tmp_path):
    code, out, err = call(capsys, "run", "ball.toml", "--dt", "5e-4", "--print")
    assert (code, err) == (0, "")
    (tmp_path / "again.toml").write_text(out)
    assert hs.load_scene("again.toml").content.simulation.dt == 5e-4
    assert call(capsys, "run", "again.toml", "--print")[1] == out
    assert not (tmp_path / "heelstrike-runs").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run",), "pass either a scene or --robot"),
        (("run", "stand", "--robot", "hoap1"), "pass either a scene or --robot"),
        (("run", "stnd"), "did you mean 'stand'?"),
        (("run", "hoap1"), "heelstrike run --robot hoap1"),
        (("run", "ball.toml", "--law", "hertz"), "no law 'hertz'"),
        (("run", "ball.toml", "--law", "bristle"), "a friction law only"),
        (("run", "ball.toml", "--dt", "0.1"), "--dt 0.1, simulation.dt: dt = 0.1 s is above"),
        (("run", "ball.toml", "--duration", "0"), "--duration 0, simulation.duration"),
        (("run", "ball.toml", "--drop", "-1"), "--drop -1, object.drop"),
        (("run", "ball.toml", "--set", "ground.k=1"), "--set ground.k=1, surface.law.k: no key"),
        (("run", "ball.toml", "-o", "ball.mp4"), "'ball.mp4'; allowed: names that end in .nc"),
        (("run", "ball.toml", "-o", "ball.toml/b.nc"), "name another folder by --out"),
        (
            ("run", "ball.toml", "--picture", "ball.doc"),
            "'ball.doc'; allowed: names that end in .png or",
        ),
        (("export", "stnd"), "did you mean 'stand'?"),
        (("export", "ball.toml", "-o", "ball.exe"), "a .hs file"),
        (("cite", "hertz"), "no law or paper 'hertz'"),
    ],
)
def test_mistakes_are_one_sentence(capsys, arguments, said):
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (1, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.filterwarnings("default::heelstrike.errors.HeelstrikeWarning")
def test_a_run_that_diverges_is_kept_and_told(capsys, tmp_path):
    """Faster than 1e4 m/s counts as failed."""
    fast = BALL.replace("drop = 0.1", "drop = 0.1\nvelocity = [2e4, 0.0, 0.0]")
    (tmp_path / "fast.toml").write_text(fast)
    code, out, err = call(capsys, "run", "fast.toml", "--json", "--no-picture")
    assert code == 3
    assert "diverged" in err
    assert json.loads(out)["summary"]["failures"]
    assert (tmp_path / "heelstrike-runs" / "fast.nc").exists()


def test_ctrl_c_keeps_what_was_computed(capsys, monkeypatch, tmp_path):
    long = ("--duration", "10000", "--dt", "1e-4", "--set", "recording.every=1000")

    def interrupted(*arguments):
        threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
        return rollout(*arguments)

    rollout = simulator.rollout
    monkeypatch.setattr(simulator, "rollout", interrupted)
    code, out, err = call(capsys, "run", "ball.toml", *long, "--no-picture")
    assert code == 130
    assert "steps, which were recorded" in err
    steps = hs.Recording.load(tmp_path / "heelstrike-runs" / "ball.nc").info["steps"]
    assert 0 < steps < 10**8
    assert f"{steps} steps" in out


def test_ctrl_c_while_it_compiles(capsys, monkeypatch, tmp_path):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(simulator.Simulator, "compile", interrupted)
    code, out, err = call(capsys, "run", "ball.toml")
    assert (code, out) == (130, "")
    assert "nothing was written" in err
    assert not list(tmp_path.rglob("*.nc"))


@pytest.mark.parametrize(
    "old", [pytest.param(None, marks=pytest.mark.nightly), b"a recording of yesterday"]
)
def test_killed_while_it_writes(tmp_path, old):
    """Signal 9 at the last moment, when all is written and nothing is renamed."""
    if old is not None:
        (tmp_path / "b.nc").write_bytes(old)
    script = (
        "import time\nfrom heelstrike import files\nfrom heelstrike.cli import main\n"
        "def stuck(path):\n    print('writing', flush=True)\n    time.sleep(60)\n"
        "files.sync_to_disk = stuck\nmain(['run', 'ball.toml', '--no-picture', '-o', 'b.nc'])\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"writing\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    found = {path.name: path.read_bytes() for path in tmp_path.glob("[!.]*.nc")}
    assert found == ({} if old is None else {"b.nc": old})


def test_export(capsys, tmp_path):
    code, out, err = call(capsys, "export", "ball.toml", "--json")
    found = json.loads(out)
    assert (code, err, found["files"]) == (0, "", ["heelstrike-runs/ball.hs"])
    assert {"name": "q", "kind": "memory", "size": 7} in found["ports"]
    batch = load_exported(tmp_path / "heelstrike-runs" / "ball.hs").batch(1)
    sim = hs.load_scene("ball.toml").simulator()
    batch.set(**dict(sim.parameters.items()))
    start = [0, 0, 0.5, 0, 0, 0, 1]
    batch.reset(q=np.array(start))
    batch.run(100)
    sim.reset(q0=start)
    sim.step(100)
    np.testing.assert_array_equal(batch.get("q")[0], sim.state["q"])


def test_cite(capsys):
    code, out, err = call(capsys, "cite", "hunt-crossley")
    assert (code, err) == (0, "")
    assert out.count("@misc{") == 2
    assert "author = {K. H. Hunt and F. R. E. Crossley}" in out
    assert call(capsys, "cite", "hunt-crossley", "--plain")[1].startswith("[Marhefka1996] D. W.")
    assert call(capsys, "cite", "Marhefka1996")[1] == call(capsys, "cite", "marhefka1996")[1]
    everything = json.loads(call(capsys, "cite", "--json")[1])
    assert {entry["key"] for entry in everything} == {"Heelstrike", *REFERENCES}


@pytest.mark.parametrize("key", REFERENCES)
def test_every_reference_is_an_entry(key):
    """Author, title, place and year are found in its line, and braces match."""
    entry = bibtex(key, REFERENCES[key])
    for word in ("author", "title", "howpublished", "year"):
        assert re.search(rf"^  {word} = {{\S.*}},?$", entry, re.MULTILINE)
    assert key.endswith(re.search(r"year = {(\d+)}", entry)[1])
    assert entry.count("{") == entry.count("}")


URDF = """<robot name="mine"><link name="base">
<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>
"""


def commands():
    """Shell lines of the README and the page on scenes, without what they say beside."""
    for page in (ROOT / "README.md", ROOT / "docs" / "scenes.md"):
        for line in re.findall(r"^    heelstrike (run .*)$", page.read_text(), re.MULTILINE):
            yield re.split(r"  +|#", line)[0].split()


@pytest.mark.parametrize("arguments", list(commands()), ids=" ".join)
def test_commands_of_the_pages(capsys, tmp_path, arguments):
    """They are understood: each prints its scene."""
    (tmp_path / "my.urdf").write_text(URDF)
    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "scenes.md").read_text(), re.DOTALL)
    (tmp_path / "drop.toml").write_text(text)
    code, out, err = call(capsys, *arguments, *(() if "--print" in arguments else ("--print",)))
    assert (code, err) == (0, "")
    assert "[[surface]]" in out


def test_results_are_numbered(capsys):
    """A second run keeps the first one's files; a file that an option names is replaced."""
    for name in ("ball.nc", "ball-2.nc"):
        code, out, _ = call(capsys, "run", "ball.toml", "--no-picture")
        assert code == 0
        assert f"recording     heelstrike-runs/{name}" in out
    Path("heelstrike-runs/ball-3.png").touch()
    _, out, _ = call(capsys, "run", "ball.toml", "--no-picture")
    assert "heelstrike-runs/ball-4.nc" in out
    for _ in range(2):
        _, out, _ = call(capsys, "run", "ball.toml", "--no-picture", "-o", "my.nc")
        assert "recording     my.nc" in out


def test_a_robot_in_place_of_a_scene(capsys):
    """compare, stability and export take --robot as run does; both, or neither, is refused."""
    code, out, _ = call(capsys, "export", "--robot", "ball", "--json")
    assert code == 0
    assert json.loads(out)["files"] == ["heelstrike-runs/ball.hs"]
    code, out, _ = call(capsys, "compare", "--robot", "ball", "--laws", "scene", "--json")
    assert (code, json.loads(out)["scene"]) == (0, "ball")
    for verb in ("compare", "stability", "export"):
        code, _, err = call(capsys, verb)
        assert code == 1
        assert "pass either a scene or --robot" in err


def test_help_in_words(capsys):
    """No line is cut, values have names or units, and every verb has --json."""
    code, out, _ = call(capsys, "--help")
    assert code == 0
    assert "..." not in out.partition("Commands:")[2]
    for verb in re.findall(r"^  (\w+)  ", out.partition("Commands:")[2], re.MULTILINE):
        _, own, _ = call(capsys, verb, "--help")
        assert max(map(len, own.splitlines())) <= 80
        assert not re.search(r"^  -.*<(str|float|int|path)>", own, re.MULTILINE)
        assert re.search(r"--json  ", own), verb


def test_completion_of_names(monkeypatch, capsys):
    monkeypatch.setenv("_HEELSTRIKE_COMPLETE", "complete_bash")
    for words, found in (("heelstrike run sta", "stand"), ("heelstrike run --robot ho", "hoap1")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        assert found in call(capsys)[1].split()
