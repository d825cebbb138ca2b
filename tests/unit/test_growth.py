"""Growth of a step with joints, points, surfaces and worlds.

Oracles. Exponents: powers that were put in, and the standard error of NumPy's fit. What is
measured: chains by their count of coordinates, slabs by the weight that their points carry.
"""

import json

import numpy as np
import pytest

from heelstrike.bench import growth, growth_case
from heelstrike.cli import bench as command
from heelstrike.errors import HeelstrikeError
from tests.cli import call


def powers(part, count, turns):
    """Times that grow by known powers; the largest count does not fit."""
    if count == 1_000_000:
        return {"said": "1,000,000 worlds may take 35.2 GB, but 20.8 GB are free"}
    return {"us": 0.1 * count, "spread": 1.0, "compile_s": count**1.5, "bytes": 10**8}


def test_exponents_are_those_of_powers():
    *_, found = growth.growth(["joints"], measure=powers)
    each = found["growth"]["joints"]
    assert each["us_growth"]["exponent"] == pytest.approx(1.0)
    assert each["us_growth"]["error"] == pytest.approx(0.0, abs=1e-12)
    assert each["compile_s_growth"]["last"] == pytest.approx(1.5)


def test_the_spread_is_the_standard_error_of_the_fit():
    counts = [1, 3, 10, 30, 100]
    values = np.array(counts) ** 0.7 * [1.0, 1.1, 0.95, 1.2, 0.9]
    found = growth.exponent(counts, values)
    _, covariance = np.polyfit(np.log(counts), np.log(values), 1, cov=True)
    assert found["error"] == pytest.approx(np.sqrt(covariance[0, 0]))
    assert growth.exponent(counts[:2], values[:2])["error"] is None


def test_a_size_that_does_not_fit_is_a_note():
    *_, found = growth.growth(["worlds"], measure=powers)
    assert found["notes"] == [f"Without worlds 1,000,000: {powers('', 1_000_000, 0)['said']}."]
    assert [point["count"] for point in found["growth"]["worlds"]["curve"]][-1] == 262_144


def test_too_many_worlds_are_refused(monkeypatch):
    """A world of 1 kB, of which four copies may exist."""
    monkeypatch.setattr(growth_case, "simulator", lambda *args, **options: None)
    monkeypatch.setattr(growth_case, "bytes_per_world", lambda sim: 1000)
    monkeypatch.setattr(growth_case, "free_memory", lambda: 3.9e9)
    with pytest.raises(HeelstrikeError, match=r"1,000,000 worlds may take 4\.0 GB, but 3\.9 GB"):
        growth_case.worlds(1_000_000)


def test_a_chain_has_so_many_joints_and_no_stops():
    robot = growth_case.chain(7)
    assert (robot.nq, robot.nv) == (14, 13)
    assert np.isinf(robot.upper[7:]).all()
    assert [joint.axis.argmax() for joint in robot.joints[1:4]] == [1, 0, 2]


@pytest.mark.parametrize("count", [1, 5])
def test_points_of_a_slab_carry_its_weight(count):
    sim = growth_case.points(count)
    sim.run(4.0, worlds=1, record="final")
    force = sim.observe("normal_force")["normal_force"][0]
    assert force.shape == (count,)
    # the centre of mass is above the mean of the points; it bounces for 3 s
    assert force.sum() == pytest.approx(10 * sim.robot.gravity, rel=1e-4)


def test_boxes_are_out_of_reach():
    places = np.array([box.point for box in growth_case.boxes(99)])
    assert len(np.unique(places.round(9), axis=0)) == 99
    assert np.hypot(places[:, 0], places[:, 1]).min() == pytest.approx(1.0)


def test_ctrl_c_keeps_what_is_done(monkeypatch, capsys, tmp_path):
    def interrupted(part, count, turns):
        if count == 20:
            raise KeyboardInterrupt
        return powers(part, count, turns)

    monkeypatch.setattr(growth, "in_a_process", interrupted)
    kept, page = tmp_path / "g.json", tmp_path / "g.html"
    words = ["bench", "--growth", "--axes", "joints", "--out", str(kept), "--html", str(page)]
    code, out, err = call(capsys, *words)
    assert code == command.INTERRUPTED
    assert "incomplete" in err
    assert "joints" in out
    curve = json.loads(kept.read_text())["growth"]["joints"]["curve"]
    assert [point["count"] for point in curve] == [5, 10]
    assert page.read_text().count("data:image") == 1


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("--growth", "--axes", "legs"), "no axis 'legs'"),
        (("--growth", "--robots", "hoap1"), "--growth goes with --axes"),
    ],
)
def test_mistakes_are_sentences(arguments, hint, capsys):
    code, _, err = call(capsys, "bench", *arguments)
    assert code == 1
    assert hint in err


def test_a_process_measures_one_size():
    """A slab on one point: the smallest of all sizes."""
    found = growth.in_a_process("points", 1, 1)
    assert found["us"] > 0
    assert 0 < found["compile_s"] < 60
    assert "said" in growth.in_a_process("points", 0, 1)
