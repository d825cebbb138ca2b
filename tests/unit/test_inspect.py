"""`heelstrike inspect`: what it prints is what the robot has, in 80 columns."""

import json

import pytest

import heelstrike as hs
from heelstrike.robot.describe import describe
from tests.cli import call

ARM = """<mujoco><worldbody><body name="a"><joint name="turn" axis="0 1 0" range="-90 45"
      stiffness="3" damping=".1"/><geom name="ball" size=".1" mass="2" pos=".3 0 0"/>
      <body name="b" pos=".5 0 0" gravcomp=".5"><joint name="slide" type="slide"/>
        <geom type="box" size=".1 .1 .1" mass="1"/></body></body></worldbody>
    <tendon><fixed name="cord" stiffness="2" range="-1 1" frictionloss="1">
      <joint joint="turn" coef="1"/>
      <joint joint="slide" coef="2"/></fixed></tendon>
    <actuator><position name="knee" joint="turn" kp="9" forcerange="-4 4" timeconst=".1"/>
      <motor name="pull" tendon="cord" ctrlrange="0 1"/></actuator></mujoco>"""


@pytest.fixture
def arm(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    return path


def test_tables(arm, capsys):
    """Names, numbers and the difference from the file; no line is longer than the terminal."""
    code, out, err = call(capsys, "inspect", str(arm))
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    for text in (
        "arm: 2 joints, 3 kg, nv 2, pose zero",
        "-1.57 .. 0.785",
        "position, filterexact",
        "-4 .. 4",
        "tendon cord over turn, slide: stiffness 2, range -1 .. 1",
        "motion    left out of tendon 'cord': the dry friction",
        "2 may touch the ground",
    ):
        assert text in out, text
    assert "simulated as the file says" not in out


def test_json_and_a_faithful_file(capsys):
    """JSON is what describe returns; a file without differences is said to be simulated so."""
    code, out, _ = call(capsys, "inspect", "hoap1", "--json")
    assert code == 0
    assert json.loads(out) == describe(hs.load("hoap1"))
    code, out, _ = call(capsys, "inspect", "hoap1", "--collide", "feet")
    assert code == 0
    assert "simulated as the file says" in out


def test_picture_and_errors(arm, tmp_path, capsys):
    """A picture is written; a wrong suffix and a missing file end with a sentence."""
    picture = tmp_path / "arm.png"
    code, _, err = call(capsys, "inspect", str(arm), "--picture", str(picture))
    assert (code, picture.stat().st_size > 1000) == (0, True)
    assert "picture:" in err
    code, _, err = call(capsys, "inspect", str(arm), "--picture", "arm.txt")
    assert code
    assert "names that end in .png" in err
    code, _, err = call(capsys, "inspect", "none.xml")
    assert code
    assert "no such file" in err
