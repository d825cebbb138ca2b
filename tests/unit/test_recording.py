"""Recordings: labels, files, summary, plots, memory.

The oracle is a run made of closed forms, a robot that hops on two feet: what the labels, the file
and the summary must say is known beforehand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import heelstrike as hs
from heelstrike.contact.elastic import Elastic
from heelstrike.contact.hunt_crossley import HuntCrossley
from heelstrike.contact.kinetic import Kinetic
from heelstrike.errors import HeelstrikeError
from heelstrike.files import whole_file
from heelstrike.simulate.attributes import ATTRIBUTES, FORMAT
from heelstrike.simulate.labels import labels
from heelstrike.simulate.memory import check_memory, estimate, free_memory
from heelstrike.simulate.recording import Recording
from heelstrike.simulate.variables import COORDINATES, VARIABLES, WORKS, dataset
from heelstrike.view import plot

RESIDUAL = 0.0125
"""Energy that the made-up run gains out of nothing, from its start to its end [J]."""
MASS = 4.0
COORDS = {
    "coordinate": ["root.x", "root.y", "root.z", "root.qx", "root.qy", "root.qz", "root.qw", "hip"],
    "coordinate_unit": ["m", "m", "m", "1", "1", "1", "1", "rad"],
    "joint": ["root.vx", "root.vy", "root.vz", "root.wx", "root.wy", "root.wz", "hip"],
    "joint_unit": ["m", "m", "m", "rad", "rad", "rad", "rad"],
    "point": [f"{side}_{i}" for side in ("left", "right") for i in range(4)],
    "surface": ["ground"] * 8,
    "point_body": ["left_foot"] * 4 + ["right_foot"] * 4,
    "body": ["left_foot", "right_foot"],
    "sensor": ["torso"],
}


def attributes(**changes: object) -> dict[str, object]:
    law = Elastic(HuntCrossley(k=5e4, alpha=0.4), Kinetic(mu=0.6))
    return {
        "robot": "hopper",
        "scene": {"surfaces": ["ground"], "gravity": [0.0, 0.0, -9.81]},
        "laws": {"ground": law},
        "parameters": {"ground.normal.k": np.array([5e4]), "dt": 1e-3},
        "control": None,
        "dt": 1e-3,
        "integrator": "symplectic",
        "dtype": "float64",
        "device": "cpu",
        "duration": 2.0,
        "steps": 2000,
        "every": 10,
        "seed": 7,
        "wall_time": 0.05,
        "created": "2026-11-15T12:00:00Z",
        "versions": {"heelstrike": "0.1.0", "numpy": "2.0"},
        **changes,
    }


def hop(worlds: int, records: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Series and finals of a robot that hops once a second; each world a little harder."""
    t = np.linspace(0.0, 2.0, records)[None, :]
    harder = 1.0 + 0.1 * np.arange(worlds)[:, None]
    high = 0.05 * np.cos(2 * np.pi * t) * harder  # above the ground while positive
    shape = {dim: len(COORDS[dim]) for dim in ("coordinate", "joint", "point", "body", "sensor")}
    shape["axis"] = 3
    series = {
        name: np.zeros((worlds, records, *(shape[dim] for dim in variable.dims)))
        for name, variable in VARIABLES.items()
        if not variable.final
    }
    depth = -high[..., None] * 0.02 - 1e-5 * np.arange(8)
    series["depth"] += depth
    series["touching"] = depth > 0
    series["normal_force"] += 5e5 * np.maximum(depth, 0.0)
    series["force"][..., 2] = series["normal_force"]
    series["slip"][..., 0] = 0.01 * np.sin(9 * t)[..., None]
    series["body_force"][..., 2] = series["normal_force"].reshape(worlds, records, 2, 4).sum(-1)
    series["cop"][~series["touching"].reshape(worlds, records, 2, 4).any(-1)] = np.nan
    series["com"][..., 2] = 0.5 + high
    series["q"][..., 2], series["q"][..., 6] = 0.45 + high, 1.0
    series["v"][..., 2] = -0.1 * np.pi * np.sin(2 * np.pi * t) * harder
    series["torque"][..., 6] = 3.0 * np.sin(2 * np.pi * t)
    series["kinetic"] += 0.5 * MASS * series["v"][..., 2] ** 2
    series["work_contact"] -= 0.8 * t
    series["work_control"] += 0.3 * np.sin(t)
    work = sum(series[name] for name in WORKS)
    series["potential"] += 9.0 + work - series["kinetic"] + RESIDUAL * t / 2.0
    finals = {
        "peak_force": series["normal_force"].max(1),
        "peak_depth": series["depth"].max(1),
        "impulse": np.trapezoid(series["body_force"], t[0], axis=1),
        "failed": np.full(worlds, -1),
        "steps": np.full(worlds, 2000),
    }
    return series, finals


def over_time(worlds: int = 3, records: int = 201, **changes: object) -> Recording:
    series, finals = hop(worlds, records)
    coords = {**COORDS, "time": np.linspace(0.0, 2.0, records)}
    return Recording(dataset(series, finals, coords, attributes(**changes)))


def at_end(worlds: int = 100, **changes: object) -> Recording:
    series, finals = hop(worlds, 21)
    ends = {name: series[name][:, -1] for name in ("q", "v")}
    return Recording(dataset({}, ends | finals, COORDS, attributes(**changes)))


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
    robot = hs.load(name)
    found = labels(robot)
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
def test_wrong_arrays_are_refused(series, finals, coords, says):
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


def test_info_gives_back_what_was_said():
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


@pytest.mark.parametrize("made", [over_time, at_end])
def test_file_gives_back_every_bit(made, tmp_path):
    worlds = made().data.sizes["world"]
    run = made(varied={"ground.normal.k": np.linspace(1, 2, worlds) / 3})
    run.data["com" if "com" in run.data else "v"][0, 0] = np.nan
    assert run.save(tmp_path / "run.nc") == tmp_path / "run.nc"
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]
    again = Recording.load(tmp_path / "run.nc")
    assert again.data.identical(run.data)  # names, labels, values, attributes
    for name, values in run.data.variables.items():
        found = again.data.variables[name]
        assert (found.dtype, found.shape) == (values.dtype, values.shape)
    assert again.info.keys() == run.info.keys()
    assert str(again.summary()) == str(run.summary())


@pytest.mark.filterwarnings("error")
def test_paths_that_are_no_names_in_a_file_come_back(tmp_path):
    """Bodies of parts have a slash, laws of a body on a surface have spaces."""
    k, points = np.linspace(1, 2, 3), np.ones((3, 3))
    varied = {"a/foot on ground.normal.k": k, "a/foot_on ground.normal.k": 2 * k}
    run = over_time(varied=varied | {"the mat.point": points})
    before = run.data.copy(deep=True)
    run.save(tmp_path / "run.nc")
    assert run.data.identical(before)
    again = Recording.load(tmp_path / "run.nc")
    assert again.data.identical(run.data)
    assert again.info["varied"]["a/foot on ground.normal.k"].tolist() == k.tolist()
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as data:
        assert data["a:foot_on_ground.normal.k"].attrs["path"] == "a/foot on ground.normal.k"


def test_a_loaded_recording_is_saved_again(tmp_path):
    over_time().save(tmp_path / "a.nc")
    Recording.load(tmp_path / "a.nc").save(tmp_path / "a.nc")
    assert Recording.load(tmp_path / "a.nc").data.identical(over_time().data)


def test_file_is_plain_netcdf(tmp_path):
    """What anybody's xarray reads: booleans, labels, units."""
    run = over_time()
    run.save(tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as data:
        assert data.attrs[FORMAT] == 1
        assert json.loads(data.attrs["integrator"]) == "symplectic"
        assert data["touching"].dtype == bool
        assert data["force"].attrs["units"] == "N"
        assert list(data["surface"].values) == ["ground"] * 8
        assert data["time"].attrs["units"] == "s"


def test_large_attributes_and_empty_dimensions_survive(tmp_path):
    """HDF5 keeps short attributes in a header of 64 kB; a big scene is longer."""
    coords = {**COORDS, "sensor": []}
    finals = {"steps": np.ones(1)}
    series = {"gyro": np.zeros((1, 2, 0, 3))}
    long = attributes(scene=["x" * 100] * 5000)
    run = Recording(dataset(series, finals, {**coords, "time": [0.0, 1.0]}, long))
    run.save(tmp_path / "run.nc")
    assert Recording.load(tmp_path / "run.nc").data.identical(run.data)


def test_failed_save_leaves_what_was_there(tmp_path, monkeypatch):
    place = tmp_path / "run.nc"
    place.write_text("precious")
    run = over_time()

    def broken(self, path, **_):
        Path(path).write_bytes(b"half a file")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(xr.Dataset, "to_netcdf", broken)
    with pytest.raises(HeelstrikeError, match=r"cannot write .*No space left on device"):
        run.save(place)
    assert place.read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_interrupted_save_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(self, path, **_):
        Path(path).write_bytes(b"half a file")
        raise KeyboardInterrupt

    monkeypatch.setattr(xr.Dataset, "to_netcdf", interrupted)
    with pytest.raises(KeyboardInterrupt):
        over_time().save(tmp_path / "run.nc")
    assert list(tmp_path.iterdir()) == []


def test_file_has_the_permissions_of_any_other(tmp_path):
    (tmp_path / "plain").write_text("")
    with whole_file(tmp_path / "whole") as part:
        part.write_text("")
    assert (tmp_path / "whole").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with whole_file(tmp_path / "link") as part:
        part.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_places_that_cannot_be_written_are_named(tmp_path, monkeypatch):
    run = over_time()
    with pytest.raises(HeelstrikeError, match="there is no folder"):
        run.save(tmp_path / "nowhere" / "run.nc")
    with pytest.raises(HeelstrikeError, match="it is a folder"):
        run.save(tmp_path)

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(HeelstrikeError, match="Permission denied; choose a folder"):
        run.save(tmp_path / "run.nc")


def test_files_that_are_no_recordings_are_named(tmp_path):
    (tmp_path / "text.nc").write_text("hello")
    xr.Dataset({"x": 1.0}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    over_time().save(tmp_path / "cut.nc")
    whole = (tmp_path / "cut.nc").read_bytes()
    (tmp_path / "cut.nc").write_bytes(whole[: len(whole) // 2])
    for name, says in [
        ("none.nc", "there is no file .*recordings in that folder: cut.nc, other.nc"),
        ("text.nc", "is no NetCDF4 file"),
        ("cut.nc", "is no NetCDF4 file, or a damaged one"),
        ("other.nc", "but no Heelstrike recording"),
        ("", "is a folder"),
    ]:
        with pytest.raises(HeelstrikeError, match=says):
            Recording.load(tmp_path / name)


def test_recording_of_the_future_is_refused(tmp_path):
    run = over_time()
    run.data.attrs[FORMAT] = 99
    run.save(tmp_path / "run.nc")
    with pytest.raises(HeelstrikeError, match=r"has format 99, .* up to 1"):
        Recording.load(tmp_path / "run.nc")


def test_summary_says_what_the_run_was():
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
    assert "14 s in 3 worlds together" in text


def test_summary_of_a_run_without_contact():
    _, finals = hop(1, 3)
    finals["peak_force"][:] = 0.0
    data = dataset({}, {"peak_force": finals["peak_force"]}, COORDS, attributes())
    assert "nothing touched" in str(Recording(data).summary())


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
        "Energy and work",
        "Torque of the control",
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
    assert "the 8 of 24 that move most" in force.get_xlabel()
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


def test_wrong_plots_are_refused(tmp_path):
    run = over_time()
    for arguments, says in [
        ({"variables": "forse"}, "no variable 'forse'; did you mean 'force'"),
        ({"world": 3}, "no world 3; worlds: 0 to 2"),
        ({"path": tmp_path / "run.xyz"}, "no format 'xyz'; endings: .*png"),
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
from heelstrike.simulate.recording import Recording
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


def test_memory_is_said_above_a_gigabyte_and_refused_above_what_is_free():
    assert check_memory(10**9, free=10**10) is None
    assert check_memory(2 * 10**9, free=10**10) == (
        "this recording takes 2.0 GB of the 10.0 GB that are free"
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
        assert found[name] == (", ".join(variable.dims), variable.units.removeprefix("@"))
    for name in ATTRIBUTES:
        assert f"`{name}`" in page
