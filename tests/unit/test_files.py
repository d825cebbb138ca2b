"""Files against a full disk, killed writers and altered bytes: whole or absent, never a crash.

A full disk is a limit of the size of files in a process of its own (RLIMIT_FSIZE), which refuses a
write in the middle of a file as a full disk does.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from random import Random

import h5py
import numpy as np
import pytest
import xarray as xr

from heelstrike.errors import FileError, HeelstrikeError
from heelstrike.files import check_regular, check_writable, left_behind, whole_file
from heelstrike.motion.motion import Motion
from heelstrike.npz import read_arrays, write_arrays
from heelstrike.record.provenance import FORMAT
from heelstrike.record.recording import Recording
from tests.fuzz.values import mutated_bytes
from tests.hopper import over_time

FULL = """
import resource, signal, sys
import numpy as np
from heelstrike.errors import FileError
from heelstrike.motion.motion import Motion
from heelstrike.npz import write_arrays
from tests.hopper import over_time
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
run, zeros = over_time(), np.zeros((4000, 3))
motion = Motion(np.arange(4000.0), zeros)
for limit in eval(sys.argv[2]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    for save in (run.save, motion.save, lambda path: write_arrays(path, {"a": zeros})):
        try:
            save(sys.argv[1])
            print("saved", limit)
        except FileError as error:
            assert "File too large" in str(error), error
print("alive")
"""


def test_a_full_disk_is_an_error_and_nothing_is_left(tmp_path):
    """At any moment of the writing: of the header, of the data, of what HDF5 writes at the end."""
    place = tmp_path / "run.nc"
    place.write_text("precious")
    limits = "[0, 96, 500, 2000, *range(4000, 60000, 8000)]"
    words = [sys.executable, "-c", FULL, str(place), limits]
    done = subprocess.run(words, capture_output=True, text=True, cwd=os.getcwd())
    assert done.returncode == 0, done.stderr
    assert done.stdout == "alive\n"  # even the largest limit was too small
    assert place.read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_parts_of_killed_writers_are_removed_and_those_of_others_stay(tmp_path):
    code = (
        "import sys, time\nfrom heelstrike.files import whole_file\n"
        "with whole_file(sys.argv[1]):\n    print('writing', flush=True)\n    time.sleep(60)\n"
    )
    words = [sys.executable, "-c", code]
    writers = [
        subprocess.Popen([*words, str(tmp_path / f"{k}.nc")], stdout=subprocess.PIPE)
        for k in range(2)
    ]
    for writer in writers:
        assert writer.stdout.readline()
    writers[0].kill()
    writers[0].wait()
    (tmp_path / ".other.0123456789ab.nc").write_text("not ours")
    assert len(left_behind(tmp_path)) == 2
    try:
        with whole_file(tmp_path / "b.nc") as part:
            part.write_text("done")
        assert len(left_behind(tmp_path)) == 1  # its process lives
    finally:
        writers[1].send_signal(signal.SIGKILL)
        writers[1].wait()
    with whole_file(tmp_path / "b.nc") as part:
        part.write_text("done")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.0123456789ab.nc", "b.nc"]


def test_a_part_is_locked_while_it_is_written(tmp_path):
    with whole_file(tmp_path / "a.txt") as part:
        with open(part) as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with whole_file(tmp_path / "b.txt") as other:
            other.write_text("b")
        part.write_text("a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("place", ["/proc/x.png", "/dev/full", "nowhere/x.png", ".", "x" * 5000])
def test_places_that_cannot_be_written_are_found_before_a_run(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match="cannot write"):
        check_writable(place)
    check_writable("fine.png")
    assert list(tmp_path.iterdir()) == []


def test_devices_folders_and_odd_names_are_not_read():
    for place in ("/dev/zero", "/proc", "nowhere.nc", "a\0b", "x" * 5000):
        with pytest.raises(FileError):
            check_regular(place)
        with pytest.raises(FileError):
            Recording.load(place)
        with pytest.raises(FileError):
            Motion.load(place)
        with pytest.raises(FileError):
            read_arrays(place)


# altered bytes


def write(kind, path):
    if kind == "recording":
        over_time().save(path)
    elif kind == "motion":
        q = np.arange(12.0).reshape(4, 3)
        Motion(np.arange(4.0), q, robot="hopper", settings={"a": 1.5}).save(path)
    else:
        write_arrays(path, {"q": np.arange(8.0), "v": np.ones(3)})


def read(kind, path):
    if kind == "recording":
        run = Recording.load(path)
        return run.data, str(run.summary())
    if kind == "motion":
        motion = Motion.load(path)
        return motion.times.tolist(), motion.q.tolist(), motion.robot, motion.settings
    return {name: array.tolist() for name, array in read_arrays(path).items()}


def same(one, other):
    if isinstance(one, tuple) and isinstance(one[0], xr.Dataset):
        return one[0].identical(other[0]) and one[1] == other[1]
    return one == other


@pytest.mark.parametrize(("kind", "cases"), [("recording", 20), ("motion", 60), ("state", 150)])
def test_altered_files_are_refused_or_read_as_they_were(kind, cases, tmp_path):
    """No traceback, and no other value: the checksum covers all that is read."""
    place, bad = tmp_path / "good", tmp_path / "bad"
    write(kind, place)
    whole, expected = place.read_bytes(), read(kind, place)
    refused = 0
    for seed in range(cases):
        bad.write_bytes(mutated_bytes(whole, Random(seed)))
        try:
            found = read(kind, bad)
        except HeelstrikeError:
            refused += 1
        else:
            assert same(found, expected), seed
    assert refused > cases / 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("versions", "[" * 100_000),
        ("laws", "not JSON"),
        ("laws", "[1]"),
        ("dt", '"text"'),
        ("steps", "true"),
        ("created", None),
        (FORMAT, ""),
        (FORMAT, "1"),
        (FORMAT, 0),
        ("math", 3.5),
        ("force", np.array(["a", "b"])),
        ("time", np.array(["a", "b"])),
    ],
)
def test_recordings_with_a_wrong_content_are_refused(name, value, format_1, tmp_path):
    """Format 1 has no checksum: the schema alone must do."""
    path = shutil.copy(format_1, tmp_path / "run.nc")
    if isinstance(value, np.ndarray):
        data = over_time().data.drop_vars(name)
        data.attrs[FORMAT] = 1
        data[name] = (
            ("x" if name == "force" else "time"),
            np.resize(value, 2 if name == "force" else data.sizes["time"]),
        )
        data.to_netcdf(path, engine="h5netcdf")
    else:
        with h5py.File(path, "r+") as file:
            file.attrs.pop(name, None)
            if value is not None:
                file.attrs[name] = value
    with pytest.raises(FileError, match="damaged"):
        Recording.load(path)


@pytest.fixture(scope="module")
def format_1(tmp_path_factory):
    """A recording of format 1."""
    path = tmp_path_factory.mktemp("format") / "run.nc"
    data = over_time().data.copy()
    data.attrs[FORMAT] = 1
    data.to_netcdf(path, engine="h5netcdf")
    return path


def test_recordings_of_format_1_are_read(format_1):
    expected = over_time().data.assign_attrs({FORMAT: 1})
    assert Recording.load(format_1).data.identical(expected)


def test_a_number_changed_by_another_program_is_found(tmp_path):
    over_time().save(tmp_path / "run.nc")
    data = xr.load_dataset(tmp_path / "run.nc", engine="h5netcdf")
    data["com"][0, 0, 0] += 1e-12
    data.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with pytest.raises(FileError, match="does not match its checksum"):
        Recording.load(tmp_path / "run.nc")


def test_objects_in_arrays_are_never_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (os._exit, (3,))

    np.savez(tmp_path / "a.npz", q=np.array([Trap()], dtype=object))
    with pytest.raises(FileError, match="not a file of plain arrays"):
        read_arrays(tmp_path / "a.npz")


def test_an_archive_that_lost_an_array(tmp_path):
    write_arrays(tmp_path / "a.npz", {"q": np.arange(8.0), "v": np.ones(3)})
    with (
        zipfile.ZipFile(tmp_path / "a.npz") as whole,
        zipfile.ZipFile(tmp_path / "b.npz", "w") as part,
    ):
        for name in set(whole.namelist()) - {"v.npy"}:
            part.writestr(name, whole.read(name))
    assert read_arrays(tmp_path / "a.npz").keys() == {"q", "v"}
    with pytest.raises(FileError, match="lost arrays"):
        read_arrays(tmp_path / "b.npz")


def test_an_archive_whose_directory_hides_arrays_and_their_list(tmp_path):
    """The remark of the directory's first entry is said to be as long as the other entries."""
    write_arrays(tmp_path / "a.npz", {"q": np.arange(8.0), "v": np.ones(3)})
    data = bytearray((tmp_path / "a.npz").read_bytes())
    first, end = data.index(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    second = data.index(b"PK\x01\x02", first + 4)
    data[first + 32 : first + 34] = (end - second).to_bytes(2, "little")
    (tmp_path / "b.npz").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "b.npz") as hidden:
        assert hidden.namelist() == ["q.npy"]
    with pytest.raises(FileError, match="lost arrays"):
        read_arrays(tmp_path / "b.npz")


def test_a_save_ended_by_ctrl_c_leaves_nothing(tmp_path, monkeypatch):
    """Also in the middle of a write that HDF5 asked for."""
    code = (
        "import os, signal, sys\nimport heelstrike.netcdf as netcdf\n"
        "from tests.hopper import over_time\nusual = netcdf.GuardedFile.write\ncalls = 0\n"
        "def write(self, data):\n    global calls\n    calls += 1\n"
        "    if calls == int(sys.argv[2]):\n        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return usual(self, data)\n"
        "netcdf.GuardedFile.write = write\nover_time().save(sys.argv[1])\n"
    )
    for call in ("1", "9"):
        words = [sys.executable, "-c", code, str(tmp_path / "run.nc"), call]
        done = subprocess.run(words, capture_output=True, text=True, cwd=os.getcwd())
        assert done.returncode == -signal.SIGINT, (done.returncode, done.stderr)
    assert list(tmp_path.iterdir()) == []
