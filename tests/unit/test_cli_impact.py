"""`heelstrike impact` on hoap1: the rows of the table are those of `compare`."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

import heelstrike as hs
from heelstrike.cli.impact import impact
from heelstrike.impact import Target, compare


def test_json_and_picture(tmp_path):
    app = typer.Typer()
    app.command()(impact)
    options = "--link r_hand --speed 0.2 --target-mass 0.5 --k 1000 --c 30 --json"
    picture = tmp_path / "hit.png"
    done = CliRunner().invoke(app, ["hoap1", *options.split(), "--out", str(picture)])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    robot = hs.load("hoap1", collide="feet")
    made = compare(
        robot, robot.pose("stance"), "r_hand", speed=0.2, target=Target(mass=0.5),
        law=hs.LinearSpring(k=1000.0, c=30.0),
    )  # fmt: skip
    assert told["methods"] == made.rows()
    assert [row["method"] for row in told["methods"]] == ["virtual mass", "simplified", "full"]
    assert told["plan_factor"] is None
    assert picture.stat().st_size > 10_000
    assert "damper determines the peak, c v = 6 N" in told["cause"]
    own = options.replace("--c 30 ", "")
    told = json.loads(CliRunner().invoke(app, ["hoap1", *own.split()]).stdout)
    mass = told["virtual_mass"] * 0.5 / (told["virtual_mass"] + 0.5)
    assert told["c"] == pytest.approx(0.6 * (1000 * mass) ** 0.5, rel=0.05)  # 0.3 of critical
    assert "the spring determines the peak" in told["cause"]


@pytest.mark.parametrize(("given", "asked"), [((), 0.03), (("--margin", "0.012"), 0.012)])
def test_the_margin_of_a_plan_is_handed_on(monkeypatch, given, asked):
    """In metres, 30 mm where none is given; what a plan does with it is test_plan.py's."""
    app = typer.Typer()
    app.command()(impact)
    seen = []

    def plan(*_, margin, **__):
        seen.append(margin)
        raise hs.HeelstrikeError("seen")

    monkeypatch.setattr("heelstrike.impact.planning.plan", plan)
    CliRunner().invoke(app, ["hoap1", "--link", "r_hand", "--plan", *given])
    assert seen == [asked]
