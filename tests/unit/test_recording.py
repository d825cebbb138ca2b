"""Recordings: labels, attributes, summary, memory.

The oracle is a run made of closed forms (tests/hopper.py): what the labels and the summary must say
is known beforehand.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import heelstrike as hs
from heelstrike.contact.laws.elastic import Elastic
from heelstrike.contact.laws.kinetic import Kinetic
from heelstrike.errors import HeelstrikeError
from heelstrike.machine import free_memory
from heelstrike.record.dataset import COORDINATES, dataset
from heelstrike.record.labels import joint_labels
from heelstrike.record.memory import check_memory, estimate
from heelstrike.record.provenance import ATTRIBUTES
from heelstrike.record.recording import Recording
from heelstrike.record.variables import VARIABLES
from tests.hopper import COORDS, RESIDUAL, at_end, attributes, hop, over_time


def test_every_variable_has_dimensions_units_and_a_name():
    data = over_time().data
    assert set(data) == {name for name in VARIABLES if name not in ("q0", "v0")}
    for name, values in data.items():
        timed = () if VARIABLES[name].final else ("time",)
        assert values.dims == ("world", *timed, *VARIABLES[name].dims)
        assert values.attrs["long_name"]
        # of mixed entries the unit stands beside each
        source = values.attrs.get("units_from")
        assert values.attrs["units"] if source is None else source in data.coords
    assert data["touching"].dtype == bool
    assert data["depth"].attrs["units"] == "m"
    assert data["torque"].sel(joint="hip")["torque_unit"] == "N m"
    assert data["torque"].sel(joint="root.vx")["torque_unit"] == "N"
    assert data["v"].sel(joint="root.vx")["velocity_unit"] == "m s-1"
    assert "units" not in data["v"].attrs
    assert data["force"].sel(axis="z", point="left_0")["surface"] == "ground"


def test_one_unit_for_all_joints_is_the_units_of_the_variable():
    coords = {**COORDS, "joint": ["a", "b"], "joint_unit": ["rad", "rad"]}
    data = dataset({}, {"v": np.zeros((1, 2))}, coords, attributes())
    assert data["v"].attrs["units"] == "rad s-1"


@pytest.mark.parametrize("name", ["ball", "foot", "hoap1"])
def test_labels_of_a_robot_fit_its_coordinates(name):
    robot = hs.load(name, collide="feet")
    found = joint_labels(robot)
    assert len(found["coordinate"]) == len(found["coordinate_unit"]) == robot.nq
    assert len(found["joint"]) == len(found["joint_unit"]) == robot.nv
    assert len(set(found["coordinate"])) == robot.nq
    if name == "foot":
        assert found["joint_unit"] == ["m"]
    if name == "ball":
        parts = [name.split(".")[1] for name in found["coordinate"]]
        assert parts == ["x", "y", "z", "qx", "qy", "qz", "qw"]


@pytest.mark.parametrize(
    ("series", "finals", "coords", "says"),
    [
        ({"depht": np.zeros((1, 1, 8))}, {}, COORDS, "no variable 'depht'; did you mean 'depth'"),
        ({"depth": np.zeros((1, 1, 7))}, {}, COORDS, r"shape \(1, 1, 7\).*make \(1, 1, 8\)"),
        ({"peak_force": np.zeros((1, 1, 8))}, {}, COORDS, "'peak_force' is a value at the end"),
        ({"com": np.zeros((1, 1, 3))}, {"com": np.zeros((1, 3))}, COORDS, "'com' is a value"),
        ({}, {"steps": np.zeros(1)}, {**COORDS, "colour": [1]}, "no coordinate 'colour'"),
        ({}, {"steps": np.zeros(1)}, {**COORDS, "surface": ["a"]}, r"'surface' has \(1,\) labels"),
    ],
)
def test_wrong_arrays_raise_errors(series, finals, coords, says):
    with pytest.raises(HeelstrikeError, match=says):
        dataset(series, finals, {**coords, "time": [0.0]}, attributes())


def test_attributes_are_all_there_and_no_others():
    with pytest.raises(HeelstrikeError, match="lacks the attributes dt"):
        dataset({}, {}, {}, {k: v for k, v in attributes().items() if k != "dt"})
    with pytest.raises(HeelstrikeError, match="no attributes colour"):
        dataset({}, {}, {}, attributes(colour=1))
    with pytest.raises(HeelstrikeError, match="'scene' cannot be written"):
        dataset({}, {}, {}, attributes(scene=object()))
    assert set(attributes()) == set(ATTRIBUTES)


def test_info_returns_the_attributes():
    k = np.geomspace(1e3, 1e5, 3) / 3.0
    info = over_time(varied={"ground.normal.k": k, "gravity": np.ones((3, 3))}).info
    assert info["robot"] == "hopper"
    assert info["control"] is None
    assert info["laws"]["ground"]["normal"]["kind"] == "HuntCrossley"
    assert info["laws"]["ground"]["normal"]["alpha"] == 0.4
    assert info["parameters"]["ground.normal.k"] == [5e4]
    assert np.array_equal(info["varied"]["ground.normal.k"], k)
    assert info["varied"]["gravity"].shape == (3, 3)


def test_a_law_that_a_user_wrote_goes_by_its_name_and_text():
    @hs.normal_law
    def my_ground(c, k=3e4):
        return k * c.depth

    law = Elastic(my_ground(k=1e4), Kinetic())
    info = Recording(dataset({}, {}, {}, attributes(laws={"mat": law}))).info
    found = info["laws"]["mat"]["normal"]
    assert "return k * c.depth" in found.pop("source")
    assert found == {"kind": "my_ground", "k": 1e4}


def test_worlds_with_steps_of_their_own_have_clocks_of_their_own(tmp_path):
    series, _ = hop(2, 5)
    time = np.array([[1e-3], [2e-3]]) * np.arange(5)
    data = dataset(series, {}, {**COORDS, "time": time}, attributes())
    assert "time" not in data.coords
    assert np.array_equal(data["world_time"].values, time)
    (ax,) = Recording(data).plot("com", world=1, path=tmp_path / "com.png").axes
    assert np.array_equal(ax.get_lines()[0].get_xdata(), time[1])


def test_summary_describes_the_run():
    run = over_time()
    found = run.summary().as_dict()
    series, _ = hop(3, 201)
    force = series["normal_force"].max(1)
    world, point = np.unravel_index(force.argmax(), force.shape)
    assert found["peak_force"]["value"] == force.max()
    assert found["peak_force"]["world"] == world
    assert found["peak_force"]["point"] == COORDS["point"][point]
    # rounding of sums of a few joules
    assert abs(found["energy"]["residual"] - RESIDUAL) < 1e-13
    assert found["real_time_factor"] == 3 * 2.0 / 0.05
    assert found["com_height"] == {"least": 0.55, "most": 0.56}
    assert found["at_rest"]  # the hop ends at its top
    assert found["failures"] == []
    json.dumps(found)


def test_summary_reads_well():
    text = str(over_time().summary())
    assert repr(over_time().summary()) == text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "Elastic(HuntCrossley(k=50000, alpha=0.4" in text
    assert "120 times real time" in text
    assert "residual 0.012 J" in text


def test_summary_names_failures_and_counts_their_steps():
    run = at_end(100)
    run.data["failed"][[3, 5]] = [17, 800]
    run.data["steps"][[3, 5]] = [17, 800]
    found = run.summary().as_dict()
    assert found["failures"] == [{"world": 3, "step": 17}, {"world": 5, "step": 800}]
    assert found["simulated"] == pytest.approx((98 * 2000 + 817) * 1e-3, rel=1e-12)
    assert "world 3 at step 17, world 5 at step 800" in str(run.summary())
    assert "energy" not in found  # was not recorded


def test_summary_uses_each_worlds_own_step():
    dt = np.array([1e-3, 2e-3, 4e-3])
    found = over_time(varied={"dt": dt}).summary().as_dict()
    assert found["simulated"] == pytest.approx(2000 * dt.sum(), rel=1e-12)
    text = str(over_time(varied={"dt": dt}).summary())
    assert "14 s in all 3 worlds together" in text


def test_summary_of_a_run_without_contact():
    _, finals = hop(1, 3)
    finals["peak_force"][:] = 0.0
    data = dataset({}, {"peak_force": finals["peak_force"]}, COORDS, attributes())
    assert "nothing touched" in str(Recording(data).summary())


def test_estimate_is_what_the_arrays_take():
    series, finals = hop(3, 50)
    data = over_time(3, 50).data
    names = [name for name in data if name in series]
    taken = sum(data[name].nbytes for name in names)
    assert estimate(names, COORDS, worlds=3, records=50) == taken
    assert estimate(list(finals), COORDS, 3, 50) == sum(data[name].nbytes for name in finals)
    assert estimate(["force"], COORDS, 3, 50, dtype="float32") * 2 == data["force"].nbytes
    with pytest.raises(HeelstrikeError, match="no variable 'forse'"):
        estimate(["forse"], COORDS, 1, 1)


def test_memory_is_reported_above_a_gigabyte_and_limited_by_what_is_free():
    assert check_memory(10**9, free=10**10) is None
    assert check_memory(2 * 10**9, free=10**10) == (
        "this recording takes 2.0 GB of 10.0 GB of free memory"
    )
    with pytest.raises(HeelstrikeError, match=r"take 20.0 GB, but 10.0 GB are free.*every="):
        check_memory(2 * 10**10, free=10**10)
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < free_memory() <= pages


def test_free_memory_where_the_system_does_not_say(monkeypatch):
    """As on macOS: no /proc, no count of free pages."""
    monkeypatch.setattr("builtins.open", lambda *_: (_ for _ in ()).throw(FileNotFoundError()))
    monkeypatch.setattr(os, "sysconf_names", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 2})
    assert free_memory() == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_coordinates_of_the_table_are_the_dimensions_of_the_variables():
    used = {dim for variable in VARIABLES.values() for dim in variable.dims}
    assert used <= set(COORDINATES)


def test_page_lists_every_variable_with_its_dimensions_and_unit():
    page = (Path(__file__).parents[2] / "docs/recording.md").read_text()
    rows = [line.split("|")[1:4] for line in page.splitlines() if line.startswith("| `")]
    found = {name.strip(" `"): (dims.strip(), unit.strip(" `")) for name, dims, unit in rows}
    for name, variable in VARIABLES.items():
        assert found[name] == (", ".join(variable.dims), variable.units_from or variable.units)
    for name in ATTRIBUTES:
        assert f"`{name}`" in page
