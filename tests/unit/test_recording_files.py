"""Files of recordings against what was saved: every bit comes back, and a file is whole or not
there.
"""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
import xarray as xr

import heelstrike as hs
from heelstrike.errors import HeelstrikeError
from heelstrike.files import whole_file
from heelstrike.netcdf import GuardedFile
from heelstrike.record.dataset import dataset
from heelstrike.record.provenance import FORMAT
from heelstrike.record.recording import Recording
from tests.hopper import COORDS, at_end, attributes, over_time


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


def test_names_of_all_languages_come_back(tmp_path):
    """Of a surface and of a spring: letters beyond ASCII were written, and could not be read."""
    spring = hs.SpringDamper("ball", stiffness=10.0, other_point=(0, 0, 1), name="ばね")
    scene = hs.Scene(hs.load("ball"), hs.Plane(name="Fußboden"), springs=[spring])
    run = hs.Simulator(scene).run(0.002, q0=[0, 0, 0.5, 0, 0, 0, 1])
    run.save(tmp_path / "läuft.nc")
    again = Recording.load(tmp_path / "läuft.nc")
    assert again.data.identical(run.data)
    assert again.data.surface.values.tolist() == ["Fußboden"]


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
        assert data.attrs[FORMAT] == 2
        assert json.loads(data.attrs["integrator"]) == "symplectic"
        assert data["touching"].dtype == bool
        assert data["force"].attrs["units"] == "N"
        assert list(data["surface"].values) == ["ground"] * 8
        assert data["time"].attrs["units"] == "s"


def test_large_attributes_and_empty_dimensions_survive(tmp_path):
    """HDF5 keeps short attributes in a header of 64 kB; a big scene is longer."""
    coords = {**COORDS, "body": []}
    finals = {"steps": np.ones(1)}
    series = {"body_force": np.zeros((1, 2, 0, 3))}
    long = attributes(scene=["x" * 100] * 5000)
    run = Recording(dataset(series, finals, {**coords, "time": [0.0, 1.0]}, long))
    run.save(tmp_path / "run.nc")
    assert Recording.load(tmp_path / "run.nc").data.identical(run.data)


def test_failed_save_leaves_what_was_there(tmp_path, monkeypatch):
    place = tmp_path / "run.nc"
    place.write_text("precious")
    run = over_time()

    def broken(self, data):
        self.failure = OSError(28, "No space left on device")
        return len(data)

    monkeypatch.setattr(GuardedFile, "write", broken)
    with pytest.raises(HeelstrikeError, match=r"cannot write .*No space left on device"):
        run.save(place)
    assert place.read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_interrupted_save_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(self, data):
        raise KeyboardInterrupt

    monkeypatch.setattr(xr.Dataset, "dump_to_store", interrupted)
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
    with pytest.raises(HeelstrikeError, match="Permission denied; choose a writable folder"):
        run.save(tmp_path / "run.nc")


def test_files_that_are_no_recordings_are_named(tmp_path):
    (tmp_path / "text.nc").write_text("hello")
    xr.Dataset({"x": 1.0}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    over_time().save(tmp_path / "cut.nc")
    whole = (tmp_path / "cut.nc").read_bytes()
    (tmp_path / "cut.nc").write_bytes(whole[: len(whole) // 2])
    for name, says in [
        ("none.nc", "there is no file .*recordings in that folder: cut.nc, other.nc"),
        ("text.nc", "is not a NetCDF4 file"),
        ("cut.nc", "is not a NetCDF4 file, or is damaged"),
        ("other.nc", "but not a Heelstrike recording"),
        ("", "is a folder"),
    ]:
        with pytest.raises(HeelstrikeError, match=says):
            Recording.load(tmp_path / name)


def test_recording_of_a_later_format_raises_an_error(tmp_path):
    run = over_time()
    run.data.attrs[FORMAT] = 99
    run.save(tmp_path / "run.nc")
    with pytest.raises(HeelstrikeError, match=r"has format 99, .* up to 2"):
        Recording.load(tmp_path / "run.nc")


@pytest.mark.parametrize("points", ["all", [["box", [0.0, 0.0, -0.05], 0.01]]])
def test_the_robot_of_a_file_has_the_contact_points_of_the_run(points, tmp_path):
    robot = hs.load("box", points=points, edge_points=1 if points == "all" else 0)
    run = hs.Simulator(hs.Scene(robot, hs.Plane())).run(steps=2)
    run.save(tmp_path / "run.nc")
    again = hs.Recording.load(tmp_path / "run.nc").robot
    assert [(p.body, p.radius) for p in again.points] == [(p.body, p.radius) for p in robot.points]
    for one, other in zip(again.points, robot.points, strict=True):
        assert np.array_equal(one.position, other.position)
