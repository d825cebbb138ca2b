"""Plots of recordings against the values that they show."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from heelstrike.errors import HeelstrikeError
from heelstrike.view import plot
from tests.hopper import COORDS, RESIDUAL, at_end, over_time


def lines(ax) -> dict[str, np.ndarray]:
    return {line.get_label(): line.get_ydata() for line in ax.get_lines()}


def panels(figure) -> dict[str, object]:
    return {ax.get_title(loc="left"): ax for ax in figure.axes if ax.get_visible()}


def test_usual_panels_show_the_values(tmp_path):
    run = over_time()
    drawn = panels(run.plot(world=1, path=tmp_path / "run.png"))
    assert list(drawn) == [
        "Height",
        "Normal force",
        "Penetration",
        "Slip",
        "Ground plane from above",
        "Energy and work",
        "Control torque",
    ]
    force = run.data["normal_force"].isel(world=1, point=slice(0, 4)).sum("point").values
    assert np.array_equal(lines(drawn["Normal force"])["left_foot"], force)
    (deepest,) = lines(drawn["Penetration"]).values()
    assert np.max(deepest) == pytest.approx(1e3 * float(run.data["peak_depth"][1].max()))
    residual = next(y for name, y in lines(drawn["Energy and work"]).items() if "resid" in name)
    assert residual[-1] == pytest.approx(RESIDUAL, abs=1e-13)
    assert [path.name for path in tmp_path.iterdir()] == ["run.png"]
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_named_variables_get_a_panel_each(tmp_path):
    run = over_time()
    figure = run.plot(["com", "force", "touching", "peak_force"], path=tmp_path / "run.svg")
    com, force, touching, peak = panels(figure).values()
    assert np.array_equal(lines(com)["z"], run.data["com"][0, :, 2])
    assert len(force.get_lines()) == 24
    assert len(force.get_legend().get_texts()) == 8  # y and x never move
    assert "the 8 of 24 that vary most" in force.get_xlabel()
    assert [text.get_text() for text in touching.get_yticklabels()] == COORDS["point"]
    assert "Peak" in peak.get_title(loc="left")
    assert "[N]" in force.get_ylabel()


def test_the_end_is_drawn_against_what_was_varied(tmp_path):
    k = np.geomspace(1e3, 1e5, 100)
    run = at_end(100, varied={"ground.normal.k": k})
    run.data["failed"][3] = 5
    figure = run.plot(path=tmp_path / "end.pdf")
    ax = panels(figure)["Peak normal force of any point"]
    assert ax.get_xlabel() == "ground.normal.k"
    good, bad = ax.get_lines()
    assert np.array_equal(good.get_xdata(), np.delete(k, 3))
    assert np.array_equal(good.get_ydata(), np.delete(run.data["peak_force"].max("point"), 3))
    assert bad.get_label() == "1 failed"


def test_the_end_of_alike_worlds_is_a_distribution(tmp_path):
    run = at_end(300)
    run.data["failed"][3] = 5
    (ax,) = run.plot("peak_depth", path=tmp_path / "end.png").axes
    assert sum(bar.get_height() for bar in ax.patches) == 299
    assert "1 failed" in ax.get_xlabel()


def test_wrong_plots_raise_errors(tmp_path):
    run = over_time()
    for arguments, says in [
        ({"variables": "forse"}, "no variable 'forse'; did you mean 'force'"),
        ({"world": 3}, "world is 3; allowed: 0 to 2"),
        ({"path": tmp_path / "run.xyz"}, "unknown picture format 'xyz'; allowed: extensions .*png"),
        ({"path": tmp_path / "no" / "run.png"}, "there is no folder"),
    ]:
        with pytest.raises(HeelstrikeError, match=says):
            run.plot(**{"path": tmp_path / "run.png", **arguments})
    assert list(tmp_path.iterdir()) == []


def test_plots_need_no_display(tmp_path):
    """Nor pyplot, when they go to a file."""
    over_time().save(tmp_path / "run.nc")
    code = f"""
import sys
from heelstrike.record.recording import Recording
run = Recording.load({str(tmp_path / "run.nc")!r})
assert "matplotlib" not in sys.modules
run.plot(path={str(tmp_path / "run.png")!r})
assert "matplotlib.pyplot" not in sys.modules
run.plot()
"""
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "MPLBACKEND")}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_house_figures_have_axes_in_reading_order():
    figure, axes = plot.figure(2, 3)
    assert len(axes) == 6
    assert axes[1].get_subplotspec().colspan.start == 1
    assert not axes[0].spines["top"].get_visible()
    assert figure.get_size_inches()[0] > figure.get_size_inches()[1]
